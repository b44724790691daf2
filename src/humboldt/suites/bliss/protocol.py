"""Settings, contenders and presets of Lan et al. (2023)."""

from types import MappingProxyType
from typing import Any, Literal

from humboldt.errors import UsageError
from humboldt.languages.bliss import NAMES
from humboldt.measures.bliss import sizes
from humboldt.settings import Role, setting, settings
from humboldt.suites.bench import bench_presets
from humboldt.suites.experiments import Contender, Departure, Preset


@settings
class Induction:
    """The setting of Lan et al. (2023). The defaults are the paper's for its LSTM."""

    factors: tuple[int, ...] = setting(
        (1, 2, 4, 10),
        "b, of |C| = 10^N / b training strings and 10^N * b tests; a training each",
        "section 5.2",
        role=Role.EACH,
        each="factor",
        least=1,
    )
    order: int = setting(3, "N, of 10^N strings", "section 5.3", least=1, most=8, of_data=True)
    p: float = setting(0.3, "prior of the grammar", "appendix A.1", least=0.001, most=1, of_data=True)
    corpus_seed: int = setting(100, "seed of the corpus", "appendix A.1", least=0, most=2**32 - 1, of_data=True)
    seeds: int = setting(3, "seeds, a member each", "appendix A.1", role=Role.MEMBERS, least=1, most=10_000)
    first_seed: int = setting(100, "the first of the seeds", "appendix A.1", role=Role.MEMBERS, least=0)
    penalties: tuple[Literal["none", "l1", "l2"], ...] = setting(
        ("none", "l1", "l2"), "regularisers, a member each", "appendix A.2", role=Role.MEMBERS
    )
    strengths: tuple[float, ...] = setting(
        (1.0, 0.1, 0.01), "regularisation constants, a member each", "appendix A.2", role=Role.MEMBERS, above=0
    )
    learning_rates: tuple[float, ...] = setting(
        (1e-3,),
        "learning rates; a training each",
        "appendix A.2",
        role=Role.EACH,
        each="learning_rate",
        above=0,
        most=1e6,
        of_data=False,
    )
    optimiser: Literal["adam", "adamw"] = setting("adam", "optimiser", "appendix A.2", added_later=True)
    warm_up: int | None = setting(
        None, "steps of rising learning rate, after which it stays", "the paper has none", least=1, added_later=True
    )
    gradient_clip: float | None = setting(
        None, "largest norm of a gradient", "the paper has none", above=0, added_later=True
    )
    epochs: int = setting(1000, "passes over the corpus", "appendix A.2", least=1)
    batch_size: int | None = setting(None, "strings of one update; none: the whole corpus", "appendix A.2", least=1)
    string_order: Literal["shuffled", "corpus"] = setting(
        "shuffled", "order of updates, where an epoch has several", "see docs/bliss.md"
    )
    test_memory: int = setting(
        2050, "most cells of a memory in the test", "appendix A.3", role=Role.EVALUATION, least=3
    )

    def check(self) -> None:
        """Checks relations between settings."""
        for factor in self.factors:
            try:
                sizes(factor, self.order)
            except UsageError as error:
                raise UsageError(f"factors={factor}: {error}") from error
        if self.p >= 1:
            raise UsageError(f"p={self.p:g}: a prior of these grammars lies between 0 and 1. Try p=0.3.")

    def members(self) -> list[dict[str, Any]]:
        """Returns one member for each seed and regularisation. Without a penalty, the strength is 0."""
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


MARNN = {"learning_rates": (0.01,), "batch_size": 1, "penalties": ("none",)}  # appendix A.3, and Suzgun et al.'s code
CONTENDERS = MappingProxyType(
    {
        "lstm": Contender("torch_lstm", "LSTM", sweep={"hidden_size": (2, 32, 128)}),
        "stack_lstm": Contender("marnn_stack_lstm", "Stack-LSTM", MARNN, {"epochs": (3, 50), "stack_size": (50, 100)}),
        "baby_ntm": Contender("baby_ntm", "Baby-NTM", MARNN, {"epochs": (3, 50)}),
        "mdlrnn": Contender(
            "mdlrnn",
            "MDLRNN",
            {"penalties": ("none",), "seeds": 1},  # appendix A.1: one run
            engine="search",
            departures=(Departure("search", text="another search than the paper's, described in docs/mdl.md"),),
        ),
    }
)

PRESETS = MappingProxyType(
    {
        "quick": Preset(
            "quick",
            "which models succeed and which fail, in a few minutes on a 2-core laptop",
            changes={"factors": (1, 4), "seeds": 2, "penalties": ("none",)},
            of_models={
                "lstm": {"seeds": 3},  # the third is the one that predicts `b` for ever
                "stack_lstm": {"epochs": 3, "stack_size": 100},
                "baby_ntm": {"epochs": 3},
                "mdlrnn": {"factors": (10,), "seeds": 1, "generations": 3000, "patience": 1500},
            },
            tasks=("an_bn", "dyck_1"),
            sweeps={"hidden_size": (2, 32)},
        ),
        "paper": Preset("paper", "exactly the paper's setting"),
        **bench_presets(
            quick={
                "factors": (1,),
                "seeds": 3,
                "penalties": ("none",),
                "epochs": 1000,
                "warm_up": 50,
                "learning_rates": (5e-3,),
            },
            quick_tasks=("an_bn", "an_bn_cn", "dyck_1"),
            standard={
                "factors": (1, 2, 4, 10),
                "seeds": 7,
                "penalties": ("none",),
                "epochs": 1000,
                "warm_up": 50,
                "learning_rates": (1e-3, 3e-3, 1e-2),
            },
            standard_tasks=NAMES,
        ),
    }
)
TASKS = NAMES  # as Table 2 prints them
