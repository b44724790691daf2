"""The probabilities of a grammar, and histograms of the sizes of expressions."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set.parts.functions import PCFG_SET, Language
from humboldt.languages.pcfg_set.parts.interpret import depth, length, num_functions, string_arguments


@dataclass(frozen=True)
class Productions:
    """Probabilities of the grammar's rules. An expression begins with a function; then each argument is drawn.

    - `unary`: P(the function has one argument | function).
    - `function`: P(function | argument); otherwise the argument is a string.
    - `functions`: P(name | its number of arguments).
    - `string_lengths`: P(number of letters | string).
    """

    unary: float
    function: float
    functions: Mapping[str, float]
    string_lengths: Mapping[int, float]

    def __post_init__(self) -> None:
        for name, value in (("unary", self.unary), ("function", self.function)):
            if not 0 <= value <= 1:
                raise UsageError(f"The probability {name} = {value:g} is not between 0 and 1.")
        total = sum(self.string_lengths.values())
        if min(self.string_lengths, default=0) < 1 or abs(total - 1) > 1e-9 or min(self.string_lengths.values()) < 0:
            raise UsageError(
                f"String lengths {dict(self.string_lengths)} must be 1 or more, with probabilities that sum to 1, "
                f"not to {total:g}."
            )

    @property
    def chances(self) -> tuple[float, float]:
        """The two probabilities that decide the shape of a tree: `unary` and `function`."""
        return self.unary, self.function

    @property
    def string_weights(self) -> np.ndarray:
        """The probability of each string length from 0, shape `(longest + 1,)`."""
        weights = np.zeros(max(self.string_lengths) + 1)
        weights[list(self.string_lengths)] = list(self.string_lengths.values())
        return weights

    def choices(self, language: Language, arity: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns the ids of the functions with `arity` arguments, and their cumulative probabilities."""
        ids = [i for i, function in enumerate(language.functions) if function.arity == arity]
        for i in ids:
            if language.functions[i].name not in self.functions:
                raise UsageError(
                    f"The productions give no probability to the function {language.functions[i].name!r}. They have "
                    f"{', '.join(self.functions)}. Give productions that belong to the language."
                )
        weights = np.array([self.functions[language.functions[i].name] for i in ids])
        is_used = self.unary > 0 if arity == 1 else self.unary < 1
        if is_used and abs(weights.sum() - 1) > 1e-9:
            raise UsageError(
                f"The probabilities of the functions with {arity} arguments sum to {weights.sum():g}. They must "
                f"sum to 1, or `unary` must exclude them (it is {self.unary:g})."
            )
        return np.array(ids, np.int64), np.cumsum(weights)


@dataclass(frozen=True)
class RandomProductions:
    """Productions whose `unary` and `function` are drawn for every tree, uniform in [0, 1], as the authors do.

    - `functions`, `string_lengths`: as in `Productions`.
    - `late_string_lengths`: those of trees drawn after the shortest strings ran out. The authors' generator uses every
      string once, also in trees that it then discards. With 520 letters there are 270,400 strings of two letters;
      after these, strings have 3 to 5 letters. `None`: strings never run out.
    - `early`: the number of trees drawn before that, for each tree of the corpus. A cell of the histogram takes the
      first trees that have its length and depth, so frequent sizes are early, and sizes that are rare in the grammar
      but wanted often are late.
    """

    functions: Mapping[str, float]
    string_lengths: Mapping[int, float]
    late_string_lengths: Mapping[int, float] | None = None
    early: float = math.inf

    def __post_init__(self) -> None:
        if not self.early >= 0:
            raise UsageError(f"early = {self.early:g}: the number of early trees for each tree must not be negative.")
        for late in (False, True):
            self.given(0.5, 0.5, late=late)  # checks the probabilities

    def given(self, unary: float, function: float, *, late: bool = False) -> Productions:
        """Returns the productions of a tree, given its two probabilities."""
        lengths = self.late_string_lengths if late and self.late_string_lengths is not None else self.string_lengths
        return Productions(unary, function, self.functions, lengths)


def uniform_productions(
    language: Language, *, unary: float, function: float, string_lengths: tuple[int, int] = (2, 5)
) -> Productions:
    """Returns productions with equal probabilities of functions of one arity, and of string lengths in a range."""
    lengths = range(string_lengths[0], string_lengths[1] + 1)
    return Productions(
        unary,
        function,
        {function.name: 1 / len(language.of_arity(function.arity)) for function in language.functions},
        {n: 1 / len(lengths) for n in lengths},
    )


