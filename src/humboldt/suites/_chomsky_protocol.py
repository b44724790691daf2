"""The setting of *Neural networks and the Chomsky hierarchy*: its numbers, its contenders, its presets."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from humboldt.languages import tasks
from humboldt.languages.chomsky._base import AbstractTransduction
from humboldt.models import models
from humboldt.store import Run
from humboldt.suites import _settings
from humboldt.suites._base import Preset


@dataclass(frozen=True, kw_only=True)
class LengthGeneralisation:
    """The setting of Delétang et al. (2023). The defaults are the paper's; comments say where each stands."""

    train_lengths: tuple[int, int] = (1, 40)  # section 4, "Data generation"; both ends included
    test_lengths: tuple[int, int] = (41, 500)  # section 4, U(N + 1, M); both ends included
    batch_size: int = 128  # appendix A.4
    steps: int = 1_000_000  # appendix A.4
    learning_rates: tuple[float, ...] = (1e-4, 3e-4, 5e-4)  # appendix A.4
    seeds: int = 10  # section 4
    computation_tokens: int = 0  # appendix A.4: times the input's length; the Tape-RNN tries 0, 1 and 2
    autoregressive: bool = False  # appendix B.7
    gradient_clip: float | None = 1.0  # released code; the paper is silent
    precision: Literal["float32", "bfloat16"] = "float32"  # of training; released code
    strings_per_length: int = 512  # released code; the paper is silent
    num_test_lengths: int = 460  # how many lengths are scored at most, spread evenly; 460 are all of them
    data_seed: int = 0
    test_seed: int = 1
    # What the released code does and the paper does not say: dropout stays on in tests (Transformers), ...
    test_dropout: bool = False  # added later: stays out of the identity at its default
    # ... the loss counts the padding of targets that end early, ...
    train_padding: bool = False  # added later: stays out of the identity at its default
    # ... and accuracy is pooled over the symbols of a length, which counts a longer target more.
    pooled_accuracy: bool = False  # added later: stays out of the identity at its default

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
        if self.computation_tokens < 0:
            raise ValueError(f"computation_tokens is {self.computation_tokens}, but must be 0 or more.")
        if not self.learning_rates or min(self.learning_rates) <= 0:
            raise ValueError(f"learning_rates {self.learning_rates} must be one or more positive numbers.")

    def scored_lengths(self) -> list[int]:
        """The lengths whose accuracies are averaged, in order, first and last of the range among them."""
        first, last = self.test_lengths
        count = min(self.num_test_lengths, last - first + 1)
        return sorted({round(x) for x in np.linspace(first, last, count)}) if count > 1 else [last]


#: Settings that are no more, with what they were unless changed: stored runs still have them.
REMOVED = MappingProxyType({"loss": "mean"})
#: What the settings say about members is not part of a run's identity: more seeds may be added later.
OF_MEMBERS = ("learning_rates", "seeds")


@dataclass(frozen=True)
class Contender:
    """A model of the paper: what it sweeps over beside learning rates and seeds, and what it cannot do without."""

    sweep: Mapping[str, Sequence[str]] = field(default_factory=dict)
    changes: Mapping[str, str] = field(default_factory=dict)
    about: str = ""


POSITIONS = ("none", "sin_cos", "rope", "alibi", "relative")
CONTENDERS: Mapping[str, Contender] = MappingProxyType(
    {
        "rnn": Contender(),
        "stack_rnn": Contender(),
        "tape_rnn": Contender({"computation_tokens": ("0", "1", "2"), "num_tapes": ("1", "4")}),
        "transformer_encoder": Contender({"positions": POSITIONS}),
        "lstm": Contender(),
        "cnn": Contender({"kernel_size": ("3", "5", "7", "11")}),
        "stack_lstm": Contender(),
        "ndstack_rnn": Contender(
            {"num_stack_symbols": ("2", "4"), "read_states": ("false", "true")}, {"batch_size": "16"}
        ),
        "transformer": Contender({"positions": POSITIONS}, {"autoregressive": "true"}),
    }
)

TASKS = (
    *("even_pairs", "modular_arithmetic_simple", "parity_check", "cycle_navigation"),
    *("stack_manipulation", "reverse_string", "modular_arithmetic", "solve_equation"),
    *("duplicate_string", "missing_duplicate", "odds_first", "binary_addition"),
    *("binary_multiplication", "compute_sqrt", "bucket_sort"),
)

PAPER = Preset("paper", "exactly the paper's setting", {})
QUICK = Preset(
    "quick",
    "who succeeds and who fails, in about seven minutes on a 2-core laptop",
    {
        "steps": "4000",
        "batch_size": "32",
        "hidden_size": "64",
        "learning_rates": "4e-3",
        "seeds": "2",
        "strings_per_length": "64",
        "num_test_lengths": "24",
    },
    # An RNN of 64 units does not learn this one in 12,000 steps.
    {"modular_arithmetic_simple": {"steps": "8000", "hidden_size": "256", "learning_rates": "1e-3", "seeds": "1"}},
)
#: What `quick` runs unless it is asked for something else: a picture of the whole suite.
QUICK_CELLS = (
    *((task, "rnn") for task in TASKS),
    *((task, "stack_rnn") for task in ("stack_manipulation", "reverse_string", "modular_arithmetic", "solve_equation")),
    ("parity_check", "lstm"),
)


@dataclass(frozen=True)
class Cell:
    """What one experiment is made of, read back from its stored setting."""

    task: AbstractTransduction
    model: Any
    protocol: LengthGeneralisation

    @property
    def num_symbols(self) -> int:
        """Token ids below this are symbols; the marks come after. A model that hears its answers needs ids for them."""
        inputs, outputs = len(self.task.input_alphabet), len(self.task.output_alphabet)
        return max(inputs, outputs) if self.protocol.autoregressive else inputs


def departures(run: Run, members: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every way in which these members of a run are not the paper's, in words. What the paper sweeps is the paper's."""
    paper = _settings.changed(LengthGeneralisation(), CONTENDERS[run.model].changes)
    swept = CONTENDERS[run.model].sweep
    reference = {
        **REMOVED,
        **_settings.as_json(paper),
        "model": _settings.as_json(models.get(run.model)()),
        "task": options(run.task),
    }
    setting = {key: value for key, value in run.setting.items() if key not in swept}
    setting["model"] = {key: value for key, value in run.setting["model"].items() if key not in swept}
    found = _settings.differences(setting, reference)
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


def options(task: str) -> dict[str, str]:
    """A task's own settings and their defaults: where the paper and its released code differ."""
    parameters = inspect.signature(tasks.get(f"chomsky/{task}")).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
