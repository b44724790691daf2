"""Settings, contenders and presets of *What they do when in doubt*."""

import itertools
from types import MappingProxyType
from typing import Literal

from humboldt.settings import Role, setting, settings
from humboldt.suites.bench import NO_DECAY, bench_presets
from humboldt.suites.experiments import Contender, Preset

TASKS = (
    "count_or_memorization",
    "add_or_multiply",
    "hierarchical_or_linear",
    "composition_or_memorization",
    "multiply_by_3",
    "scan_jump",
    "scan_simple",
)  # as Tables 1, 2 and 7 and the text of appendix D have them
SCAN_TASKS = ("scan_jump", "scan_simple")  # for which accuracies are printed, not FPA
TRAINING = "section 4.1"


@settings
class Preferences:
    """The setting of the paper. The defaults are those of its four main tasks."""

    seeds: int = setting(
        100, "seeds, a member each", "section 4.1; 20 in appendices B, C and E", role=Role.MEMBERS, least=1, most=10_000
    )
    description_length: bool = setting(
        True,
        "whether learners are trained again on the rules' outputs, to measure description length",
        "section 4.2",
        role=Role.MEMBERS,
    )
    updates: int = setting(3_000, "updates of the weights", TRAINING, least=1)
    batch_size: int | None = setting(
        None, "examples of a batch, drawn with replacement; none: all of them", f"{TRAINING}; appendix D", least=1
    )
    optimiser: Literal["adam", "adamw", "sgd"] = setting("adam", "optimiser", f"{TRAINING}; SGD in appendix C")
    learning_rates: tuple[float, ...] = setting(
        (1e-3,),
        "largest learning rates; a training each",
        TRAINING,
        role=Role.EACH,
        each="learning_rate",
        above=0,
        most=1e6,
        of_data=False,
    )
    first_rate: float = setting(1e-5, "learning rate of the first update", TRAINING, above=0, most=1e6)
    warm_up: int = setting(
        1_000, "updates until the learning rate is largest; then it falls as their square root", TRAINING, least=1
    )
    decay: Literal["inverse_square_root", "none"] = setting(
        "inverse_square_root", "the learning rate after warm_up", TRAINING, added_later=True
    )
    gradient_clip: float | None = setting(25.0, "largest norm of a gradient", "released code: fairseq's", above=0)
    moments: Literal["fresh", "kept"] = setting(
        "fresh",
        "Adam's moments when a learner is trained again, for description length: fresh, or kept from before, "
        "as in the released code; with kept, a learner is trained once more for every block before its own",
        "section 4.2: the same procedure; released code: kept",
        added_later=True,
    )
    curve_block: int | None = setting(
        None,
        "examples of the first rule by which training sets grow, for the curve of Figure 3, in place of description "
        "lengths; none: no curve",
        "section 4.2: none; 10 in appendix F",
        least=1,
        added_later=True,
    )
    vocabulary: Literal["symbols", "fairseq"] = setting(
        "fairseq",
        "what outputs are chosen from: the output symbols and the end alone, or filled up to a multiple of eight with "
        "symbols that never occur, as in fairseq; more LSTMs count with these",
        "not stated; released code: fairseq",
    )
    precision: Literal["float32", "tf32", "bfloat16", "bfloat16_products"] = setting(
        "float32",
        "of the network in training; with tf32 an accelerator rounds the factors of products to ten binary digits",
        "released code: float32",
    )
    longest_output: int = setting(
        200, "symbols after which an output is cut off", "released code", role=Role.EVALUATION, least=1, most=100_000
    )


CONTENDERS = MappingProxyType(
    {
        "lstm_s2s_no_att": Contender("lstm_s2s", "LSTM-s2s no att.", {"attention": False}),
        "lstm_s2s_att": Contender("lstm_s2s", "LSTM-s2s att."),
        "cnn_s2s": Contender("cnn_s2s", "CNN-s2s"),
        "transformer": Contender("transformer_s2s", "Transformer"),
        "joint_attention": Contender("joint_s2s", "Joint attention"),
    }
)
LEARNERS = tuple(CONTENDERS)[:4]  # of Tables 1, 2 and 7; joint attention is only in Table 8

#: Sizes for SCAN, appendix D.
SCAN = {
    "lstm_s2s_no_att": {"num_layers": 2, "hidden_size": 200, "embedding_size": 32},
    "lstm_s2s_att": {"num_layers": 2, "hidden_size": 200, "embedding_size": 32},
    "cnn_s2s": {"num_layers": 5, "embedding_size": 128},
    "transformer": {"num_layers": 4, "hidden_size": 256, "embedding_size": 64, "batch_size": 256},
}

