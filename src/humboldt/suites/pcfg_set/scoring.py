"""Scores of members, by any test. A predictor is asked for its outputs; the rest is `humboldt.measures.pcfg_set`."""

from collections.abc import Callable, Sequence
from typing import Any

from humboldt.languages.pcfg_set import Examples, Substitutivity, localism_splits, num_functions, string_arguments
from humboldt.measures.pcfg_set import (
    Score,
    consistency,
    held_out_pairs_of,
    localism_consistency,
    sequence_accuracy,
    sizes_of,
    unroll,
)
from humboldt.suites.base import Scored, Scoring
from humboldt.suites.pcfg_set.looks import exceptions
from humboldt.suites.pcfg_set.problem import Expressions


def accuracy(problem: Expressions, scoring: Scoring) -> list[Scored]:
    """Sequence accuracy on the test set, with its breakdowns."""
    test: Examples = problem.splits.test
    by: dict[str, Sequence[Any]] = dict(sizes_of(test.sources))
    if scoring.parts.training.task == "systematicity":
        by["pair"] = held_out_pairs_of(test.sources)
    copied = first_strings(test)
    found = []
    for outputs in _asked(problem, scoring, len(test))(test.sources):
        score = sequence_accuracy(test.targets, outputs, by=by)
        single = score.breakdowns["num_functions"].get(1)
        measures = {"sequence_accuracy": score.share.value or 0.0, "first_string": copied}
        if single is not None and single.value is not None:
            measures["single_functions"] = single.value
        found.append((measures, {**_detail(score), **_lengths(problem, test, outputs)}))
    return found


def first_strings(test: Examples) -> float:
    """The accuracy of who answers everything with its first string argument."""
    answers = [string_arguments(source)[0] for source in test.sources]
    return sequence_accuracy(test.targets, answers).share.value or 0.0


def substitutivity(problem: Expressions, scoring: Scoring) -> list[Scored]:
    """Consistency between items and the same items with a synonym."""
    splits: Substitutivity = problem.splits
    asked = _asked(problem, scoring, 2 * len(splits.test))
    both = zip(asked(splits.test.sources), asked(splits.synonyms.sources), strict=True)
    return [
        _consistent(consistency(splits.test.targets, outputs, twins, by={"function": splits.functions}))
        for outputs, twins in both
    ]


def localism(problem: Expressions, scoring: Scoring) -> list[Scored]:
    """Consistency between items and the same items unrolled, each member with its own outputs."""
    test = localism_splits(problem.task.corpus(problem.protocol.data_seed)).test
    sizes = [num_functions(source) for source in test.sources]
    asked = _asked(problem, scoring, len(scoring.members) * (len(test) + sum(sizes)))
    found = []
    for member in range(len(scoring.members)):

        def ask(sources: Sequence[str], member: int = member) -> list[str]:
            return asked(sources, [member])[0]

        outputs, unrolled = ask(test.sources), unroll(test.sources, ask)
        score = localism_consistency(
            test.targets,
            outputs,
            [each.output for each in unrolled],
            [each.longest_intermediate for each in unrolled],
            num_functions=sizes,
        )
        found.append(_consistent(score))
    return found


def overgeneralisation(problem: Expressions, scoring: Scoring) -> list[Scored]:
    """What the members say of exceptions in the end; what they said on the way is in the record of their training."""
    splits = problem.splits
    found = []
    for outputs in _asked(problem, scoring, len(splits.test))(splits.test.sources):
        shares = exceptions(splits, outputs)
        measures = {f"{name}_in_the_end": values["all"] for name, values in shares.items()}
        found.append(({**measures, "sequence_accuracy": shares["memorised"]["all"]}, {"in_the_end": shares}))
    return found


def _asked(problem: Expressions, scoring: Scoring, total: int) -> Callable[..., list[list[str]]]:
    """Gives the outputs of every member, or of some, for each source. The sink is told how many of `total` are done."""
    done = 0

    def tell(count: int) -> None:
        nonlocal done
        done += count
        scoring.sink.scored(done, total)

    def ask(sources: Sequence[str], members: Sequence[int] | None = None) -> list[list[str]]:
        predictor = scoring.predictor if members is None else scoring.predictor.take(members)
        return problem.outputs(predictor, sources, tell)

    return ask


def _consistent(score: Score) -> Scored:
    measures = {"consistency": score.share.value or 0.0}
    for name, part in score.parts.items():
        if part.value is not None:
            measures["sequence_accuracy" if name == "accuracy" else name] = part.value
    return measures, _detail(score)


def _detail(score: Score) -> dict[str, Any]:
    return {"score": score.to_json()}


def _lengths(problem: Expressions, test: Examples, outputs: Sequence[str]) -> dict[str, int]:
    cap = problem.protocol.longest_output
    return {
        "cut_outputs": sum(len(output.split()) >= cap for output in outputs),
        "targets_too_long": sum(len(target.split()) >= cap for target in test.targets),
    }
