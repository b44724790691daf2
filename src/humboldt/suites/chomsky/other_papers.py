"""Presets with the settings of later papers on the same tasks, and the rows with which results may be compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from humboldt.suites.experiments import Preset
from humboldt.suites.networks_of_papers import NetworkOfPaper

REGULAR = ("parity_check", "modular_arithmetic_simple", "cycle_navigation", "even_pairs")
COMMON: Mapping[str, Any] = {
    "train_lengths": (3, 40),
    "test_lengths": (40, 256),
    "shared_length": True,
    "mixed_lengths": True,
    "answer_at": "last",
    "optimiser": "adamw",
    "schedule": "cosine",
    "gradient_clip": None,
    "steps": 100_000,
    "batch_size": 256,
    "num_test_lengths": 217,
}
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "xlstm": ("transformer", "retnet", "mamba", "lstm", "slstm", "mlstm", "xlstm"),
    "state_tracking": ("slstm", "mlstm", "deltanet", "mamba"),
    "slices": ("slstm", "mlstm", "xlstm", "deltanet", "rwkv7", "mamba2"),
}
"""The families that a preset trains if the user names no model: those of the paper's networks that are here."""

AFTER_EQUALS: Mapping[str, Mapping[str, Any]] = {"modular_arithmetic_simple": {"answer_at": "mark"}}
"""In the released code of all three papers an expression ends with `=`, at which the answer is read. Our mark stands
for it. The answers of the other regular tasks are read at the last symbol of the input."""

COSINE = "the rate falls to 0; the paper's falls to 1e-5"
BOTH_WAYS = "scores with and without selection on the reported lengths are both shown"
EVERY_LENGTH = "every test length from 40 to 256 has equally many strings; the paper draws lengths at random"
LENGTH_WITH_ANSWER = "a length counts the symbols of the input; in the released code also the answer, and the `=`"
LENGTH_WITH_EQUALS = "a length counts the symbols of the input; in the released code also the `=` of an expression"
OUTPUTS = "the network chooses among the answers of the task; in the released code among all symbols"
PRECISION = "all is computed in float32; the released code uses bfloat16 for a part"
DECAY = "weight decay also acts on the embedding; in the released code it does not"
FROM_CODE = (LENGTH_WITH_ANSWER, OUTPUTS, PRECISION, DECAY)


def _families(preset: str) -> tuple[str, ...]:
    return tuple(f"family/{name}" for name in FAMILIES[preset])


