"""Neural networks and the Chomsky hierarchy (Delétang et al. 2023): does a model run on longer inputs?"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from humboldt.errors import UsageError, unknown_name
from humboldt.languages import tasks
from humboldt.languages.chomsky import _conformance
from humboldt.languages.chomsky._base import AbstractTransduction
from humboldt.measures import accuracy
from humboldt.models import models
from humboldt.store import Result, Run
from humboldt.suites import _chomsky_tables, _settings, suites
from humboldt.suites._base import AbstractSuite, Experiment, Record, Request, Table, Watcher, at_least_one, chosen
from humboldt.suites._chomsky_protocol import (
    CONTENDERS,
    OF_MEMBERS,
    PAPER,
    QUICK,
    QUICK_CELLS,
    REMOVED,
    TASKS,
    Cell,
    LengthGeneralisation,
    departures,
    options,
)


class Chomsky(AbstractSuite):
    """The suite of Delétang et al. (2023)."""

    name = "chomsky"
    paper = "Delétang et al. 2023, Neural networks and the Chomsky hierarchy"
    question = "Does it run on longer inputs?"
    measure = "accuracy over unseen lengths"
    presets = MappingProxyType({"quick": QUICK, "paper": PAPER})
    demo = Request(["parity_check", "reverse_string"], ["rnn", "stack_rnn"])

    def tasks(self) -> list[str]:
        return list(TASKS)

    def models(self) -> list[str]:
        return list(CONTENDERS)

    def plan(self, request: Request) -> list[Experiment]:
        preset = self.preset(request.preset)
        task_names = chosen("task", request.tasks, self.tasks())
        model_names = chosen("model", request.models, self.models())
        cells = list(itertools.product(task_names, model_names))
        if preset is QUICK and not request.tasks and not request.models:
            cells = list(QUICK_CELLS)
            model_names = list(dict.fromkeys(model for _, model in cells))
        specs = {name: models.get(name)() for name in model_names}
        of_tasks = {name for task_name, _ in cells for name in options(task_name)}
        others = {key: value for key, value in request.settings.items() if key not in of_tasks}
        _settings.check_known(others, LengthGeneralisation, *specs.values())
        label = ", ".join([preset.name, *(f"{key}={value}" for key, value in request.settings.items())])
        experiments = []
        for task_name, model_name in cells:
            contender = CONTENDERS[model_name]
            # A swept setting that the user has fixed is not swept. `quick` takes each model as it is by default.
            sweep = {k: v for k, v in contender.sweep.items() if k not in request.settings and preset is not QUICK}
            for values in itertools.product(*sweep.values()):
                changes = {
                    **preset.changes_for(task_name),
                    **contender.changes,
                    **dict(zip(sweep, values, strict=True)),
                    **request.settings,
                }
                experiments.append(self._experiment(task_name, model_name, label, changes, request))
        return experiments

    def _experiment(
        self, task: str, model: str, label: str, changes: Mapping[str, str], request: Request
    ) -> Experiment:
        protocol = _settings.changed(LengthGeneralisation(), changes)
        num_seeds = at_least_one(request.seeds if request.seeds is not None else protocol.seeds)
        setting = {key: value for key, value in _settings.as_json(protocol).items() if key not in OF_MEMBERS}
        setting["model"] = _settings.as_json(_settings.changed(models.get(model)(), changes))
        setting["task"] = {key: changes.get(key, default) for key, default in options(task).items()}
        versions = {
            "task": tasks.entry(f"chomsky/{task}").version,
            "model": models.entry(model).version,
            "measure": accuracy.VERSION,
        }
        run = Run("chomsky", task, model, label, setting, versions)
        self.cell(run)  # a task's own settings are checked by the task
        members = tuple(
            {"seed": seed, "learning_rate": rate} for rate in protocol.learning_rates for seed in range(num_seeds)
        )
        work = f"{protocol.steps:,} steps of {protocol.batch_size} strings"
        return Experiment(run, members, work, tuple(departures(run, members)))

    def cell(self, run: Run) -> Cell:
        """The objects that a run's setting describes."""
        protocol = {key: value for key, value in run.setting.items() if key not in ("model", "task", *REMOVED)}
        return Cell(
            task=tasks.get(f"chomsky/{run.task}")(**run.setting["task"]),  # pyright: ignore[reportArgumentType]
            model=models.get(run.model)(**_settings.from_json(run.setting["model"])),
            protocol=LengthGeneralisation(**_settings.from_json(protocol)),
        )

    def estimate(self, experiments: Sequence[Experiment]) -> list[float]:
        from humboldt.suites import _chomsky_training

        return _chomsky_training.estimate([(self.cell(e.run), e.members) for e in experiments])

    def execute(self, experiment: Experiment, checkpoints: Path, watcher: Watcher) -> list[Result]:
        from humboldt.suites import _chomsky_training

        return _chomsky_training.execute(self.cell(experiment.run), experiment.members, checkpoints, watcher)

    def records(self, runs: Sequence[tuple[Run, list[Result]]]) -> list[Record]:
        return _chomsky_tables.records(self._in_order(runs))

    def tables(self, runs: Sequence[tuple[Run, list[Result]]]) -> list[Table]:
        notes: dict[str, list[str]] = {}
        for label in dict.fromkeys(run.label for run, _ in runs):
            own = [(run, results) for run, results in runs if run.label == label]
            protocol = self.cell(own[0][0]).protocol
            first, last = protocol.test_lengths
            measure = f"Per-sequence accuracy in percent, averaged over {len(protocol.scored_lengths())} lengths in "
            different = dict.fromkeys(
                text for run, results in own for text in departures(run, [result.member for result in results])
            )
            notes[label] = [f"{measure}{first}..{last}."]
            if different:
                notes[label].append("Not the paper's setting: " + "; ".join(different) + ".")
        return _chomsky_tables.tables(self._in_order(runs), self.tasks(), notes)

    def data(
        self, task: str, *, split: str | None, count: int, length: int | None, seed: int, settings: Mapping[str, str]
    ) -> Iterator[tuple[list[str], list[str]]]:
        if split is not None:
            raise UsageError(f"--split {split}: this suite has no splits, it draws fresh strings. Leave --split out.")
        (task,) = chosen("task", [task], self.tasks())
        for key in settings:
            if key not in options(task):
                raise unknown_name(
                    "setting", key, options(task), hint=f"{task} has: {', '.join(options(task)) or 'none'}."
                )
        language: AbstractTransduction = tasks.get(f"chomsky/{task}")(**settings)  # pyright: ignore
        rng = np.random.default_rng(seed)
        if length is not None:
            lengths = [length] * count
        else:
            first, last = LengthGeneralisation().train_lengths
            lengths = rng.integers(max(first, language.shortest), last + 1, count).tolist()
        for one in lengths:
            yield from language.sample(rng, 1, one).symbols(language.input_alphabet, language.output_alphabet)

    def check(self, task: str, lines: Sequence[str]) -> _conformance.Report:
        (task,) = chosen("task", [task], self.tasks())
        return _conformance.check_file(task, lines)

    def _in_order(self, runs: Sequence[tuple[Run, list[Result]]]) -> list[tuple[Run, list[Result]]]:
        return sorted(runs, key=lambda pair: (self.tasks().index(pair[0].task), self.models().index(pair[0].model)))


suites.register("chomsky", version=1)(Chomsky())
