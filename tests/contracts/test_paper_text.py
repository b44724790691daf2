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
OF_CHOMSKY = {
    **{"train_lengths": [1, 40], "test_lengths": [41, 500], "batch_size": 128, "steps": 1_000_000},
    **{"computation_tokens": 0, "autoregressive": False, "num_test_lengths": 460, "optimiser": "adam"},
}
OF_BLISS = {
    **{"string_order": "shuffled", "p": 0.3, "test_memory": 2050, "order": 3},
    **{"optimiser": "adam", "corpus_seed": 100},
}


class Swept(tuple[Any, ...]):
    """All values that a paper tries."""


STATED: dict[tuple[str, str], dict[str, Any]] = {
    ("chomsky", "rnn"): {**OF_CHOMSKY, "hidden_size": 256},
    ("chomsky", "lstm"): {**OF_CHOMSKY, "hidden_size": 256},
    ("chomsky", "stack_rnn"): {**OF_CHOMSKY, "hidden_size": 256, "cell_size": 8, "controller": "rnn"},
    ("chomsky", "stack_lstm"): {**OF_CHOMSKY, "hidden_size": 256, "cell_size": 8},
    ("chomsky", "tape_rnn"): {
        **{**OF_CHOMSKY, "computation_tokens": Swept((0, 1, 2)), "num_tapes": Swept((1, 4))},
        **{"hidden_size": 256, "cell_size": 8, "tape_size": 256, "jumps_write": False},
    },
    ("chomsky", "transformer_encoder"): {
        **{**OF_CHOMSKY, "num_layers": 5, "width": 64},
        "positions": Swept(("none", "sin_cos", "rope", "alibi", "relative")),
    },
    ("chomsky", "cnn"): {**OF_CHOMSKY, "num_layers": 5, "channels": 32, "kernel_size": Swept((3, 5, 7, 11))},
    ("chomsky", "ndstack_rnn"): {
        **{**OF_CHOMSKY, "batch_size": 16, "hidden_size": 256, "num_states": 2},
        **{"num_stack_symbols": Swept((2, 4)), "read_states": Swept((False, True))},
    },
    ("bliss", "lstm"): {
        **{**OF_BLISS, "hidden_size": Swept((2, 32, 128)), "factor": Swept((1, 2, 4, 10))},
        **{"learning_rate": 0.001, "epochs": 1000, "batch_size": None},
    },
    ("bliss", "stack_lstm"): {
        **{**OF_BLISS, "hidden_size": 8, "memory_size": 5, "epochs": Swept((3, 50)), "learning_rate": 0.01},
    },
    ("bliss", "baby_ntm"): {
        **{**OF_BLISS, "hidden_size": 8, "memory_size": 5, "epochs": Swept((3, 50)), "learning_rate": 0.01},
    },
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
    task = "reverse_string" if suite == "chomsky" else made.printed_tasks[0]  # computation tokens have a place there
    declared = {departure.name for departure in catalogue.contender(made, model).departures}
    known = {field.stored_name: field for cls in catalogue.settings_classes(made, task, model) for field in fields(cls)}
    (evaluation, *_) = made.evaluations(made.protocol(), task)
    planned = plans.expected(made, task, model, "paper", evaluation.name)
    for name, stated in STATED[suite, model].items():
        if name not in declared:
            default = known[name].default if name in known else None
            tried = list(dict.fromkeys(plain_or_text(flat.get(name, default)) for flat in planned))
            papers = stated if isinstance(stated, Swept) else (stated,)
            assert sorted(tried, key=str) == sorted(map(plain_or_text, papers), key=str), name


def plain_or_text(value: Any) -> Any:
    """A value that can be a key: lists as text."""
    return str(list(value)) if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize("suite", ["chomsky", "bliss", "pcfg_set", "bias", "syntax"])
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