OTHER_PAPERS = MappingProxyType(
    {
        "xlstm": Preset(
            "xlstm",
            "the setting of Beck et al. (2024), with their alphabets: lengths up to 40, tested on 40 to 256",
            changes={
                **COMMON,
                "train_lengths": (1, 40),
                "answer_at": "mark",
                "weight_decay": 0.1,
                "second_beta": 0.99,
                "learning_rates": (1e-2, 1e-3, 1e-4),
                "seeds": 2,
            },
            of_tasks={
                **{task: {"answer_at": "last", "train_lengths": (3, 40)} for task in REGULAR},
                "modular_arithmetic_simple": {"train_lengths": (3, 40)},
                "reverse_string": {"num_symbols": 10},
                "duplicate_string": {"num_symbols": 10},
                "odds_first": {"num_symbols": 10},
                "missing_duplicate": {"num_symbols": 9},
            },
            tasks=(*REGULAR, "reverse_string", "duplicate_string", "odds_first", "missing_duplicate"),
            models=_families("xlstm"),
            sweeps={},
            source="Beck et al. (2024), xLSTM, appendix B.1.1; for regular tasks also the released code, NX-AI/xlstm",
            departures=(
                COSINE,
                BOTH_WAYS,
                *FROM_CODE,
                "in the tasks that are not regular, answers are read at marks after the input and lengths start at 1; "
                "the paper does not say",
                "the alphabets of Bucket Sort and Stack Manipulation are those of Delétang et al.; Set and Majority "
                "are missing",
            ),
        ),
        "state_tracking": Preset(
            "state_tracking",
            "the setting of Grazzi et al. (2025): lengths 3 to 40, tested on 40 to 256, three seeds",
            changes={
                **COMMON,
                "batch_size": 1024,
                "weight_decay": 0.1,
                "learning_rates": (1e-2, 1e-3, 5e-4, 1e-4),
                "seeds": 3,
            },
            of_tasks=AFTER_EQUALS,
            of_models={"family/mlstm": {"batch_size": 512}},
            tasks=("parity_check", "modular_arithmetic_simple"),
            models=_families("state_tracking"),
            sweeps={},
            source="Grazzi et al. (2025), Unlocking state-tracking, appendix E; where it is silent, the released code, "
            "automl/unlocking_state_tracking, whose YAML files have batches of 256 and, for parity, 20,000 steps",
            departures=(
                "the rate falls to 0; in the released code to a thousandth of its largest value",
                BOTH_WAYS,
                EVERY_LENGTH,
                *FROM_CODE,
            ),
        ),
        "slices": Preset(
            "slices",
            "the setting of Walker et al. (2025): lengths 3 to 40, tested on 40 to 256, mean of five seeds",
            changes={**COMMON, "learning_rates": (2e-3,), "seeds": 5},
            of_tasks=AFTER_EQUALS,
            tasks=REGULAR,
            models=_families("slices"),
            sweeps={},
            source="Walker et al. (2025), SLiCEs; released code, train.py of Benjamin-Walker/structured-linear-cdes",
            departures=(
                COSINE,
                BOTH_WAYS,
                EVERY_LENGTH,
                LENGTH_WITH_EQUALS,
                OUTPUTS,
                DECAY,
                "training never stops early; the paper stops on, and reports the best of, the reported strings",
            ),
        ),
    }
)


@dataclass(frozen=True)
class Printed:
    """The rows of `published/modern.csv` that belong to a preset.

    - `paper`: the beginning of the paper's name. `scaled`: whether its numbers are scaled accuracies.
    - `statistics`: the statistics of the paper, and the name of ours: `best`, `mean` or `median`.
    """

    paper: str
    scaled: bool
    statistics: Mapping[str, str]


PRINTED_ELSEWHERE = MappingProxyType(
    {
        # All rows of Beck et al. are doubtful or second-hand, so none is compared.
        "xlstm": Printed("Beck et al. xLSTM (", True, {"printed value": "best"}),
        "state_tracking": Printed("Grazzi et al.", True, {"best of 3 seeds": "best", "median of 3 seeds": "median"}),
        "slices": Printed("Walker et al. SLiCEs (", False, {"mean of 5 seeds": "mean"}),
    }
)
PRINTED_TASKS = MappingProxyType(
    {
        "parity_check": "parity",
        "modular_arithmetic_simple": "modular_arithmetic without brackets",
        "cycle_navigation": "cycle_navigation",
        "even_pairs": "even_pairs",
    }
)


def _of_grazzi(model: str, *, arithmetic: Mapping[str, Any], **shared: Any) -> tuple[NetworkOfPaper, ...]:
    """Returns the networks of Grazzi et al.: 2 layers for parity; for modular arithmetic 3, and these settings."""
    return (
        NetworkOfPaper(model, {"layers": 2, "width": 128, **shared}, ("parity_check",)),
        NetworkOfPaper(model, {"layers": 3, "width": 128, **shared, **arithmetic}, ("modular_arithmetic_simple",)),
    )


BEHIND = {"feed_forward": "none", "embedding_spread": "1"}
BLOCKS_OF_WALKER = (
    "in the paper's blocks a layer norm follows the residual connection; here a norm comes before the mixer",
    "the paper has dropout of 0.01, and layers of flash-linear-attention compute in bfloat16",
)
XLSTM_OF_WALKER = ("the paper has dropout of 0.01",)
TWO_WIDTHS = "the paper reports the better one of two widths; here is the smaller one"
ROUNDED = {64: 128, 128: 192}  # 1.3 times the width, rounded up to a multiple of 64, as in xlstm

