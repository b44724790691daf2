"""The setting of *Targeted syntactic evaluations with pseudo-languages*: its numbers, its networks, its presets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal

from humboldt.languages import tasks
from humboldt.languages.syntax import AbstractPseudoLanguage, SplitSettings, draw_split
from humboldt.languages.syntax._splits import NAMES as SPLITS
from humboldt.models import models
from humboldt.store import Run
from humboldt.suites import _settings
from humboldt.suites._base import Preset

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
    precision: Literal["float32", "bfloat16"] = "float32"  # of training; not stated
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
    "who succeeds and who fails, in about seven minutes on a 2-core laptop",
    {
        "terminals": "2",
        "train": "8000",
        "validation": "125",
        "test": "250",
        "long": "250",
        "epochs": "12",  # in eight, an LSTM has seen agreement but is not done with it
        "batch_size": "32",
        "seeds": "1",
        "lstm_learning_rates": "1.0",
        "transformer_learning_rates": "5e-4",  # with more, the decoder stays below 90% on nested_dependency
        "embedding_size": "64",
        "hidden_size": "64",
        "width": "32",
        "feed_forward_size": "64",
    },
    {task: {"train": "2000", "epochs": "8"} for task in ("adj_n_np", "np_n_vp_n")},  # which are learnt sooner
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


def sized(model: str, sizes: str) -> Any:
    """A model's settings, with the sizes that the paper states or those that its parameter counts imply."""
    architecture = ARCHITECTURES[model]
    return _settings.changed(models.get(architecture.model)(), architecture.counted if sizes == "counted" else {})


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
    architecture = ARCHITECTURES[run.model]
    setting = {key: value for key, value in run.setting.items() if key not in ("terminals", "model")}
    found = _settings.differences(setting, _settings.as_json(paper))
    sizes = _settings.as_json(sized(run.model, run.setting["sizes"]))
    found.extend(f"{run.model} {text}" for text in _settings.differences(run.setting["model"], sizes))
    if run.setting["terminals"] not in paper.terminals:
        found.append(f"terminals {run.setting['terminals']:,}, a number that the paper does not have")
    rates, wanted = sorted({member["learning_rate"] for member in members}), learning_rates(paper, run.model)
    if tuple(rates) != wanted:
        family = "Transformer" if architecture.is_transformer else "LSTM"
        texts = [", ".join(f"{x:g}" for x in some) for some in (rates, wanted)]
        found.append(f"{family} learning rates {texts[0]} instead of {texts[1]}")
    seeds = len({member["seed"] for member in members})
    if seeds != paper.seeds:
        found.append(f"seeds {seeds} instead of {paper.seeds}")
    return found
