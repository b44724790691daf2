"""What they do when in doubt: which of the rules that explain its examples does a learner prefer?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from humboldt.core.identity import Evaluation, Member, Training
from humboldt.languages import ProblemKind, tasks
from humboldt.suites.base import AbstractSuite, distinct
from humboldt.suites.bench import demo_part
from humboldt.suites.bias import answer, figures, interchange, scoring, tables
from humboldt.suites.bias.printed import FEWER_SEEDS, variation
from humboldt.suites.bias.problem import RuleLearning, members_of
from humboldt.suites.bias.protocol import CONTENDERS, OF_FIGURE_3, PRESETS, SCAN_TASKS, TASKS, Preferences
from humboldt.suites.capabilities import ExampleRequest, OffersData, Split
from humboldt.suites.experiments import (
    Contender,
    MemberScore,
    Probe,
    ReportedNumber,
    Resolved,
    ScoringInput,
    Variation,
)
from humboldt.suites.files import FileRequest, OffersFiles, OutsideInput
from humboldt.suites.presentation import Presentation
from humboldt.training.abilities import WritesOutputs
from humboldt.training.base import Job, MemberRecipe, Recipe, Schedule


class Bias(AbstractSuite, OffersData, OffersFiles):
    """The suite of Kharitonov and Chaabouni (2021)."""

    name = "bias"
    paper = (
        "What they do when in doubt: a study of inductive biases in seq2seq learners (Kharitonov and Chaabouni 2021)"
    )
    question = "Which rule does it prefer?"
    measure = "agreement with rules, description length"
    kind = ProblemKind.SEQUENCE_TO_SEQUENCE
    protocol = Preferences
    contenders = CONTENDERS
    printed_tasks = TASKS
    presets = PRESETS
    position = 4
    bench_position = 10
    asks_preferences = True
    demo = (demo_part("hierarchical_or_linear"),)
    headline = "fits"
    evaluation = ("preference", 1)
    needs = (WritesOutputs,)
    presentation = Presentation(
        answers=answer.answers,
        records=tables.records,
        layout=tables.layout,
        measured=tables.nothing_measured,
        overview=figures.glance,
        figures=figures.figures,
        place=tables.place,
        shown_of=tables.shown_of,
        shown_of_members=("rule", "block"),  # empty columns for description length show them
    )

    def members(self, resolved: Resolved) -> list[Member]:
        return list(members_of(resolved.task, resolved.protocol))

    def member_settings(self, protocol: Preferences, members: Sequence[Member]) -> dict[str, Any]:
        del protocol
        lengths = any(not scoring.is_first(member) for member in members)
        return {"seeds": len(distinct(members, "seed")), "description_length": lengths}

    def variation(self, training: Training) -> Variation | None:
        """Returns the variation of Tables 3 to 6, each of one setting at the first size of a task, or of Figure 3."""
        if training.setting.get("curve_block"):
            layers = {"num_layers": 2} if training.model == "transformer" else {}
            return Variation({**OF_FIGURE_3, **layers}, FEWER_SEEDS)
        changes = variation(training)
        return Variation(changes, FEWER_SEEDS) if changes else None

    def groups(self, resolved: Resolved, members: Sequence[Member]) -> list[Sequence[Member]]:
        """Separates first models, which have few examples. With `moments=kept`, members of later blocks take longer."""
        groups: dict[int, list[Member]] = {}
        for member in members:
            key = member["block"] if resolved.protocol.moments == "kept" else int(not scoring.is_first(member))
            groups.setdefault(key, []).append(member)
        return [groups[key] for key in sorted(groups)]

    def sweep(self, task: str, contender: Contender) -> Mapping[str, tuple[Any, ...]]:
        sizes = tasks.get(f"{self.name}/{task}").sizes  # pyright: ignore[reportAttributeAccessIssue]
        if sizes and contender.model == "joint_s2s":
            sizes = (sizes[0], sizes[1][:1])  # all that Table 8 has
        kernels = {"kernel_width": (3, 5, 8)} if task in SCAN_TASKS and contender.model == "cnn_s2s" else {}
        return {**contender.sweep, **({sizes[0]: sizes[1]} if sizes else {}), **kernels}

    def check_plan(self, resolved: Resolved) -> None:
        if resolved.training.task not in TASKS:  # ours keep their promises, as tests show
            resolved.task.verify()

    def work(self, resolved: Resolved) -> str:
        protocol: Preferences = resolved.protocol
        batch = "all examples" if protocol.batch_size is None else f"{protocol.batch_size} examples"
        again = ", and again for each block" if protocol.moments == "kept" and protocol.description_length else ""
        return f"{protocol.updates:,} updates on {batch}{again}"

    def job(self, resolved: Resolved, members: Sequence[Member]) -> Job:
        protocol: Preferences = resolved.protocol
        (rate,) = protocol.learning_rates
        rounds = 1 + max(member["block"] for member in members) if protocol.moments == "kept" else 1
        return Job(
            model=resolved.model,
            problem=RuleLearning(resolved.task, protocol, members),
            recipe=Recipe(
                steps=rounds * protocol.updates,
                restart_every=protocol.updates if rounds > 1 else None,
                optimiser=protocol.optimiser,
                gradient_clip=protocol.gradient_clip,
                precision="float32" if protocol.precision == "tf32" else protocol.precision,
                exact_products=protocol.precision == "float32",
                loss="sum",
                schedule=Schedule(protocol.warm_up, start=protocol.first_rate / rate, decay=protocol.decay, first=0),
            ),
            members=tuple(MemberRecipe(member["seed"], rate) for member in members),
        )

    def score(self, scoring_input: ScoringInput) -> list[MemberScore]:
        return scoring.score(scoring_input)

    def problem(self, resolved: Resolved, members: Sequence[Member]) -> RuleLearning:
        return RuleLearning(resolved.task, resolved.protocol, members)

    def outside_member(self, seed: int) -> Member:
        return {"seed": seed, "rule": "", "block": 0}

    def readings(
        self, resolved: Resolved, evaluation: Evaluation, scores: Sequence[MemberScore]
    ) -> list[ReportedNumber]:
        del evaluation
        return scoring.readings(resolved.task, scores)

    def probe(self, resolved: Resolved, evaluation: Evaluation) -> Probe:
        del evaluation
        return scoring.probe(resolved)

    def shared_splits(self, task: str) -> list[Split]:
        rules = interchange.make_task(task, {}).rules
        held_out = [Split("test", "test", {"rule": rule}, {"rule": rule}) for rule in rules]
        return [Split("train", "train", {}, {"rule": "all"}), *held_out]

    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        return interchange.examples(request)

    def file_input(self, request: FileRequest) -> OutsideInput:
        from humboldt.suites.bias.files import file_input  # which needs SciPy

        return file_input(self, request)
