"""An automaton from a user's file as a task of `chomsky`: which state does a string lead to?"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from humboldt.languages import Alphabet, Pairs
from humboldt.languages.chomsky.base import AbstractTransduction, Level
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage
from humboldt.languages.formal.which_state import StateMachine, names_after, state_machine
from humboldt.settings import setting, settings


def chomsky_task(language: RegularLanguage | ContextFreeLanguage) -> type["WhichState"]:
    """Makes the task of an automaton; raises a usage error for other languages, and if long strings lead nowhere."""
    machine = state_machine(language)
    body = {
        "__doc__": f"Which state of {language.name} does a string lead to?",
        "__module__": __name__,
        "input_alphabet": Alphabet(machine.automaton.alphabet),
        "output_alphabet": Alphabet(machine.automaton.names),
        "chance": 1 / len(machine.automaton),
        "examples": (),
        "machine": machine,
        "file": language.name,
        "identity": machine.identity,
    }
    return type("WhichState", (WhichState,), body)


@settings
class WhichState(AbstractTransduction):
    """The state that a string leads to, at the end or after every symbol.

    Strings are drawn uniformly from those of a length that the automaton can read, whether it accepts them or not.

    **Arguments:**

    - `answers`: `"last"` asks for the last state, at a mark after the string; `"every"` after every symbol.
    """

    answers: Literal["last", "every"] = setting("last", "which states are asked for: the last, or every one")

    level = Level.REGULAR
    machine: ClassVar[StateMachine]
    file: ClassVar[str]
    identity: ClassVar[dict[str, Any]]

    @property
    def answers_at_every_step(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the answer to each symbol is given where it is read."""
        return self.answers == "every"

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        strings = self.machine.draw(rng, count=count, length=length)
        states = self.machine.automaton.trace(strings)[:, 1:]
        return Pairs.full(strings, states if self.answers == "every" else states[:, -1:])

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Follows the transitions one by one."""
        names = names_after(self.machine.automaton, list(symbols), self.file)
        return names if self.answers == "every" else names[-1:]
