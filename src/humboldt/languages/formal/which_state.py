"""An automaton from a user's file as a machine whose states are asked for, whether it accepts a string or not."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.formal.automaton import MISSING, Automaton
from humboldt.languages.formal.counting import growth
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage
from humboldt.languages.formal.minimal import canonical, in_order, without_weights
from humboldt.languages.formal.sampling import UniformSampler


@dataclass(frozen=True, eq=False)
class StateMachine:
    """The reachable states of an automaton.

    - `sampler`: of the strings that it can read; `None` if it can read all.
    - `identity`: plain data, equal for two files only if they ask for the same states; names do not matter.
    """

    automaton: Automaton
    sampler: UniformSampler | None
    identity: dict[str, Any]

    def draw(self, rng: np.random.Generator, *, count: int, length: int) -> np.ndarray:
        """Returns strings of one length, uniform among those that it can read, as columns of the table; shape
        `(count, length)`."""
        if self.sampler is None:
            return rng.integers(0, len(self.automaton.alphabet), (count, length), np.int32)
        return self.sampler.draw(rng, count=count, length=length)


def state_machine(language: RegularLanguage | ContextFreeLanguage) -> StateMachine:
    """Makes the machine of an automaton; raises a usage error for other languages, and if long strings lead nowhere."""
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
    is_complete = bool((automaton.table != MISSING).all())
    return StateMachine(automaton, None if is_complete else UniformSampler(readable), identity)


def names_after(machine: Automaton, symbols: list[str], file: str) -> list[str]:
    """Returns the names of the states after every symbol, following the transitions one by one."""
    names = []
    for place in range(1, len(symbols) + 1):
        state = machine.run(symbols[:place])
        if state == MISSING:
            raise UsageError(
                f"{file} has no transition for {symbols[place - 1]!r} at position {place - 1}. Give a string that it "
                "can read."
            )
        names.append(machine.names[state])
    return names
