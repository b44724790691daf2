"""Settings, contenders and presets of the word problems. The preset `paper` is Terzić et al. (2025), the one paper
whose table could be read; the presets `merrill`, `grazzi` and `delta_product` are those of three others."""

from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from humboldt.errors import UsageError
from humboldt.settings import Role, setting, settings
from humboldt.suites.bench import bench_presets
from humboldt.suites.experiments import Contender, Departure, Preset
from humboldt.suites.networks_of_papers import NetworkOfPaper

BENCH_TEST_SEED = 2  # the test strings of `humboldt bench` are not those of other presets
TASKS = ("z2", "z60", "d4", "a4_z5", "s3", "s4", "a5", "s5")
SECTION = "Terzić et al. 2025, section 4.2"


@settings
class StateTracking:
    """The setting of Terzić et al. (2025) for groups. Strings of all lengths are fresh unless there is a corpus."""

    shortest: int = setting(
        3, "shortest length in training", f"{SECTION}: 3 for automata, unstated for groups", least=1, of_data=True
    )
    longest: tuple[int, ...] = setting(
        (40,), "longest length in training; a training each", SECTION, role=Role.EACH, each="longest", least=1
    )
    corpus: int = setting(
        0, "strings of the training set; 0: fresh strings at every step", "not stated", least=0, of_data=True
    )
    test_lengths: tuple[int, int] = setting(
        (40, 256), "first and last length in the test", SECTION, role=Role.EVALUATION, least=1, most=100_000
    )
    test_at_longest: bool = setting(
        False, "whether the test has the longest length of training instead", SECTION, role=Role.EVALUATION
    )
    batch_size: int = setting(256, "strings in a training batch", SECTION, least=1)
    steps: int = setting(100_000, "training steps", SECTION, least=1)
    learning_rates: tuple[float, ...] = setting(
        (1e-4, 5e-4, 2e-3),
        "learning rates, a member each",
        f"{SECTION}: a grid that is not printed; these are ours",
        role=Role.MEMBERS,
        above=0,
        most=1e6,
    )
    seeds: int = setting(3, "seeds, a member each", "Table 3", role=Role.MEMBERS, least=1, most=10_000)
    optimiser: Literal["adam", "adamw"] = setting("adam", "optimiser", "not stated")
    gradient_clip: float | None = setting(1.0, "largest norm of a gradient", "not stated", above=0)
    warm_up: int | None = setting(
        None, "steps of rising learning rate, after which it stays", "not stated", least=1, added_later=True
    )
    precision: Literal["float32", "bfloat16"] = setting("float32", "of the network in training", "not stated")
    strings_per_length: int = setting(64, "test strings of each length", "not stated", role=Role.EVALUATION, least=1)
    num_test_lengths: int = setting(
        217, "test lengths that are scored at most, spread evenly", "not stated", role=Role.EVALUATION, least=1
    )
    data_seed: int = setting(0, "seed of the training strings", least=0, of_data=True)
    test_seed: int = setting(1, "seed of the test strings", role=Role.EVALUATION, least=0)

    def check(self) -> None:
        """Checks relations between settings."""
        first, last = self.test_lengths
        if first > last:
            raise UsageError(f"test_lengths {(first, last)} is not a range. Give the first and the last, e.g. 40,256.")
        if self.shortest > min(self.longest):
            raise UsageError(
                f"shortest={self.shortest} is more than longest={min(self.longest)}. Use shortest={min(self.longest)}, "
                "or longer strings."
            )

    def scored_lengths(self) -> list[int]:
        """Returns the scored lengths in order; the first and the last test length are included."""
        if self.test_at_longest:
            return [self.longest[0]]
        first, last = self.test_lengths
        count = min(self.num_test_lengths, last - first + 1)
        return sorted({round(x) for x in np.linspace(first, last, count)}) if count > 1 else [last]


OURS = (Departure("model", text="not among the models of the paper"),)
LAYERS = (1, 2, 3, 4)
CONTENDERS = MappingProxyType(
    {
        "rnn": Contender("rnn", "RNN", departures=OURS),
        "lstm": Contender("lstm", "LSTM", departures=OURS),
        "transformer_encoder": Contender(
            "transformer_encoder",
            "Transformer",
            changes={"width": 128, "feed_forward_size": 512, "dropout": 0.0},
            sweep={"num_layers": LAYERS},
            departures=OURS,
        ),
        "mamba": Contender("family/mamba", "Mamba, 1 layer", changes={"layers": 1}, departures=OURS),
    }
)

NETWORKS = MappingProxyType(
    {
        ("gated_delta_product", str(layers)): NetworkOfPaper(
            "family/gated_deltaproduct",
            {"layers": layers, "width": 128, "householders": 4},
            departures=(
                "the paper states a state of 128, n_h = 4 and eigenvalues in [-1, 1]; heads, value size, gates, norms "
                "and the layer behind are those of flash-linear-attention's layer",
            ),
        )
        for layers in (1, 2)
    }
    | {
        ("pd_ssm", "1"): NetworkOfPaper(
            "family/pd_ssm",
            {"layers": 1, "width": 128, "embedding_spread": "1"},
            departures=(
                "in the released code a layer norm follows the layer; here a norm comes before it, its input is added, "
                "and there is no dropout of 0.01",
            ),
        )
    }
)
"""Networks of Table 3 of Terzić et al., by architecture and layers. Their diagonal one is not here: its transitions are
complex and depend on the token."""

