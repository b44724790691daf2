"""Presets with the settings of later papers on the same tasks, and which of their rows a result may stand beside."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from humboldt.suites.experiments import Preset

REGULAR = ("parity_check", "modular_arithmetic_simple", "cycle_navigation", "even_pairs")
COMMON: Mapping[str, Any] = {
    "train_lengths": (3, 40),
    "test_lengths": (40, 256),
    "shared_length": True,
    "mixed_lengths": True,
    "answer_at": "last",
    "optimiser": "adamw",
    "schedule": "cosine",
    "steps": 100_000,
    "batch_size": 256,
    "num_test_lengths": 217,
}
COSINE = "the rate falls to 0; the paper's falls to 1e-5"
BOTH_WAYS = "scores with and without selection on the reported lengths are both shown"
EVERY_LENGTH = "every test length from 40 to 256 has equally many strings; the paper draws lengths at random"
LENGTH = "a length counts the symbols of the input alone; what the paper's lengths count is not stated"
CLIPPING = "gradients are clipped to a norm of 1; the paper does not say"

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
                "reverse_string": {"num_symbols": 10},
                "duplicate_string": {"num_symbols": 10},
                "odds_first": {"num_symbols": 10},
                "missing_duplicate": {"num_symbols": 9},
            },
            tasks=(*REGULAR, "reverse_string", "duplicate_string", "odds_first", "missing_duplicate"),
            source="Beck et al. (2024), xLSTM, appendix B.1.1",
            departures=(
                COSINE,
                BOTH_WAYS,
                LENGTH,
                CLIPPING,
                "answers are read at marks after the input and lengths start at 1; the paper does not say",
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
            of_models={"family/mlstm": {"batch_size": 512}},
            tasks=("parity_check", "modular_arithmetic_simple"),
            source="Grazzi et al. (2025), Unlocking state-tracking, appendix E; the released YAML has other sizes",
            departures=(COSINE, BOTH_WAYS, EVERY_LENGTH, LENGTH, CLIPPING),
        ),
        "slices": Preset(
            "slices",
            "the setting of Walker et al. (2025): lengths 3 to 40, tested on 40 to 256, mean of five seeds",
            changes={**COMMON, "learning_rates": (2e-3,), "seeds": 5},
            tasks=REGULAR,
            source="Walker et al. (2025), SLiCEs; released code, train.py",
            departures=(
                COSINE,
                BOTH_WAYS,
                EVERY_LENGTH,
                LENGTH,
                CLIPPING,
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


@dataclass(frozen=True)
class NetworkOfPaper:
    """The network of a row: the model, the settings by which it is the paper's, and the tasks (empty: all)."""

    model: str
    settings: Mapping[str, Any]
    tasks: tuple[str, ...] = ()


ARITHMETIC = ("modular_arithmetic_simple",)  # for parity Grazzi et al. have another network
NETWORKS: Mapping[tuple[str, str], NetworkOfPaper] = MappingProxyType(
    {
        ("state_tracking", "sLSTM"): NetworkOfPaper("family/slstm", {"layers": 3, "width": 64, "heads": 1}, ARITHMETIC),
        ("slices", "sLSTM"): NetworkOfPaper("family/slstm", {"layers": 2, "width": 128, "heads": 4, "convolution": 4}),
        ("state_tracking", "mLSTM"): NetworkOfPaper("family/mlstm", {"layers": 3, "width": 64, "heads": 1}, ARITHMETIC),
        ("slices", "mLSTM"): NetworkOfPaper("family/mlstm", {"layers": 2, "width": 128, "heads": 4}),
        ("slices", "DeltaNet"): NetworkOfPaper("family/deltanet", {"layers": 2, "width": 128, "heads": 4}),
        ("slices", "Gated DeltaNet"): NetworkOfPaper("family/gated_deltanet", {"layers": 2, "width": 128, "heads": 4}),
        ("slices", "RWKV-7"): NetworkOfPaper("family/rwkv7", {"layers": 2, "width": 128}),
        ("slices", "S4D"): NetworkOfPaper("family/s4d", {"layers": 2, "width": 128}),
    }
)
"""Networks of rows that a result may stand beside. Where a paper reports the better one of two widths, ours is the
smaller. Rows that are not here are never compared."""