NETWORKS: Mapping[tuple[str, str], tuple[NetworkOfPaper, ...]] = MappingProxyType(
    {
        ("state_tracking", "sLSTM"): (
            NetworkOfPaper(
                "family/slstm",
                {"layers": 2, "width": 128, "heads": 4, "convolution": 0, "feed_forward_size": ROUNDED[128]},
                ("parity_check",),
            ),
            NetworkOfPaper(
                "family/slstm",
                {"layers": 3, "width": 64, "heads": 1, "convolution": 0, "feed_forward_size": ROUNDED[64]},
                ("modular_arithmetic_simple",),
            ),
        ),
        ("state_tracking", "mLSTM"): _of_grazzi("family/mlstm", heads=4, arithmetic={"width": 64, "heads": 1}),
        ("state_tracking", "DeltaNet [0,1]"): _of_grazzi("family/deltanet", heads=4, arithmetic={}),
        ("state_tracking", "DeltaNet [-1,1]"): _of_grazzi(
            "family/deltanet", heads=4, eigenvalues="-1_1", arithmetic={}
        ),
        ("state_tracking", "Mamba [0,1]"): _of_grazzi("family/mamba", arithmetic={}),
        ("state_tracking", "Mamba [-1,1]"): _of_grazzi("family/mamba", eigenvalues="-1_1", arithmetic={}),
        ("slices", "sLSTM"): (
            NetworkOfPaper(
                "family/slstm",
                {
                    "layers": 2,
                    "width": 128,
                    "heads": 4,
                    "convolution": 4,
                    "feed_forward_size": ROUNDED[128],
                    "embedding_spread": "1",
                },
                departures=(*XLSTM_OF_WALKER, TWO_WIDTHS),
            ),
        ),
        ("slices", "mLSTM"): (
            NetworkOfPaper(
                "family/mlstm",
                {"layers": 2, "width": 128, "heads": 4, "embedding_spread": "1"},
                departures=(*XLSTM_OF_WALKER, TWO_WIDTHS),
            ),
        ),
        ("slices", "xLSTM[1:1]"): (
            NetworkOfPaper(
                "family/xlstm",
                {"layers": 2, "width": 128, "heads": 4, "feed_forward_size": ROUNDED[128], "embedding_spread": "1"},
                departures=(*XLSTM_OF_WALKER, TWO_WIDTHS),
            ),
        ),
        ("slices", "DeltaNet"): (
            NetworkOfPaper(
                "family/deltanet",
                {"layers": 2, "width": 128, "heads": 4, **BEHIND},
                departures=(*BLOCKS_OF_WALKER, TWO_WIDTHS),
            ),
        ),
        ("slices", "DeltaNet [-1,1]"): (
            NetworkOfPaper(
                "family/deltanet",
                {"layers": 2, "width": 128, "heads": 4, "eigenvalues": "-1_1", **BEHIND},
                departures=(*BLOCKS_OF_WALKER, TWO_WIDTHS),
            ),
        ),
        ("slices", "RWKV-7"): (
            NetworkOfPaper(
                "family/rwkv7",
                {"layers": 2, "width": 128, "heads": 2, **BEHIND},
                departures=(*BLOCKS_OF_WALKER, TWO_WIDTHS),
            ),
        ),
        ("slices", "Mamba"): (
            NetworkOfPaper(
                "family/mamba2",
                {"layers": 2, "width": 256, "heads": 8, "embedding_spread": "1"},
                departures=(BLOCKS_OF_WALKER[0], *XLSTM_OF_WALKER, TWO_WIDTHS),
            ),
        ),
    }
)
"""Networks of rows that results may be compared with, with the remaining differences from ours. Other rows are
never compared: the Transformers (their positions are not stated, or not ours), the LSTM of Walker et al. (two layers),
their S4D (not in the released code), and their Gated DeltaNet and Gated DeltaProduct (heads of 256 features each)."""
