"""What is seen of members at the end of every epoch: which epoch is best, and what becomes of exceptions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from humboldt.languages.pcfg_set import Overgeneralisation
from humboldt.measures.pcfg_set import overgeneralisation_profile
from humboldt.suites.pcfg_set.problem import Expressions
from humboldt.training.base import AbstractPredictor, Milestone


def look(problem: Expressions) -> Callable[[int, AbstractPredictor], Milestone]:
    """What is asked at the problem's milestones."""

    def look(step: int, predictor: AbstractPredictor) -> Milestone:
        score, shown = validation_score(problem, predictor)
        epoch = step // problem.steps_per_epoch
        records: list[dict[str, Any]] = [
            {"epoch": epoch, problem.protocol.selected_by: round(value, 6)} for value in shown.tolist()
        ]
        if isinstance(problem.splits, Overgeneralisation):
            for record, outputs in zip(records, problem.outputs(predictor, problem.splits.test.sources), strict=True):
                record |= exceptions(problem.splits, outputs)
        return Milestone(score, records)

    return look


def validation_score(problem: Expressions, predictor: AbstractPredictor) -> tuple[np.ndarray, np.ndarray]:
    """What chooses the epoch, more being better, and the measure itself: per symbol, the symbols before it told."""
    by_loss = problem.protocol.selected_by == "loss"
    total, symbols = np.zeros(predictor.num_members), 0
    for items, batch in problem.validation_batches():
        found = predictor.nats(batch) if by_loss else predictor.correct(batch)
        total += found[:, : len(items)].sum(1)
        symbols += int(batch.target_mask[: len(items)].sum())
    measure = total / symbols
    return (-measure if by_loss else measure), measure


KINDS = ("all", "primitive", "complex")


def exceptions(splits: Overgeneralisation, outputs: list[str]) -> dict[str, dict[str, float]]:
    """Shares of exceptions that are answered by the rules and by heart: of all, of primitive and of complex ones."""
    found: dict[str, dict[str, float]] = {"overgeneralised": {}, "memorised": {}}
    for kind in KINDS:
        chosen = [i for i, alone in enumerate(splits.primitive) if kind == "all" or alone == (kind == "primitive")]
        if not chosen:
            continue
        (epoch,) = overgeneralisation_profile(
            [splits.original_targets[i] for i in chosen],
            [splits.test.targets[i] for i in chosen],
            [[outputs[i] for i in chosen]],
        ).epochs
        for name, shares in found.items():
            shares[kind] = round(getattr(epoch, name).value, 6)
    return found
