"""Scores of learners: agreement of their outputs with each rule, and the nats of the examples that they code."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from humboldt.core.identity import Member
from humboldt.languages.bias import AbstractBiasTask, Symbols
from humboldt.suites.bias.problem import RuleLearning, lengths_of, stacked
from humboldt.suites.catalogue import OUTSIDE
from humboldt.suites.experiments import MemberScore, Probe, ReportedNumber, Resolved, ScoringInput
from humboldt.training.abilities import GivesProbabilities, WritesOutputs, ability
from humboldt.training.base import AbstractPredictor

ROWS = 1024  # of a batch
MOST_TRAINING_INPUTS = 2_000  # for which fitting is checked; SCAN has more, and no FPA in the paper
PROBED = 32  # inputs of an estimate
LEFT = "left_"  # before the rule, a measure of a curve: mean nats of the examples that are left
MOST_SHOWN = 100  # hold-out inputs whose outputs are kept


def score(scoring: ScoringInput) -> list[MemberScore]:
    """Scores members: the rule that a first model's outputs agree with, and the nats of the examples that members code.

    A model from outside may give only one of the two.
    """
    problem, predictor = scoring.problem, scoring.predictor
    assert isinstance(problem, RuleLearning)
    first = [i for i, member in enumerate(scoring.members) if not member["block"]]
    agreements: dict[int, MemberScore] = {}
    if first and isinstance(predictor, WritesOutputs):
        agreements = dict(zip(first, _agreements(problem, scoring.take(first)), strict=True))
    nats: list[dict[str, float]] = [{} for _ in scoring.members]
    if isinstance(predictor, GivesProbabilities):
        nats = _nats(problem, scoring, predictor)
    is_outside = scoring.resolved.contender.engine == OUTSIDE
    scored = []
    for i, (member, of_member) in enumerate(zip(scoring.members, nats, strict=True)):
        agreement = agreements.get(i, MemberScore())
        seed = {"seed": member["seed"]} if is_outside else {}  # readings add up the lengths of a seed
        scored.append(MemberScore({**agreement.measures, **of_member}, {**agreement.detail, **seed}))
    return scored


def _agreements(problem: RuleLearning, scoring: ScoringInput) -> Iterator[MemberScore]:
    """Yields for each member whether it fits the training set, and its agreement with each rule."""
    from humboldt.measures.bias import perfect_agreement, sequence_accuracy

    task = problem.task
    inputs = list(task.holdout_inputs)
    covers = scoring.predictor.covers
    if len(task.training_targets) <= MOST_TRAINING_INPUTS if covers is None else "train" in covers:
        inputs += task.training_targets
    said = outputs(problem, scoring.predictor, inputs, scoring.resolved.protocol.longest_output, scoring)
    for of_member in said:
        predictions = {0: dict(zip(inputs, of_member, strict=True))}
        agreement = perfect_agreement(task, predictions)
        without = perfect_agreement(task, predictions, empty_outputs=False)
        measures = {f"agrees_{each.rule}": float(each.agreeing) for each in agreement.rules}
        if without.inputs < agreement.inputs:
            measures |= {f"agrees_{each.rule}_without_empty": float(each.agreeing) for each in without.rules}
        if agreement.fitting is not None:
            measures["fits"] = float(agreement.fitting)
        measures |= {f"accuracy_{each.rule}": each.mean for each in sequence_accuracy(task, predictions)}
        shown = {" ".join(x): " ".join(y) for x, y in predictions[0].items()} if len(inputs) <= MOST_SHOWN else {}
        yield MemberScore(measures, {"outputs": shown})


def outputs(
    problem: RuleLearning,
    predictor: AbstractPredictor,
    inputs: list[Symbols],
    longest: int,
    scoring: ScoringInput | None,
) -> list[list[Symbols]]:
    """Returns the greedy outputs of each member, in the order of the inputs."""
    said: list[list[Symbols]] = [[] for _ in range(predictor.num_members)]
    for begin in range(0, len(inputs), ROWS):
        rows = inputs[begin : begin + ROWS]
        batch = problem.batch_of([(source, ()) for source in rows], len(rows))
        for member, symbols in enumerate(ability(predictor, WritesOutputs).outputs(batch, longest)):
            said[member] += [problem.outputs(row) for row in symbols]
        if scoring is not None:
            scoring.sink.scored(begin + len(rows), len(inputs))
    return said


def _nats(problem: RuleLearning, scoring: ScoringInput, predictor: GivesProbabilities) -> list[dict[str, float]]:
    """Returns for each member and rule the nats of the examples that it codes; for a curve, the mean over the examples
    that are left."""
    from humboldt.measures.bias import curve_retraining_of, retraining_of

    rules = scoring.predictor.covers  # a file may have nats of some rules only
    block_size = problem.protocol.curve_block
    if block_size:
        first = next(iter(problem.task.rules))
        coded = [
            curve_retraining_of(problem.task, first, m["seed"], m["block"], block_size=block_size).coded
            for m in scoring.members
        ]
    else:
        coded = [retraining_of(problem.task, **member, rules=rules).coded for member in scoring.members]
    most = max(map(len, coded))
    totals: list[dict[str, float]] = [{} for _ in scoring.members]
    for begin in range(0, most, ROWS):
        parts = [examples[begin : begin + ROWS] for examples in coded]
        rows = max(map(len, parts))
        filled = [[one.pair for one in part or coded[0][:1]] for part in parts]
        lengths = lengths_of([pair for pairs in filled for pair in pairs])
        batch = stacked([problem.batch_of(pairs, rows, lengths) for pairs in filled])
        for member, (part, values) in enumerate(zip(parts, predictor.nats(batch), strict=True)):
            for example, value in zip(part, values, strict=False):
                name = f"nats_{example.rule}"
                totals[member][name] = totals[member].get(name, 0.0) + float(value)
    if block_size:
        return [
            {name.replace("nats_", LEFT): nats / len(examples) for name, nats in total.items()}
            for total, examples in zip(totals, coded, strict=True)
        ]
    return totals


def readings(task: AbstractBiasTask, scores: Sequence[MemberScore]) -> list[ReportedNumber]:
    """Returns for each rule its share of the members that fit the training set (FPA) with a Wilson interval, the mean
    accuracy, and the mean description length with a bootstrap interval."""
    first = [score.measures for score in scores if any(name.startswith("agrees_") for name in score.measures)]
    has_nats = any(name.startswith("nats_") for score in scores for name in score.measures)
    return [
        *(_agreement_readings(task, first) if first else ()),
        *(_length_readings(task, scores) if has_nats else ()),
    ]


def _agreement_readings(task: AbstractBiasTask, members: Sequence[Mapping[str, float]]) -> list[ReportedNumber]:
    from humboldt.measures.bias import wilson

    fitting = [measures for measures in members if measures.get("fits", 1.0)]
    numbers = (
        [ReportedNumber(measure="fits", value=len(fitting) / len(members), n=len(members))]
        if "fits" in members[0]
        else []
    )
    for rule in task.rules:
        for ending, note in (("", ""), ("_without_empty", ", without empty outputs")):
            if f"agrees_{rule}{ending}" not in members[0]:
                continue
            count = sum(measures[f"agrees_{rule}{ending}"] == 1.0 for measures in fitting)
            interval = wilson(count, len(fitting))
            if interval is not None:
                numbers.append(
                    ReportedNumber(
                        measure=f"FPA-{rule}{note}",
                        value=count / len(fitting),
                        n=len(fitting),
                        low=interval.low,
                        high=interval.high,
                        note="of members that fit",
                    )
                )
        mean = sum(measures[f"accuracy_{rule}"] for measures in members) / len(members)
        numbers.append(
            ReportedNumber(
                measure=f"accuracy-{rule}", value=mean, n=len(task.holdout_inputs), note="of hold-out inputs"
            )
        )
    return numbers


def _length_readings(task: AbstractBiasTask, scores: Sequence[MemberScore]) -> list[ReportedNumber]:
    """Returns description lengths in bits, the unit of the paper's numbers, and in nats."""
    import numpy as np

    from humboldt.measures.bias import DescriptionLengths, summarise

    rules = tuple(rule for rule in task.rules if any(f"nats_{rule}" in score.measures for score in scores))
    parts: dict[Any, list[Mapping[str, float]]] = {}
    for score in scores:
        parts.setdefault(score.detail["seed"], []).append(score.measures)
    totals = [
        [math.fsum(part.get(f"nats_{rule}", 0.0) for part in of_seed) for rule in rules] for of_seed in parts.values()
    ]
    summary = summarise(DescriptionLengths(tuple(parts), rules, np.array(totals))).everyone
    numbers = []
    for each in summary.rules:
        note = "mean over seeds"
        if each.rule == summary.lowest and summary.lowest_p is not None:
            note += f"; lower than every other rule with p = {summary.lowest_p:.2g} (paired t-test)"
        for measure, unit in ((f"L-{each.rule}", math.log(2)), (f"L-{each.rule}, nats", 1.0)):
            numbers.append(
                ReportedNumber(
                    measure=measure,
                    value=each.nats / unit,
                    n=summary.seeds,
                    low=None if each.interval is None else each.interval.low / unit,
                    high=None if each.interval is None else each.interval.high / unit,
                    note=note if unit == 1.0 else f"bits, {note}",
                )
            )
    return numbers


def probe(resolved: Resolved) -> Probe:
    """Builds a probe that writes outputs for a few inputs, as long as those of the longest rule."""
    task, inputs = resolved.task, list(resolved.task.holdout_inputs[:PROBED])
    problem = RuleLearning(task, resolved.protocol, [{"seed": 0, "rule": "", "block": 0}])
    longest = max(len(task.output(rule, asked)) for rule in task.rules for asked in inputs)
    most = min(longest + 1, resolved.protocol.longest_output)
    return Probe(lambda predictor: outputs(problem, predictor, inputs, most, None), rows_asked(task) / len(inputs))


def is_first(member: Member) -> bool:
    """Returns whether a member was trained on the training set only."""
    return not member["block"]


def rows_asked(task: AbstractBiasTask) -> int:
    """Returns the number of inputs for which a first model writes outputs."""
    training = len(task.training_targets)
    return len(task.holdout_inputs) + (training if training <= MOST_TRAINING_INPUTS else 0)
