"""Overgeneralisation and memorisation of exceptions while a model learns (section 6.6)."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humboldt.errors import UsageError
from humboldt.measures.pcfg_set._accuracy import same
from humboldt.measures.pcfg_set._score import Breakdown, Share, break_down, check_lengths


@dataclass(frozen=True)
class Epoch:
    """A model's outputs for the exceptions at one point of training.

    - `overgeneralised`: outputs that follow the rules. `memorised`: outputs that are the exception's target.
    - `neither`: the others.
    """

    overgeneralised: Share
    memorised: Share
    neither: Share


@dataclass(frozen=True)
class OvergeneralisationProfile:
    """A model's outputs for exceptions over time, as in Figure 11.

    - `epochs`: in the order of training. `peak`: the maximal overgeneralisation, the value of Table 1, first reached in
      epoch `peak_epoch` (from 1).
    - `breakdowns`: overgeneralisation in that epoch, by properties of the exceptions.
    """

    epochs: tuple[Epoch, ...]
    peak: Share
    peak_epoch: int
    breakdowns: Mapping[str, Breakdown]

    @property
    def value(self) -> float | None:
        """The height of the peak."""
        return self.peak.value

    @property
    def n(self) -> int:
        """The number of exceptions."""
        return self.peak.n

    def to_json(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {
            "n": self.n,
            "overgeneralisation": self.value,
            "peak_epoch": self.peak_epoch,
            "epochs": [
                {
                    "epoch": number,
                    "overgeneralised": epoch.overgeneralised.value,
                    "memorised": epoch.memorised.value,
                    "neither": epoch.neither.value,
                }
                for number, epoch in enumerate(self.epochs, 1)
            ],
            "breakdowns": {
                name: {str(key): {"value": share.value, "n": share.n} for key, share in breakdown.items()}
                for name, breakdown in self.breakdowns.items()
            },
        }


def overgeneralisation_profile(
    original_targets: Sequence[str],
    exception_targets: Sequence[str],
    outputs_per_epoch: Sequence[Sequence[str]],
    *,
    by: Mapping[str, Sequence[Hashable]] | None = None,
) -> OvergeneralisationProfile:
    """Compares the outputs for exceptions, epoch by epoch, with regular targets and with exceptional ones.

    >>> profile = overgeneralisation_profile(["A B"], ["B A"], [["C"], ["A B"], ["B A"]])
    >>> profile.value, profile.peak_epoch, [epoch.memorised.value for epoch in profile.epochs]
    (1.0, 2, [0.0, 0.0, 1.0])
    """
    if not outputs_per_epoch:
        raise UsageError("There are no outputs of any epoch, so there is no peak. Give at least those of one.")
    for number, pair in enumerate(zip(original_targets, exception_targets, strict=True), 1):
        if same(*pair):
            raise UsageError(
                f"Exception {number} has the same target, {pair[0]!r}, by the rules and as an exception, so "
                "outputs cannot distinguish the two. Leave it out."
            )
    epochs = []
    rule_flags = []
    for outputs in outputs_per_epoch:
        check_lengths(original_targets=original_targets, exception_targets=exception_targets, outputs=outputs)
        by_rule = [same(t, o) for t, o in zip(original_targets, outputs, strict=True)]
        by_heart = [same(t, o) for t, o in zip(exception_targets, outputs, strict=True)]
        neither = [not a and not b for a, b in zip(by_rule, by_heart, strict=True)]
        rule_flags.append(by_rule)
        epochs.append(Epoch(Share.of(by_rule), Share.of(by_heart), Share.of(neither)))
    best = max(range(len(epochs)), key=lambda i: epochs[i].overgeneralised.count)  # the first of equal values
    return OvergeneralisationProfile(
        tuple(epochs),
        epochs[best].overgeneralised,
        best + 1,
        {name: break_down(rule_flags[best], keys) for name, keys in (by or {}).items()},
    )
