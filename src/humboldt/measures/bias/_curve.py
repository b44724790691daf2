"""The speed at which a learner adopts a rule (appendix F, Figure 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.errors import UsageError
from humboldt.measures.bias._statistics import Interval, bootstrap

CONFIDENCE = 0.90  # Figure 3


@dataclass(frozen=True)
class CurvePoint:
    """Nats per remaining hold-out example after training on `seen` examples of the rule; a 90% interval over seeds."""

    seen: int
    nats: float
    interval: Interval | None
    seeds: int


def per_example_curve(nats: Mapping[int, Sequence[Sequence[float]]]) -> tuple[CurvePoint, ...]:
    """Returns the curve of Figure 3.

    **Arguments:**

    - `nats`: the nats of all remaining hold-out examples for each seed, by the number of the rule's examples in the
      training set.

    >>> [point.nats for point in per_example_curve({10: [[4.0, 2.0], [1.0, 1.0]], 11: [[0.5], [0.0]]})]
    [2.0, 0.25]
    """
    points = []
    for seen, seeds in sorted(nats.items()):
        if not seeds or not all(len(values) for values in seeds):
            raise UsageError(
                f"After {seen} examples a seed has no nats. Give each seed those of every remaining example."
            )
        means = [float(np.mean(values)) for values in seeds]
        points.append(CurvePoint(seen, float(np.mean(means)), bootstrap(means, CONFIDENCE), len(means)))
    return tuple(points)