GENERATORS = {"a5": (2, 6, 8, 12), "s5": (4, 8, 32)}  # Table 3 of Terzić et al.
PAPERS: dict[str, dict[str, Any]] = {
    "merrill": {
        "shortest": 2,
        "longest": tuple(range(2, 21)),
        "test_at_longest": True,
        "corpus": 1_000_000,
        "batch_size": 512,
        "steps": 977_000,
        "learning_rates": (1e-4,),
        "optimiser": "adamw",
        "gradient_clip": None,
        "strings_per_length": 10_000,
        "supervision": "every",
        "inputs": "all",
    },
    "grazzi": {
        "shortest": 32,
        "longest": (32,),
        "test_lengths": (500, 500),
        "corpus": 1_600_000,
        "batch_size": 512,
        "steps": 312_500,
        "learning_rates": (1e-4,),
        "optimiser": "adamw",
        "strings_per_length": 40_000,
        "supervision": "every",
        "inputs": "all",
    },
    "delta_product": {
        "shortest": 128,
        "longest": (128,),
        "test_lengths": (512, 512),
        "corpus": 100_000,
        "batch_size": 2048,
        "steps": 4_900,
        "learning_rates": (1e-3,),
        "optimiser": "adamw",
        "strings_per_length": 100_000,
        "supervision": "every",
        "inputs": "all",
    },
}
"""The settings of three further papers, from their repositories and texts; 100 epochs are given as steps."""


def cells_of(*tasks: str) -> tuple[tuple[str, str], ...]:
    """Returns these tasks with all contenders."""
    return tuple((task, model) for task in tasks for model in CONTENDERS)


PRESETS = MappingProxyType(
    {
        "quick": Preset(
            "quick",
            "which models keep state, in about six minutes on a 2-core laptop",
            changes={
                "inputs": "generators",
                "shortest": 1,
                "longest": (20,),
                "test_lengths": (21, 200),
                "steps": 4000,
                "batch_size": 32,
                "hidden_size": 128,
                "width": 64,
                "feed_forward_size": 128,
                "num_layers": 2,
                "learning_rates": (2e-3,),
                "seeds": 2,
                "strings_per_length": 64,
                "num_test_lengths": 10,
            },
            of_models={
                "transformer_encoder": {"learning_rates": (1e-3,), "seeds": 1},
                "mamba": {"steps": 2000, "width": 32, "feed_forward_size": 0, "seeds": 1},
            },
            cells=(
                *((task, "rnn") for task in TASKS),
                *((task, model) for task in ("z2", "a5") for model in ("lstm", "transformer_encoder")),
                ("z2", "mamba"),
            ),
            sweeps={},
        ),
        "paper": Preset(
            "paper",
            "Terzić et al. 2025, Table 3: A5 and S5 with 2 to 32 elements, lengths up to 40, tested on 40 to 256",
            of_tasks={
                task: {"inputs": "generators", "generators": counts, "supervision": "last"}
                for task, counts in GENERATORS.items()
            },
            of_models={network.model: network.settings for (_, layers), network in NETWORKS.items() if layers == "1"},
            cells=cells_of("a5", "s5"),
        ),
        "merrill": Preset(
            "merrill",
            "Merrill et al. 2024: the fewest layers with more than 90% at lengths 2 to 20",
            changes=PAPERS["merrill"],
            cells=tuple((task, "transformer_encoder") for task in ("z60", "a4_z5", "a5")),
        ),
        "grazzi": Preset(
            "grazzi",
            "Grazzi et al. 2025: S5 at length 32, tested at 500 (also with --set inputs=swaps, inputs=up_to_3, or "
            "tokens_per_step=4)",
            changes=PAPERS["grazzi"],
            cells=cells_of("s5"),
        ),
        "delta_product": Preset(
            "delta_product",
            "Siems et al. 2025 (DeltaProduct): S3, S4, A5 and S5 at length 128, tested at 512",
            changes=PAPERS["delta_product"],
            cells=cells_of("s3", "s4", "a5", "s5"),
        ),
        **bench_presets(
            quick={
                "inputs": "generators",
                "shortest": 1,
                "longest": (20,),
                "test_lengths": (21, 200),
                "steps": 2000,
                "batch_size": 32,
                "warm_up": 100,
                "learning_rates": (3e-3,),
                "seeds": 3,
                "strings_per_length": 32,
                "num_test_lengths": 10,
                "test_seed": BENCH_TEST_SEED,
            },
            quick_tasks=("z2", "s3", "a5"),
            standard={
                "inputs": "all",
                "shortest": 1,
                "longest": (40,),
                "test_lengths": (41, 256),
                "steps": 20_000,
                "batch_size": 128,
                "warm_up": 1000,
                "learning_rates": (5e-4, 1e-3, 3e-3),
                "seeds": 7,
                "strings_per_length": 64,
                "num_test_lengths": 54,
                "test_seed": BENCH_TEST_SEED,
            },
            standard_tasks=TASKS,
        ),
    }
)
