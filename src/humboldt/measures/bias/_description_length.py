"""Description length, equation (1) of the paper without its constant: nats summed over the hold-out examples."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from humboldt.errors import UsageError, unknown_name
from humboldt.languages.bias import AbstractBiasTask, Symbols
from humboldt.measures.bias._statistics import Comparison, Interval, bootstrap, paired_test

Seed = int | str


@dataclass(frozen=True)
class Measured:
    """The cost, in nats, of coding one hold-out example with the output of a rule."""

    seed: Seed
    rule: str
    input: Symbols
    nats: float


@dataclass(frozen=True, eq=False)
class DescriptionLengths:
    """L for every seed and rule. `nats`: shape `(seeds, rules)`."""

    seeds: tuple[Seed, ...]
    rules: tuple[str, ...]
    nats: np.ndarray

    def of(self, rule: str) -> np.ndarray:
        """Returns L of one rule, shape `(seeds,)`."""
        if rule not in self.rules:
            raise unknown_name("rule", rule, self.rules)
        return self.nats[:, self.rules.index(rule)]

    def only(self, seeds: Iterable[Seed]) -> "DescriptionLengths":
        """Returns the rows of these seeds."""
        selected = set(seeds)
        rows = [row for row, seed in enumerate(self.seeds) if seed in selected]
        return DescriptionLengths(tuple(self.seeds[row] for row in rows), self.rules, self.nats[rows])


def description_lengths(task: AbstractBiasTask, measured: Iterable[Measured]) -> DescriptionLengths:
    """Sums the nats of the hold-out examples for each seed and rule. Every example must occur exactly once."""
    inputs = set(task.holdout_inputs)
    costs: dict[tuple[Seed, str], dict[Symbols, float]] = {}
    for each in measured:
        row = costs.setdefault((each.seed, each.rule), {})
        if each.rule not in task.rules:
            raise unknown_name("rule", each.rule, task.rules)
        if each.input not in inputs:
            raise UsageError(f"{_place(each)} is not a hold-out example. Leave training examples out.")
        if each.input in row:
            raise UsageError(f"{_place(each)} is coded twice. Give every hold-out example once for each rule and seed.")
        if math.isnan(each.nats):
            raise UsageError(f"{_place(each)} costs NaN nats. Leave out a seed whose training diverged.")
        row[each.input] = each.nats
    seeds = tuple(dict.fromkeys(seed for seed, _ in costs))
    present = {rule for _, rule in costs}
    rules = tuple(rule for rule in task.rules if rule in present)
    if not seeds:
        raise UsageError("There is no coded example, so there is no description length. Give at least one seed.")
    for seed in seeds:
        for rule in rules:
            missing = [source for source in task.holdout_inputs if source not in costs.get((seed, rule), {})]
            if missing:
                raise UsageError(
                    f"Seed {seed}, rule {rule!r}: {len(missing)} of {len(inputs)} hold-out examples are missing, the "
                    f"first is {' '.join(missing[0])!r}. L is a sum over all of them: give every one."
                )
    totals = [[math.fsum(costs[seed, rule].values()) for rule in rules] for seed in seeds]
    return DescriptionLengths(seeds, rules, np.array(totals))


@dataclass(frozen=True)
class RuleLength:
    """L of a rule: the mean over seeds in nats, and its 95% bootstrap interval."""

    rule: str
    nats: float
    interval: Interval | None

    @property
    def bits(self) -> float:
        """The mean in bits."""
        return self.nats / math.log(2)


@dataclass(frozen=True)
class LengthSummary:
    """L of all rules over a number of seeds, and a paired t-test between any two of them."""

    seeds: int
    rules: tuple[RuleLength, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def lowest(self) -> str:
        """The rule with the lowest mean."""
        return min(self.rules, key=lambda each: each.nats).rule

    @property
    def lowest_p(self) -> float | None:
        """The largest p-value of the lowest rule against every other; `None` if a test is not possible."""
        values = [each.p for each in self.comparisons if self.lowest in (each.left, each.right)]
        return None if not values or None in values else max(value for value in values if value is not None)

    def preferred(self, level: float = 1e-3) -> str | None:
        """Returns the lowest rule if it is significantly lower than all others: the star of the paper's tables."""
        return self.lowest if self.lowest_p is not None and self.lowest_p < level else None


@dataclass(frozen=True)
class LengthReport:
    """L over all seeds, and over those whose first model fits the training set.

    `fitting` is `None` if it is not known which seeds fit, or if none does. The paper does not specify which it prints.
    """

    everyone: LengthSummary
    fitting: LengthSummary | None


def summarise(lengths: DescriptionLengths, fits: Mapping[Any, bool] | None = None) -> LengthReport:
    """Returns means over seeds, intervals and tests, with and without seeds that do not fit.

    **Arguments:**

    - `fits`: for every seed, whether the model of the first step outputs the target of every training input.
    """
    if fits is None:
        return LengthReport(_summary(lengths), None)
    if unknown := [seed for seed in lengths.seeds if seed not in fits]:
        raise UsageError(f"`fits` has no entry for seed {unknown[0]}. Give, for every seed, whether it fits training.")
    fitting = [seed for seed in lengths.seeds if fits[seed]]
    return LengthReport(_summary(lengths), _summary(lengths.only(fitting)) if fitting else None)


def uniform_nats(task: AbstractBiasTask, target: Sequence[str]) -> float:
    """Returns the nats of a target if all output symbols and the end are equally likely at every place."""
    return (len(target) + 1) * math.log(len(task.output_alphabet) + 1)


def _summary(lengths: DescriptionLengths) -> LengthSummary:
    rules = [RuleLength(rule, float(lengths.of(rule).mean()), bootstrap(lengths.of(rule))) for rule in lengths.rules]
    tests = [
        Comparison(left, right, *paired_test(lengths.of(left), lengths.of(right)))
        for left, right in combinations(lengths.rules, 2)
    ]
    return LengthSummary(len(lengths.seeds), tuple(rules), tuple(tests))


def _place(each: Measured) -> str:
    return f"Seed {each.seed}, rule {each.rule!r}: the input {' '.join(each.input)!r}"
