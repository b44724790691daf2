"""Scores of members, by any test. A predictor is asked for its outputs; the rest is `humboldt.measures.pcfg_set`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from humboldt.languages.pcfg_set import (
    Examples,
    Overgeneralisation,
    Substitutivity,
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
    sequence_accuracy,
    sizes_of,
    unroll,
)
from humboldt.suites.experiments import Scored, Scoring
from humboldt.suites.pcfg_set.looks import exceptions
from humboldt.suites.pcfg_set.problem import Expressions

Answers = list[str]


def accuracy(problem: Expressions, scoring: Scoring) -> list[Scored]:
    """Sequence accuracy on the test set, with its breakdowns."""
    test: Examples = problem.splits.test
    by: dict[str, Sequence[Any]] = dict(sizes_of(test.sources))
    if scoring.parts.training.task == "systematicity":
        by["pair"] = held_out_pairs_of(test.sources)

    def scored(outputs: Answers) -> Scored:
        score = sequence_accuracy(test.targets, outputs, by=by)
        measures = {"sequence_accuracy": _value(score), **_parts(score)}
        single = score.breakdowns["num_functions"].get(1)
        if single is not None:
            measures["single_functions"] = single.count / single.n
        return measures, {"score": score.to_json(), **_lengths(problem, test, outputs)}

    found = list(map(scored, _asked(problem, scoring, len(test))(test.sources)))
    return _beside(found, _value(sequence_accuracy(test.targets, first_strings(test.sources))))


def substitutivity(problem: Expressions, scoring: Scoring) -> list[Scored]:
    """Consistency between items and the same items with a synonym; distances between words and their synonyms."""
    splits: Substitutivity = problem.splits
    ask = _asked(problem, scoring, 2 * len(splits.test))
    distances = _distances(problem, scoring)

    def score(outputs: Answers, twins: Answers) -> Score:
        return consistency(splits.test.targets, outputs, twins, by={"function": splits.functions})

    both = zip(ask(splits.test.sources), ask(splits.synonyms.sources), strict=True)
    found = [
        ({**_consistent(score(*pair)), **measures}, {"score": score(*pair).to_json(), **detail})
        for pair, (measures, detail) in zip(both, distances, strict=True)
    ]
    baseline = score(first_strings(splits.test.sources), first_strings(splits.synonyms.sources))
    return _beside(found, _value(baseline))


def localism(problem: Expressions, scoring: Scoring) -> list[Scored]:
    """Consistency between items and the same items unrolled, each member with its own outputs."""
    test = localism_splits(problem.task.corpus(problem.protocol.data_seed)).test
    sizes = [num_functions(source) for source in test.sources]
    ask_some = _asked(problem, scoring, len(scoring.members) * (len(test) + sum(sizes)))

    def score(ask: Callable[[Sequence[str]], Answers]) -> Score:
        unrolled = unroll(test.sources, ask)
        return localism_consistency(
            test.targets,
            ask(test.sources),
            [each.output for each in unrolled],
            [each.longest_intermediate for each in unrolled],
            num_functions=sizes,
        )

    found = []
    for member in range(len(scoring.members)):
        own = score(lambda sources, member=member: ask_some(sources, [member])[0])
        measures = {name: value for name, value in _consistent(own).items() if name != "sequence_accuracy"}
        found.append((measures, {"score": own.to_json()}))
    return _beside(found, _value(score(first_strings)))


def overgeneralisation(problem: Expressions, scoring: Scoring) -> list[Scored]:
    """What the members say of exceptions in the end; what they said on the way is in the record of their training."""
    splits: Overgeneralisation = problem.splits

    def scored(outputs: Answers) -> Scored:
        shares = exceptions(splits, outputs)
        measures = {name: values["all"] for name, values in shares.items()}
        return {**measures, "sequence_accuracy": measures["memorised"]}, {"in_the_end": shares}

    found = list(map(scored, _asked(problem, scoring, len(splits.test))(splits.test.sources)))
    return _beside(found, exceptions(splits, first_strings(splits.test.sources))["overgeneralised"]["all"])


def functions(problem: Expressions, scoring: Scoring) -> list[Scored]:
    """Sequence accuracy by outermost function, on composed expressions (section 6.1.2)."""
    protocol = problem.protocol
    sets = function_difficulty(problem.task.corpus(protocol.data_seed), count=protocol.function_items)
    ask = _asked(problem, scoring, sum(map(len, sets.values())))
    found: list[dict[str, float]] = [{} for _ in scoring.members]
    for name, examples in sets.items():
        for measures, outputs in zip(found, ask(examples.sources), strict=True):
            measures[name] = _value(sequence_accuracy(examples.targets, outputs))
    return [(measures, {"items": {name: len(examples) for name, examples in sets.items()}}) for measures in found]


def string_lengths(problem: Expressions, scoring: Scoring) -> list[Scored]:
    """Sequence accuracy of single functions on longer and longer strings (section 6.5.2, Figure 10)."""
    protocol = problem.protocol
    data = longer_strings(problem.task.corpus(protocol.data_seed), count=protocol.longer_items)
    test = data.examples

    def scored(outputs: Answers) -> Scored:
        flags = sequence_accuracy(test.targets, outputs).flags
        by_length = break_down(flags, data.lengths)
        by_function = break_down(flags, list(zip(data.functions, data.arguments, data.lengths, strict=True)))
        detail = [[*key, share.count, share.n] for key, share in by_function.items()]  # pyright: ignore[reportGeneralTypeIssues]
        return {f"length_{n}": share.count / share.n for n, share in by_length.items()}, {"by_function": detail}

    return list(map(scored, _asked(problem, scoring, len(test))(test.sources)))


def first_strings(sources: Sequence[str]) -> Answers:
    """The answers of who always says the first string argument."""
    return [(string_arguments(source) or [""])[0] for source in sources]


def _beside(found: list[Scored], baseline: float) -> list[Scored]:
    """Scores with what `first_strings` would get."""
    return [({**measures, "first_string": baseline}, detail) for measures, detail in found]


def _asked(problem: Expressions, scoring: Scoring, total: int) -> Callable[..., list[Answers]]:
    """Gives the outputs of every member, or of some, for each source. The sink is told how many of `total` are done."""
    done = 0

    def tell(count: int) -> None:
        nonlocal done
        done += count
        scoring.sink.scored(done, total)

    def ask(sources: Sequence[str], members: Sequence[int] | None = None) -> list[Answers]:
        predictor = scoring.predictor if members is None else scoring.predictor.take(members)
        return problem.outputs(predictor, sources, tell)

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


def _distances(problem: Expressions, scoring: Scoring) -> list[Scored]:
    """Table 4, of predictors that can tell their word vectors."""
    of_members = scoring.predictor.source_vectors()
    if of_members is None:
        return [({}, {})] * len(scoring.members)
    found = []
    for vectors in of_members:
        distances = embedding_distances(dict(zip(problem.symbols, np.asarray(vectors, np.float64), strict=False)))
        measures = {"synonym_distance": distances.mean_synonym, "other_distance": distances.mean_other}
        found.append((measures, {"synonyms": dict(distances.synonyms), "others": dict(distances.others)}))
    return found
