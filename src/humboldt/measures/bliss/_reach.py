"""The length and depth of balanced strings up to which a model succeeds.

The test set of a Dyck language begins after the last string of the training corpus, by length and then in the order of
the alphabet. With 1,000 or 500 training strings no test string is longer than the longest of these, and the deepest has
at most one bracket more; `docs/bliss.md` has a table. The strings here are longer and deeper.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.core.stepping import FromStrings, Stepper
from humboldt.errors import UsageError
from humboldt.languages.bliss.base import AbstractLanguage
from humboldt.languages.bliss.parts.corpus import PRIOR
from humboldt.languages.bliss.parts.dyck import AbstractDyck
from humboldt.measures.bliss._kernel import Table, count_wrong
from humboldt.measures.bliss._stepper import check_distributions

LONGEST = 100  # symbols: of random strings, and of `(^k )^k`, so that k is at most 50
PER_LENGTH = 100
EPSILON = 0.005  # M_cat's margin, section 5.3


@dataclass(frozen=True)
class Reach:
    """M_cat of single strings, by length and by depth, from 0 (no string accepted) to 1.

    - `lengths`: 2, 4, 6, ...; `accepted`: the share of `per_length` random strings of each length that is accepted.
    - `nested_accepted`: whether `(^k )^k` is accepted, for k = 1, 2, 3, ...
    """

    lengths: tuple[int, ...]
    accepted: tuple[float, ...]
    per_length: int
    nested_accepted: tuple[bool, ...]

    @property
    def longest(self) -> int:
        """The length up to which every random string is accepted; 0 if one of the shortest is not."""
        failing = (length for length, share in zip(self.lengths, self.accepted, strict=True) if share < 1)
        return next(failing, self.lengths[-1] + 2) - 2

    @property
    def deepest(self) -> int:
        """The k up to which every `(^k )^k` is accepted."""
        return (*self.nested_accepted, False).index(False)

    def accepted_beyond(self, length: int) -> float:
        """Returns the mean share over the lengths above `length`, with equal weight per length.

        Given the length of the longest training string, it measures a model on strings that *are* longer.
        """
        shares = [share for each, share in zip(self.lengths, self.accepted, strict=True) if each > length]
        if not shares:
            raise UsageError(f"No string here is longer than {length}: the longest has {self.lengths[-1]} symbols.")
        return sum(shares) / len(shares)

    def nested_beyond(self, depth: int) -> float:
        """Returns the share of `(^k )^k` with k above `depth` that is accepted."""
        if depth >= len(self.nested_accepted):
            raise UsageError(f"No string here is deeper than {depth}: the deepest has {len(self.nested_accepted)}.")
        return sum(self.nested_accepted[depth:]) / len(self.nested_accepted[depth:])


def reach(
    language: AbstractDyck,
    stepper: Stepper,
    seed: int = 0,
    *,
    longest: int = LONGEST,
    per_length: int = PER_LENGTH,
    epsilon: float = EPSILON,
) -> Reach:
    """Computes M_cat of random strings of each length up to `longest`, and of `(^k )^k` up to that length.

    All strings of a length are equally probable. They are the same for every model with the same seed.

    **Arguments:**

    - `stepper`: must accept `longest` symbols after `#`.
    """
    if longest < 2 or per_length < 1:
        raise UsageError(f"longest = {longest} and per_length = {per_length} leave no string. Use 2 and 1, or more.")
    rng = np.random.default_rng(seed)
    lengths = tuple(range(2, longest + 1, 2))
    accepted, nested = [], []
    for length in lengths:
        strings = [language.random_string(rng, length) for _ in range(per_length)]
        *of_random, of_nested = accepts_each(language, stepper, [*strings, language.nested(length // 2)], epsilon)
        accepted.append(float(np.mean(of_random)))
        nested.append(bool(of_nested))
    return Reach(lengths, tuple(accepted), per_length, tuple(nested))


def accepts_each(
    language: AbstractLanguage, stepper: Stepper, strings: Sequence[str], epsilon: float = EPSILON
) -> np.ndarray:
    """Returns which strings (of one length) M_cat accepts, shape `(strings,)`: every step must be right."""
    table, automaton = Table(language, PRIOR), language.automaton
    symbols = np.stack([language.input_alphabet.encode(string) for string in strings]).astype(np.int64)
    read = np.concatenate([np.zeros((len(strings), 1), np.int64), symbols], 1)  # `#` and then the string
    known_ahead = stepper.read(read, 0) if isinstance(stepper, FromStrings) else None
    state, known = stepper.init(len(strings)), automaton.init(len(strings))
    errors, totals = np.zeros((2, len(strings)), np.int32), np.zeros(2, np.int64)
    weights, margins = np.ones(len(strings), np.int64), np.array([epsilon])
    for place in range(read.shape[1]):
        if known_ahead is None:
            state, distributions = stepper.step(state, read[:, place])
        else:
            distributions = known_ahead[:, place]
        if place:
            known = automaton.advance(known, read[:, place])
        distributions = check_distributions(
            distributions,
            len(strings),
            table.vocabulary,
            lambda row, place=place: ["#", *strings[row][:place]],
        )
        kinds = automaton.kinds(known)
        count_wrong(distributions, kinds, weights, table.distributions, table.targets, margins, errors, totals)
    return errors[1] == 0
