"""What is asked of trained learners: their outputs for the hold-out inputs, and the nats of the examples they code."""

from collections.abc import Iterator, Mapping, Sequence

from humboldt.identity import Member
from humboldt.languages.bias import AbstractBiasTask, Symbols
from humboldt.suites.bias.problem import RuleLearning, lengths_of, stacked
from humboldt.suites.experiments import Reading, Scored, Scoring
from humboldt.training.base import AbstractPredictor

ROWS = 1024  # of a batch
MOST_TRAINING_INPUTS = 2_000  # that are looked at to see who fits; SCAN has more, and no FPA in the paper
MOST_SHOWN = 100  # hold-out inputs whose outputs are kept


def score(scoring: Scoring) -> list[Scored]:
    """First models are asked for outputs, which tell with which rule they agree. All are asked for nats."""
    problem = RuleLearning(scoring.parts.task, scoring.parts.protocol, scoring.members)
    first = [i for i, member in enumerate(scoring.members) if not member["block"]]
    agreements: dict[int, Scored] = {}
    if first:
        agreements = dict(zip(first, _agreements(problem, scoring.take(first)), strict=True))
    # Whoever was trained elsewhere gives outputs alone.
    nats = _nats(problem, scoring) if scoring.predictor.offers("nats") else [{} for _ in scoring.members]
    scored = []
    for i, of_member in enumerate(nats):
        measures, detail = agreements.get(i, ({}, {}))
        scored.append(({**measures, **of_member}, detail))
    return scored


def _agreements(problem: RuleLearning, scoring: Scoring) -> Iterator[Scored]:
    """Who fits the training set, with whom each agrees, and on how many inputs."""
    from humboldt.measures.bias import perfect_agreement, sequence_accuracy

    task = problem.task
    inputs = list(task.holdout_inputs)
    if len(task.training_targets) <= MOST_TRAINING_INPUTS:
        inputs += task.training_targets
    said = outputs(problem, scoring.predictor, inputs, scoring.parts.protocol.longest_output, scoring)
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
        yield measures, {"outputs": shown}


def outputs(
    problem: RuleLearning, predictor: AbstractPredictor, inputs: list[Symbols], longest: int, scoring: Scoring | None
) -> list[list[Symbols]]:
    """Greedy outputs of all members for these inputs, in their order."""
    said: list[list[Symbols]] = [[] for _ in range(predictor.num_members)]
    for begin in range(0, len(inputs), ROWS):
        rows = inputs[begin : begin + ROWS]
        batch = problem.batch_of([(source, ()) for source in rows], len(rows))
        for member, symbols in enumerate(predictor.outputs(batch, longest)):
            said[member] += [problem.outputs(row) for row in symbols]
        if scoring is not None:
            scoring.sink.scored(begin + len(rows), len(inputs))
    return said


def _nats(problem: RuleLearning, scoring: Scoring) -> list[dict[str, float]]:
    """For each member and rule, the nats of all that it codes for the rule."""
    from humboldt.measures.bias import retraining_of

    coded = [retraining_of(problem.task, **member).coded for member in scoring.members]
    most = max(map(len, coded))
    totals: list[dict[str, float]] = [{} for _ in scoring.members]
    for begin in range(0, most, ROWS):
        parts = [examples[begin : begin + ROWS] for examples in coded]
        rows = max(map(len, parts))
        filled = [[one.pair for one in part or coded[0][:1]] for part in parts]
        lengths = lengths_of([pair for pairs in filled for pair in pairs])
        batch = stacked([problem.batch_of(pairs, rows, lengths) for pairs in filled])
        for member, (part, values) in enumerate(zip(parts, scoring.predictor.nats(batch), strict=True)):
            for example, value in zip(part, values, strict=False):
                name = f"nats_{example.rule}"
                totals[member][name] = totals[member].get(name, 0.0) + float(value)
    return totals


def readings(task: AbstractBiasTask, members: Sequence[Mapping[str, float]]) -> list[Reading]:
    """FPA of each rule over the members that fit the training set, with its Wilson interval, and mean accuracy."""
    from humboldt.measures.bias import wilson

    fitting = [measures for measures in members if measures.get("fits", 1.0)]
    found = [Reading("fits", len(fitting) / len(members), len(members))] if "fits" in members[0] else []
    for rule in task.rules:
        count = sum(measures[f"agrees_{rule}"] == 1.0 for measures in fitting)
        interval = wilson(count, len(fitting))
        if interval is not None:
            ends = interval.low, interval.high
            found.append(Reading(f"FPA-{rule}", count / len(fitting), len(fitting), *ends, note="of members that fit"))
        mean = sum(measures[f"accuracy_{rule}"] for measures in members) / len(members)
        found.append(Reading(f"accuracy-{rule}", mean, len(task.holdout_inputs), note="of hold-out inputs"))
    return found


def probe_inputs(task: AbstractBiasTask) -> list[Symbols]:
    """Some of the inputs, to see how long all take."""
    return list(task.holdout_inputs[:ROWS])


def is_first(member: Member) -> bool:
    """Whether it has seen the training set only."""
    return not member["block"]


def rows_asked(task: AbstractBiasTask) -> int:
    """How many outputs are asked of a first model."""
    training = len(task.training_targets)
    return len(task.holdout_inputs) + (training if training <= MOST_TRAINING_INPUTS else 0)
