"""What running work tells the outside, and what it asks. Plain data, so that it can come from another process."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from humboldt.errors import Interrupted


@dataclass(frozen=True)
class Progress:
    """`done` of `total` of a phase ("training", "evaluation"); `remark` says how it goes.

    The first phase, "starting", has a total of 0: nobody knows how long it takes to load and compile.
    """

    phase: str
    done: int
    total: int
    remark: str = ""


@dataclass(frozen=True)
class Warned:
    """Something that the user should know, though the work goes on."""

    message: str


@dataclass(frozen=True)
class Finished:
    """An experiment has ended, and its results are stored: `summary` says how well. `experiments` is how many have
    ended with it: none, where this was a part of the members."""

    summary: str
    experiments: int = 1


Event = Progress | Warned | Finished


class AbstractSink(ABC):
    """Where the events of one experiment go."""

    @abstractmethod
    def send(self, event: Event) -> None:
        """Takes an event; must be quick."""

    @abstractmethod
    def should_stop(self) -> bool:
        """Whether the user has asked to stop."""

    def scored(self, done: int, total: int) -> None:
        """Tells how far an evaluation is; raises `Interrupted` if the user has asked to stop."""
        self.send(Progress("evaluation", done, total))
        if self.should_stop():
            raise Interrupted("Stopped as asked.")


class Silent(AbstractSink):
    """Tells nobody and never stops."""

    def send(self, event: Event) -> None:
        del event

    def should_stop(self) -> bool:
        return False
