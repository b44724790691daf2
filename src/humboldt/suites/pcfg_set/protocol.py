"""Settings, contenders and presets of *Compositionality decomposed*."""

from types import MappingProxyType
from typing import Literal

from humboldt.settings import Role, setting, settings
from humboldt.suites.bench import NO_DECAY, bench_presets
from humboldt.suites.experiments import Contender, Departure, Preset

TASKS = (  # tests with models of their own, in the order of Table 1; localism uses those of task_accuracy
    "task_accuracy",
    "systematicity",
    "productivity",
    "substitutivity_equally_distributed",
    "substitutivity_primitive",
    "overgeneralisation",
)
WARM_UP = 8000
NOAM_PEAK = (512 * WARM_UP) ** -0.5  # the highest rate of OpenNMT-py's noam schedule with learning_rate 1
PRINTED_RATE = 0.001  # section 6.6.1: the rate of exceptions in Table 1
SCRIPT = "the authors' training script"

# Where the paper's text and the authors' scripts differ, the preset `paper` has the text's value, and a setting has the
# script's. Where the text contradicts itself, as about the layers of ConvS2S, the script decides.


@settings
class Compositionality:
    """Settings of training and tests. The defaults are the paper's for the Transformer; see `CONTENDERS`."""

    epochs: int = setting(25, "passes over the training items", "section 6", least=1, most=100_000)
    batch_size: int = setting(64, "items in a training batch", "sections 5.1.2, 5.2.2", least=1)
    most_tokens: int | None = setting(
        None, "most tokens of a batch's sources or targets, padding included", "section 5.2.2: 3000 (ConvS2S)", least=1
    )
    buckets: int = setting(
        5, "pairs of padded lengths: a batch has items of one of them", "the toolkits sort items by length", least=1
    )
    longest_item: int | None = setting(
        None,
        "most symbols of a training item's source, and of its target; longer items are left out",
        "not stated; 50 in OpenNMT-py, and so in the authors' scripts of LSTMS2S and Transformer",
        least=10,  # about as many as an expression of two functions has
        added_later=True,
    )
    seeds: int = setting(3, "seeds, a member each", "section 6", role=Role.MEMBERS, least=1, most=10_000)
    optimiser: Literal["adam", "adamw", "sgd"] = setting("adam", "optimiser", "sections 5.1.2 to 5.3.2")
    learning_rates: tuple[float, ...] = setting(
        (NOAM_PEAK,),
        "learning rates; with warm_up the highest; a training each",
        "sections 5.1.2 to 5.3.2",
        role=Role.EACH,
        each="learning_rate",
        above=0,
        of_data=False,
    )
    warm_up: int | None = setting(WARM_UP, "steps of rising rate; see decay", "section 5.3.2", least=1)
    decay: Literal["inverse_square_root", "none"] = setting(
        "inverse_square_root", "the learning rate after warm_up", "section 5.3.2", added_later=True
    )
    second_beta: float = setting(
        0.998,
        "Adam's decay of squared gradients",
        f"section 5.3.2: 0.98 (Transformer); {SCRIPT}: 0.998",
        least=0,
        most=1,
    )
    momentum: float = setting(0.0, "Nesterov momentum, of SGD alone", "fairseq: 0.99 (ConvS2S)", least=0, most=1)
    gradient_clip: float | None = setting(
        None, "largest norm of a gradient", f"{SCRIPT}: none (Transformer); 5 and 0.1 are the toolkits'", above=0
    )
    loss_per: Literal["item", "token"] = setting(
        "item", "what the loss of a batch is divided by the number of", "OpenNMT-py: item; section 5.2.2: token"
    )
    shrink: float | None = setting(
        None, "factor on the rate after each epoch without a better validation score", "fairseq: 0.1 (ConvS2S)", above=0
    )
    selected_by: Literal["accuracy", "loss"] = setting(
        "accuracy", "validation measure, per symbol with teacher forcing, that chooses the epoch", "the toolkits"
    )
    kept_epoch: Literal["best", "before_best"] = setting(
        "best",
        "the epoch whose weights are scored: the best one, or the one before it (the first, if that is best)",
        "section 6: the best; the authors' select_model.py, of LSTMS2S and Transformer: the one before",
        added_later=True,
    )
    precision: Literal["float32", "bfloat16"] = setting("float32", "of the network in training", "not stated")
    data_seed: int = setting(0, "seed of the corpus and of its order in training", least=0, of_data=True)
    longest_output: int = setting(
        256, "symbols after which an output is cut", "not stated", role=Role.EVALUATION, least=1
    )
    beam: int = setting(
        1,
        "hypotheses of the beam search for outputs; 1: greedy outputs",
        "released code: 5",
        role=Role.EVALUATION,
        least=1,
        most=1_000,
        added_later=True,
    )
    function_items: int = setting(
        5_000,
        "items for each function in the test of function difficulty; 0 leaves it out",
        "released data",
        role=Role.EVALUATION,
        least=0,
    )
    longer_items: int = setting(
        53,
        "items for each function and length in the test of longer strings; 0 leaves it out",
        "released data",
        role=Role.EVALUATION,
        least=0,
    )


