"""Events of running work, and the sinks that receive them. Plain data, so that other processes can send them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from humboldt.errors import Interrupted


@dataclass(frozen=True)
class Progress:
    """`done` of `total` units of a phase ("training", "evaluation"); `remark` describes the current state.

    The first phase, "starting", has a total of 0: the time to load and compile is not known.
    """

    phase: str
    done: int
    total: int
    remark: str = ""


@dataclass(frozen=True)
class Warned:
    """A warning to the user; the work continues."""

    message: str


@dataclass(frozen=True)
class Finished:
    """An experiment has ended, and its results are stored; `summary` has its score. `experiments`: the number of
    experiments that ended with it, which is 0 if this was a part of the members."""

    summary: str
    experiments: int = 1


Event = Progress | Warned | Finished


class AbstractSink(ABC):
    """Receives the events of one experiment."""

    @abstractmethod
    def send(self, event: Event) -> None:
        """Receives an event; must return quickly."""

    @abstractmethod
    def should_stop(self) -> bool:
        """Returns whether the user has requested a stop."""

    def scored(self, done: int, total: int) -> None:
        """Sends the progress of an evaluation; raises `Interrupted` if the user has requested a stop, unless all is
        done: then there is a result to store."""
        self.send(Progress("evaluation", done, total))
        if done < total:
            self.stop_if_requested()

    def stop_if_requested(self) -> None:
        """Raises `Interrupted` if the user has requested a stop."""
        if self.should_stop():
            raise Interrupted("Interrupted by the user.")


class Silent(AbstractSink):
    """Ignores all events and never stops."""

    def send(self, event: Event) -> None:
        del event

    def should_stop(self) -> bool:
        return False
