"""Neural networks and the Chomsky hierarchy (Delétang et al. 2023): does a model run on longer inputs?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from humboldt import published
from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.chomsky._base import AbstractTransduction
from humboldt.measures import accuracy
from humboldt.models import models
from humboldt.store import Result, Run, State
from humboldt.suites import _settings, suites
from humboldt.suites._base import (
    AbstractSuite,
    Experiment,
    Preset,
    Record,
    Request,
    Table,
    Watcher,
    at_least_one,
    chosen,
)

MEASURE = "score"
SOLVED = 90.0  # percent; the paper's section 4


@dataclass(frozen=True, kw_only=True)
class LengthGeneralisation:
    """The setting of Delétang et al. (2023). The defaults are the paper's; comments say where each stands."""

    train_lengths: tuple[int, int] = (1, 40)  # section 4, "Data generation"; both ends included
    test_lengths: tuple[int, int] = (41, 500)  # section 4, U(N + 1, M); both ends included
    batch_size: int = 128  # appendix A.4
    steps: int = 1_000_000  # appendix A.4
    learning_rates: tuple[float, ...] = (1e-4, 3e-4, 5e-4)  # appendix A.4
    seeds: int = 10  # section 4
    gradient_clip: float | None = 1.0  # released code; the paper is silent
    loss: Literal["mean", "sum"] = "mean"  # over output symbols: algorithm A.1; the released code sums
    strings_per_length: int = 512  # released code; the paper is silent
    num_test_lengths: int = 460  # how many lengths are scored at most, spread evenly; 460 are all of them
    data_seed: int = 0
    test_seed: int = 1

    def __post_init__(self) -> None:
        for name in ("train_lengths", "test_lengths"):
            first, last = getattr(self, name)
            if not 1 <= first <= last:
                raise ValueError(
                    f"{name} {(first, last)} is not a range. Give the first and the last length, e.g. 1,40."
                )
        if self.test_lengths[0] <= self.train_lengths[1]:
            raise ValueError(
                f"test_lengths {self.test_lengths} overlap train_lengths {self.train_lengths}. The score must only see "
                f"lengths the learner never trained on. Use test_lengths={self.train_lengths[1] + 1},"
                f"{self.test_lengths[1]}."
            )
        for name in ("batch_size", "steps", "strings_per_length", "num_test_lengths"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, but must be at least 1.")
        if not self.learning_rates or min(self.learning_rates) <= 0:
            raise ValueError(f"learning_rates {self.learning_rates} must be one or more positive numbers.")

    def scored_lengths(self) -> list[int]:
        """The lengths whose accuracies are averaged, in order, first and last of the range among them."""
        first, last = self.test_lengths
        count = min(self.num_test_lengths, last - first + 1)
        return sorted({round(x) for x in np.linspace(first, last, count)}) if count > 1 else [last]


#: What the settings say about members is not part of a run's identity: more seeds may be added later.
OF_MEMBERS = ("learning_rates", "seeds")

PAPER = Preset("paper", "exactly the paper's setting", {})
QUICK = Preset(
    "quick",
    "who succeeds and who fails, in about two minutes on a 2-core laptop",
    {
        "steps": "4000",
        "batch_size": "32",
        "hidden_size": "64",
        "learning_rates": "4e-3",
        "seeds": "2",
        "strings_per_length": "64",
        "num_test_lengths": "24",
    },
)

REGULAR = ["even_pairs", "modular_arithmetic_simple", "parity_check", "cycle_navigation"]
MODELS = ["rnn", "lstm"]


@dataclass(frozen=True)
class Cell:
    """What one experiment is made of, read back from its stored setting."""

    task: AbstractTransduction
    model: Any
    protocol: LengthGeneralisation


class Chomsky(AbstractSuite):
    """The suite of paper 001."""

    name = "chomsky"
    paper = "Delétang et al. 2023, Neural networks and the Chomsky hierarchy"
    question = "Does it run on longer inputs?"
    measure = "accuracy over unseen lengths"
    presets = MappingProxyType({"quick": QUICK, "paper": PAPER})

    def tasks(self) -> list[str]:
        return list(REGULAR)

    def models(self) -> list[str]:
        return list(MODELS)

    def plan(self, request: Request) -> list[Experiment]:
        preset = self.preset(request.preset)
        task_names = chosen("task", request.tasks, self.tasks())
        model_names = chosen("model", request.models, self.models())
        specs = {name: models.get(name)() for name in model_names}
        _settings.check_known(request.settings, LengthGeneralisation, *specs.values())
        changes = {**preset.changes, **request.settings}
        protocol = _settings.changed(LengthGeneralisation(), changes)
        num_seeds = at_least_one(request.seeds if request.seeds is not None else protocol.seeds)
        members = tuple(
            {"seed": seed, "learning_rate": rate} for rate in protocol.learning_rates for seed in range(num_seeds)
        )
        label = ", ".join([preset.name, *(f"{key}={value}" for key, value in request.settings.items())])
        experiments = []
        for task_name in task_names:
            entry = tasks.entry(f"chomsky/{task_name}")
            for model_name, spec in specs.items():
                setting = {key: v for key, v in _settings.as_json(protocol).items() if key not in OF_MEMBERS}
                setting["model"] = _settings.as_json(_settings.changed(spec, changes))
                versions = {
                    "task": entry.version,
                    "model": models.entry(model_name).version,
                    "measure": accuracy.VERSION,
                }
                run = Run("chomsky", task_name, model_name, label, setting, versions)
                work = f"{protocol.steps:,} steps of {protocol.batch_size} strings"
                experiments.append(Experiment(run, members, work, tuple(departures(run, members))))
        return experiments

    def cell(self, run: Run) -> Cell:
        """The objects that a run's setting describes."""
        setting = _settings.from_json({key: value for key, value in run.setting.items() if key != "model"})
        return Cell(
            task=tasks.get(f"chomsky/{run.task}")(),  # pyright: ignore[reportArgumentType]
            model=models.get(run.model)(**_settings.from_json(run.setting["model"])),
            protocol=LengthGeneralisation(**setting),
        )

    def estimate(self, experiments: Sequence[Experiment]) -> list[float]:
        from humboldt.suites import _chomsky_training

        return _chomsky_training.estimate([(self.cell(e.run), e.members) for e in experiments])

    def execute(self, experiment: Experiment, checkpoints: Path, watcher: Watcher) -> list[Result]:
        from humboldt.suites import _chomsky_training

        return _chomsky_training.execute(self.cell(experiment.run), experiment.members, checkpoints, watcher)

    def records(self, runs: Sequence[tuple[Run, list[Result]]]) -> list[Record]:
        records = []
        for run, results in self._in_order(runs):
            scores = [100 * result.measures[MEASURE] for result in results if result.state is State.FINISHED]
            if not scores:
                continue
            summary = accuracy.summarise(scores)
            for statistic in ("max", "mean", "std"):
                value, members = getattr(summary, statistic), summary.members
                printed = _published(run.task, run.model, statistic)
                records.append(
                    Record("chomsky", run.task, run.model, run.label, MEASURE, statistic, value, members, printed)
                )
        return records

    def tables(self, runs: Sequence[tuple[Run, list[Result]]]) -> list[Table]:
        labels = dict.fromkeys(run.label for run, _ in runs)
        return [self._table([(run, r) for run, r in runs if run.label == label], label) for label in labels]

    def data(
        self, task: str, *, split: str | None, count: int, length: int | None, seed: int, settings: Mapping[str, str]
    ) -> Iterator[tuple[list[str], list[str]]]:
        if split is not None:
            raise UsageError(f"--split {split}: this suite has no splits, it draws fresh strings. Leave --split out.")
        if settings:
            raise UsageError(f"--set {next(iter(settings))}=...: this task has no settings. Leave --set out.")
        (task,) = chosen("task", [task], self.tasks())
        language: AbstractTransduction = tasks.get(f"chomsky/{task}")()  # pyright: ignore[reportAssignmentType]
        rng = np.random.default_rng(seed)
        if length is not None:
            lengths = [length] * count
        else:
            first, last = LengthGeneralisation().train_lengths
            lengths = rng.integers(max(first, language.shortest), last + 1, count).tolist()
        for one in lengths:
            yield from language.sample(rng, 1, one).symbols(language.input_alphabet, language.output_alphabet)

    def _in_order(self, runs: Sequence[tuple[Run, list[Result]]]) -> list[tuple[Run, list[Result]]]:
        return sorted(runs, key=lambda pair: (self.tasks().index(pair[0].task), self.models().index(pair[0].model)))

    def _table(self, runs: Sequence[tuple[Run, list[Result]]], label: str) -> Table:
        found = {(run.task, run.model): results for run, results in runs}
        names = [name for name in self.models() if any(model == name for _, model in found)]
        columns = ["Level", "Task", "Chance", *(c for name in names for c in (MODEL_TITLES[name], "paper"))]
        rows, members = [], set()
        for task in self.tasks():
            if not any(name == task for name, _ in found):
                continue
            language: AbstractTransduction = tasks.get(f"chomsky/{task}")()  # pyright: ignore[reportAssignmentType]
            row = [language.level.value, task, f"{100 * language.chance:.0f}"]
            for name in names:
                results = found.get((task, name), [])
                scores = [100 * result.measures[MEASURE] for result in results if result.state is State.FINISHED]
                if scores:
                    best = max(scores)
                    row.append(f"{best:.1f}{'*' if best >= SOLVED else ' '}")
                    members.add(len(scores))
                else:
                    row.append("diverged" if results else "–")
                row.append(str(_published(task, name, "max") or "–"))
            rows.append(tuple(row))
        protocol = self.cell(runs[0][0]).protocol
        first, last = protocol.test_lengths
        lengths = len(protocol.scored_lengths())
        notes = [
            f"Per-sequence accuracy in percent, averaged over {lengths} lengths in {first}..{last}; best of "
            f"{' or '.join(map(str, sorted(members)))} members. * solved (>= {SOLVED:.0f}). Paper: Table 2."
        ]
        different = dict.fromkeys(
            text for run, results in runs for text in departures(run, [result.member for result in results])
        )
        if different:
            notes.append("Not the paper's setting: " + "; ".join(different) + ".")
        return Table(f"chomsky, {label}", tuple(columns), tuple(rows), tuple(notes))


MODEL_TITLES = {"rnn": "RNN", "lstm": "LSTM"}


def departures(run: Run, members: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every way in which these members of a run are not the paper's, in words."""
    paper = LengthGeneralisation()
    reference = {**_settings.as_json(paper), "model": _settings.as_json(models.get(run.model)())}
    found = _settings.differences(run.setting, reference)
    rates = sorted({member["learning_rate"] for member in members})
    if tuple(rates) != paper.learning_rates:
        found.append(
            f"learning rates {', '.join(f'{x:g}' for x in rates)} instead of "
            f"{', '.join(f'{x:g}' for x in paper.learning_rates)}"
        )
    seeds = len({member["seed"] for member in members})
    if seeds != paper.seeds:
        found.append(f"seeds {seeds} instead of {paper.seeds}")
    return found


def _published(task: str, model: str, statistic: str) -> float | None:
    table = "table_2" if statistic == "max" else "table_b1"
    printed = published.lookup(
        "chomsky", "value", paper_table=table, task=task, architecture=model, statistic=statistic
    )
    return None if printed is None else float(printed)


suites.register("chomsky", version=1)(Chomsky())
