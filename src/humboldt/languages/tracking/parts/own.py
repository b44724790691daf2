"""An automaton from a user's file as a task of `tracking`: its states are the answers."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage
from humboldt.languages.formal.which_state import StateMachine, names_after, state_machine
from humboldt.languages.tracking.base import BLANK, AbstractStateTracking
from humboldt.settings import settings


def tracking_task(language: RegularLanguage | ContextFreeLanguage) -> type["OwnAutomaton"]:
    """Makes the task of an automaton; raises a usage error for other languages, and if long strings lead nowhere."""
    machine = state_machine(language)
    if BLANK in machine.automaton.alphabet:
        raise UsageError(f"{language.name}: {BLANK!r} stands for a blank in this suite. Rename the symbol.")
    body = {
        "__doc__": f"Which state of {language.name} does a string lead to?",
        "__module__": __name__,
        "chance": 1 / len(machine.automaton),
        "examples": (),
        "machine": machine,
        "file": language.name,
        "identity": machine.identity,
    }
    return type("OwnAutomaton", (OwnAutomaton,), body)


@settings
class OwnAutomaton(AbstractStateTracking):
    """The states of an automaton. Strings are uniform among those of a length that it can read."""

    machine: ClassVar[StateMachine]
    file: ClassVar[str]
    identity: ClassVar[dict[str, Any]]

    @property
    def symbols(self) -> tuple[str, ...]:
        """The alphabet of the automaton."""
        return self.machine.automaton.alphabet

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states."""
        return self.machine.automaton.names

    @property
    def table(self) -> np.ndarray:
        """The transitions."""
        return self.machine.automaton.table

    def columns(self, rng: np.random.Generator, count: int, length: int) -> np.ndarray:
        return self.machine.draw(rng, count=count, length=length)

    def corpus(self, rng: np.random.Generator, lengths: np.ndarray, longest: int) -> np.ndarray:
        """Draws the strings of each length: a prefix of a uniform string is not uniform if transitions are missing."""
        strings = np.zeros((len(lengths), longest), np.int16)
        for length in np.unique(lengths).tolist():
            rows = np.flatnonzero(lengths == length)
            strings[rows, :length] = self.columns(rng, len(rows), length)
        return strings

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Follows the transitions one by one."""
        read = [symbol for symbol in symbols if symbol != BLANK]
        return self.answers(names_after(self.machine.automaton, read, self.file))
