"""The suite of Hupkes et al. (2020): models of known behaviour get the scores that they should; training, resuming."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pcfg_set_support import by_hand, dislikes_synonyms, ignores_outermost, oracle, truncates
from suite_support import Recording, run_one, scoring_input

from humboldt.errors import Interrupted, UsageError
from humboldt.languages import Batch
from humboldt.languages.pcfg_set import num_functions, string_arguments
from humboldt.measures.pcfg_set import Unrolled, unroll
from humboldt.suites import catalogue, plans, resolving, suites
from humboldt.suites.experiments import Experiment, MemberScore, Request
from humboldt.suites.pcfg_set import PcfgSet
from humboldt.suites.pcfg_set.problem import Expressions
from humboldt.training.abilities import SearchesOutputs, WritesOutputs
from humboldt.training.base import AbstractPredictor

SUITE = suites.get("pcfg_set")
SMALL: dict[str, Any] = {
    **{"size": 1500, "letters": 60, "deepest": 3, "rates": (0.02,), "most_functions": 3, "synonym_share": 0.01},
    **{"function_items": 20, "longer_items": 1, "longest_output": 40},
}

Model = Callable[[list[str]], list[str]]


class Speaks(AbstractPredictor, WritesOutputs):
    """Somebody's models, of which nothing is known but what they say."""

    def __init__(self, problem: Expressions, *models: Model) -> None:
        self.problem, self.models, self.num_members = problem, models, len(models)

    def take(self, members: Sequence[int]) -> "Speaks":
        return Speaks(self.problem, *(self.models[i] for i in members))

    def outputs(self, batch: Batch, longest: int) -> np.ndarray:
        vocabulary = self.problem.vocabulary
        words = [*vocabulary.symbols, "?", "end"]
        sources = [
            " ".join(words[i] for i, real in zip(row, mask, strict=True) if real and words[i] != "end")
            for row, mask in zip(batch.tokens, batch.mask, strict=True)
        ]
        found = np.full((self.num_members, len(sources), longest), vocabulary.end)
        for member, model in enumerate(self.models):
            for row, output in enumerate(model(sources)):
                said = vocabulary.targets([output]).ids[:-1][:longest]
                found[member, row, : len(said)] = said
        return found


SMALL_OF = {
    "productivity": ("most_functions",),
    "overgeneralisation": ("rates",),
    "substitutivity_primitive": ("synonym_share",),
}


def small(task: str) -> dict[str, Any]:
    others = {name for names in SMALL_OF.values() for name in names} - set(SMALL_OF.get(task, ()))
    return {key: value for key, value in SMALL.items() if key not in others}


def planned(task: str, model: str = "transformer", **settings: Any) -> Experiment:
    (experiment,) = plans.plan(SUITE, Request((task,), (model,), "paper", 1, {**small(task), **settings}))
    return experiment


def scored(
    task: str, *models: Model, evaluation: str = "", model: str = "transformer"
) -> tuple[Expressions, list[MemberScore]]:
    """Scores of models under an evaluation of a task: its first, if none is named."""
    (experiment,) = plans.plan(SUITE, Request((task,), (model,), "paper", len(models), small(task)))
    chosen = next(one for one in experiment.evaluations if evaluation in ("", one.name))
    parts = resolving.resolve(SUITE, experiment.training, chosen)
    problem = Expressions(parts.task, parts.protocol, parts.model)
    sink = Recording()
    found = SUITE.score(scoring_input(SUITE, parts, chosen, Speaks(problem, *models), experiment.members, sink))
    assert sink.phases == {"evaluation"}
    return problem, found


TESTS = {
    "task_accuracy": "sequence_accuracy",
    "systematicity": "sequence_accuracy",
    "productivity": "sequence_accuracy",
    "substitutivity_equally_distributed": "consistency",
    "substitutivity_primitive": "consistency",
    "overgeneralisation": "overgeneralised",
}


@pytest.mark.parametrize("model", ["transformer", "conv_s2s"])  # whose marks differ
@pytest.mark.parametrize(("task", "measure"), TESTS.items())
def test_who_is_always_right_scores_one(task: str, measure: str, model: str):
    _, ((measures, _),) = scored(task, oracle, model=model)
    assert measures[measure] == 1.0
    assert measures["first_string"] < 0.35 or measure == "consistency"


def test_who_is_always_right_scores_one_on_further_evaluations():
    for evaluation in ("localism", "functions", "string_lengths"):
        _, ((measures, _),) = scored("task_accuracy", oracle, evaluation=evaluation)
        own = {name: value for name, value in measures.items() if name != "consistent_incorrect"}
        assert own and set(own.values()) == {1.0} and measures.get("consistent_incorrect", 0) == 0


