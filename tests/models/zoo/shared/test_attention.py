"""Settings that must fit each other."""

import pytest

from humboldt.errors import UsageError
from humboldt.models.zoo.transformer import Transformer
from humboldt.models.zoo.transformer_encoder import TransformerEncoder


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"width": 10, "num_heads": 4}, "width=10 cannot be shared out among num_heads=4. Make it a multiple."),
        ({"width": 12, "num_heads": 4, "positions": "rope"}, "give 3 to a head. Make that even."),
        ({"width": 5, "num_heads": 5}, "width=5 is odd"),
        ({"dropout": 1.0}, "dropout=1 is not a share"),
        ({"dropout": -0.1}, "dropout must be a number of at least 0"),
        ({"positions": "sincos"}, "positions must be one of none, sin_cos, rope, alibi, relative"),
    ],
)
def test_wrong_settings_are_refused(changes: dict, message: str):
    for model in (TransformerEncoder, Transformer):
        with pytest.raises(UsageError, match=message):
            model(**changes)
