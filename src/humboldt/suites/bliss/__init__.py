"""Benchmarking neural network generalization for grammar induction (Lan et al. 2023): how much from how little?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from humboldt.errors import UsageError
from humboldt.identity import Evaluation, Member
from humboldt.languages import ProblemKind
from humboldt.languages.bliss import Measure
from humboldt.measures.bliss import evaluate, sizes
from humboldt.report.figures import AnyFigure
from humboldt.report.tables import Record, Table
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.bliss import data, figures, tables
from humboldt.suites.bliss.files import score_distributions
from humboldt.suites.bliss.problem import NextSymbol
from humboldt.suites.bliss.protocol import CONTENDERS, PRESETS, TASKS, Induction
from humboldt.suites.bliss.scoring import Scorer, proofs
from humboldt.suites.capabilities import (
    ExampleRequest,
    FileRequest,
    OffersData,
    OffersScore,
    OffersWrongStrings,
    WrongString,
)
from humboldt.suites.cells import Cell, Glance, Heading, Measured
from humboldt.suites.experiments import Parts, Probe, Reading, Request, Scored, Scoring
from humboldt.training.base import AbstractPredictor, Job, MemberRecipe, Recipe

PROBE_STRINGS = 200  # test strings that an estimate reads


class Bliss(AbstractSuite, OffersData, OffersScore, OffersWrongStrings):
    """The suite of Lan et al. (2023)."""

    name = "bliss"
    paper = "Lan et al. 2023, Benchmarking neural network generalization for grammar induction"
    question = "How much is learnt from how little?"
    measure = "B-index"
    kind = ProblemKind.NEXT_SYMBOL
    protocol = Induction
    contenders = CONTENDERS
    printed_tasks = TASKS
    presets = PRESETS
    demo = Request(("an_bn",), ("lstm", "mdlrnn"))
    data_options = ("after", "format")
    headline = "largest_n"
    evaluation = ("criteria", 1)
    told = ("factor",)

    def members(self, parts: Parts) -> list[Member]:
        return list(parts.protocol.members())

    def check_plan(self, parts: Parts) -> None:
        parts.task.check_prior(parts.protocol.p)

    def is_repetition(self, parts: Parts, sweep: Mapping[str, tuple[Any, ...]]) -> bool:
        """Whether a smaller stack of the sweep holds the corpus too."""
        smaller = [size for size in sweep.get("stack_size", ()) if size < parts.model.stack_size]
        if not smaller:  # a corpus takes a while to draw
            return False
        return len(NextSymbol(parts.task, parts.protocol).corpus.last) + 1 < max(smaller)

    def work(self, parts: Parts) -> str:
        (factor,) = parts.protocol.factors
        size = sizes(factor, parts.protocol.order)
        generations = getattr(parts.model, "generations", None)  # of a model that is searched for
        effort = f"at most {generations:,} generations on" if generations else f"{parts.protocol.epochs:,} epochs of"
        return f"{effort} {size.train:,} strings, then {size.test:,} tests"

    def job(self, parts: Parts, members: Sequence[Member]) -> Job:
        protocol: Induction = parts.protocol
        problem = NextSymbol(parts.task, protocol, f"bliss/{parts.training.task}")

        def recipe(member: Member) -> MemberRecipe:
            strengths = {member["penalty"]: member["strength"]}
            return MemberRecipe(
                member["seed"], protocol.learning_rate, strengths.get("l1", 0.0), strengths.get("l2", 0.0)
            )

        return Job(
            model=parts.model,
            problem=problem,
            recipe=Recipe(steps=protocol.epochs * problem.steps_per_epoch, gradient_clip=None),
            members=tuple(map(recipe, members)),
        )

    def problem(self, parts: Parts, members: Sequence[Member]) -> NextSymbol:
        del members
        return NextSymbol(parts.task, parts.protocol, f"bliss/{parts.training.task}")

    def score(self, scoring: Scoring) -> list[Scored]:
        parts, predictor, count = scoring.parts, scoring.predictor, len(scoring.members)
        problem = NextSymbol(parts.task, parts.protocol)
        scorer = Scorer(problem)
        losses = problem.corpus_losses(predictor.nats(problem.training_set())) if predictor.offers("nats") else None
        scored = []
        for index in range(count):

            def make_stepper(longest: int, index: int = index) -> Any:
                return predictor.stepper(index, longest=longest, most_memory=parts.protocol.test_memory)

            measures, detail = scorer.score(make_stepper)
            more, described = predictor.about(index)
            proved, verdicts = proofs(predictor, index, parts.training.task, problem.language.measure)
            if proved.get("proved_0") and "mdl" in more:  # a search may also have kept a longer one that is proved
                more["proved_mdl"] = more["mdl"]
            if losses is not None:
                measures["training_loss"] = float(losses[index])
            scored.append(({**measures, **more, **proved}, {**detail, **described, **verdicts}))
            scoring.sink.scored(index + 1, count)
        return scored

    def readings(self, parts: Parts, evaluation: Evaluation, scored: Sequence[Scored]) -> list[Reading]:
        del evaluation
        (factor,) = parts.protocol.factors
        strings, found = sizes(factor, parts.protocol.order).test, []
        for measures, detail in scored:
            by_margin = {score["epsilon"]: score for score in detail["scores"]}
            for name, value in measures.items():
                note = ""
                if name.startswith("met_"):
                    margin = by_margin.get(float(name.rsplit("_", 1)[1]), detail["scores"][0])
                    note = f"{margin['errors']:,} errors in {margin['steps']:,} steps"
                    note += "" if margin["complete"] else "; read until it was decided"
                    if margin["first_failure"] is not None:
                        note += f"; fails first at {tables.abbreviated(margin['first_failure'])}"
                    note += f"; every string up to n = {margin['largest_accepted']} accepted"
                is_criterion = name.startswith("met_")  # a guess never meets it
                found.append(
                    Reading(
                        name, value, strings if is_criterion else None, chance=0.0 if is_criterion else None, note=note
                    )
                )
        return found

    def probe(self, parts: Parts, evaluation: Evaluation) -> Probe:
        """Where errors have a budget, one whole pass is counted: the best member may well keep within it."""
        del evaluation
        problem = NextSymbol(parts.task, parts.protocol)
        language, count = problem.language, problem.sizes.test
        few = language.test_set(after=problem.corpus, count=min(PROBE_STRINGS, count))
        if language.measure is not Measure.DETERMINISTIC:
            return Probe(lambda predictor: None, 0.0)
        whole = int(language.test_set(after=problem.corpus, count=count).deterministic_steps.sum())

        def run(predictor: AbstractPredictor) -> object:
            longest = int(few.lengths.max())
            stepper, rows = predictor.stepper(0, longest=longest, most_memory=parts.protocol.test_memory)
            return evaluate(few, stepper, exhaustive=True, most_rows=rows)

        return Probe(run, whole / max(1, int(few.deterministic_steps.sum())))

    def upgrade(self, setting: dict[str, Any], format: int, *, model: str) -> dict[str, Any]:
        del model
        if format == 1:  # a setting that spared the reading of some members; the scores of the others are the same
            setting.pop("evaluate", None)
        return setting

    def cell_records(self, cell: Cell) -> list[Record]:
        return tables.records(cell)

    def layout(self, heading: Heading, cells: Sequence[Cell]) -> list[Table]:
        return tables.layout(self, heading, cells)

    def measured(self, cell: Cell) -> list[Measured]:
        return tables.measured(cell)

    def glance(self, cells: Sequence[Cell]) -> Glance | None:
        return figures.glance(cells)

    def first_wrong(self, parts: Parts, predictor: Any, detail: Mapping[str, Any]) -> WrongString | None:
        """Known since the member was scored: the first test string at the strictest margin that was read."""
        del parts, predictor
        scores = [score for score in detail.get("scores", ()) if score["first_failure"] is not None]
        if not scores:
            return None
        score = min(scores, key=lambda score: (score["measure"] != "M_det", score["epsilon"]))
        tried = f"{score['measure']} at ε = {score['epsilon']:g}, the test strings after those of the corpus"
        return WrongString(tuple(score["first_failure"]), tried)

    def figures(self, heading: Heading, cells: Sequence[Cell]) -> list[AnyFigure]:
        del heading
        return figures.figures(self, cells)

    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        if request.length is not None:
            raise UsageError(
                f"--length {request.length}: strings of this suite are sampled, or come next after a size. Leave "
                "--length out, or use --split test --after N."
            )
        if request.split == "test" and "after" not in request.settings and "factors" in request.settings:
            problem = self._problem(request.task, request.preset, request.settings)
            return data.test_pairs(problem, request.count)
        language: Any = self.make_task(request.task, None, {})
        return data.pairs(language, request)

    def _problem(self, task: str, preset: str, changes: Mapping[str, Any]) -> NextSymbol:
        """The corpus and test set of one training size."""
        trainings = self.outside_trainings(task, "any", preset, changes)
        if len(trainings) > 1:
            raise UsageError(
                "A model is trained on one corpus, and the test strings depend on it. Choose the b of its size: "
                "--set factors=1 (of 1, 2, 4, 10)."
            )
        ((training, protocol),) = trainings
        return self.problem(self.restore(training, self.evaluations(protocol, task)[0]), ())

    def score_file(self, request: FileRequest) -> dict[str, Any]:
        problem = self._problem(request.task, request.preset, request.settings)
        return score_distributions(problem, request.task, request.only())


suites.register("bliss", version=1)(Bliss())
