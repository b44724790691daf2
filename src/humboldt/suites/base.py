"""What every suite is and does. A suite writes what is its paper's own; planning, identities, sweeps, departures,
restoring and the grouping of results are here, once.

From its *protocol* (settings), *contenders* (the paper's models) and *presets* a suite makes *trainings* and their
*evaluations*; for an engine it makes a *job*; with a predictor it *scores*; results become *cells* of its tables.
"""

import dataclasses
import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

from humboldt import settings
from humboldt.errors import UsageError, unknown_name
from humboldt.identity import Evaluation, Member, Training, Version, canonical
from humboldt.languages import AbstractTask, ProblemKind, tasks
from humboldt.registry import Entry
from humboldt.report.figures import AnyFigure
from humboldt.report.tables import Record, Table
from humboldt.report.words import counted
from humboldt.settings import Role
from humboldt.store import Written
from humboldt.suites.cells import Cell, Glance, Heading, Measured
from humboldt.suites.departures import Departure
from humboldt.suites.experiments import Contender, Experiment, Parts, Preset, Probe, Reading, Request, Scored, Scoring
from humboldt.suites.plots import clouds
from humboldt.training.base import AbstractEngine, AbstractProblem, Job, engines

PAPER = "paper"  # the preset that every suite has
OPEN_ENGINES = ("jax", "torch")  # which any model can be registered with
OUTSIDE = "outside"  # the engine of models that were trained elsewhere; `outside/NAME` is the model NAME of somebody


