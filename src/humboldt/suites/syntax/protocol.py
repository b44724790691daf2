"""The setting of *Targeted syntactic evaluations with pseudo-languages*: its numbers, its networks, its presets."""

from dataclasses import fields
from types import MappingProxyType
from typing import Literal

from humboldt.languages.syntax import SplitSettings
from humboldt.settings import Role, setting, settings
from humboldt.suites.experiments import Contender, Preset

TASKS = ("adj_n_np", "np_n_vp_n", "nested_dependency", "cross_serial_dependency")  # as Table 2 prints them
CONFIGURATIONS = "section 2.3, Training and Evaluation Configurations"


@settings
class PseudoLanguages:
    """The setting of the paper. The defaults are the paper's."""

    terminals: tuple[int, ...] = setting(
        (2, 5, 10, 100, 1000, 5000),
        "terminals of each non-terminal; a training each",
        "section 2.2",
        role=Role.EACH,
        each="terminals",
        least=1,
        most=100_000,
    )
    distribution: Literal["zipf", "uniform"] = setting(
        "zipf", "how terminals are drawn", "section 2.2; uniform in appendix A", of_data=True
    )
    zipf_exponent: float = setting(1.0, "exponent of Zipf's law", "not stated", least=0, most=10, of_data=True)
    train: int = setting(
        40_000, "positives that are trained on, with as many negatives", "section 2.2.1", least=1, of_data=True
    )
    validation: int = setting(
        5_000, "positives of the validation split", "section 2.2.1", role=Role.EVALUATION, least=1
    )
    test: int = setting(2_500, "positives of the test split", "section 2.2.1", role=Role.EVALUATION, least=1)
    long: int = setting(2_500, "positives of the long split", "section 2.2.1", role=Role.EVALUATION, least=1)
    lengths: tuple[int, int] = setting(
        (4, 30), "first and last length", "section 2.2.1", least=2, most=100_000, of_data=True
    )
    long_lengths: tuple[int, int] = setting(
        (31, 100), "of the long split", "section 2.2.1", role=Role.EVALUATION, least=2, most=100_000
    )
    disjoint: bool = setting(True, "whether no string is in two splits", "not stated", of_data=True)
    epochs: int = setting(15, "passes over the training strings", CONFIGURATIONS, least=1)
    batch_size: int = setting(512, "strings in a training batch", CONFIGURATIONS, least=1)
    seeds: int = setting(10, "seeds, a member each", CONFIGURATIONS, role=Role.MEMBERS, least=1, most=10_000)
    optimiser: Literal["sgd", "adamw"] = setting(
        "sgd", "optimiser: SGD for LSTMs, AdamW for Transformers", CONFIGURATIONS, added_later=True
    )
    lstm_learning_rates: tuple[float, ...] = setting(
        (0.1, 0.2, 0.3), "learning rates of SGD, a member each", CONFIGURATIONS, role=Role.MEMBERS, above=0, most=1e6
    )
    transformer_learning_rates: tuple[float, ...] = setting(
        (1e-4, 3e-4, 5e-4), "of AdamW, a member each", CONFIGURATIONS, role=Role.MEMBERS, above=0, most=1e6
    )
    gradient_clip: float | None = setting(None, "largest norm of a gradient", "not stated", above=0)
    precision: Literal["float32", "bfloat16"] = setting("float32", "of the network in training", "not stated")
    sizes: Literal["stated", "counted"] = setting(
        "stated", "sizes of the models: as section 2.3 states them, or as its parameter counts imply", "section 2.3"
    )
    data_seed: int = setting(0, "seed of all strings", least=0, of_data=True)

    def check(self) -> None:
        """Relations between settings: the splits check themselves."""
        self.splits  # noqa: B018

    @property
    def splits(self) -> SplitSettings:
        """Sizes and lengths of the splits."""
        return SplitSettings(**{field.name: getattr(self, field.name) for field in fields(SplitSettings)})

    @property
    def steps(self) -> int:
        """Training steps: an epoch's last batch holds what is left."""
        return self.epochs * -(-2 * self.train // self.batch_size)

    @property
    def learning_rates(self) -> tuple[float, ...]:
        """Those of the optimiser."""
        return self.lstm_learning_rates if self.optimiser == "sgd" else self.transformer_learning_rates


#: What `data` can be asked to change.
OF_DATA = (*(field.name for field in fields(SplitSettings)), "terminals", "distribution", "zipf_exponent")

ADAMW = {"optimiser": "adamw"}
CONTENDERS = MappingProxyType(
    {
        "transformer_encoder": Contender(
            "transformer_encoder_classifier", "Encoder", ADAMW, follows={("sizes", "counted"): {"num_layers": 4}}
        ),
        "transformer_decoder": Contender(
            "transformer_decoder_classifier", "Decoder", ADAMW, follows={("sizes", "counted"): {"num_layers": 4}}
        ),
        "bilstm": Contender("bilstm_classifier", "BiLSTM", follows={("sizes", "counted"): {"hidden_size": 256}}),
        "lstm": Contender("lstm_classifier", "LSTM", follows={("sizes", "counted"): {"num_layers": 2}}),
    }
)

PRESETS = MappingProxyType(
    {
        "quick": Preset(
            "quick",
            "who succeeds and who fails, in about seven minutes on a 2-core laptop",
            changes={
                "terminals": (2,),
                "train": 8000,
                "validation": 125,
                "test": 250,
                "long": 250,
                "epochs": 12,  # in eight, an LSTM has seen agreement but is not done with it
                "batch_size": 32,
                "seeds": 1,
                "lstm_learning_rates": (1.0,),
                "transformer_learning_rates": (5e-4,),  # with more, the decoder stays below 90% on nested_dependency
                "embedding_size": 64,
                "hidden_size": 64,
                "width": 32,
                "feed_forward_size": 64,
            },
            of_tasks={  # which are learnt sooner
                task: {"train": 2000, "epochs": 8} for task in ("adj_n_np", "np_n_vp_n")
            },
        ),
        "paper": Preset("paper", "exactly the paper's setting"),
    }
)
