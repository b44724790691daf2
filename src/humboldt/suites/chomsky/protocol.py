"""Settings, contenders and presets of *Neural networks and the Chomsky hierarchy*."""

from types import MappingProxyType
from typing import Literal

import numpy as np

from humboldt.errors import UsageError
from humboldt.settings import Role, setting, settings
from humboldt.suites.bench import bench_presets
from humboldt.suites.chomsky.other_papers import OTHER_PAPERS
from humboldt.suites.experiments import Contender, Preset
from humboldt.training.base import Recipe, Schedule, warm_up


@settings
class LengthGeneralisation:
    """The setting of Delétang et al. (2023). The defaults are the paper's."""

    train_lengths: tuple[int, int] = setting(
        (1, 40),
        "first and last input length in training",
        "section 4, Data generation",
        least=1,
        most=100_000,
        of_data=True,
    )
    test_lengths: tuple[int, int] = setting(
        (41, 500), "first and last input length in the test", "section 4", role=Role.EVALUATION, least=1, most=100_000
    )
    batch_size: int = setting(128, "strings in a training batch", "appendix A.4", least=1)
    steps: int = setting(1_000_000, "training steps", "appendix A.4", least=1)
    learning_rates: tuple[float, ...] = setting(
        (1e-4, 3e-4, 5e-4), "learning rates, a member each", "appendix A.4", role=Role.MEMBERS, above=0, most=1e6
    )
    seeds: int = setting(10, "seeds, a member each", "section 4", role=Role.MEMBERS, least=1, most=10_000)
    computation_tokens: int = setting(
        0, "empty steps after the input, as a multiple of its length", "appendix A.4", least=0, most=100
    )
    autoregressive: bool = setting(False, "whether a model reads its previous answers", "appendix B.7")
    gradient_clip: float | None = setting(
        1.0, "largest norm of a gradient", "released code; the paper is silent", above=0
    )
    warm_up: int | None = setting(
        None, "steps of rising learning rate, after which it stays", "the paper has none", least=1, added_later=True
    )
    precision: Literal["float32", "bfloat16"] = setting("float32", "of the network in training", "released code")
    strings_per_length: int = setting(
        512, "test strings of each length", "released code; the paper is silent", role=Role.EVALUATION, least=1
    )
    num_test_lengths: int = setting(
        460, "how many test lengths are scored at most, spread evenly", "section 4: all", role=Role.EVALUATION, least=1
    )
    data_seed: int = setting(0, "seed of the training strings", least=0, of_data=True)
    test_seed: int = setting(1, "seed of the test strings", role=Role.EVALUATION, least=0)
    test_dropout: bool = setting(
        False, "whether dropout stays on in tests", "released code: true", role=Role.EVALUATION, added_later=True
    )
    train_padding: bool = setting(
        False, "whether the loss counts the padding of targets that end early", "released code: true", added_later=True
    )
    pooled_accuracy: bool = setting(
        False,
        "whether accuracy is pooled over the symbols of a length, which counts longer targets more",
        "released code: true, over 64 strings",
        role=Role.EVALUATION,
        added_later=True,
    )

    shared_length: bool = setting(
        False,
        "whether the last length in training may also be the first in the test, as where both ranges end at 40",
        "the papers of the presets xlstm, state_tracking and slices",
        role=Role.EVALUATION,
        added_later=True,
    )
    mixed_lengths: bool = setting(
        False, "whether every string of a training batch has a length of its own", added_later=True
    )
    answer_at: Literal["mark", "last"] = setting(
        "mark", "where an answer is read: at marks after the input, or at its last symbol", added_later=True
    )
    optimiser: Literal["adam", "adamw"] = setting("adam", "optimiser", "appendix A.4", added_later=True)
    weight_decay: float = setting(0.01, "weight decay of AdamW", least=0, added_later=True)
    second_beta: float = setting(
        0.999, "decay of the second moment of the optimiser", "released code", least=0, most=1, added_later=True
    )
    schedule: Literal["none", "cosine"] = setting(
        "none",
        "cosine: warm-up (without warm_up, over a tenth of the steps), then half a cosine down to 0",
        added_later=True,
    )

    def recipe(self) -> Recipe:
        """Returns optimiser, schedule and number of steps."""
        cosine = Schedule(self.warm_up or max(1, self.steps // 10), decay="cosine", last=self.steps)
        return Recipe(
            steps=self.steps,
            optimiser=self.optimiser,
            betas=(0.9, self.second_beta),
            weight_decay=self.weight_decay,
            gradient_clip=self.gradient_clip,
            precision=self.precision,
            schedule=cosine if self.schedule == "cosine" else warm_up(self.warm_up),
        )

    def check(self) -> None:
        """Checks relations between settings."""
        for name in ("train_lengths", "test_lengths"):
            first, last = getattr(self, name)
            if first > last:
                raise UsageError(
                    f"{name} {(first, last)} is not a range. Give the first and the last length, e.g. 1,40."
                )
        if self.test_lengths[0] <= self.train_lengths[1] - self.shared_length:
            raise UsageError(
                f"test_lengths {self.test_lengths} overlap train_lengths {self.train_lengths}. The score must use "
                f"only lengths that are not in training. Use test_lengths={self.train_lengths[1] + 1},"
                f"{max(self.train_lengths[1] + 1, self.test_lengths[1])}."
            )

    def scored_lengths(self) -> list[int]:
        """Returns the lengths whose accuracies are averaged, in order; the first and last test length are included."""
        first, last = self.test_lengths
        count = min(self.num_test_lengths, last - first + 1)
        return sorted({round(x) for x in np.linspace(first, last, count)}) if count > 1 else [last]


BENCH_TEST_SEED = 2  # the test strings of `humboldt bench` are not those of other presets
POSITIONS = ("none", "sin_cos", "rope", "alibi", "relative")
CONTENDERS = MappingProxyType(
    {
        "rnn": Contender("rnn", "RNN"),
        "stack_rnn": Contender("stack_rnn", "Stack-RNN"),
        "tape_rnn": Contender("tape_rnn", "Tape-RNN", sweep={"computation_tokens": (0, 1, 2), "num_tapes": (1, 4)}),
        "transformer_encoder": Contender("transformer_encoder", "Transformer", sweep={"positions": POSITIONS}),
        "lstm": Contender("lstm", "LSTM"),
        "cnn": Contender("cnn", "CNN", sweep={"kernel_size": (3, 5, 7, 11)}),
        "stack_lstm": Contender("stack_lstm", "Stack-LSTM"),
        "ndstack_rnn": Contender(
            "ndstack_rnn",
            "NDStack-RNN",
            changes={"batch_size": 16},
            sweep={"num_stack_symbols": (2, 4), "read_states": (False, True)},
        ),
        "transformer": Contender(
            "transformer", "Transformer", changes={"autoregressive": True}, sweep={"positions": POSITIONS}
        ),
    }
)

TASKS = (
    "even_pairs",
    "modular_arithmetic_simple",
    "parity_check",
    "cycle_navigation",
    "stack_manipulation",
    "reverse_string",
    "modular_arithmetic",
    "solve_equation",
    "duplicate_string",
    "missing_duplicate",
    "odds_first",
    "binary_addition",
    "binary_multiplication",
    "compute_sqrt",
    "bucket_sort",
)  # as Table 2 prints them

#: What Table B.6 varies.
TABLE_B6 = MappingProxyType({"num_layers": (5, 10, 15, 20, 25), "steps": (100_000, 1_000_000, 10_000_000)})

PRESETS = MappingProxyType(
    {
        "quick": Preset(
            "quick",
            "which models succeed and which fail, in about seven minutes on a 2-core laptop",
            changes={
                "steps": 4000,
                "batch_size": 32,
                "hidden_size": 64,
                "learning_rates": (4e-3,),
                "seeds": 2,
                "strings_per_length": 64,
                "num_test_lengths": 24,
            },
            of_tasks={  # an RNN of 64 units does not learn this one in 12,000 steps
                "modular_arithmetic_simple": {
                    "steps": 8000,
                    "hidden_size": 256,
                    "learning_rates": (1e-3,),
                    "seeds": 1,
                }
            },
            of_models={"ndstack_rnn": {"batch_size": 16}},
            cells=(
                *((task, "rnn") for task in TASKS),
                *((task, "stack_rnn") for task in TASKS[4:8]),
                ("parity_check", "lstm"),
            ),
            sweeps={},
        ),
        "paper": Preset("paper", "exactly the paper's setting"),
        "table_b6": Preset(
            "table_b6",
            "Table B.6 of the paper: Transformers with relative positions, 5 to 25 layers, up to 10,000,000 steps",
            changes={"positions": "relative"},
            varied=TABLE_B6,
            cells=tuple((task, "transformer_encoder") for task in TASKS),
        ),
        **OTHER_PAPERS,
        **bench_presets(
            quick={
                "steps": 3000,
                "batch_size": 32,
                "warm_up": 150,
                "learning_rates": (1e-3,),
                "seeds": 3,
                "strings_per_length": 32,
                "num_test_lengths": 24,
                "test_seed": BENCH_TEST_SEED,
            },
            quick_tasks=(
                "even_pairs",
                "parity_check",
                "cycle_navigation",
                "reverse_string",
                "stack_manipulation",
                "odds_first",
                "bucket_sort",
            ),
            quick_of_tasks={"cycle_navigation": {"steps": 6000}},  # RNNs learn it after 3,000 steps
            standard={
                "steps": 20_000,
                "warm_up": 1000,
                "learning_rates": (5e-4, 1e-3, 3e-3),
                "seeds": 7,
                "strings_per_length": 128,
                "num_test_lengths": 92,
                "test_seed": BENCH_TEST_SEED,
            },
            standard_tasks=TASKS,
        ),
    }
)
