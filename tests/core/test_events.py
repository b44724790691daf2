import pickle

import pytest

from humboldt.core.events import AbstractSink, Event, Progress, Silent, Warned
from humboldt.errors import Interrupted


class Impatient(AbstractSink):
    def __init__(self) -> None:
        self.events: list[Event] = []

    def send(self, event: Event) -> None:
        self.events.append(event)

    def should_stop(self) -> bool:
        return len(self.events) > 1


def test_scoring_is_told_and_can_be_stopped():
    sink = Impatient()
    sink.scored(1, 3)
    with pytest.raises(Interrupted):
        sink.scored(2, 3)
    assert sink.events == [Progress("evaluation", 1, 3), Progress("evaluation", 2, 3)]  # it is told before it stops
    sink.scored(3, 3)  # all is done: there is nothing to stop
    with pytest.raises(Interrupted):
        sink.stop_if_requested()


def test_silence_never_stops():
    silent = Silent()
    silent.send(Warned("x"))
    silent.scored(1, 1)
    assert not silent.should_stop()


@pytest.mark.parametrize("event", [Progress("training", 1, 2, "loss 0.1"), Warned("careful")])
def test_events_travel_between_processes(event: Event):
    assert pickle.loads(pickle.dumps(event)) == event