class AbstractSuite(ABC):
    """A paper's protocol. What a suite must write is abstract, or a class variable without a value."""

    name: ClassVar[str]
    paper: ClassVar[str]
    question: ClassVar[str]
    measure: ClassVar[str]
    kind: ClassVar[ProblemKind]
    protocol: ClassVar[type]
    contenders: ClassVar[Mapping[str, Contender]]
    printed_tasks: ClassVar[tuple[str, ...]]  # those of the paper, in the order of its table
    presets: ClassVar[Mapping[str, Preset]]
    demo: ClassVar[Request] = Request()  # what `humboldt demo` shows of it: the quick preset, or a part of it
    headline: ClassVar[str]  # the measure that says which members are best; more is better
    evaluation: ClassVar[tuple[str, int]]  # name and version of the evaluation that every training gets
    format: ClassVar[int] = 2  # of stored settings; grows when one is renamed or removed, see `upgrade`
    test_sets: ClassVar[tuple[str, ...]] = ()  # where there are several: a file of predictions may be of one of them
    told: ClassVar[tuple[str, ...]] = ()  # settings that a table's own rows and columns tell
    told_of_members: ClassVar[tuple[str, ...]] = ()  # of what members differ in, what a table tells

    # What a suite writes.

    @abstractmethod
    def job(self, parts: Parts, members: Sequence[Member]) -> Job:
        """What an engine has to train."""

    @abstractmethod
    def score(self, scoring: Scoring) -> list[Scored]:
        """Measures and details of each member of a predictor. Needs no JAX: anybody's predictor will do."""

    @abstractmethod
    def probe(self, parts: Parts, evaluation: Evaluation) -> Probe:
        """A part of an evaluation that shows how long the whole takes."""

    @abstractmethod
    def work(self, parts: Parts) -> str:
        """What one member takes, in words."""

    @abstractmethod
    def cell_records(self, cell: Cell) -> list[Record]:
        """The numbers of one cell, beside the published ones."""

    @abstractmethod
    def layout(self, heading: Heading, cells: Sequence[Cell]) -> list[Table]:
        """Cells of one heading in the paper's tables; the last note of the first one is added by the caller."""

    # What a suite may write.

    def problem(self, parts: Parts, members: Sequence[Member]) -> AbstractProblem:
        """What members are trained on, which may have been trained elsewhere. Suites whose problem depends on the
        members write it, and those that can make it without a job."""
        del members
        return self.job(parts, self.members(parts)[:1]).problem

    def outside_member(self, seed: int) -> Member:
        """A member that was trained elsewhere."""
        return {"seed": seed}

    def trained_task(self, task: str) -> str:
        """The task that models are trained on to be asked for `task`; another one where that is only a test."""
        return task

    def readings(self, parts: Parts, evaluation: Evaluation, scored: Sequence[Scored]) -> list[Reading]:
        """What to tell about members by themselves: each number with how many strings it rests on, an interval, the
        chance level and its breakdown, as far as a suite has them."""
        del parts, evaluation
        return [Reading(name, value) for measures, _ in scored for name, value in measures.items()]

    def members(self, parts: Parts) -> list[Member]:
        """The members that are asked for; here every seed with every learning rate. The protocol of `parts` is the one
        that was asked for, with all its values: what decides about members is not stored with a training."""
        rates, seeds = parts.protocol.learning_rates, range(parts.protocol.seeds)
        return [{"seed": seed, "learning_rate": rate} for rate in rates for seed in seeds]

    def make_task(self, name: str, protocol: Any, options: Mapping[str, Any]) -> AbstractTask:
        """The task that a training is about."""
        del protocol
        cls = tasks.get(f"{self.name}/{name}")
        return settings.from_json(cls, options) if settings.fields(cls) else cls(**options)

    def check_plan(self, parts: Parts) -> None:
        """Raises a usage error if the settings do not fit the task: asked of every training before anything runs."""
        del parts

    def groups(self, parts: Parts, members: Sequence[Member]) -> list[Sequence[Member]]:
        """The same members, those together that are best trained together."""
        del parts
        return [members]

    def sweep(self, task: str, contender: Contender) -> Mapping[str, tuple[Any, ...]]:
        """What the paper tries several values of, a training each."""
        del task
        return contender.sweep

    def is_repetition(self, parts: Parts, sweep: Mapping[str, tuple[Any, ...]]) -> bool:
        """Whether another value of the sweep is bound to give the same numbers."""
        del parts, sweep
        return False

    def evaluations(self, protocol: Any, task: str) -> list[Evaluation]:
        """What is asked of the members that are trained on a task."""
        del task
        name, version = self.evaluation
        return [Evaluation(name, settings.as_json(protocol, [Role.EVALUATION]), version)]

    def upgrade(self, setting: dict[str, Any], format: int, *, model: str) -> dict[str, Any]:
        """A setting as an earlier version stored it, with today's names."""
        del format, model
        return setting

    def place(self, training: Training, evaluation: Evaluation) -> tuple[Any, ...]:
        """What beside task and model decides for which cell of a table a training competes."""
        del training, evaluation
        return ()

    def told_by(self, training: Training) -> tuple[str, ...]:
        """Settings of this training that its table tells, and that its heading therefore leaves out."""
        del training
        return self.told

    def measured(self, cell: Cell) -> list[Measured]:
        """What the members of a cell have, of which statistics are told; the first is the headline."""
        values = tuple(value for value, _, _ in cell.finished(self.headline))
        several = len(self.evaluations(self.protocol(), cell.task)) > 1
        names = [*map(settings.words, cell.place), *([cell.scores[0].evaluation.name] if several else [])]
        return [Measured(self.headline, " ".join([str(cell.heading), *names]), values)] if values else []

    def glance(self, cells: Sequence[Cell]) -> Glance | None:
        """The cells of one model under one heading, in a word."""
        best = [(cell.task, found[0].spread.best) for cell in cells if (found := self.measured(cell))]
        if not best:
            return None
        mean = sum(value for _, value in best) / len(best)
        return Glance(f"{mean:.3g}", f"best {self.headline}, mean of {counted(len(best), 'task')}")

    def figures(self, heading: Heading, cells: Sequence[Cell]) -> list[AnyFigure]:
        """The figures of cells under one heading; here one with a point for each member."""
        del heading
        return clouds(self, cells)

    def figures_across(self, cells: Sequence[Cell]) -> list[AnyFigure]:
        """Figures that need cells of several headings."""
        del cells
        return []

    # What the base does.

    def family(self, model: str) -> str:
        """What a model is a kind of; one from outside is its own."""
        own = model.removeprefix(f"{OUTSIDE}/")
        return getattr(self.model_entry(self.contender(model)).value, "family", own)

    def tasks(self) -> list[str]:
        """Task names: the paper's in the order of its table, then others."""
        known = [name.partition("/")[2] for name in tasks.names(f"{self.name}/")]
        return [*self.printed_tasks, *(name for name in known if name not in self.printed_tasks)]

    def models(self) -> list[str]:
        """Model names: the paper's in the order of its table, then all others that fit its problem."""
        taken = {*self.contenders, *(contender.model for contender in self.contenders.values())}
        others = [
            entry.name
            for name in OPEN_ENGINES
            for entry in engines.get(name).models.entries()
            if entry.name not in taken and self.kind in getattr(entry.value, "problems", ())
        ]
        return [*self.contenders, *others]

    def contender(self, model: str) -> Contender:
        """A model of the paper, any other that fits, or one that was trained elsewhere."""
        if model in self.contenders:
            return self.contenders[model]
        if model.startswith(f"{OUTSIDE}/"):
            elsewhere = Departure("training", text="trained outside Humboldt")
            return Contender(OUTSIDE, f"{model.partition('/')[2]} (outside)", engine=OUTSIDE, departures=(elsewhere,))
        if model not in self.models():
            for name in OPEN_ENGINES:
                if model in engines.get(name).models:
                    kinds = ", ".join(kind.value for kind in engines.get(name).models.get(model).problems)
                    raise UsageError(
                        f"The model {model!r} is for {kinds}, and the suite {self.name} has problems of "
                        f"{self.kind.value}. Its attribute `problems` says what it can be given."
                    )
            raise unknown_name("model", model, self.models())
        engine = next(name for name in OPEN_ENGINES if model in engines.get(name).models)
        return Contender(model, getattr(engines.get(engine).models.get(model), "title", model), engine=engine)

    def preset(self, name: str) -> Preset:
        """A preset by name."""
        if name not in self.presets:
            raise unknown_name("preset", name, self.presets)
        return self.presets[name]

    def engine(self, contender: Contender) -> AbstractEngine:
        """Who trains a contender."""
        return engines.get(contender.engine)

    def model_entry(self, contender: Contender) -> Entry[Any]:
        """The settings class of a contender's model, with its version."""
        return self.engine(contender).models.entry(contender.model)

    def settings_classes(self, task: str, model: str) -> list[type]:
        """All classes whose settings a cell has."""
        return [self.protocol, self.model_entry(self.contender(model)).value, tasks.get(f"{self.name}/{task}")]

    def plan(self, request: Request) -> list[Experiment]:
        """The experiments that a request means. Raises `UsageError` on any name or value that is wrong."""
        preset = self.preset(request.preset)
        cells = self.pairs(request)
        classes = dict.fromkeys(cls for cell in cells for cls in self.settings_classes(*cell))
        settings.check_known(request.settings, classes)
        changes = dict(request.settings)
        if request.seeds is not None:
            if "seeds" in changes:
                raise UsageError(f"seeds={changes['seeds']} and --seeds {request.seeds} were both given. Give one.")
            changes["seeds"] = request.seeds
        experiments = []
        for task, model in cells:
            own = request.of_models.get(model, {})
            planned = list(self.trainings(task, model, preset, {**changes, **own}))
            several = _differing([training.flat for training, _ in planned])
            for training, protocol in planned:
                evaluations = tuple(self.evaluations(protocol, task))
                parts = self.restore(training, evaluations[0])
                self.check_plan(parts)
                distinct = {key: training.flat[key] for key in several}
                for members in self.groups(parts, self.members(dataclasses.replace(parts, protocol=protocol))):
                    experiments.append(Experiment(training, tuple(members), evaluations, self.work(parts), distinct))
        return experiments

    def pairs(self, request: Request) -> list[tuple[str, str]]:
        """The pairs of task and model that a request means."""
        preset = self.preset(request.preset)
        if not request.tasks and not request.models and preset.cells is not None:
            return list(preset.cells)
        for model in request.models:
            self.contender(model)  # an error that says why, if it does not fit
        chosen_tasks = _in_order("task", request.tasks, self.tasks()) or list(preset.tasks or self.printed_tasks)
        chosen_models = _in_order("model", request.models, self.models()) or list(self.contenders)
        return list(itertools.product(chosen_tasks, chosen_models))

    def trainings(
        self, task: str, model: str, preset: Preset, changes: Mapping[str, Any]
    ) -> Iterator[tuple[Training, Any]]:
        """The trainings of one cell, each with its protocol."""
        contender = self.contender(model)
        fixed = {**contender.changes, **self._preset_changes(preset, task, model), **changes}
        papers = self.sweep(task, contender)
        values = papers if preset.sweeps is None else preset.sweeps
        sweep = {key: values[key] for key in papers if key in values and key not in fixed}
        for combination in itertools.product(*sweep.values()):
            swept = {**fixed, **dict(zip(sweep, combination, strict=True))}
            whole = settings.changed(self.protocol(), swept)
            each = itertools.product(_each(whole), _each_of_task(tasks.get(f"{self.name}/{task}"), swept))
            for protocol, own in each:
                training = self.training(task, model, protocol, own)
                if not (sweep and self.is_repetition(self.restore(training), sweep)):
                    yield training, protocol

    def _preset_changes(self, preset: Preset, task: str, model: str) -> dict[str, Any]:
        """What a preset changes for a cell. The models of the paper are all that it can speak for: others keep their
        own sizes."""
        changes = preset.changes_for(task, model)
        known = {*settings.names(self.protocol), *settings.names(tasks.get(f"{self.name}/{task}"))}
        known |= set(preset.of_models.get(model, ()))
        return {key: value for key, value in changes.items() if model in self.contenders or key in known}

    def training(self, task: str, model: str, protocol: Any, changes: Mapping[str, Any]) -> Training:
        """The training of one task and model under a protocol, with these changes to the model's and task's own."""
        contender = self.contender(model)
        follows = {
            key: value
            for (name, wanted), then in contender.follows.items()
            if getattr(protocol, name) == wanted
            for key, value in then.items()
        }
        entry, task_entry = self.model_entry(contender), tasks.entry(f"{self.name}/{task}")
        setting = settings.as_json(protocol, [Role.TRAINING, Role.EACH])
        if contender.engine == OUTSIDE:  # how it was trained is not ours to tell
            of_data = {f.stored_name for f in settings.fields(self.protocol) if f.of_data}
            setting = {key: value for key, value in setting.items() if key in of_data}
        setting = {key: value[0] if key in _each_names(self.protocol) else value for key, value in setting.items()}
        setting["model"] = settings.as_json(settings.changed(entry.value(), {**follows, **changes}))
        if options := settings.fields(task_entry.value):
            of_task = {f.name: settings.typed_value(f, changes.get(f.name, f.default)) for f in options}
            of_task = {f.stored_name: of_task[f.name][0] if f.role is Role.EACH else of_task[f.name] for f in options}
            setting["task"] = {key: settings.plain(value) for key, value in of_task.items()}
        return Training(self.name, task, model, contender.engine, setting, self.versions(task, model))

    def outside_trainings(
        self, task: str, name: str, preset: str, changes: Mapping[str, Any]
    ) -> list[tuple[Training, Any]]:
        """The trainings of a task that a model which was trained elsewhere may be scored as, each with its protocol.
        Settings that only say how our own models are trained are refused."""
        if task not in self.tasks():
            raise unknown_name("task", task, self.tasks())
        known = [f for f in settings.fields(self.protocol) if f.of_data or f.role is Role.EVALUATION]
        known += settings.fields(tasks.get(f"{self.name}/{task}"))
        names = {f.name for f in known} | set(self.sweep(task, self.contender(f"{OUTSIDE}/{name}")))
        for key in changes:
            if key not in names:
                about = "how our own models are trained" if key in settings.names(self.protocol) else "nothing here"
                hint = f"{key} says {about}; the data and the tests have: {', '.join(sorted(names))}."
                raise unknown_name("setting of data or tests", key, names, hint=hint)
        return list(self.trainings(task, f"{OUTSIDE}/{name}", self.preset(preset), changes))

    def versions(self, task: str, model: str) -> dict[str, Version]:
        """Of a task and a model, as they are today."""
        entry = self.model_entry(self.contender(model))
        return {"task": tasks.entry(f"{self.name}/{task}").version, "model": entry.version}

    def restore(self, training: Training, evaluation: Evaluation | None = None) -> Parts:
        """The objects that stored settings describe. Raises a usage error for names that nothing has today."""
        if training.task not in self.tasks():
            raise unknown_name("task", training.task, self.tasks())
        contender = self.contender(training.model)
        of_protocol = {key: value for key, value in training.setting.items() if key not in ("model", "task")}
        protocol = settings.from_json(self.protocol, {**of_protocol, **(evaluation.setting if evaluation else {})})
        return Parts(
            training,
            contender,
            task=self.make_task(training.task, protocol, training.setting.get("task", {})),
            model=settings.from_json(self.model_entry(contender).value, training.setting["model"]),
            protocol=protocol,
        )

    def read(self, written: Written) -> tuple[Training, Evaluation | None]:
        """What a stored description means today. Rows of format 1 held a training and its evaluation together."""
        before, model = written.training, written.training.model
        setting = self.upgrade(dict(before.setting), written.format, model=model)
        if not setting.get("task", True):
            del setting["task"]
        setting = _without_later_defaults(self.protocol, setting)
        if model in self.models():
            options = self.model_entry(self.contender(model)).value
            setting["model"] = _without_later_defaults(options, setting["model"])
        if written.format > 1:
            return dataclasses.replace(before, setting=setting), None
        later = {f.stored_name for f in settings.fields(self.protocol) if f.role is Role.EVALUATION}
        evaluation = {key: value for key, value in setting.items() if key in later}
        setting = {key: value for key, value in setting.items() if key not in later}
        versions = {key: value for key, value in before.versions.items() if key != "measure"}
        engine = self.contenders[model].engine if model in self.contenders else "jax"
        training = dataclasses.replace(before, engine=engine, setting=setting, versions=versions)
        return training, Evaluation(self.evaluation[0], evaluation, before.versions["measure"])

    def is_current(self, training: Training, evaluation: Evaluation) -> bool:
        """Whether task, model and measure are still the versions that these results were made with."""
        versions = self.versions(training.task, training.model)
        current = {one.name: one.version for one in self.evaluations(self.protocol(), training.task)}
        return training.versions == versions and current.get(evaluation.name) == evaluation.version

    @cache  # noqa: B019  suites live as long as the program
    def paper_members(self, task: str, model: str) -> list[Member]:
        """The members that the paper has of a cell, whatever is swept."""
        planned = self.trainings(task, model, self.preset(PAPER), {})
        everybody = [
            member
            for training, protocol in planned
            for member in self.members(dataclasses.replace(self.restore(training), protocol=protocol))
        ]
        return list({canonical(member): member for member in everybody}.values())

    @cache  # noqa: B019  suites live as long as the program
    def expected(self, task: str, model: str, preset: str, evaluation: str) -> tuple[dict[str, Any], ...]:
        """The settings that a preset would give the trainings of a cell and an evaluation of them."""
        return tuple(
            {**training.flat, **one.setting}
            for training, protocol in self.trainings(task, model, self.preset(preset), {})
            for one in self.evaluations(protocol, task)
            if one.name == evaluation
        )


