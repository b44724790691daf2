"""A whole suite in one small file: one language, one model, two evaluations of one training."""

from pathlib import Path
from typing import ClassVar

import numpy as np

import humboldt
from humboldt.core.events import Silent
from humboldt.core.identity import Evaluation
from humboldt.languages import AbstractTask, Alphabet, Batch, ProblemKind
from humboldt.settings import Role, setting, settings
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Contender, MemberScore, Preset
from humboldt.training.abilities import CountsRight, ability
from humboldt.training.base import AbstractProblem, Job, MemberRecipe, Recipe


class Echo(AbstractTask):
    problem = ProblemKind.CLASSIFICATION
    input_alphabet = output_alphabet = Alphabet(("a", "b"))
    chance, examples = 0.5, (("a b", "b"),)

    def oracle(self, symbols):
        return [symbols[-1]]


class EchoProblem(AbstractProblem):
    kind = ProblemKind.CLASSIFICATION
    symbols, input_size, output_size, num_symbols, batch_size = ("a", "b"), 2, 2, 2, 16

    def __init__(self, length: int) -> None:
        self.longest = length

    def batch(self, step: int) -> Batch:
        tokens = np.random.default_rng(step).integers(0, 2, (16, self.longest), np.int32)
        last = np.broadcast_to(np.arange(self.longest) == self.longest - 1, tokens.shape)
        return Batch(tokens, np.ones_like(last), tokens, last, np.ones(16, np.float32))


@settings
class EchoProtocol:
    steps: int = setting(200, "training steps", least=1)
    seeds: int = setting(2, "seeds", role=Role.MEMBERS, least=1)
    strings: int = setting(3, "test batches", role=Role.EVALUATION, least=1)


class Toy(AbstractSuite):
    name, paper, question, measure = "toy", "nobody, never", "Does it listen?", "accuracy"
    kind, protocol, printed_tasks = ProblemKind.CLASSIFICATION, EchoProtocol, ("echo",)
    contenders: ClassVar = {"lstm": Contender("lstm_classifier", "LSTM", {"hidden_size": 4, "embedding_size": 4})}
    presets: ClassVar = {"paper": Preset("paper", "all"), "quick": Preset("quick", "few", {"steps": 100})}
    headline, evaluation, needs = "right", ("short", 1), (CountsRight,)

    def job(self, resolved, members):
        recipes = tuple(MemberRecipe(member["seed"], 0.03) for member in members)
        return Job(resolved.model, EchoProblem(3), Recipe(steps=resolved.protocol.steps), recipes)

    def evaluations(self, protocol, task):
        return [Evaluation(name, {"strings": protocol.strings}, 1) for name in ("short", "long")]

    def score(self, scoring_input):
        problem = EchoProblem(3 if scoring_input.evaluation.name == "short" else 9)
        batches = [problem.batch(10**6 + i) for i in range(scoring_input.resolved.protocol.strings)]
        rows = [ability(scoring_input.predictor, CountsRight).correct(batch) for batch in batches]
        return [MemberScore({"right": float(row.mean())}) for row in np.concatenate(rows, 1)]


def test_it_runs_resumes_rescores_and_prints_a_table(registrations_undone: None, tmp_path: Path):
    for name, thing in (("toy", Toy()), ("toy/echo", Echo)):
        humboldt.register(name, version=1)(thing)
    study = humboldt.plan("toy", out=tmp_path)
    study.run(lambda experiment: Silent(), keep="all")
    assert study.pending() == []  # resumed: nothing to do
    lines = study.table().splitlines()
    assert lines[0] == "toy, quick" and [line.split()[1] for line in lines[4:6]] == ["short", "long"]
    assert {record["setting"] for record in study.records()} == {"quick short", "quick long"}

    more = humboldt.plan("toy", settings={"strings": 5}, out=tmp_path)
    assert [(e.score_only, len(e.members)) for e in more.pending()] == [(True, 2)]  # a new evaluation: no training
    more.run(lambda experiment: Silent())
    assert more.pending() == []
    card = humboldt.score("toy", lambda inputs: [symbols[-1] for symbols in inputs], tasks="echo", out=tmp_path)
    assert [one.scores.results[0].measures for one in card.scored] == [{"right": 1.0}] * 2  # anybody's model, too
    assert next(iter(humboldt.batches("toy", "echo"))).tokens.shape == (16, 3)

    third = humboldt.plan("toy", settings={"strings": 5}, seeds=3, out=tmp_path)
    assert [len(e.members) for e in third.pending()] == [1]