OPENNMT = {"toolkit": "opennmt"}
PAPERS_BEAM = 5  # of the released code
GREEDY = (
    Departure(
        "beam",
        1,
        PAPERS_BEAM,
        text="greedy outputs (paper: beam search with a beam of 5, in the released code; beam=5)",
    ),
)
CONTENDERS = MappingProxyType(
    {
        "lstm_s2s": Contender(
            "lstm_s2s",
            "LSTMS2S",
            {
                **OPENNMT,
                "embedding_size": 512,
                "hidden_size": 512,
                "num_layers": 2,
                "bidirectional": True,
                "dropout": 0.3,
                "optimiser": "sgd",
                "learning_rates": (0.1,),
                "warm_up": None,
                "gradient_clip": 5.0,
            },
            departures=GREEDY,
        ),
        "conv_s2s": Contender(
            "cnn_s2s",
            "ConvS2S",
            {
                "embedding_size": 512,
                "layers": "fconv_wmt_en_de",
                "num_layers": 15,
                "bottleneck": 512,
                "dropout": 0.1,
                "optimiser": "sgd",
                "learning_rates": (0.25,),
                "warm_up": None,
                "momentum": 0.99,
                "gradient_clip": 0.1,
                "loss_per": "token",
                "most_tokens": 3000,
                "shrink": 0.1,
                "selected_by": "loss",
            },
            departures=GREEDY,
        ),
        "transformer": Contender(
            "transformer_s2s",
            "Transformer",
            {
                **OPENNMT,
                "embedding_size": 512,
                "hidden_size": 2048,
                "num_layers": 6,
                "num_heads": 8,
                "dropout": 0.1,
                "second_beta": 0.98,
            },
            departures=GREEDY,
        ),
    }
)

ADAM = {"optimiser": "adam", "momentum": 0.0, "gradient_clip": 1.0, "shrink": None}
PRESETS = MappingProxyType(
    {
        "quick": Preset(
            "quick",
            "every row of Table 1 with small models, in about seven minutes on a 2-core laptop",
            changes={
                "size": 6000,
                "letters": 60,
                "deepest": 3,
                "naturalised": False,  # then half of the items have one function, which is learnt first
                "most_functions": 2,
                "synonym_share": 0.005,
                "rates": (0.02,),
                "epochs": 8,
                "batch_size": 32,
                "most_tokens": None,
                "buckets": 2,
                "seeds": 1,
                "dropout": 0.0,
                "longest_output": 32,
                "function_items": 0,
                "longer_items": 0,
                # Of models that are not the paper's:
                "learning_rates": (0.004,),
                "warm_up": None,
                "gradient_clip": 1.0,
            },
            of_models={
                "lstm_s2s": {
                    **ADAM,
                    "learning_rates": (0.004,),
                    "embedding_size": 64,
                    "hidden_size": 128,
                    "num_layers": 1,
                },
                "conv_s2s": {
                    **ADAM,
                    "learning_rates": (0.002,),
                    "embedding_size": 64,
                    "hidden_size": 64,
                    "num_layers": 3,
                    "layers": "alike",
                    "bottleneck": 64,
                    "num_places": 128,
                },
                "transformer": {
                    "learning_rates": (0.004,),
                    "warm_up": 600,
                    "second_beta": 0.98,
                    "gradient_clip": None,
                    "epochs": 10,
                    "embedding_size": 64,
                    "hidden_size": 128,
                    "num_layers": 2,
                    "num_heads": 4,
                },
            },
            cells=(
                *((task, "conv_s2s") for task in TASKS),
                *((task, "lstm_s2s") for task in ("task_accuracy", "systematicity")),
                ("task_accuracy", "transformer"),
            ),
        ),
        "paper": Preset("paper", "exactly the paper's setting"),
        **bench_presets(
            quick={
                **NO_DECAY,
                "size": 6000,
                "letters": 60,
                "deepest": 3,
                "naturalised": False,
                "most_functions": 2,
                "synonym_share": 0.005,
                "rates": (0.02,),
                "epochs": 30,
                "batch_size": 32,
                "buckets": 2,
                "seeds": 3,
                "learning_rates": (3e-3,),
                "warm_up": 100,
                "longest_output": 32,
                "loss_per": "token",
                "function_items": 0,
                "longer_items": 0,
            },
            quick_tasks=("task_accuracy", "systematicity", "productivity"),
            standard={
                **NO_DECAY,
                "size": 40_000,
                "epochs": 15,
                "batch_size": 64,
                "seeds": 7,
                "warm_up": 1000,
                "loss_per": "token",
                "learning_rates": (5e-4, 1e-3, 3e-3),
                "function_items": 0,
                "longer_items": 0,
            },
            standard_tasks=TASKS,
        ),
    }
)
