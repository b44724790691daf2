"""Settings, contenders and presets of *Training neural networks as recognizers of formal languages*."""

from types import MappingProxyType
from typing import Literal

from humboldt.errors import UsageError
from humboldt.settings import Role, setting, settings
from humboldt.suites.bench import bench_presets
from humboldt.suites.experiments import Contender, Departure, Preset

CODE = "released code"
REGULAR = ("even_pairs", "repeat_01", "parity", "cycle_navigation", "modular_arithmetic_simple", "dyck_2_3", "first")
OTHERS = (
    "majority",
    "stack_manipulation",
    "marked_reversal",
    "unmarked_reversal",
    "marked_copy",
    "missing_duplicate",
    "odds_first",
    "binary_addition",
    "binary_multiplication",
    "compute_sqrt",
    "bucket_sort",
)
TASKS = (*REGULAR, *OTHERS)
BENCH_DATA_SEED = 2  # the strings of `humboldt bench` are not those of other presets
SPLITS = ("train", "validation_short", "validation_long", "test")
SCORED = SPLITS[1:]


@settings
class Recognisers:
    """The setting of Butoi et al. (2025), from their released code. Strings have any length from 0 on."""

    train: int = setting(10_000, "training strings", CODE, least=1, of_data=True)
    longest: int = setting(40, "longest string in training", CODE, least=8, most=100_000, of_data=True)
    validation: int = setting(1_000, "strings of each validation set", CODE, role=Role.EVALUATION, least=1)
    longest_validation: int = setting(
        80, "longest string of the long validation set", CODE, role=Role.EVALUATION, least=8, most=100_000
    )
    test: int = setting(5_010, "test strings: ten for each length", CODE, role=Role.EVALUATION, least=1)
    longest_test: int = setting(500, "longest test string", CODE, role=Role.EVALUATION, least=8, most=100_000)
    epochs: int = setting(1_000, "passes over the training strings", f"{CODE}: at most, with early stopping", least=1)
    batch_size: int = setting(64, "strings in a batch", f"{CODE}: 128 to 4096 tokens, drawn for each trial", least=1)
    learning_rates: tuple[float, ...] = setting(
        (1e-4, 1e-3, 1e-2),
        "learning rates, a member each",
        f"{CODE}: drawn for each trial, log-uniform from 0.0001 to 0.01",
        role=Role.MEMBERS,
        above=0,
        most=1e6,
    )
    seeds: int = setting(10, "seeds, a member each", CODE, role=Role.MEMBERS, least=1, most=10_000)
    optimiser: Literal["adam", "adamw"] = setting("adam", "optimiser", CODE, added_later=True)
    warm_up: int | None = setting(
        None, "steps of rising learning rate, after which it stays", f"{CODE}: none", least=1, added_later=True
    )
    gradient_clip: float | None = setting(5.0, "largest norm of a gradient", CODE, above=0)
    loss_heads: Literal["recognition", "next_symbol", "next_set", "all"] = setting(
        "recognition",
        "what a model is trained to say: the label; also the next symbol, the set of possible next ones, or both",
        f"{CODE}: all four",
        added_later=True,
    )
    head_weight: float = setting(
        1.0, "weight of each further loss beside that of the label", "not stated", above=0, added_later=True
    )
    precision: Literal["float32", "bfloat16"] = setting("float32", "of the network in training", "not stated")
    data_seed: int = setting(0, "seed of all strings", least=0, of_data=True)

    def check(self) -> None:
        """Checks relations between settings."""
        if self.longest_test < self.longest:
            raise UsageError(
                f"longest_test={self.longest_test} is less than longest={self.longest}: the test has longer strings "
                f"than training. Use longest_test={self.longest} or more."
            )

    def size_of(self, split: str) -> tuple[int, int]:
        """Returns the number of strings of a split, and the longest length."""
        return {
            "train": (self.train, self.longest),
            "validation_short": (self.validation, self.longest),
            "validation_long": (self.validation, self.longest_validation),
            "test": (self.test, self.longest_test),
        }[split]

    def further_heads(self) -> tuple[float, float]:
        """Returns the weights of the losses of next symbols and of next-symbol sets."""
        return (
            self.head_weight if self.loss_heads in ("next_symbol", "all") else 0.0,
            self.head_weight if self.loss_heads in ("next_set", "all") else 0.0,
        )

    @property
    def steps(self) -> int:
        """Training steps; the last batch of an epoch may be smaller."""
        return self.epochs * -(-self.train // self.batch_size)


RECIPE = Departure(
    "recipe",
    text="a fixed number of epochs and a grid of learning rates (paper: early stopping, halved rates, and random rates "
    "and batch sizes)",
)
HEADS = Departure(
    "loss_heads",
    text="only the recognition head (paper: also with next-symbol and next-set heads, which families have with "
    "loss_heads=all)",
)
CONTENDERS = MappingProxyType(
    {
        "transformer": Contender(
            "transformer_decoder_classifier",
            "Transformer",
            changes={"num_layers": 5, "width": 32, "num_heads": 8, "feed_forward_size": 128},
            departures=(RECIPE, HEADS),
        ),
        "lstm": Contender(
            "lstm_classifier",
            "LSTM",
            changes={"num_layers": 5, "hidden_size": 40, "embedding_size": 40},
            departures=(RECIPE, HEADS, Departure("dropout", text="no dropout (paper: 0.1)")),
        ),
    }
)

QUICK = (
    "even_pairs",
    "parity",
    "cycle_navigation",
    "dyck_2_3",
    "first",
    "majority",
    "marked_reversal",
    "marked_copy",
    "missing_duplicate",
    "binary_addition",
)
PRESETS = MappingProxyType(
    {
        "quick": Preset(
            "quick",
            "which models recognise which languages, in about six minutes on a 2-core laptop",
            changes={
                "train": 5000,
                "epochs": 12,
                "batch_size": 32,
                "validation": 250,
                "test": 1000,
                "longest_test": 200,
                "seeds": 1,
                "learning_rates": (3e-3,),
                "num_layers": 1,
                "embedding_size": 32,
                "hidden_size": 64,
            },
            of_models={"transformer": {"num_layers": 2, "learning_rates": (1e-3,)}},
            cells=(*((task, "lstm") for task in QUICK), ("parity", "transformer"), ("first", "transformer")),
        ),
        "paper": Preset("paper", "the paper's data and sizes of models; see the departures for how they are trained"),
        **bench_presets(
            quick={
                "train": 4000,
                "epochs": 8,
                "batch_size": 32,
                "warm_up": 100,
                "learning_rates": (3e-3,),
                "seeds": 3,
                "validation": 250,
                "test": 500,
                "longest_test": 200,
                "data_seed": BENCH_DATA_SEED,
            },
            # The best shortcut gets 97% and more on cycle_navigation, even_pairs, first and majority.
            quick_tasks=("parity", "repeat_01", "dyck_2_3", "marked_reversal", "missing_duplicate"),
            standard={
                "epochs": 50,
                "batch_size": 128,
                "warm_up": 400,
                "learning_rates": (5e-4, 1e-3, 3e-3),
                "seeds": 7,
                "data_seed": BENCH_DATA_SEED,
            },
            standard_tasks=TASKS,
        ),
    }
)
