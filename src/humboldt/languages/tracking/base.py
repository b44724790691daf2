"""The base classes of the `tracking` tasks: an automaton whose states are the answers, and the word problem of a group.

A string is a sequence of symbols; the answer is the state after every symbol, or after the last one.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import ClassVar, Literal

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages import AbstractTask, Alphabet, Drawn, Pairs, ProblemKind
from humboldt.settings import Role, setting, settings

BLANK = "_"  # follows each symbol if a symbol takes several steps
CHECKED_LENGTHS = (1, 2, 3, 8, 20, 60)
CHECKED_STRINGS = 16  # of each length
Permutation = tuple[int, ...]


@settings
class AbstractStateTracking(AbstractTask):
    """The states of a deterministic automaton as a transduction.

    Subclasses define `symbols`, `states`, `table` and the oracle.

    **Arguments:**

    - `supervision`: whether a model answers after every symbol or only after the last one.
    - `tokens_per_step`: the tokens of one symbol: the symbol itself, then blanks; the answer is at the last of them.
    """

    supervision: Literal["every", "last"] = setting("every", "the steps at which a model answers")
    tokens_per_step: int = setting(1, "tokens of each symbol: itself, then blanks", least=1, most=1000)

    problem = ProblemKind.TRANSDUCTION
    start: ClassVar[int] = 0  # the first state

    @property
    @abstractmethod
    def symbols(self) -> tuple[str, ...]:
        """The symbols that strings consist of, in the order of the columns of `table`."""

    @property
    @abstractmethod
    def states(self) -> tuple[str, ...]:
        """The names of the states, in the order of the rows of `table`."""

    @property
    @abstractmethod
    def table(self) -> np.ndarray:
        """The next state for every state and symbol, shape `(states, symbols)`."""

    @cached_property
    def input_alphabet(self) -> Alphabet:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The symbols, and the blank if it is used."""
        return Alphabet((*self.symbols, *([BLANK] if self.tokens_per_step > 1 else [])))

    @cached_property
    def output_alphabet(self) -> Alphabet:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The states."""
        return Alphabet(self.states)

    def sample(self, rng: np.random.Generator, count: int, length: int) -> Pairs:
        """Returns `count` random strings of `length` symbols with their states. All randomness comes from `rng`."""
        if length < 1:
            raise UsageError(f"Length {length} is too short: a string has at least one symbol. Ask for 1 or more.")
        return self.pairs(self.columns(rng, count, length))

    def columns(self, rng: np.random.Generator, count: int, length: int) -> np.ndarray:
        """Returns `count` random strings of `length` symbols as columns of `table`, shape `(count, length)`."""
        return rng.integers(0, len(self.symbols), (count, length), np.int32)

    def corpus(self, rng: np.random.Generator, lengths: np.ndarray, longest: int) -> np.ndarray:
        """Returns random strings as columns of `table`, shape `(count, longest)`. Only the first `lengths` symbols of
        each are used."""
        return rng.integers(0, len(self.symbols), (len(lengths), longest), np.int16)

    def drawn_examples(self, seed: int) -> Iterator[Drawn]:
        rng = np.random.default_rng(seed)
        for length in CHECKED_LENGTHS:
            pairs = self.sample(rng, CHECKED_STRINGS, length)
            yield Drawn.of_pairs(pairs, length * self.tokens_per_step)

    def verify(self) -> None:
        """Raises an error unless `table` has a state for every state and symbol."""
        shape, wanted = self.table.shape, (len(self.states), len(self.symbols))
        if shape != wanted:
            raise UsageError(
                f"`table` has shape {shape}, and there are {wanted[0]} states and {wanted[1]} symbols. It needs a row "
                "for each state and a column for each symbol."
            )
        if self.table.min() < 0 or self.table.max() >= len(self.states):
            raise UsageError(
                f"`table` has entries from {self.table.min()} to {self.table.max()}, and there are {wanted[0]} states: "
                f"entries are numbers of states, 0 to {wanted[0] - 1}."
            )

    def pairs(self, columns: np.ndarray) -> Pairs:
        """Returns strings, given as columns of `table`, with their targets; `columns` has shape `(count, length)`."""
        states, tokens = self.trace(columns), columns
        if self.tokens_per_step > 1:
            tokens = np.full((*columns.shape, self.tokens_per_step), len(self.symbols), np.int32)
            tokens[..., 0] = columns
            tokens = tokens.reshape(len(columns), -1)
        return Pairs.full(tokens, states if self.supervision == "every" else states[:, -1:])

    def trace(self, columns: np.ndarray) -> np.ndarray:
        """Returns the states after every symbol of many strings at once; `columns` has shape `(count, length)`."""
        states = np.empty(columns.shape, np.int32)
        state = np.full(len(columns), self.start, np.int32)
        for step in range(columns.shape[1]):
            state = states[:, step] = self.table[state, columns[:, step]]
        return states

    def answers(self, states: Sequence[str]) -> list[str]:
        """Returns the states to be predicted: all, or the last."""
        return list(states) if self.supervision == "every" else list(states[-1:])

    def answer_places(self, tokens: int) -> np.ndarray:
        """Returns the places of the answers in an input of `tokens` tokens."""
        places = np.arange(self.tokens_per_step - 1, tokens, self.tokens_per_step)
        return places if self.supervision == "every" else places[-1:]


@settings
class AbstractGroup(AbstractStateTracking):
    """The word problem of a finite group: the product of all elements so far, applied from left to right.

    A group is given by two permutations that generate it. Its elements are permutations of the points 0 to n - 1, in
    lexicographic order, so that the identity is the first; `name` writes one as the images of the points 1 to n.

    **Arguments:**

    - `inputs`: `all` elements; some `generators`; only `swaps`: elements that move at most two points, the identity
      included; `up_to_3`: those that move at most three points.
    - `generators`: how many elements `generators` has: the two of the group, then elements chosen at random by a fixed
      seed. A training each.
    """

    inputs: Literal["all", "generators", "swaps", "up_to_3"] = setting("all", "elements that strings consist of")
    generators: tuple[int, ...] = setting(
        (2,), "elements of `inputs=generators`; a training each", role=Role.EACH, each="generators", least=2, most=1000
    )

    generated_by: ClassVar[tuple[Permutation, Permutation]]

    def check(self) -> None:
        """Checks that there are enough elements, and that the chosen ones include more than the identity."""
        elements = elements_of(self.generated_by)
        if self.inputs == "generators" and max(self.generators) > len(elements):
            raise UsageError(
                f"generators={max(self.generators)}: the group has {len(elements)} elements. Use at most as many."
            )
        if self.inputs in ("swaps", "up_to_3") and len(self._few_moved()) < 2:
            raise UsageError(
                f"inputs={self.inputs}: no element of this group but the identity moves so few points. Use "
                "inputs=all or inputs=generators."
            )

    @classmethod
    def name(cls, element: Permutation) -> str:
        """Returns the symbol of an element: the images of the points, counted from 1."""
        return "".join(str(point + 1) for point in element)

    @cached_property
    def states(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """All elements; the first is the identity."""
        return tuple(map(self.name, elements_of(self.generated_by)))

    @cached_property
    def chosen(self) -> tuple[Permutation, ...]:
        """The elements that strings consist of."""
        elements = elements_of(self.generated_by)
        if self.inputs == "generators":
            others = [element for element in elements if element not in self.generated_by]
            order = np.random.default_rng(0).permutation(len(others))
            return (*self.generated_by, *(others[i] for i in order))[: self.generators[0]]
        return elements if self.inputs == "all" else self._few_moved()

    @cached_property
    def symbols(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The names of the chosen elements."""
        return tuple(map(self.name, self.chosen))

    @cached_property
    def table(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The columns of the chosen elements in the multiplication table."""
        places = {element: place for place, element in enumerate(elements_of(self.generated_by))}
        return multiplication_table(self.generated_by)[:, [places[element] for element in self.chosen]]

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Applies one permutation after the other to the points."""
        permutations = dict(zip(self.symbols, self.chosen, strict=True))
        points = list(range(len(self.generated_by[0])))
        states = []
        for symbol in symbols:
            if symbol != BLANK:
                points = [permutations[symbol][point] for point in points]
                states.append(self.name(tuple(points)))
        return self.answers(states)

    def _few_moved(self) -> tuple[Permutation, ...]:
        most = 2 if self.inputs == "swaps" else 3
        elements = elements_of(self.generated_by)
        return tuple(e for e in elements if sum(image != point for point, image in enumerate(e)) <= most)


@lru_cache(maxsize=32)
def elements_of(generators: tuple[Permutation, ...]) -> tuple[Permutation, ...]:
    """Returns all products of permutations, in lexicographic order."""
    identity = tuple(range(len(generators[0])))
    reached, pending = {identity}, [identity]
    while pending:
        element = pending.pop()
        for generator in generators:
            product = tuple(generator[point] for point in element)
            if product not in reached:
                reached.add(product)
                pending.append(product)
    return tuple(sorted(reached))


@lru_cache(maxsize=32)
def multiplication_table(generators: tuple[Permutation, ...]) -> np.ndarray:
    """Returns the place of the product, first row then column, of any two elements; shape `(elements, elements)`."""
    elements = elements_of(generators)
    places = {element: place for place, element in enumerate(elements)}
    rows = [[places[tuple(second[point] for point in first)] for second in elements] for first in elements]
    table = np.array(rows, np.int32)
    table.flags.writeable = False
    return table