def test_known_faults_of_accuracy():
    problem, ((ignoring, _), (short, detail), (right, _)) = scored(
        "task_accuracy", ignores_outermost, truncates, oracle
    )
    test = problem.splits.test
    equal = [by_hand(s) == t for s, t in zip(ignores_outermost_sources(test.sources), test.targets, strict=True)]
    assert ignoring["sequence_accuracy"] == sum(equal) / len(test)
    lengths = [len(target.split()) for target in test.targets]
    assert short["sequence_accuracy"] == sum(n <= 5 for n in lengths) / len(test)
    assert short["stops_early"] == 1.0 and right["sequence_accuracy"] == 1.0  # in the order of the members
    single = [n for n, source in zip(lengths, test.sources, strict=True) if num_functions(source) == 1]
    assert short["single_functions"] == sum(n <= 5 for n in single) / len(single)
    by_size = detail["score"]["breakdowns"]["num_functions"]
    assert sum(share["n"] for share in by_size.values()) == len(test) and by_size["1"]["n"] == len(single)
    first = [string_arguments(source)[0] == target for source, target in test]
    assert short["first_string"] == sum(first) / len(test)


def ignores_outermost_sources(sources: Sequence[str]) -> list[str]:
    """Expressions that mean what the model that ignores the outermost function says."""
    return [f"copy {text}" for text in ignores_outermost(list(sources))]


def test_systematicity_counts_under_each_pair():
    problem, ((_, detail),) = scored("systematicity", truncates)
    test = problem.splits.test
    for pair in ("swap repeat", "append remove_second", "repeat remove_second", "append swap"):
        held = [len(target.split()) <= 5 for source, target in test if f" {pair} " in f" {source} "]
        share = detail["score"]["breakdowns"]["pair"][pair]
        assert (share["n"], share["value"]) == (len(held), sum(held) / len(held))


def test_known_faults_of_consistency():
    _, ((silent, _), (short, _)) = scored("substitutivity_primitive", dislikes_synonyms, truncates)
    assert silent["consistency"] == silent["consistent_correct"] == 0 and silent["sequence_accuracy"] == 1
    assert short["consistency"] == 1 and short["consistency_of_incorrect"] == 1
    assert short["consistent_correct"] == short["sequence_accuracy"] == short["twin_accuracy"] < 1


def test_localism_feeds_back_what_the_model_says():
    problem, ((measures, detail), (other, _)) = scored("task_accuracy", truncates, oracle, evaluation="localism")
    sources = [s for s in problem.splits.test.sources if num_functions(s) > 1]
    unrolled: list[Unrolled] = unroll(sources, truncates)
    same = [each.output == out for each, out in zip(unrolled, truncates(sources), strict=True)]
    assert 0 < measures["consistency"] == sum(same) / len(same) < other["consistency"] == 1
    assert detail["score"]["n"] == len(sources)
    assert measures["first_string"] == 1  # consistent, and no more than that


def test_exceptions_by_the_rules_and_by_heart():
    problem, _ = scored("overgeneralisation", oracle)
    trained = dict(zip(*(problem.splits.test.sources, problem.splits.test.targets), strict=True))

    def by_heart(sources: list[str]) -> list[str]:
        return [trained.get(source, "") for source in sources]

    def half(sources: list[str]) -> list[str]:
        return [trained.get(s, "") if num_functions(s) == 2 else by_hand(s) for s in sources]

    _, ((known, _), (mixed, detail)) = scored("overgeneralisation", by_heart, half)
    assert (known["memorised"], known["overgeneralised"], known["sequence_accuracy"]) == (1, 0, 1)
    assert detail["in_the_end"]["overgeneralised"] == {"all": mixed["overgeneralised"], "primitive": 0, "complex": 1}


def test_outputs_are_cut_and_the_cut_is_told():
    experiment = planned("task_accuracy", longest_output=3)
    parts = resolving.resolved(experiment)
    problem = Expressions(parts.task, parts.protocol, parts.model)
    scoring = scoring_input(
        SUITE, parts, experiment.evaluations[0], Speaks(problem, oracle), experiment.members, Recording()
    )
    ((measures, detail),) = SUITE.score(scoring)
    lengths = [len(target.split()) for target in problem.splits.test.targets]
    assert measures["sequence_accuracy"] == sum(n <= 3 for n in lengths) / len(lengths)
    assert detail["cut_outputs"] == sum(n >= 3 for n in lengths)
    assert detail["longer_targets"] == sum(n > 3 for n in lengths)


