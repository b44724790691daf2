"""Benchmarking neural network generalization for grammar induction (Lan et al. 2023): how much from how little?"""

import importlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.bliss import NAMES, get
from humboldt.measures.bliss import sizes
from humboldt.store import Result, Run
from humboldt.suites import _bliss_data, _bliss_tables, _settings, suites
from humboldt.suites._base import (
    AbstractSuite,
    Experiment,
    Record,
    Request,
    Table,
    Watcher,
    at_least_one,
    chosen,
)
from humboldt.suites._bliss_protocol import (
    CONTENDERS,
    NOT_OF_A_RUN,
    PAPER,
    QUICK,
    QUICK_SWEEPS,
    QUICK_TASKS,
    Cell,
    Induction,
    departures,
    entry_of,
    key_of,
    missing_values,
)

MEASURE_VERSION = 1  # grows when any score can change


class Bliss(AbstractSuite):
    """The suite of Lan et al. (2023)."""

    name = "bliss"
    paper = "Lan et al. 2023, Benchmarking neural network generalization for grammar induction"
    question = "How much is learnt from how little?"
    measure = "B-index"
    presets = MappingProxyType({"quick": QUICK, "paper": PAPER})
    demo = Request(["an_bn"], ["lstm", "mdlrnn"])

    def tasks(self) -> list[str]:
        return list(NAMES)

    def models(self) -> list[str]:
        return list(CONTENDERS)

    def plan(self, request: Request) -> list[Experiment]:
        preset = self.preset(request.preset)
        task_names = chosen("task", request.tasks, self.tasks())
        model_names = chosen("model", request.models, self.models())
        if preset is QUICK and not request.tasks:
            task_names = list(QUICK_TASKS)
        specs = {name: entry_of(CONTENDERS[name].network).value() for name in model_names}
        _settings.check_known(request.settings, Induction, *specs.values())
        experiments = []
        for task_name, model_name in itertools.product(task_names, model_names):
            contender = CONTENDERS[model_name]
            fixed = {**contender.changes, **preset.changes_for(model_name), **request.settings}
            sweep = {key: values for key, values in contender.sweep.items() if key not in fixed}
            if preset is QUICK:
                sweep = {key: QUICK_SWEEPS[key] for key in sweep}
            for factor in _settings.changed(Induction(), fixed).factors:
                for values in itertools.product(*sweep.values()):
                    changes = {**fixed, **dict(zip(sweep, values, strict=True))}
                    experiment = self._experiment(task_name, model_name, factor, changes, request)
                    alone = [
                        text for text in missing_values(model_name, [(experiment.run, [])]) if key_of(text) in fixed
                    ]
                    experiment = replace(experiment, departures=(*experiment.departures, *alone))
                    if not self._is_repetition(experiment.run, sweep.get("stack_size", ())):
                        experiments.append(experiment)
        return experiments

    def _experiment(
        self, task: str, model: str, factor: int, changes: Mapping[str, str], request: Request
    ) -> Experiment:
        seeds = {} if request.seeds is None else {"seeds": str(at_least_one(request.seeds))}
        protocol = _settings.changed(Induction(), {**changes, **seeds})
        get(task).check_prior(protocol.p)
        network = CONTENDERS[model].network
        setting = {key: value for key, value in _settings.as_json(protocol).items() if key not in NOT_OF_A_RUN}
        setting["factor"] = factor
        setting["model"] = _settings.as_json(_settings.changed(entry_of(network).value(), changes))
        versions = {
            "task": tasks.entry(f"bliss/{task}").version,
            "model": entry_of(network).version,
            "measure": MEASURE_VERSION,
        }
        # What competes for one cell, or only adds members to it, has one label.
        own = {
            k: v
            for k, v in request.settings.items()
            if k not in NOT_OF_A_RUN and v not in CONTENDERS[model].sweep.get(k, ())
        }
        label = ", ".join([request.preset, *(f"{key}={value}" for key, value in own.items())])
        run = Run("bliss", task, model, label, setting, versions)
        members = tuple(protocol.members())
        size = sizes(factor, protocol.order)
        generations = setting["model"].get("generations")  # of a model that is searched for
        effort = f"at most {generations:,} generations on" if generations else f"{protocol.epochs:,} epochs of"
        work = f"{effort} {size.train:,} strings, then {size.test:,} tests"
        found = departures(run, members)
        if protocol.factors != Induction().factors:
            found.append(f"factors {', '.join(map(str, protocol.factors))} instead of 1, 2, 4, 10")
        return Experiment(run, members, work, tuple(found))

    def _is_repetition(self, run: Run, stack_sizes: Sequence[str]) -> bool:
        """Whether a smaller stack of the sweep holds the corpus too: the numbers would be the same."""
        if not stack_sizes:
            return False
        longest = len(self.cell(run).corpus.last) + 1
        return any(longest < int(size) < run.setting["model"]["stack_size"] for size in stack_sizes)

    def cell(self, run: Run) -> Cell:
        """The objects that a run's setting describes."""
        protocol = {key: value for key, value in run.setting.items() if key not in ("model", "factor")}
        return Cell(
            language=get(run.task),
            model=entry_of(CONTENDERS[run.model].network).value(**_settings.from_json(run.setting["model"])),
            protocol=Induction(**_settings.from_json(protocol)),
            factor=run.setting["factor"],
        )

    def estimate(self, experiments: Sequence[Experiment]) -> list[float]:
        seconds = dict.fromkeys(range(len(experiments)), 0.0)
        for name in dict.fromkeys(experiment.run.model for experiment in experiments):
            own = [i for i, experiment in enumerate(experiments) if experiment.run.model == name]
            cells = [(self.cell(experiments[i].run), experiments[i].members) for i in own]
            seconds.update(zip(own, _trainer(name).estimate(cells), strict=True))
        return list(seconds.values())

    def execute(self, experiment: Experiment, checkpoints: Path, watcher: Watcher) -> list[Result]:
        cell = self.cell(experiment.run)
        return _trainer(experiment.run.model).execute(cell, experiment.members, checkpoints, watcher)

    def records(self, runs: Sequence[tuple[Run, list[Result]]]) -> list[Record]:
        return _bliss_tables.records(self._in_order(runs))

    def tables(self, runs: Sequence[tuple[Run, list[Result]]]) -> list[Table]:
        notes: dict[str, list[str]] = {}
        for label in dict.fromkeys(run.label for run, _ in runs):
            own = [(run, results) for run, results in runs if run.label == label]
            different = dict.fromkeys(
                f"{run.model}: {text}" for run, results in own for text in departures(run, [r.member for r in results])
            )
            different |= dict.fromkeys(text for name in self.models() for text in missing_values(name, own))
            notes[label] = ["Not the paper's setting: " + "; ".join(different) + "."] if different else []
        return _bliss_tables.tables(self._in_order(runs), notes)

    def data(
        self, task: str, *, split: str | None, count: int, length: int | None, seed: int, settings: Mapping[str, str]
    ) -> Iterator[tuple[list[str], list[str]]]:
        (task,) = chosen("task", [task], self.tasks())
        if length is not None:
            raise UsageError(
                f"--length {length}: strings of this suite are sampled, or come next after a size. Leave --length out, "
                "or use --split test --after N."
            )
        return _bliss_data.pairs(get(task), split, count, seed, settings)

    def _in_order(self, runs: Sequence[tuple[Run, list[Result]]]) -> list[tuple[Run, list[Result]]]:
        return sorted(runs, key=lambda pair: (self.tasks().index(pair[0].task), self.models().index(pair[0].model)))


def _trainer(model: str) -> Any:
    return importlib.import_module(CONTENDERS[model].trainer)


suites.register("bliss", version=1)(Bliss())