#: Values of Tables 3 to 6 (appendices B and C) other than those of the main tables, with the number of the table.
VARIATIONS = {
    ("table_3", "num_layers"): (3, 10),
    ("table_4", "hidden_size"): (128, 1024),
    ("table_5", "embedding_size"): (64, 256),
    ("table_6", "dropout"): (0.0, 0.2),
}
FIRST_SIZES = {  # the only sizes of tasks in these tables
    "count_or_memorization": {"l": 40},
    "add_or_multiply": {"l": 20},
    "hierarchical_or_linear": {"d": 4},
    "composition_or_memorization": {"M": 36},
}


def variation_preset(table: str, name: str, values: tuple[float, ...]) -> Preset:
    """Returns the preset for one of Tables 3 to 6: 20 seeds, one size for each task."""
    several = " and ".join(f"{value:g}" for value in values)
    return Preset(
        table,
        f"Table {table[-1]} of the paper, {name} {several}: 20 seeds, one size for each task",
        changes={"seeds": 20},
        varied={name: values},
        of_tasks=FIRST_SIZES,
        cells=tuple(itertools.product(TASKS[:4], LEARNERS)),
        tasks=TASKS[:4],
    )


#: Settings of appendix F beside those of the main text. Its Transformer has two layers.
OF_FIGURE_3 = {"N": 1000, "M": 10, "embedding_size": 64, "curve_block": 10}
FIGURE_3 = Preset(
    "figure_3",
    "Figure 3 of the paper: how soon learners take up the compositional rule, 20 seeds",
    changes={"seeds": 20, **OF_FIGURE_3},
    of_models={"transformer": {"num_layers": 2}},
    cells=tuple(("composition_or_memorization", learner) for learner in LEARNERS),
    tasks=("composition_or_memorization",),
)

DONE_SOON = {"hidden_size": 64, "updates": 600, "warm_up": 200}

PRESETS = MappingProxyType(
    {
        "quick": Preset(
            "quick",
            "which learners count and which memorize, in about seven minutes on a 2-core laptop",
            changes={"seeds": 3, "hidden_size": 128, "updates": 1_500, "warm_up": 400, "description_length": False},
            of_tasks={
                "count_or_memorization": {"l": 40, "updates": 3_000, "warm_up": 1_000},
                "add_or_multiply": {"l": 5, "updates": 1_000, "warm_up": 300},
                "multiply_by_3": {"l": 5, "updates": 1_000, "warm_up": 300},
                "composition_or_memorization": {"M": 36},
                "scan_jump": {"updates": 500, "batch_size": 16},
                "scan_simple": {"updates": 500, "batch_size": 16},
            },
            of_cells={
                ("hierarchical_or_linear", "transformer"): {"updates": 3_000, "warm_up": 1_000},
                # Description length needs six more trainings for each seed. This learner is trained quickly.
                ("hierarchical_or_linear", "cnn_s2s"): {**DONE_SOON, "description_length": True},
                ("composition_or_memorization", "cnn_s2s"): DONE_SOON,
            },
            cells=tuple(itertools.product(TASKS[:4], LEARNERS)),
            tasks=TASKS[:4],
        ),
        "paper": Preset(
            "paper",
            "exactly the paper's setting",
            of_tasks={
                "scan_jump": {"updates": 10_000, "batch_size": 16, "seeds": 10},
                "scan_simple": {"updates": 10_000, "batch_size": 16, "seeds": 10, "description_length": False},
            },
            of_models={"joint_attention": {"seeds": 20}},
            of_cells={(task, model): changes for task in SCAN_TASKS for model, changes in SCAN.items()},
            cells=(*itertools.product(TASKS, LEARNERS), *((task, "joint_attention") for task in TASKS[:4])),
        ),
        **bench_presets(
            quick={
                **NO_DECAY,
                "seeds": 5,
                "updates": 1_000,
                "warm_up": 100,
                "learning_rates": (3e-3,),
                "description_length": False,
                "vocabulary": "symbols",
            },
            quick_of_tasks={
                "count_or_memorization": {"l": 20},
                "add_or_multiply": {"l": 20},
                "composition_or_memorization": {"M": 36},
            },
            quick_tasks=TASKS[:4],
            standard={
                **NO_DECAY,
                "seeds": 20,
                "updates": 3_000,
                "warm_up": 300,
                "learning_rates": (5e-4, 1e-3, 3e-3),
                "description_length": True,
                "vocabulary": "symbols",
            },
            standard_of_tasks={
                "count_or_memorization": {"l": 20},
                "add_or_multiply": {"l": 10},
                "composition_or_memorization": {"M": 36},
            },
            standard_tasks=TASKS[:4],
        ),
    }
    | {table: variation_preset(table, name, values) for (table, name), values in VARIATIONS.items()}
    | {"figure_3": FIGURE_3}
)
