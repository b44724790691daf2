"""The setting of *Neural networks and the Chomsky hierarchy*: its numbers, its contenders, its presets."""

from types import MappingProxyType
from typing import Literal

import numpy as np

from humboldt.errors import UsageError
from humboldt.settings import Role, setting, settings
from humboldt.suites.experiments import Contender, Preset


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
    autoregressive: bool = setting(False, "whether a model is told its previous answers", "appendix B.7")
    gradient_clip: float | None = setting(
        1.0, "largest norm of a gradient", "released code; the paper is silent", above=0
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

    def check(self) -> None:
        """Relations between settings."""
        for name in ("train_lengths", "test_lengths"):
            first, last = getattr(self, name)
            if first > last:
                raise UsageError(
                    f"{name} {(first, last)} is not a range. Give the first and the last length, e.g. 1,40."
                )
        if self.test_lengths[0] <= self.train_lengths[1]:
            raise UsageError(
                f"test_lengths {self.test_lengths} overlap train_lengths {self.train_lengths}. The score must use "
                f"only lengths that are not in training. Use test_lengths={self.train_lengths[1] + 1},"
                f"{max(self.train_lengths[1] + 1, self.test_lengths[1])}."
            )

    def scored_lengths(self) -> list[int]:
        """The lengths whose accuracies are averaged, in order, first and last of the range among them."""
        first, last = self.test_lengths
        count = min(self.num_test_lengths, last - first + 1)
        return sorted({round(x) for x in np.linspace(first, last, count)}) if count > 1 else [last]


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
    *("even_pairs", "modular_arithmetic_simple", "parity_check", "cycle_navigation"),
    *("stack_manipulation", "reverse_string", "modular_arithmetic", "solve_equation"),
    *("duplicate_string", "missing_duplicate", "odds_first", "binary_addition"),
    *("binary_multiplication", "compute_sqrt", "bucket_sort"),
)  # as Table 2 prints them

PRESETS = MappingProxyType(
    {
        "quick": Preset(
            "quick",
            "who succeeds and who fails, in about seven minutes on a 2-core laptop",
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
    }
)
