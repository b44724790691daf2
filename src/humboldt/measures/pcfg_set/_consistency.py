"""Consistency: equality of a model's outputs for two inputs with the same meaning (section 6.4)."""

from collections.abc import Hashable, Mapping, Sequence

from humboldt.measures.pcfg_set._accuracy import same
from humboldt.measures.pcfg_set._score import Score, Share, break_down, check_lengths


def consistency(
    targets: Sequence[str],
    outputs: Sequence[str],
    twin_outputs: Sequence[str],
    *,
    by: Mapping[str, Sequence[Hashable]] | None = None,
) -> Score:
    """Returns the share of items whose two outputs are equal, right or wrong. Two empty outputs are equal.

    Its parts are those of Table 5. `consistent_correct` and `consistent_incorrect` add up to the value. A pair is
    incorrect if at least one of its outputs is; `consistency_of_incorrect` is the share of consistent pairs among
    incorrect ones. `accuracy` and `twin_accuracy` are the sequence accuracies of the two outputs.

    >>> score = consistency(["A", "B", "C", "D"], ["A", "X", "C", ""], ["A", "X", "Y", ""])
    >>> score.value, score.parts["consistent_correct"].value, score.parts["consistency_of_incorrect"]
    (0.75, 0.25, Share(count=2, n=3))
    """
    check_lengths(targets=targets, outputs=outputs, twin_outputs=twin_outputs)
    right = [same(t, o) for t, o in zip(targets, outputs, strict=True)]
    twin_right = [same(t, o) for t, o in zip(targets, twin_outputs, strict=True)]
    flags = tuple(same(a, b) for a, b in zip(outputs, twin_outputs, strict=True))
    correct = [a and b for a, b in zip(right, twin_right, strict=True)]
    return Score(
        "consistency",
        Share.of(flags),
        {
            "consistent_correct": Share.of(f and c for f, c in zip(flags, correct, strict=True)),
            "consistent_incorrect": Share.of(f and not c for f, c in zip(flags, correct, strict=True)),
            "consistency_of_incorrect": Share.of(f for f, c in zip(flags, correct, strict=True) if not c),
            "accuracy": Share.of(right),
            "twin_accuracy": Share.of(twin_right),
        },
        {name: break_down(flags, keys) for name, keys in (by or {}).items()},
        flags,
    )
