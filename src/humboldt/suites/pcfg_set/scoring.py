"""Scores members in any test, from their outputs; the measures are in `humboldt.measures.pcfg_set`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from humboldt.languages.pcfg_set import (
    Examples,
    Overgeneralisation,
    Substitutivity,
    exception_places,
    function_difficulty,
    localism_splits,
    longer_strings,
    num_functions,
    string_arguments,
)
from humboldt.measures.pcfg_set import (
    Score,
    break_down,
    consistency,
    embedding_distances,
    held_out_pairs_of,
    localism_consistency,
    overgeneralisation_profile,
    sequence_accuracy,
    sizes_of,
    unroll,
)
from humboldt.measures.statistics import share
from humboldt.suites.capabilities import WrongString
from humboldt.suites.experiments import MemberScore, Probe, ReportedNumber, Resolved, ScoringInput
from humboldt.suites.pcfg_set.files import FileExpressions, RecordedExpressions
from humboldt.suites.pcfg_set.looks import exceptions
from humboldt.suites.pcfg_set.problem import Expressions
from humboldt.suites.pcfg_set.records import PEAKS, peak
from humboldt.training.abilities import WritesOutputs, ability
from humboldt.training.base import AbstractPredictor

Answers = list[str]
FIRST_STRING = "chance: always answering with the first string argument"
MAIN = {  # the measure of an evaluation that is a share of test items
    "accuracy": "sequence_accuracy",
    "overgeneralisation": "overgeneralised",
    "localism": "consistency",
    "substitutivity": "consistency",
}
WRONG_TRIED = 500  # of the shortest test items, to find one that a member gets wrong
LENGTHS = 19  # of strings in the test of longer strings: 2 to 20
PROBED_SYMBOLS = 16  # of an output, in an estimate: about the mean of the targets


def score(scoring: ScoringInput) -> list[MemberScore]:
    """Scores members under the evaluation of the input."""
    problem = scoring.problem
    assert isinstance(problem, Expressions)
    return SCORERS[scoring.evaluation.name](problem, scoring)


def readings(evaluation: str, scores: Sequence[MemberScore]) -> list[ReportedNumber]:
    """Returns every measure; the main one with its Wilson interval, breakdowns and a baseline."""
    numbers, main = [], MAIN.get(evaluation)
    for member in scores:
        of_items = member.detail.get("score") or member.detail.get("exceptions", {})
        for measure, kind in PEAKS.items() if evaluation == "overgeneralisation" else ():
            highest = peak(member, kind)
            if highest is not None:
                looks = [look for look in member.detail.get("milestones", ()) if kind in look["overgeneralised"]]
                best = next((look["epoch"] for look in looks if look["overgeneralised"][kind] == highest), None)
                when = "in the end" if best is None else f"the highest of {len(looks)} epochs, in epoch {best}"
                note = f"of {kind} exceptions, {when}"
                numbers.append(ReportedNumber(measure=measure, value=highest, note=note))
        for measure, value in member.measures.items():
            if measure != main:
                part = of_items.get(measure)
                numbers.append(
                    ReportedNumber(measure=measure, value=value, n=part["n"] if isinstance(part, dict) else None)
                )
                continue
            n = of_items["n"]
            part = share(round(value * n), n)
            breakdowns = {
                by: {key: one["value"] for key, one in shares.items()} for by, shares in of_items["breakdowns"].items()
            }
            numbers.append(
                ReportedNumber(
                    measure=measure,
                    value=value,
                    n=n,
                    low=part.low,
                    high=part.high,
                    chance=member.measures.get("first_string"),
                    breakdown=breakdowns,
                    note=FIRST_STRING,
                )
            )
    return numbers


def probe(resolved: Resolved, evaluation: str) -> Probe:
    """Builds a probe that writes outputs for one batch of the test set."""
    problem, protocol, functions = problem_of(resolved), resolved.protocol, resolved.task.language.functions
    test = problem.splits.test.sources
    batches = [batch for _, batch in problem.asked_batches(problem.vocabulary.sources(test))]
    asked = {
        "localism": sum(map(num_functions, test)),
        "substitutivity": 2 * len(test),
        "functions": protocol.function_items * len(functions),
        "string_lengths": protocol.longer_items * LENGTHS * sum(function.arity for function in functions),
    }.get(evaluation, len(test))
    batch = batches[len(batches) // 2]

    def outputs(predictor: AbstractPredictor) -> object:
        return ability(predictor, WritesOutputs).outputs(batch, PROBED_SYMBOLS)

    return Probe(outputs, asked / len(test) * len(batches) * protocol.beam)


def first_wrong(resolved: Resolved, predictor: AbstractPredictor) -> WrongString:
    """Returns the first of the shortest test items that a member gets wrong."""
    problem = problem_of(resolved)
    test = problem.splits.test
    order = sorted(range(len(test)), key=lambda i: len(test.sources[i].split()))[:WRONG_TRIED]
    sources = [test.sources[i] for i in order]
    (outputs,) = problem.outputs(predictor, sources, lambda count: None)
    for place, source, output in zip(order, sources, outputs, strict=True):
        if output != test.targets[place]:
            words = tuple(source.split()), tuple(output.split()), tuple(test.targets[place].split())
            return WrongString(words[0], "the shortest test items", answer=words[1], expected=words[2])
    return WrongString(None, f"the {len(order):,} shortest test items")


def problem_of(resolved: Resolved) -> Expressions:
    """Returns the corpus and its splits."""
    return Expressions(resolved.task, resolved.protocol, resolved.model)


def accuracy(problem: Expressions, scoring: ScoringInput) -> list[MemberScore]:
    """Scores sequence accuracy on the test set, with its breakdowns."""
    test: Examples = problem.splits.test
    by: dict[str, Sequence[Any]] = dict(sizes_of(test.sources))
    if scoring.resolved.training.task == "systematicity":
        by["pair"] = held_out_pairs_of(test.sources)

    def scored(outputs: Answers) -> MemberScore:
        score = sequence_accuracy(test.targets, outputs, by=by)
        measures = {"sequence_accuracy": _value(score), **_parts(score)}
        single = score.breakdowns["num_functions"].get(1)
        if single is not None:
            measures["single_functions"] = single.count / single.n
        return MemberScore(measures, {"score": score.to_json(), **_lengths(problem, test, outputs)})

    scores = list(map(scored, _asked(problem, scoring, len(test))(test.sources)))
    return _beside(scores, _value(sequence_accuracy(test.targets, first_strings(test.sources))))


def substitutivity(problem: Expressions, scoring: ScoringInput) -> list[MemberScore]:
    """Scores consistency between items and the same items with a synonym, and distances between synonyms."""
    splits: Substitutivity = problem.splits
    ask = _asked(problem, scoring, 2 * len(splits.test))
    distances = _distances(problem, scoring)

    def score(outputs: Answers, twins: Answers) -> Score:
        return consistency(splits.test.targets, outputs, twins, by={"function": splits.functions})

    both = zip(ask(splits.test.sources), ask(splits.synonyms.sources), strict=True)
    scores = [
        MemberScore(
            {**_consistent(score(*pair)), **distance.measures}, {"score": score(*pair).to_json(), **distance.detail}
        )
        for pair, distance in zip(both, distances, strict=True)
    ]
    baseline = score(first_strings(splits.test.sources), first_strings(splits.synonyms.sources))
    return _beside(scores, _value(baseline))


def localism(problem: Expressions, scoring: ScoringInput) -> list[MemberScore]:
    """Scores consistency between items and the same items unrolled, for which each member reads its own outputs."""
    is_file = isinstance(problem, FileExpressions)
    test = problem.splits.test if is_file else localism_splits(problem.task.corpus(problem.protocol.data_seed)).test
    sizes = [num_functions(source) for source in test.sources]
    ask_some = _asked(problem, scoring, len(scoring.members) * (len(test) + sum(sizes)))

    def score(ask: Callable[[Sequence[str]], Answers], unrolled: Sequence[tuple[str, int]]) -> Score:
        outputs, lengths = zip(*unrolled, strict=True)
        return localism_consistency(test.targets, ask(test.sources), outputs, lengths, num_functions=sizes)

    def unrolled_by(ask: Callable[[Sequence[str]], Answers]) -> list[tuple[str, int]]:
        return [(each.output, each.longest_intermediate) for each in unroll(test.sources, ask)]

    scores, predictor = [], scoring.predictor
    for member in range(len(scoring.members)):

        def ask(sources: Sequence[str], member: int = member) -> Answers:
            return ask_some(sources, [member])[0]

        if isinstance(predictor, RecordedExpressions):  # a file has the final outputs, not those on the way
            unrolled = list(map(predictor.unrolled_output, test.sources))
        else:
            unrolled = unrolled_by(ask)
        agreement = score(ask, unrolled)
        measures = {name: value for name, value in _consistent(agreement).items() if name != "sequence_accuracy"}
        scores.append(MemberScore(measures, {"score": agreement.to_json()}))
    return _beside(scores, _value(score(first_strings, unrolled_by(first_strings))))


def overgeneralisation(problem: Expressions, scoring: ScoringInput) -> list[MemberScore]:
    """Scores exceptions at the end of training; the scores of every epoch are in the record of the training."""
    splits: Overgeneralisation = problem.splits
    sources, predictor = splits.test.sources, scoring.predictor
    by = {
        "kind": ["primitive" if alone else "complex" for alone in splits.primitive],
        "pair": [frozenset(" ".join(pair) for _, pair in exception_places(source)) for source in sources],
    }

    def scored(outputs: Answers) -> MemberScore:
        shares = exceptions(splits, outputs)
        measures = {name: values["all"] for name, values in shares.items()}
        profile = overgeneralisation_profile(splits.original_targets, splits.test.targets, [outputs], by=by).to_json()
        detail = {"in_the_end": shares, "exceptions": {"n": profile["n"], "breakdowns": profile["breakdowns"]}}
        return MemberScore({**measures, "sequence_accuracy": measures["memorised"]}, detail)

    scores = list(map(scored, _asked(problem, scoring, len(splits.test))(sources)))
    if isinstance(predictor, RecordedExpressions) and predictor.epochs:  # as `looks` records them in training
        looks = [
            {"epoch": number, **exceptions(splits, problem.outputs(model, sources)[0])}
            for number, model in predictor.epochs.items()
        ]
        scores = [MemberScore(score.measures, {**score.detail, "milestones": looks}) for score in scores]
    return _beside(scores, exceptions(splits, first_strings(sources))["overgeneralised"]["all"])


def functions(problem: Expressions, scoring: ScoringInput) -> list[MemberScore]:
    """Scores sequence accuracy by outermost function, on composed expressions (section 6.1.2)."""
    protocol = problem.protocol
    sets = function_difficulty(problem.task.corpus(protocol.data_seed), count=protocol.function_items)
    ask = _asked(problem, scoring, sum(map(len, sets.values())))
    measured: list[dict[str, float]] = [{} for _ in scoring.members]
    for name, examples in sets.items():
        for measures, outputs in zip(measured, ask(examples.sources), strict=True):
            measures[name] = _value(sequence_accuracy(examples.targets, outputs))
    items = {name: len(examples) for name, examples in sets.items()}
    return [MemberScore(measures, {"items": items}) for measures in measured]


def string_lengths(problem: Expressions, scoring: ScoringInput) -> list[MemberScore]:
    """Scores sequence accuracy of single functions by the length of strings (section 6.5.2, Figure 10)."""
    protocol = problem.protocol
    data = longer_strings(problem.task.corpus(protocol.data_seed), count=protocol.longer_items)
    test = data.examples

    def scored(outputs: Answers) -> MemberScore:
        flags = sequence_accuracy(test.targets, outputs).flags
        by_length = break_down(flags, data.lengths)
        by_function = break_down(flags, list(zip(data.functions, data.arguments, data.lengths, strict=True)))
        detail = [[*key, share.count, share.n] for key, share in by_function.items()]  # pyright: ignore[reportGeneralTypeIssues]
        measures = {f"length_{n}": share.count / share.n for n, share in by_length.items()}
        return MemberScore(measures, {"by_function": detail})

    return list(map(scored, _asked(problem, scoring, len(test))(test.sources)))


def first_strings(sources: Sequence[str]) -> Answers:
    """Returns the answers of a baseline: always the first string argument."""
    return [(string_arguments(source) or [""])[0] for source in sources]


def _beside(scores: list[MemberScore], baseline: float) -> list[MemberScore]:
    """Returns scores with those of `first_strings` beside them."""
    return [MemberScore({**score.measures, "first_string": baseline}, score.detail) for score in scores]


def _asked(problem: Expressions, scoring: ScoringInput, total: int) -> Callable[..., list[Answers]]:
    """Returns a function that computes the outputs of every member, or of some, for each source, and reports
    progress."""
    done = 0

    def tell(count: int) -> None:
        nonlocal done
        done += count
        scoring.sink.scored(done, total)

    def ask(sources: Sequence[str], members: Sequence[int] | None = None) -> list[Answers]:
        predictor = scoring.predictor if members is None else scoring.predictor.take(members)
        return problem.outputs(predictor, sources, tell, beam=scoring.evaluation.setting.get("beam", 1))

    return ask


def _value(score: Score) -> float:
    return score.share.count / score.share.n


def _parts(score: Score) -> dict[str, float]:
    return {name: part.value for name, part in score.parts.items() if part.value is not None}


def _consistent(score: Score) -> dict[str, float]:
    parts = _parts(score)
    return {"consistency": _value(score), "sequence_accuracy": parts.pop("accuracy"), **parts}


def _lengths(problem: Expressions, test: Examples, outputs: Answers) -> dict[str, int]:
    cap = problem.protocol.longest_output
    return {
        "cut_outputs": sum(len(output.split()) >= cap for output in outputs),
        "longer_targets": sum(len(target.split()) > cap for target in test.targets),
    }


def _distances(problem: Expressions, scoring: ScoringInput) -> list[MemberScore]:
    """Returns the distances of Table 4, if the predictor has word vectors."""
    of_members = scoring.predictor.source_vectors()
    if of_members is None:
        return [MemberScore()] * len(scoring.members)
    scores = []
    for vectors in of_members:
        distances = embedding_distances(dict(zip(problem.symbols, np.asarray(vectors, np.float64), strict=False)))
        measures = {"synonym_distance": distances.mean_synonym, "other_distance": distances.mean_other}
        detail = {"synonyms": dict(distances.synonyms), "others": dict(distances.others)}
        scores.append(MemberScore(measures, detail))
    return scores


SCORERS: dict[str, Callable[[Expressions, ScoringInput], list[MemberScore]]] = {
    "accuracy": accuracy,
    "localism": localism,
    "substitutivity": substitutivity,
    "overgeneralisation": overgeneralisation,
    "functions": functions,
    "string_lengths": string_lengths,
}