def test_localism_is_asked_of_the_models_of_the_task():
    (asked,), (base,) = (
        plans.plan(SUITE, Request((name,), ("lstm_s2s",), "paper", 1)) for name in ("localism", "task_accuracy")
    )
    assert asked.training.key == base.training.key
    assert [one.name for one in asked.evaluations] == ["accuracy", "localism", "functions", "string_lengths"]
    none = {"function_items": 0, "longer_items": 0}
    (fewer,) = plans.plan(SUITE, Request(("localism",), ("lstm_s2s",), "paper", 1, none))
    assert [one.name for one in fewer.evaluations] == ["accuracy", "localism"]
    assert fewer.training.key == base.training.key


def test_one_training_for_each_rate():
    found = plans.plan(SUITE, Request(("overgeneralisation",), ("transformer",), "paper"))
    assert [one.training.setting["task"]["rate"] for one in found] == [0.0001, 0.0005, 0.001, 0.005]
    assert len({one.training.key for one in found}) == 4 and found[0].name.endswith("rate=0.0001")


def test_the_epoch_before_the_best_can_be_kept_and_the_default_leaves_stored_keys_alone():
    usual, before = planned("task_accuracy"), planned("task_accuracy", kept_epoch="before_best")
    assert "kept_epoch" not in usual.training.flat and before.training.flat["kept_epoch"] == "before_best"
    jobs = [SUITE.job(resolving.resolve(SUITE, one.training), [{"seed": 0}]) for one in (usual, before)]
    assert [job.recipe.kept for job in jobs] == ["best", "before_best"]


def test_a_test_without_items_is_an_error():
    with pytest.raises(UsageError, match="The test set of this test is empty"):
        parts = resolving.resolve(SUITE, planned("productivity", most_functions=30).training)
        SUITE.job(parts, [{"seed": 0}])
    with pytest.raises(UsageError, match=r"The test set of localism is empty.*\(deepest\)"):
        SUITE.job(resolving.resolve(SUITE, planned("task_accuracy", deepest=1).training), [{"seed": 0}])
    SUITE.job(
        resolving.resolve(SUITE, planned("substitutivity_primitive", deepest=1).training), [{"seed": 0}]
    )  # asks no localism


NETWORK = {"embedding_size": 4, "hidden_size": 6, "num_layers": 1, "layers": "alike", "bottleneck": 4, "dropout": 0.0}
TRAINED: dict[str, Any] = {"epochs": 2, "buckets": 1, "batch_size": 256, "longest_output": 4}


def test_training_goes_on_where_it_stopped(tmp_path: Path):
    experiment = planned("overgeneralisation", "conv_s2s", **NETWORK, **TRAINED)
    whole = run_one(experiment, tmp_path / "whole")
    with pytest.raises(Interrupted):
        run_one(experiment, tmp_path / "parts", Recording(stop_after=1))
    resumed = run_one(experiment, tmp_path / "parts")
    (first,), (second,) = whole.trained, resumed.trained
    epochs = first.detail["milestones"]
    assert [one["epoch"] for one in epochs] == [1, 2] and epochs[0]["loss"] > epochs[1]["loss"] > 0
    assert set(epochs[0]["overgeneralised"]) == {"all", "primitive", "complex"}
    assert second.detail["milestones"] == epochs
    assert whole.scored[0][1][0].measures == resumed.scored[0][1][0].measures


class Searches(Speaks, SearchesOutputs):
    """A model whose searches find what is right, and whose greedy outputs do not."""

    def take(self, members: Sequence[int]) -> "Searches":
        return Searches(self.problem, *(self.models[i] for i in members))

    def beam_outputs(self, batch: Batch, longest: int, beam: int) -> np.ndarray:
        assert beam == 5
        return Speaks(self.problem, *[oracle] * self.num_members).outputs(batch, longest)


def test_a_beam_is_asked_for_where_the_evaluation_has_one():
    for beam, expected in ((1, 0.0), (5, 1.0)):
        experiment = planned("task_accuracy", beam=beam)
        parts = resolving.resolve(SUITE, experiment.training, experiment.evaluations[0])
        problem = Expressions(parts.task, parts.protocol, parts.model)
        predictor = Searches(problem, lambda sources: [""] * len(sources))
        asked = scoring_input(SUITE, parts, experiment.evaluations[0], predictor, experiment.members, Recording())
        (found,) = SUITE.score(asked)
        assert found.measures["sequence_accuracy"] == expected


def test_it_is_a_suite():
    assert isinstance(SUITE, PcfgSet) and catalogue.tasks(SUITE) == list(TESTS) and len(SUITE.contenders) == 3
