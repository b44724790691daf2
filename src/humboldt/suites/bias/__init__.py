"""What they do when in doubt: which of the rules that explain its examples does a learner prefer?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from humboldt import settings as settings_
from humboldt.errors import UsageError, unknown_name
from humboldt.identity import Evaluation, Member, Training
from humboldt.languages import ProblemKind, tasks
from humboldt.report.figures import AnyFigure
from humboldt.report.tables import Record, Table
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.bias import figures, tables
from humboldt.suites.bias.files import score_files
from humboldt.suites.bias.problem import RuleLearning, members_of
from humboldt.suites.bias.protocol import CONTENDERS, PRESETS, TASKS, Preferences
from humboldt.suites.bias.scoring import is_first, outputs, probe_inputs, readings, rows_asked, score
from humboldt.suites.capabilities import ExampleRequest, FileRequest, OffersData, OffersScore
from humboldt.suites.cells import Cell, Glance, Heading, Measured
from humboldt.suites.experiments import Contender, Parts, Probe, Reading, Request, Scored, Scoring
from humboldt.training.base import Job, MemberRecipe, Recipe, Schedule

SPLITS = ("train", "test")
FEW = 32  # inputs of an estimate, where more would take long


class Bias(AbstractSuite, OffersData, OffersScore):
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
    demo = Request(("hierarchical_or_linear",), ("cnn_s2s", "transformer"))
    headline = "fits"
    evaluation = ("preference", 1)
    told_of_members = ("rule", "block")  # empty columns for description length tell

    def members(self, parts: Parts) -> list[Member]:
        return list(members_of(parts.task, parts.protocol))

    def groups(self, parts: Parts, members: Sequence[Member]) -> list[Sequence[Member]]:
        """First models apart: they have few examples. With moments that are kept, a later block takes longer."""
        groups: dict[int, list[Member]] = {}
        for member in members:
            key = member["block"] if parts.protocol.moments == "kept" else int(not is_first(member))
            groups.setdefault(key, []).append(member)
        return [groups[key] for key in sorted(groups)]

    def sweep(self, task: str, contender: Contender) -> Mapping[str, tuple[Any, ...]]:
        sizes = tasks.get(f"{self.name}/{task}").sizes  # pyright: ignore[reportAttributeAccessIssue]
        if sizes and contender.model == "joint_s2s":
            sizes = (sizes[0], sizes[1][:1])  # all that Table 8 has
        kernels = {"kernel_width": (3, 5, 8)} if (task, contender.model) == ("scan_jump", "cnn_s2s") else {}
        return {**contender.sweep, **({sizes[0]: sizes[1]} if sizes else {}), **kernels}

    def check_plan(self, parts: Parts) -> None:
        if parts.training.task not in TASKS:  # ours keep their promises, as tests show
            parts.task.verify()

    def work(self, parts: Parts) -> str:
        protocol: Preferences = parts.protocol
        batch = "all examples" if protocol.batch_size is None else f"{protocol.batch_size} examples"
        again = ", and again for each block" if protocol.moments == "kept" and protocol.description_length else ""
        return f"{protocol.updates:,} updates on {batch}{again}"

    def job(self, parts: Parts, members: Sequence[Member]) -> Job:
        protocol: Preferences = parts.protocol
        rate = protocol.learning_rate
        rounds = 1 + max(member["block"] for member in members) if protocol.moments == "kept" else 1
        return Job(
            model=parts.model,
            problem=RuleLearning(parts.task, protocol, members),
            recipe=Recipe(
                steps=rounds * protocol.updates,
                restart_every=protocol.updates if rounds > 1 else None,
                optimiser=protocol.optimiser,
                gradient_clip=protocol.gradient_clip,
                precision="float32" if protocol.precision == "tf32" else protocol.precision,
                exact_products=protocol.precision == "float32",
                loss="sum",
                schedule=Schedule(protocol.warm_up, start=protocol.first_rate / rate, first=0),
            ),
            members=tuple(MemberRecipe(member["seed"], rate) for member in members),
        )

    def score(self, scoring: Scoring) -> list[Scored]:
        return score(scoring)

    def problem(self, parts: Parts, members: Sequence[Member]) -> RuleLearning:
        return RuleLearning(parts.task, parts.protocol, members)

    def outside_member(self, seed: int) -> Member:
        return {"seed": seed, "rule": "", "block": 0}

    def readings(self, parts: Parts, evaluation: Evaluation, scored: Sequence[Scored]) -> list[Reading]:
        del evaluation
        return readings(parts.task, [measures for measures, _ in scored])

    def probe(self, parts: Parts, evaluation: Evaluation) -> Probe:
        del evaluation
        problem = RuleLearning(parts.task, parts.protocol, [{"seed": 0, "rule": "", "block": 0}])
        inputs, rules = probe_inputs(parts.task), parts.task.rules
        # Who has learnt something stops about where a rule does, who has not goes on to the end.
        longest = max(len(parts.task.output(rule, asked)) for rule in rules for asked in inputs)
        cap = min(longest + 1, parts.protocol.longest_output)

        def probe(inputs: list[Any], small: Probe | None = None) -> Probe:
            def run(predictor: Any) -> object:
                return outputs(problem, predictor, inputs, cap, None)

            return Probe(run, rows_asked(parts.task) / len(inputs), units=float(len(inputs) * cap), small=small)

        return probe(inputs, small=probe(inputs[:FEW]))

    def place(self, training: Training, evaluation: Evaluation) -> tuple[Any, ...]:
        del evaluation
        return (training.setting.get("task", {}).get(self.size_name(training.task), 0), self._kernel(training))

    def told_by(self, training: Training) -> tuple[str, ...]:
        return (self.size_name(training.task), *(["kernel_width"] if self._kernel(training) else []))

    def size_name(self, task: str) -> str:
        """The setting that the rows of a task's table tell apart; empty where there is none."""
        sizes = tasks.get(f"{self.name}/{task}").sizes  # pyright: ignore[reportAttributeAccessIssue]
        return sizes[0] if sizes else ""

    def _kernel(self, training: Training) -> int:
        """The kernel width, where the paper's table has a row for each."""
        is_swept = training.task == "scan_jump" and training.model == "cnn_s2s"
        return training.setting["model"]["kernel_width"] if is_swept else 0

    def cell_records(self, cell: Cell) -> list[Record]:
        return tables.records(self, cell)

    def layout(self, heading: Heading, cells: Sequence[Cell]) -> list[Table]:
        return tables.layout(self, heading, cells)

    def measured(self, cell: Cell) -> list[Measured]:
        """Shares of members have their own intervals in the records; nothing else is a number for each member."""
        del cell
        return []

    def glance(self, cells: Sequence[Cell]) -> Glance | None:
        return figures.glance(self, cells)

    def figures(self, heading: Heading, cells: Sequence[Cell]) -> list[AnyFigure]:
        del heading
        return figures.figures(self, cells)

    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        split, settings = request.split or "train", request.settings
        if request.length is not None:
            raise UsageError(
                f"--length {request.length}: inputs of these tasks have fixed lengths. Leave --length out."
            )
        if split not in SPLITS:
            raise unknown_name("split", split, SPLITS)
        task = self._task(request.task, {key: value for key, value in settings.items() if key != "rule"})
        rule = settings.get("rule")
        if split == "train" and rule is not None:
            raise UsageError(f"--set rule={rule}: all rules agree on the training set. Use it with --split test.")
        if split == "test" and rule is None:
            raise UsageError(
                "--split test: hold-out inputs have an output for each rule. Choose one, for example "
                f"--set rule={next(iter(task.rules))} (rules: {', '.join(task.rules)})."
            )
        pairs = task.training_pairs if rule is None else task.holdout_pairs(rule)
        yield from ((list(source), list(target)) for source, target in pairs[: request.count])

    def _task(self, name: str, changes: Mapping[str, Any]) -> Any:
        if name not in self.tasks():
            raise unknown_name("task", name, self.tasks())
        cls = tasks.get(f"{self.name}/{name}")
        settings_.check_known(changes, [cls])
        fields = {field.name: field for field in settings_.fields(cls)}
        return cls(**{key: settings_.typed_value(fields[key], value) for key, value in changes.items()})

    def score_file(self, request: FileRequest) -> dict[str, Any]:
        return score_files(self._task(request.task, request.settings), request.task, request.paths)


suites.register("bias", version=1)(Bias())
