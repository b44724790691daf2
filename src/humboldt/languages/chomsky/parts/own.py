"""An automaton from a user's file as a task of `chomsky`: which state does a string lead to?"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import Alphabet, Pairs
from humboldt.languages.chomsky.base import AbstractTransduction, Level
from humboldt.languages.formal.automaton import MISSING, Automaton
from humboldt.languages.formal.counting import growth
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage
from humboldt.languages.formal.minimal import canonical, in_order, without_weights
from humboldt.languages.formal.sampling import UniformSampler
from humboldt.settings import setting, settings


def chomsky_task(language: RegularLanguage | ContextFreeLanguage) -> type["WhichState"]:
    """Makes the task of an automaton; raises a usage error for other languages, and if long strings lead nowhere."""
    if not language.name.endswith(".automaton") or not isinstance(language, RegularLanguage):
        raise UsageError(
            f"{language.name}: a task of this suite asks which state a string leads to. Write the language as an "
            "automaton, in a file that ends in .automaton."
        )
    automaton = in_order(without_weights(language.automaton))
    readable = Automaton(automaton.alphabet, automaton.table, np.ones(len(automaton), bool))
    if growth(readable).kind == "finite":
        raise UsageError(
            f"{language.name} reads only strings of fewer than {len(automaton)} symbols, so nothing longer can be "
            "tested: add transitions that lead back."
        )
    identity = canonical(automaton, "state")
    del identity["accepting"]  # is not asked for
    body = {
        "__doc__": f"Which state of {language.name} does a string lead to?",
        "__module__": __name__,
        "input_alphabet": Alphabet(automaton.alphabet),
        "output_alphabet": Alphabet(automaton.names),
        "chance": 1 / len(automaton),
        "examples": (),
        "states": automaton,
        "sampler": None if (automaton.table != MISSING).all() else UniformSampler(readable),
        "file": language.name,
        "identity": identity,
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
    states: ClassVar[Automaton]
    sampler: ClassVar[UniformSampler | None]
    file: ClassVar[str]
    identity: ClassVar[dict[str, Any]]

    @property
    def answers_at_every_step(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the answer to each symbol is given where it is read."""
        return self.answers == "every"

    def draw(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        if self.sampler is None:
            strings = rng.integers(0, len(self.input_alphabet), (count, length), np.int32)
        else:
            strings = self.sampler.draw(rng, count=count, length=length)
        states = self.states.trace(strings)[:, 1:]
        return Pairs.full(strings, states if self.answers == "every" else states[:, -1:])

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Follows the transitions one by one."""
        names = []
        for place in range(1, len(symbols) + 1):
            state = self.states.run(symbols[:place])
            if state == MISSING:
                raise UsageError(
                    f"{self.file} has no transition for {symbols[place - 1]!r} at position {place - 1}. Give a string "
                    "that it can read."
                )
            names.append(self.states.names[state])
        return names if self.answers == "every" else names[-1:]