def estimate(expressions: Iterable[str], language: Language = PCFG_SET) -> Productions:
    """Returns the productions of maximum likelihood: relative frequencies.

    >>> estimated = estimate(["copy A B", "append copy A B C , D E"])
    >>> estimated.unary, estimated.function, estimated.functions["copy"], estimated.string_lengths
    (0.6666666666666666, 0.25, 1.0, {2: 0.6666666666666666, 3: 0.3333333333333333})
    """
    functions: Counter[str] = Counter()
    lengths: Counter[int] = Counter()
    count = 0
    for expression in expressions:
        count += 1
        functions.update(language.by_spelling[t].name for t in expression.split() if t in language.by_spelling)
        lengths.update(len(string.split()) for string in string_arguments(expression, language))
    total = functions.total()
    if total == 0:
        raise UsageError(
            "Productions cannot be estimated from expressions without functions. Give some that have them."
        )
    per_arity = {arity: sum(functions[function.name] for function in language.of_arity(arity)) for arity in (1, 2)}
    return Productions(
        unary=per_arity[1] / total,
        function=(total - count) / (total - count + lengths.total()),  # the root is not an argument
        functions={
            function.name: functions[function.name] / max(per_arity[function.arity], 1)
            for function in language.functions
        },
        string_lengths={n: lengths[n] / lengths.total() for n in sorted(lengths)},
    )


class JointHistogram:
    """The number of occurrences of each pair of length and depth.

    >>> two, three = JointHistogram([(3, 1), (4, 2)]), JointHistogram([(3, 1), (3, 1), (4, 2)])
    >>> round(two.distance(three), 3)
    0.167
    """

    def __init__(self, pairs: Iterable[tuple[int, int]] | Mapping[tuple[int, int], int]) -> None:
        self.counts: Counter[tuple[int, int]] = Counter(pairs)

    @classmethod
    def of(cls, expressions: Iterable[str], language: Language = PCFG_SET) -> "JointHistogram":
        """Returns the histogram of some expressions."""
        return cls((length(expression), depth(expression, language)) for expression in expressions)

    def distance(self, other: "JointHistogram") -> float:
        """Returns the total variation distance, half the sum of absolute differences: 0 if equal, 1 if disjoint."""
        ours, theirs = self.counts.total(), other.counts.total()
        cells = self.counts.keys() | other.counts.keys()
        return sum(abs(self.counts[cell] / ours - other.counts[cell] / theirs) for cell in cells) / 2


@dataclass(frozen=True)
class Spread:
    """Mean, standard deviation and range of one property of expressions."""

    mean: float
    deviation: float
    smallest: int
    largest: int


@dataclass(frozen=True)
class Statistics:
    """The statistics in Table 3 of the paper, and the joint histogram of length and depth."""

    count: int
    depth: Spread
    length: Spread
    num_functions: Spread
    histogram: JointHistogram

    def __str__(self) -> str:
        lines = [f"{self.count:,} expressions"]
        for name in ("depth", "length", "num_functions"):
            spread: Spread = getattr(self, name)
            lines.append(
                f"{name:14} mean {spread.mean:6.2f}  deviation {spread.deviation:5.2f}  "
                f"from {spread.smallest} to {spread.largest}"
            )
        return "\n".join(lines)


def statistics(expressions: Iterable[str], language: Language = PCFG_SET) -> Statistics:
    """Returns means, deviations and extremes of depth, length and number of functions."""
    rows = [(depth(e, language), length(e), num_functions(e, language)) for e in expressions]
    if not rows:
        raise UsageError("There are no expressions to describe.")
    columns = np.array(rows).T
    depths, lengths, functions = (Spread(float(c.mean()), float(c.std()), int(c.min()), int(c.max())) for c in columns)
    return Statistics(len(rows), depths, lengths, functions, JointHistogram((n, d) for d, n, _ in rows))


@cache
def _shipped() -> dict:
    return json.loads(resources.files("humboldt.languages.pcfg_set").joinpath("naturalised.json").read_text("utf-8"))


def released_productions() -> Productions:
    """Returns productions estimated from the released development set (`reproductions/pcfg_set/estimate.py`)."""
    stored = _shipped()["productions"]
    return Productions(
        stored["unary"],
        stored["function"],
        stored["functions"],
        {int(n): share for n, share in stored["string_lengths"].items()},
    )


def authors_productions(language: Language = PCFG_SET) -> RandomProductions:
    """Returns the productions of the authors' generator: random for each tree, functions and string lengths uniform.

    `early` is estimated from the released items (`reproductions/pcfg_set/estimate.py`).
    """
    early, late = (uniform_productions(language, unary=0.5, function=0.5, string_lengths=n) for n in ((2, 5), (3, 5)))
    return RandomProductions(early.functions, early.string_lengths, late.string_lengths, _shipped()["early"])


def released_histogram() -> JointHistogram:
    """Returns lengths and depths of the released development and test items (`reproductions/pcfg_set/estimate.py`)."""
    return JointHistogram({(n, d): count for n, d, count in _shipped()["histogram"]})
