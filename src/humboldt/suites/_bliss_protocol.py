"""The protocol of Lan et al. (2023): what is trained and how, the presets, and in which ways a run departs from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

from humboldt.languages.bliss import AbstractLanguage, Corpus
from humboldt.measures.bliss import Sizes, sizes
from humboldt.models import models
from humboldt.registry import Entry
from humboldt.store import Result, Run
from humboldt.suites import _settings
from humboldt.suites._base import Preset


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


def entry_of(network: str) -> Entry[Any]:
    """Settings and version of a network. What is searched for is no registered model: it is not built."""
    if network == "mdlrnn":
        from humboldt.mdl.search import mdlrnn

        return Entry(network, mdlrnn.VERSION, mdlrnn.MDLRNN)
    return models.entry(network)


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
    "who succeeds and who fails, in a few minutes on a 2-core laptop",
    {"factors": "1,4", "seeds": "2", "penalties": "none"},
    {
        "lstm": {"seeds": "3"},  # the third is the one that says `b` for ever
        "stack_lstm": {"epochs": "3", "stack_size": "100"},
        "baby_ntm": {"epochs": "3"},
        "mdlrnn": {"factors": "10", "seeds": "1", "generations": "3000", "patience": "1500"},
    },
)
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


def departures(run: Run, members: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every way in which these members of a run are not the paper's, in words. What the paper sweeps is the paper's."""
    contender = CONTENDERS[run.model]
    paper = _settings.changed(Induction(), contender.changes)
    reference = {**_settings.as_json(paper), "model": _settings.as_json(entry_of(contender.network).value())}

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


def key_of(missing: str) -> str:
    """The setting that a text of `missing_values` is about."""
    return missing.split()[1]


def _words(regularisers: set[tuple[str, float]]) -> str:
    return ", ".join(f"{name} {strength:g}".removesuffix(" 0") for name, strength in sorted(regularisers))
