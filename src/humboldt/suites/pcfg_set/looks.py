"""Measures members at the end of every epoch: validation score and answers to exceptions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from humboldt.languages.pcfg_set import Overgeneralisation
from humboldt.measures.pcfg_set import overgeneralisation_profile
from humboldt.suites.pcfg_set.problem import Expressions
from humboldt.training.abilities import CountsRight, GivesProbabilities, ability
from humboldt.training.base import AbstractPredictor, Milestone


def look(problem: Expressions) -> Callable[[int, AbstractPredictor], Milestone]:
    """Returns the function that evaluates a predictor at the problem's milestones."""

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
    """Returns the score that chooses the epoch (higher is better) and the measure itself, both of shape `(members,)`.

    The measure is a mean over target symbols, with teacher forcing.
    """
    by_loss = problem.protocol.selected_by == "loss"
    measure_of = ability(predictor, GivesProbabilities).nats if by_loss else ability(predictor, CountsRight).correct
    total, symbols = np.zeros(predictor.num_members), 0
    for items, batch in problem.validation_batches():
        total += measure_of(batch)[:, : len(items)].sum(1)
        symbols += int(batch.target_mask[: len(items)].sum())
    measure = total / symbols
    return (-measure if by_loss else measure), measure


KINDS = ("all", "primitive", "complex")


def exceptions(splits: Overgeneralisation, outputs: list[str]) -> dict[str, dict[str, float]]:
    """Returns the shares of exceptions answered by the rules and by heart, for all, primitive and complex ones."""
    answered: dict[str, dict[str, float]] = {"overgeneralised": {}, "memorised": {}}
    for kind in KINDS:
        rows = [i for i, alone in enumerate(splits.primitive) if kind == "all" or alone == (kind == "primitive")]
        if not rows:
            continue
        (epoch,) = overgeneralisation_profile(
            [splits.original_targets[i] for i in rows],
            [splits.test.targets[i] for i in rows],
            [[outputs[i] for i in rows]],
        ).epochs
        for name, shares in answered.items():
            shares[kind] = round(getattr(epoch, name).value, 6)
    return answered
