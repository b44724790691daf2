"""Agreement of learners with a rule: the fraction of perfect agreement (FPA), and accuracy per sequence."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.bias import AbstractBiasTask, Symbols
from humboldt.measures.bias._description_length import Seed
from humboldt.measures.bias._statistics import Interval, bootstrap, wilson

Outputs = Mapping[Symbols, Symbols]  # a member's greedy output for every input
Predictions = Mapping[Any, Outputs]  # by seed


@dataclass(frozen=True)
class Agreement:
    """The number of `members` that agree with a rule on every hold-out input; `interval` is Wilson's, 95%."""

    rule: str
    agreeing: int
    members: int
    interval: Interval | None

    @property
    def share(self) -> float | None:
        """FPA; `None` if there are no members."""
        return self.agreeing / self.members if self.members else None


@dataclass(frozen=True)
class PerfectAgreement:
    """FPA of every rule.

    - `members`: the number of trained members.
    - `fitting`: the number of members with the target output for every training input. Only these are counted in
      `rules`. `None` if there are no outputs for the training inputs: then all members are counted.
    - `inputs`: the number of hold-out inputs that a member must agree on.
    """

    members: int
    fitting: int | None
    inputs: int
    rules: tuple[Agreement, ...]


@dataclass(frozen=True)
class SequenceAccuracy:
    """The share of hold-out inputs whose complete output is that of a rule, as a mean over all members.

    `interval` is a 95% bootstrap interval over members; `per_member` has the share of each member.
    """

    rule: str
    mean: float
    interval: Interval | None
    per_member: tuple[float, ...]


def fits_training(task: AbstractBiasTask, predictions: Predictions) -> dict[Seed, bool] | None:
    """Returns whether each member's outputs for all training inputs are correct; `None` without such outputs."""
    if not any(source in outputs for outputs in predictions.values() for source in task.training_targets):
        return None
    fits = {}
    for seed, outputs in predictions.items():
        _check_given(seed, outputs, task.training_targets, "training", "all training inputs, or for none")
        fits[seed] = all(outputs[source] == target for source, target in task.training_targets.items())
    return fits


def perfect_agreement(
    task: AbstractBiasTask, predictions: Predictions, *, empty_outputs: bool = True
) -> PerfectAgreement:
    """Returns FPA: the share of members, among those that fit training, that agree with a rule on all hold-out inputs.

    **Arguments:**

    - `predictions`: outputs for all hold-out inputs and, to select members that fit, for the training inputs.
    - `empty_outputs`: whether to count the hold-out inputs for which a rule has the empty output. The released code
      cannot generate it, so there `count` always has an FPA of 0 at l = 10.
    """
    check_complete(task, predictions)
    fits = fits_training(task, predictions)
    counted = [outputs for seed, outputs in predictions.items() if fits is None or fits[seed]]
    outputs_of = {rule: dict(task.holdout_pairs(rule)) for rule in task.rules}
    inputs = [
        source
        for source in task.holdout_inputs
        if empty_outputs or all(outputs_of[rule][source] for rule in task.rules)
    ]
    rules = []
    for rule, targets in outputs_of.items():
        agreeing = sum(all(outputs[source] == targets[source] for source in inputs) for outputs in counted)
        rules.append(Agreement(rule, agreeing, len(counted), wilson(agreeing, len(counted))))
    return PerfectAgreement(len(predictions), None if fits is None else len(counted), len(inputs), tuple(rules))


def sequence_accuracy(task: AbstractBiasTask, predictions: Predictions) -> tuple[SequenceAccuracy, ...]:
    """Returns the share of hold-out inputs whose complete output is that of a rule, as for SCAN in appendix D."""
    check_complete(task, predictions)
    results = []
    for rule in task.rules:
        pairs = task.holdout_pairs(rule)
        shares = [float(np.mean([outputs[x] == y for x, y in pairs])) for outputs in predictions.values()]
        results.append(SequenceAccuracy(rule, float(np.mean(shares)), bootstrap(shares), tuple(shares)))
    return tuple(results)


def check_complete(task: AbstractBiasTask, predictions: Predictions) -> None:
    """Refuses members without an output for some hold-out input."""
    if not predictions:
        raise UsageError("There are no predictions, so there is nothing to score. Give those of at least one seed.")
    for seed, outputs in predictions.items():
        _check_given(seed, outputs, task.holdout_inputs, "hold-out", "all of them")


def _check_given(seed: Seed, outputs: Outputs, sources: Collection[Symbols], kind: str, wanted: str) -> None:
    missing = [source for source in sources if source not in outputs]
    if missing:
        raise UsageError(
            f"Seed {seed} has no output for the {kind} input {' '.join(missing[0])!r} ({len(missing)} of "
            f"{len(sources)} are missing). Give the outputs for {wanted}."
        )
