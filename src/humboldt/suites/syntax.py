"""Targeted syntactic evaluations with pseudo-languages: does a model see structure without words?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from humboldt.errors import UsageError, unknown_name
from humboldt.languages import tasks
from humboldt.languages.syntax import AbstractPseudoLanguage, SplitSettings, draw_split
from humboldt.languages.syntax._splits import NAMES as SPLITS
from humboldt.measures import accuracy
from humboldt.models import models
from humboldt.store import Result, Run
from humboldt.suites import _settings, _syntax_tables, suites
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

TASKS = ("adj_n_np", "np_n_vp_n", "nested_dependency", "cross_serial_dependency")


@dataclass(frozen=True, kw_only=True)
class PseudoLanguages:
    """The setting of the paper. The defaults are the paper's; comments say where each stands."""

    terminals: tuple[int, ...] = (2, 5, 10, 100, 1000, 5000)  # per non-terminal, section 2.2; an experiment each
    distribution: Literal["zipf", "uniform"] = "zipf"  # section 2.2; uniform in appendix A
    zipf_exponent: float = 1.0  # not stated
    train: int = 40_000  # positives, with as many negatives; section 2.2.1, like the next five
    validation: int = 5_000
    test: int = 2_500
    long: int = 2_500
    lengths: tuple[int, int] = (4, 30)  # both ends included
    long_lengths: tuple[int, int] = (31, 100)  # both ends included
    disjoint: bool = True  # no string in two splits; not stated
    epochs: int = 15  # section 2.3, "Training and Evaluation Configurations", like the next four
    batch_size: int = 512
    seeds: int = 10
    lstm_learning_rates: tuple[float, ...] = (0.1, 0.2, 0.3)  # SGD
    transformer_learning_rates: tuple[float, ...] = (1e-4, 3e-4, 5e-4)  # AdamW
    gradient_clip: float | None = None  # not stated
    sizes: Literal["stated", "counted"] = "stated"  # of the models: as section 2.3 says, or as its counts imply
    data_seed: int = 0

    def __post_init__(self) -> None:
        if not self.terminals:
            raise ValueError("terminals is empty. Give one number or several, e.g. terminals=2,100.")
        self.splits  # noqa: B018  its own checks of sizes and ranges
        for name in (*SPLITS, "epochs", "batch_size"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, but must be at least 1.")
        for name in ("lstm_learning_rates", "transformer_learning_rates"):
            if not getattr(self, name) or min(getattr(self, name)) <= 0:
                raise ValueError(f"{name} {getattr(self, name)} must be one or more positive numbers.")
        if self.gradient_clip is not None and self.gradient_clip <= 0:
            raise ValueError(f"gradient_clip is {self.gradient_clip:g}, but must be positive, or none.")
        if self.data_seed < 0:
            raise ValueError(f"data_seed is {self.data_seed}, but must be 0 or more.")

    @property
    def splits(self) -> SplitSettings:
        """Sizes and lengths of the splits."""
        return SplitSettings(**{field.name: getattr(self, field.name) for field in fields(SplitSettings)})

    @property
    def steps(self) -> int:
        """Training steps: an epoch's last batch holds what is left."""
        return self.epochs * -(-2 * self.train // self.batch_size)

    def language(self, task: str) -> AbstractPseudoLanguage:
        """The language of one experiment, which has one number of terminals."""
        (terminals,) = self.terminals
        words = {"distribution": self.distribution, "zipf_exponent": self.zipf_exponent}
        return tasks.get(f"syntax/{task}")(terminals=terminals, **words)  # pyright: ignore


#: What the settings say about members is not part of a run's identity: more seeds may be added later.
OF_MEMBERS = ("lstm_learning_rates", "transformer_learning_rates", "seeds")
#: What `data` can be asked to change.
OF_DATA = (*(field.name for field in fields(SplitSettings)), "terminals", "distribution", "zipf_exponent")

PAPER = Preset("paper", "exactly the paper's setting", {})
QUICK = Preset(
    "quick",
    "who succeeds and who fails, in about two minutes on a 2-core laptop",
    {
        "terminals": "2",
        "train": "2000",
        "validation": "125",
        "test": "250",
        "long": "250",
        "epochs": "4",
        "batch_size": "32",
        "seeds": "2",
        "lstm_learning_rates": "1.0",
        "transformer_learning_rates": "2e-3",
        "embedding_size": "32",
        "hidden_size": "32",
        "width": "32",
        "feed_forward_size": "64",
    },
)


@dataclass(frozen=True)
class Architecture:
    """A network of the paper: its name in the registry of models, and the sizes that its printed count implies."""

    model: str
    counted: Mapping[str, str]

    @property
    def is_transformer(self) -> bool:
        """Transformers and LSTMs have recipes of their own."""
        return self.model.startswith("transformer")


ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType(
    {
        "transformer_encoder": Architecture("transformer_encoder_classifier", {"num_layers": "4"}),
        "transformer_decoder": Architecture("transformer_decoder_classifier", {"num_layers": "4"}),
        "bilstm": Architecture("bilstm_classifier", {"hidden_size": "256"}),
        "lstm": Architecture("lstm_classifier", {"num_layers": "2"}),
    }
)


@dataclass(frozen=True)
class Cell:
    """What one experiment is made of, read back from its stored setting."""

    task: str
    language: AbstractPseudoLanguage
    model: Any
    protocol: PseudoLanguages
    optimiser: Literal["sgd", "adamw"]


class Syntax(AbstractSuite):
    """The suite of paper 004."""

    name = "syntax"
    paper = "Targeted syntactic evaluations with pseudo-languages (anonymous ACL submission)"
    question = "Does it see structure without words?"
    measure = "in- and out-of-distribution accuracy"
    presets = MappingProxyType({"quick": QUICK, "paper": PAPER})

    def tasks(self) -> list[str]:
        return list(TASKS)

    def models(self) -> list[str]:
        return list(ARCHITECTURES)

    def plan(self, request: Request) -> list[Experiment]:
        preset = self.preset(request.preset)
        task_names = chosen("task", request.tasks, self.tasks())
        model_names = chosen("model", request.models, self.models())
        specs = {name: models.get(ARCHITECTURES[name].model)() for name in model_names}
        _settings.check_known(request.settings, PseudoLanguages, *specs.values())
        changes = {**preset.changes, **request.settings}
        protocol = _settings.changed(PseudoLanguages(), changes)
        num_seeds = at_least_one(request.seeds if request.seeds is not None else protocol.seeds)
        remarks = [f"{key}={v}" for key, v in request.settings.items() if key not in ("terminals", "distribution")]
        experiments = []
        for task_name in task_names:
            for terminals in dict.fromkeys(protocol.terminals):
                one = replace(protocol, terminals=(terminals,))
                check_splits(task_name, one)
                where = f"terminals={terminals}, {one.distribution}"
                label = ", ".join([preset.name, *remarks, where])
                for model_name, spec in specs.items():
                    architecture = ARCHITECTURES[model_name]
                    sized = _settings.changed(spec, architecture.counted if one.sizes == "counted" else {})
                    setting = {key: v for key, v in _settings.as_json(one).items() if key not in OF_MEMBERS}
                    setting["terminals"] = terminals
                    setting["model"] = _settings.as_json(_settings.changed(sized, changes))
                    versions = {
                        "task": tasks.entry(f"syntax/{task_name}").version,
                        "model": models.entry(architecture.model).version,
                        "measure": accuracy.VERSION,
                    }
                    run = Run("syntax", task_name, model_name, label, setting, versions)
                    rates = learning_rates(one, model_name)
                    members = tuple({"seed": s, "learning_rate": rate} for rate in rates for s in range(num_seeds))
                    work = f"{one.epochs} epochs of {2 * one.train:,} strings of {terminals} terminals"
                    experiments.append(Experiment(run, members, work, tuple(departures(run, members))))
        return experiments

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


def learning_rates(protocol: PseudoLanguages, model: str) -> tuple[float, ...]:
    """The learning rates of a model's family."""
    is_transformer = ARCHITECTURES[model].is_transformer
    return protocol.transformer_learning_rates if is_transformer else protocol.lstm_learning_rates


def check_splits(task: str, protocol: PseudoLanguages) -> None:
    """A usage error if the language lacks strings for a split, before anything is run: draws a few of each."""
    few = replace(protocol.splits, **dict.fromkeys(SPLITS, 16))
    for name in SPLITS:
        draw_split(protocol.language(task), name, protocol.data_seed, few)


def departures(run: Run, members: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every way in which these members of a run are not the paper's, in words."""
    paper = PseudoLanguages()
    reference = {**_settings.as_json(paper), "model": _settings.as_json(models.get(ARCHITECTURES[run.model].model)())}
    setting = {key: value for key, value in run.setting.items() if key != "terminals"}
    found = _settings.differences(setting, reference)
    if run.setting["terminals"] not in paper.terminals:
        found.append(f"terminals {run.setting['terminals']:,}, a number that the paper does not have")
    for name, wanted in (("learning_rate", learning_rates(paper, run.model)), ("seed", range(paper.seeds))):
        values = sorted({member[name] for member in members})
        if name == "seed" and len(values) != paper.seeds:
            found.append(f"seeds {len(values)} instead of {paper.seeds}")
        elif name == "learning_rate" and tuple(values) != tuple(wanted):
            family = "Transformer" if ARCHITECTURES[run.model].is_transformer else "LSTM"
            rates = [", ".join(f"{x:g}" for x in some) for some in (values, wanted)]
            found.append(f"{family} learning rates {rates[0]} instead of {rates[1]}")
    return found


suites.register("syntax", version=1)(Syntax())