def _without_later_defaults(cls: type, setting: Mapping[str, Any]) -> dict[str, Any]:
    """A stored setting without what stays out of identities."""
    later = {f.stored_name: settings.plain(f.default) for f in settings.fields(cls) if f.added_later}
    return {key: value for key, value in setting.items() if key not in later or value != later[key]}


def _each(protocol: Any) -> Iterator[Any]:
    """The protocols of single trainings, one for each value of the settings that have a training for each."""
    names = [f.name for f in settings.fields(type(protocol)) if f.role is Role.EACH]
    for values in itertools.product(*(getattr(protocol, name) for name in names)):
        yield dataclasses.replace(protocol, **{name: (value,) for name, value in zip(names, values, strict=True)})


def _each_of_task(task: type, changes: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The changes with one value each of the task's settings that have a training for each."""
    each = [f for f in settings.fields(task) if f.role is Role.EACH]
    values = [settings.typed_value(f, changes.get(f.name, f.default)) for f in each]
    for combination in itertools.product(*values):
        yield {**changes, **{f.name: (value,) for f, value in zip(each, combination, strict=True)}}


def _each_names(protocol: type) -> set[str]:
    return {f.stored_name for f in settings.fields(protocol) if f.role is Role.EACH}


def _differing(flat: Sequence[Mapping[str, Any]]) -> list[str]:
    """The keys whose values are not the same in all."""
    return [key for key in (flat[0] if flat else {}) if any(one.get(key) != flat[0][key] for one in flat)]


def _in_order(kind: str, names: Sequence[str], known: Sequence[str]) -> list[str]:
    """`names` in the order of `known` and without repetition; unknown names raise."""
    for name in names:
        if name not in known:
            raise unknown_name(kind, name, known)
    return [name for name in known if name in names]
