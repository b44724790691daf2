"""Benchmarking neural network generalization for grammar induction (Lan et al. 2023): how much from how little?"""

import importlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from humboldt.errors import UsageError, unknown_name
from humboldt.languages import tasks
from humboldt.languages.bliss import NAMES, AbstractLanguage, Corpus, get
from humboldt.measures.bliss import Sizes, sizes
from humboldt.models import models
from humboldt.store import Result, Run
from humboldt.suites import _bliss_data, _bliss_tables, _settings, suites
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

MEASURE_VERSION = 1  # grows when any score can change


@dataclass(frozen=True, kw_only=True)
class Induction:
    """The setting of Lan et al. (2023). The defaults are the paper's for its LSTM; comments say where each stands."""

    factors: tuple[int, ...] = (1, 2, 4, 10)  # section 5.2: b, of |C| = 10^N / b training strings and 10^N * b tests
    order: int = 3  # section 5.3: N
    p: float = 0.3  # appendix A.1
    corpus_seed: int = 100  # appendix A.1
    seeds: int = 3  # appendix A.1: 100, 101 and 102
    first_seed: int = 100
    penalties: tuple[Literal["none", "l1", "l2"], ...] = ("none", "l1", "l2")  # appendix A.2
    strengths: tuple[float, ...] = (1.0, 0.1, 0.01)  # appendix A.2: the regularisation constant
    learning_rate: float = 1e-3  # appendix A.2
    epochs: int = 1000  # appendix A.2
    batch_size: int | None = None  # none: the whole corpus (appendix A.2); 1: each string is an update of its own
    string_order: Literal["shuffled", "corpus"] = "shuffled"  # of updates, where there are several; see the docs
    test_memory: int = 2050  # appendix A.3: most cells of a memory in the test
    evaluate: Literal["needed", "all"] = "needed"  # which members are read to the end of the test set; see the docs

    def __post_init__(self) -> None:
        if not self.factors:
            raise ValueError("factors is empty, so nothing would be trained. The paper's are 1,2,4,10.")
        for factor in self.factors:
            sizes(factor, self.order)
        for name in ("seeds", "epochs", "batch_size"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, but must be at least 1.")
        if self.test_memory < 3:
            raise ValueError(
                f"test_memory is {self.test_memory}, but a memory has at least 3 cells. The paper has 2050."
            )
        if not 0 < self.p < 1:
            raise ValueError(
                f"p = {self.p:g} is not a prior of these grammars: it must lie between 0 and 1. Try p=0.3."
            )
        if self.learning_rate <= 0:
            raise ValueError(f"learning_rate is {self.learning_rate:g}, but must be a positive number.")
        if not self.penalties or min(self.strengths, default=0) <= 0:
            raise ValueError(
                f"penalties {self.penalties} with strengths {self.strengths} leave no member. Give one penalty or more "
                "(none, l1, l2) and positive strengths, e.g. penalties=none,l2 strengths=0.1."
            )

    def members(self) -> list[dict[str, Any]]:
        """One for each seed and regularisation. Without a penalty, its strength is no choice."""
        grid = [
            (penalty, strength)
            for penalty in self.penalties
            for strength in (self.strengths if penalty != "none" else (0.0,))
        ]
        return [
            {"seed": self.first_seed + i, "penalty": penalty, "strength": strength}
            for penalty, strength in grid
            for i in range(self.seeds)
        ]


#: What is not part of a run's identity: which sizes there are beside it, and how many members.
NOT_OF_A_RUN = ("factors", "seeds", "first_seed", "penalties", "strengths")


@dataclass(frozen=True)
class Contender:
    """A model of the paper: which network it is, what it sweeps over, and what it is trained with.

    `trainer` is the module with its `execute(cell, members, checkpoints, watcher)` and `estimate(cells)`: a network
    that is found by a search, not by gradients, brings its own.
    """

    network: str
    sweep: Mapping[str, Sequence[str]] = field(default_factory=dict)
    changes: Mapping[str, str] = field(default_factory=dict)
    trainer: str = "humboldt.suites._bliss_training"


MARNN = {"learning_rate": "0.01", "batch_size": "1", "penalties": "none"}  # appendix A.3, and Suzgun et al.'s code
CONTENDERS: Mapping[str, Contender] = MappingProxyType(
    {
        "lstm": Contender("torch_lstm", {"hidden_size": ("2", "32", "128")}),
        "stack_lstm": Contender("marnn_stack_lstm", {"epochs": ("3", "50"), "stack_size": ("50", "100")}, MARNN),
        "baby_ntm": Contender("baby_ntm", {"epochs": ("3", "50")}, MARNN),
        "mdlrnn": Contender(
            "mdlrnn", {}, {"penalties": "none", "seeds": "1"}, "humboldt.suites._bliss_search"
        ),  # appendix A.1: one run
    }
)

PAPER = Preset("paper", "exactly the paper's setting", {})
QUICK = Preset(
    "quick",
    "who succeeds and who fails, in about two minutes on a 2-core laptop",
    {"factors": "1,4", "seeds": "2", "penalties": "none"},
)
#: What `quick` changes for one model alone. Of the LSTM's seeds, the third is the one that says `b` for ever.
QUICK_OF: Mapping[str, Mapping[str, str]] = {
    "lstm": {"seeds": "3"},
    "stack_lstm": {"epochs": "3", "stack_size": "100"},
    "baby_ntm": {"epochs": "3"},
    "mdlrnn": {"factors": "10", "seeds": "1", "generations": "3000", "patience": "1500"},
}
QUICK_SWEEPS = {"hidden_size": ("2", "32")}
QUICK_TASKS = ("an_bn", "dyck_1")


@dataclass(frozen=True)
class Cell:
    """What one experiment is made of, read back from its stored setting."""

    language: AbstractLanguage
    model: Any
    protocol: Induction
    factor: int

    @property
    def sizes(self) -> Sizes:
        """How many strings are trained on and tested on."""
        return sizes(self.factor, self.protocol.order)

    @cached_property
    def corpus(self) -> Corpus:
        """What is trained on."""
        return self.language.corpus(self.sizes.train, self.protocol.corpus_seed, self.protocol.p)


class Bliss(AbstractSuite):
    """The suite of paper 000."""

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
        specs = {name: models.get(CONTENDERS[name].network)() for name in model_names}
        known = {*_settings.names(Induction), *(n for spec in specs.values() for n in _settings.names(spec))}
        for key in request.settings:
            if key not in known:
                raise unknown_name("setting", key, known)
        experiments = []
        for task_name, model_name in itertools.product(task_names, model_names):
            contender = CONTENDERS[model_name]
            quick = QUICK_OF[model_name] if preset is QUICK else {}
            fixed = {**contender.changes, **preset.changes, **quick, **request.settings}
            sweep = {key: values for key, values in contender.sweep.items() if key not in fixed}
            if preset is QUICK:
                sweep = {key: QUICK_SWEEPS[key] for key in sweep}
            for factor in _settings.changed(Induction(), fixed).factors:
                for values in itertools.product(*sweep.values()):
                    changes = {**fixed, **dict(zip(sweep, values, strict=True))}
                    experiment = self._experiment(task_name, model_name, factor, changes, request)
                    alone = [text for text in missing_values(model_name, [(experiment.run, [])]) if _key(text) in fixed]
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
        setting["model"] = _settings.as_json(_settings.changed(models.get(network)(), changes))
        versions = {
            "task": tasks.entry(f"bliss/{task}").version,
            "model": models.entry(network).version,
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
            model=models.get(CONTENDERS[run.model].network)(**_settings.from_json(run.setting["model"])),
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


def departures(run: Run, members: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every way in which these members of a run are not the paper's, in words. What the paper sweeps is the paper's."""
    contender = CONTENDERS[run.model]
    paper = _settings.changed(Induction(), contender.changes)
    reference = {**_settings.as_json(paper), "model": _settings.as_json(models.get(contender.network)())}

    def is_swept(key: str, value: Any) -> bool:
        return str(value) in contender.sweep.get(key, ())

    for key, values in contender.sweep.items():  # what the paper sweeps has no single value there
        (reference if key in reference else reference["model"])[key] = " or ".join(values)
    # `evaluate` spares work, not scores; the factor is what the index is over.
    setting = {k: v for k, v in run.setting.items() if k not in ("factor", "evaluate") and not is_swept(k, v)}
    setting["model"] = {k: v for k, v in run.setting["model"].items() if not is_swept(k, v)}
    found = _settings.differences(setting, reference)
    expected = {(member["penalty"], member["strength"]) for member in paper.members()}
    regularisers = {(member["penalty"], member["strength"]) for member in members}
    if contender.network == "mdlrnn":
        found.append("another search than the paper's, described in docs/mdl.md")
    if regularisers != expected:
        found.append(f"regularisers {_words(regularisers)} instead of {_words(expected)}")
    seeds = sorted({member["seed"] for member in members})
    if seeds != sorted({member["seed"] for member in paper.members()}):
        found.append(f"seeds {', '.join(map(str, seeds))} instead of 100, 101, 102")
    return found


def missing_values(model: str, runs: Sequence[tuple[Run, list[Result]]]) -> list[str]:
    """What the paper sweeps for a model and these runs do not, in words. A stack that is left out may not matter."""
    settings = [{**run.setting, **run.setting["model"]} for run, _ in runs if run.model == model]
    found = []
    for key, values in CONTENDERS[model].sweep.items():
        present = [value for value in values if value in {str(setting[key]) for setting in settings}]
        if key != "stack_size" and present and len(present) < len(values):
            found.append(f"{model}: {key} {', '.join(present)} alone, of {', '.join(values)}")
    return found


def _key(missing: str) -> str:
    return missing.split()[1]


def _words(regularisers: set[tuple[str, float]]) -> str:
    return ", ".join(f"{name} {strength:g}".removesuffix(" 0") for name, strength in sorted(regularisers))


suites.register("bliss", version=1)(Bliss())
