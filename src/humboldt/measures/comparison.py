"""Compares models over several tasks: ranks that permutation tests support, and the nearest of several models.

The scores of a model are arrays by task, one value per member; all values of a task are on one scale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.measures.statistics import RANDOM_SEED, Interval

PERMUTATIONS = 9_999
BOOTSTRAPS = 999
SIGNIFICANT = 0.05
SURE = 0.9  # the share of bootstraps in which a model must be the nearest
POSSIBLE = 0.05  # the share above which a model counts among those that may be the nearest

Scores = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Rank:
    """The place of a model among others.

    `place` is 1 plus the number of models that are better, by tests at the 5% level with Holm's correction; models in
    `tied` cannot be told apart from it. `p` has the corrected value for each of the others.
    """

    place: int
    tied: tuple[str, ...]
    p: Mapping[str, float]


def mean_over_tasks(scores: Scores) -> tuple[float, Interval | None]:
    """Returns the mean over tasks of the mean over members, with a 95% interval: members are drawn again within tasks.

    There is no interval if a task has a single member.
    """
    values = [np.asarray(of_task, float) for of_task in scores.values()]
    if not values or any(len(of_task) == 0 for of_task in values):
        raise ValueError("A mean over tasks needs a member of each task.")
    mean = float(np.mean([of_task.mean() for of_task in values]))
    if any(len(of_task) < 2 for of_task in values):
        return mean, None
    rng = np.random.default_rng(RANDOM_SEED)
    drawn = np.mean([_resampled_means(of_task, rng) for of_task in values], axis=0)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return mean, Interval(float(low), float(high))


def difference_p(first: Scores, second: Scores) -> tuple[float, float]:
    """Returns the mean difference over the tasks that both models have, and its two-sided p by permutation.

    Members are permuted between the two models, within each task.
    """
    tasks = [task for task in first if task in second]
    if not tasks:
        raise ValueError("The two models have no task in common.")
    rng = np.random.default_rng(RANDOM_SEED)
    observed, permuted = 0.0, np.zeros(PERMUTATIONS)
    for task in tasks:
        left, right = np.asarray(first[task], float), np.asarray(second[task], float)
        both = np.concatenate([left, right])
        observed += left.mean() - right.mean()
        shuffled = rng.permuted(np.broadcast_to(both, (PERMUTATIONS, len(both))), axis=1)
        permuted += shuffled[:, : len(left)].mean(1) - shuffled[:, len(left) :].mean(1)
    extreme = int((np.abs(permuted) >= abs(observed) - 1e-12).sum())
    return observed / len(tasks), (extreme + 1) / (PERMUTATIONS + 1)


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Returns p-values corrected for the number of tests by Holm's method.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'c': 0.06, 'b': 0.06}
    """
    corrected, largest = {}, 0.0
    for index, (name, value) in enumerate(sorted(p.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, (len(p) - index) * value))
        corrected[name] = largest
    return corrected


def rank(scores: Scores, others: Mapping[str, Scores]) -> Rank | None:
    """Ranks a model among others; `None` if it, or all of the others, has a single member in a task."""
    comparable = {
        name: theirs for name, theirs in others.items() if _has_replicates(theirs) and set(scores) & set(theirs)
    }
    if not _has_replicates(scores) or not comparable:
        return None
    results = {name: difference_p(scores, theirs) for name, theirs in comparable.items()}
    p = holm({name: value for name, (_, value) in results.items()})
    better = [name for name, (difference, _) in results.items() if difference < 0 and p[name] < SIGNIFICANT]
    tied = tuple(name for name in results if p[name] >= SIGNIFICANT)
    return Rank(1 + len(better), tied, p)


def nearest(scores: Scores, others: Mapping[str, Scores]) -> tuple[str, ...]:
    """Returns the model with the most similar scores: one name if it is nearest in 90% of bootstraps, otherwise all
    that may be. Distances are means of absolute differences over the tasks that two models have in common."""
    comparable = {name: theirs for name, theirs in others.items() if set(scores) & set(theirs)}
    if not comparable:
        return ()
    rng = np.random.default_rng(RANDOM_SEED)
    means = {task: _resampled_means(np.asarray(values, float), rng) for task, values in scores.items()}
    distances = []
    for theirs in comparable.values():
        tasks = [task for task in scores if task in theirs]
        differences = [np.abs(means[task] - _resampled_means(np.asarray(theirs[task], float), rng)) for task in tasks]
        distances.append(np.mean(differences, axis=0))
    places = np.argmin(distances, axis=0)
    shares = np.bincount(places, minlength=len(comparable)) / len(places)
    names = list(comparable)
    if shares.max() >= SURE:
        return (names[int(shares.argmax())],)
    order = np.argsort(-shares, kind="stable")
    return tuple(names[i] for i in order if shares[i] >= POSSIBLE)


def _has_replicates(scores: Scores) -> bool:
    return bool(scores) and all(len(values) > 1 for values in scores.values())


def _resampled_means(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns the means of bootstrap samples, shape `(BOOTSTRAPS,)`."""
    return values[rng.integers(0, len(values), (BOOTSTRAPS, len(values)))].mean(1)
