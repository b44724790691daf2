"""The preset `paper` has the values that the papers' text states; where it has another, this is declared."""

from typing import Any

import pytest

from humboldt.models.zoo.cnn_s2s import LAYERS
from humboldt.settings import Role, fields
from humboldt.suites import catalogue, plans, suites

# Read in the papers, not in the code. Where a text contradicts itself, the value that the authors' script confirms.
OF_PCFG_SET = {"epochs": 25, "kept_epoch": "best", "size": 97_203, "letters": 520, "naturalised": True, "deepest": None}
OF_BIAS = {
    **{"updates": 3_000, "batch_size": None, "optimiser": "adam", "learning_rate": 1e-3, "first_rate": 1e-5},
    **{
        "warm_up": 1_000,
        "decay": "inverse_square_root",
        "moments": "fresh",
        "curve_block": None,
        "dropout": 0.5,
        "embedding_size": 16,
        "num_layers": 1,
        "hidden_size": 512,
    },
}
OF_SYNTAX = {
    **{"distribution": "zipf", "train": 40_000, "validation": 5_000, "test": 2_500, "long": 2_500},
    **{"lengths": [4, 30], "long_lengths": [31, 100], "epochs": 15, "batch_size": 512, "sizes": "stated"},
}
STATED: dict[tuple[str, str], dict[str, Any]] = {
    ("pcfg_set", "lstm_s2s"): {
        **OF_PCFG_SET,
        **{"hidden_size": 512, "num_layers": 2, "embedding_size": 512, "bidirectional": True, "toolkit": "opennmt"},
        **{"batch_size": 64, "optimiser": "sgd", "learning_rate": 0.1, "warm_up": None},
    },
    ("pcfg_set", "conv_s2s"): {
        **OF_PCFG_SET,
        **{"embedding_size": 512, "num_layers": 15, "layers": "fconv_wmt_en_de", "batch_size": 64, "most_tokens": 3000},
        **{"optimiser": "sgd", "learning_rate": 0.25, "loss_per": "token", "warm_up": None},
    },
    ("pcfg_set", "transformer"): {
        **OF_PCFG_SET,
        **{"num_layers": 6, "num_heads": 8, "hidden_size": 2048, "embedding_size": 512, "toolkit": "opennmt"},
        **{"optimiser": "adam", "second_beta": 0.98, "warm_up": 8_000, "positions": "sin_cos"},
        "decay": "inverse_square_root",
    },
    ("bias", "lstm_s2s_no_att"): {**OF_BIAS, "attention": False},
    ("bias", "lstm_s2s_att"): {**OF_BIAS, "attention": True},
    ("bias", "cnn_s2s"): {**OF_BIAS, "kernel_width": 3},
    ("bias", "transformer"): {**OF_BIAS, "num_heads": 8},
    ("syntax", "lstm"): {**OF_SYNTAX, "num_layers": 1, "embedding_size": 256, "hidden_size": 256, "optimiser": "sgd"},
    ("syntax", "bilstm"): {**OF_SYNTAX, "embedding_size": 128, "hidden_size": 128, "optimiser": "sgd"},
    ("syntax", "transformer_encoder"): {**OF_SYNTAX, "optimiser": "adamw"},
    ("syntax", "transformer_decoder"): {**OF_SYNTAX, "optimiser": "adamw"},
}


@pytest.mark.parametrize(("suite", "model"), STATED, ids=lambda name: str(name))
def test_the_preset_has_the_papers_text_or_a_departure_says_that_it_has_not(suite: str, model: str):
    made = suites.get(suite)
    task = made.printed_tasks[0]
    declared = {departure.name for departure in catalogue.contender(made, model).departures}
    known = {field.stored_name: field for cls in catalogue.settings_classes(made, task, model) for field in fields(cls)}
    (evaluation, *_) = made.evaluations(made.protocol(), task)
    for flat in plans.expected(made, task, model, "paper", evaluation.name):
        for name, stated in STATED[suite, model].items():
            if name not in declared:
                assert flat.get(name, known[name].default if name in known else None) == stated, name


@pytest.mark.parametrize("suite", ["pcfg_set", "bias", "syntax"])
def test_every_setting_that_cites_the_text_is_held_against_it(suite: str):
    """A setting of training with a section of the paper as its source stands in the table above."""
    stated = {name for (own, _), values in STATED.items() if own == suite for name in values}
    cited = {
        field.name
        for field in fields(suites.get(suite).protocol)
        if field.source.startswith(("section", "appendix")) and field.role is Role.TRAINING
    }
    assert cited - stated <= {"learning_rates"}  # of members, and swept


def test_what_the_authors_scripts_have_instead_are_settings():
    """Stored results with these values are found by them, and shown as what they are."""
    suite = suites.get("pcfg_set")
    known = {
        field.name: field
        for cls in catalogue.settings_classes(suite, "task_accuracy", "conv_s2s")
        for field in fields(cls)
    }
    assert {"second_beta", "longest_item", "kept_epoch", "layers", "learning_rates"} <= set(known)
    model = catalogue.contender(suite, "conv_s2s")
    assert model.changes["layers"] == "fconv_wmt_en_de"
    assert LAYERS["fconv_wmt_en_de"] == ((512, 3),) * 9 + ((1024, 3),) * 4 + ((2048, 1),) * 2
    assert LAYERS["hupkes"] != LAYERS["fconv_wmt_en_de"]
