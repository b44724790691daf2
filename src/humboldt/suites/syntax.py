"""Targeted syntactic evaluations with pseudo-languages: does a model see structure without words?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from humboldt.errors import UsageError, unknown_name
from humboldt.languages import tasks
from humboldt.languages.syntax import draw_split
from humboldt.languages.syntax._splits import NAMES as SPLITS
from humboldt.measures import accuracy
from humboldt.models import models
from humboldt.store import Result, Run
from humboldt.suites import _settings, _syntax_tables, suites
from humboldt.suites._base import AbstractSuite, Experiment, Record, Request, Table, Watcher, at_least_one, chosen
from humboldt.suites._syntax_protocol import (
    ARCHITECTURES,
    OF_DATA,
    OF_MEMBERS,
    PAPER,
    QUICK,
    TASKS,
    Cell,
    PseudoLanguages,
    check_splits,
    departures,
    learning_rates,
    sized,
)


class Syntax(AbstractSuite):
    """The suite of Someya et al. (2024)."""

    name = "syntax"
    paper = "Targeted syntactic evaluations with pseudo-languages (anonymous ACL submission)"
    question = "Does it see structure without words?"
    measure = "in- and out-of-distribution accuracy"
    presets = MappingProxyType({"quick": QUICK, "paper": PAPER})
    demo = Request(["nested_dependency"], ["lstm"])

    def tasks(self) -> list[str]:
        return list(TASKS)

    def models(self) -> list[str]:
        return list(ARCHITECTURES)

    def plan(self, request: Request) -> list[Experiment]:
        preset = self.preset(request.preset)
        task_names = chosen("task", request.tasks, self.tasks())
        model_names = chosen("model", request.models, self.models())
        known = [models.get(ARCHITECTURES[name].model) for name in model_names]
        _settings.check_known(request.settings, PseudoLanguages, *known)
        remarks = [f"{key}={v}" for key, v in request.settings.items() if key not in ("terminals", "distribution")]
        experiments = []
        for task_name in task_names:
            changes = {**preset.changes_for(task_name), **request.settings}
            protocol = _settings.changed(PseudoLanguages(), changes)
            specs = {name: _settings.changed(sized(name, protocol.sizes), changes) for name in model_names}
            num_seeds = at_least_one(request.seeds if request.seeds is not None else protocol.seeds)
            for terminals in dict.fromkeys(protocol.terminals):
                one = replace(protocol, terminals=(terminals,))
                check_splits(task_name, one)
                where = f"terminals={terminals}, {one.distribution}"
                label = ", ".join([preset.name, *remarks, where])
                for model_name, spec in specs.items():
                    experiments.append(self._experiment(task_name, model_name, one, spec, label, num_seeds))
        return experiments

    def _experiment(
        self, task: str, model: str, protocol: PseudoLanguages, spec: Any, label: str, num_seeds: int
    ) -> Experiment:
        (terminals,) = protocol.terminals
        setting = {key: value for key, value in _settings.as_json(protocol).items() if key not in OF_MEMBERS}
        setting["terminals"] = terminals
        setting["model"] = _settings.as_json(spec)
        versions = {
            "task": tasks.entry(f"syntax/{task}").version,
            "model": models.entry(ARCHITECTURES[model].model).version,
            "measure": accuracy.VERSION,
        }
        run = Run("syntax", task, model, label, setting, versions)
        rates = learning_rates(protocol, model)
        members = tuple({"seed": seed, "learning_rate": rate} for rate in rates for seed in range(num_seeds))
        work = f"{protocol.epochs} epochs of {2 * protocol.train:,} strings of {terminals} terminals"
        return Experiment(run, members, work, tuple(departures(run, members)))

    def cell(self, run: Run) -> Cell:
        """The objects that a run's setting describes."""
        setting = _settings.from_json({key: value for key, value in run.setting.items() if key != "model"})
        protocol = PseudoLanguages(**{**setting, "terminals": (setting["terminals"],)})
        architecture = ARCHITECTURES[run.model]
        return Cell(
            task=run.task,
            language=protocol.language(run.task),
            model=models.get(architecture.model)(**_settings.from_json(run.setting["model"])),
            protocol=protocol,
            optimiser="adamw" if architecture.is_transformer else "sgd",
        )

    def estimate(self, experiments: Sequence[Experiment]) -> list[float]:
        from humboldt.suites import _syntax_training

        return _syntax_training.estimate([(self.cell(e.run), e.members) for e in experiments])

    def execute(self, experiment: Experiment, checkpoints: Path, watcher: Watcher) -> list[Result]:
        from humboldt.suites import _syntax_training

        return _syntax_training.execute(self.cell(experiment.run), experiment.members, checkpoints, watcher)

    def records(self, runs: Sequence[tuple[Run, list[Result]]]) -> list[Record]:
        return [r for run, results in self._in_order(runs) for r in _syntax_tables.records(run, results)]

    def tables(self, runs: Sequence[tuple[Run, list[Result]]]) -> list[Table]:
        return _syntax_tables.tables(
            self._in_order(runs), {run.key: departures(run, [r.member for r in results]) for run, results in runs}
        )

    def data(
        self, task: str, *, split: str | None, count: int, length: int | None, seed: int, settings: Mapping[str, str]
    ) -> Iterator[tuple[list[str], list[str]]]:
        (task,) = chosen("task", [task], self.tasks())
        if length is not None:
            raise UsageError(
                f"--length {length}: a split has a range of lengths, not one. Leave --length out, or change the range "
                "with --set lengths=4,30 (--set long_lengths=31,100 for the split long)."
            )
        for key in settings:
            if key not in OF_DATA:
                raise unknown_name("setting of the data", key, OF_DATA)
        name = split if split is not None else "train"
        if name not in SPLITS:
            raise unknown_name("split", name, SPLITS)
        protocol = _settings.changed(PseudoLanguages(terminals=(10,)), settings)
        if len(protocol.terminals) != 1:
            raise UsageError(f"--set terminals={settings['terminals']}: strings are drawn for one number of terminals.")
        language = protocol.language(task)
        strings = 2 * getattr(protocol, name)
        if count > strings:
            raise UsageError(
                f"--count {count}: the split {name} has {strings:,} strings. Use a smaller number, or a larger split: "
                f"--set {name}={-(-count // 2)} (positives, with as many negatives)."
            )
        pairs = draw_split(language, name, seed, protocol.splits).pairs().head(count)
        yield from pairs.symbols(language.input_alphabet, language.output_alphabet)

    def _in_order(self, runs: Sequence[tuple[Run, list[Result]]]) -> list[tuple[Run, list[Result]]]:
        def place(pair: tuple[Run, list[Result]]) -> tuple[int, int, str, int]:
            run = pair[0]
            terminals, distribution = run.setting["terminals"], run.setting["distribution"]
            return self.tasks().index(run.task), terminals, distribution, self.models().index(run.model)

        return sorted(runs, key=place)


suites.register("syntax", version=1)(Syntax())
