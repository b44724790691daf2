from dataclasses import dataclass
from typing import Literal

import pytest

from humboldt.errors import UsageError
from humboldt.suites import _settings


@dataclass(frozen=True, kw_only=True)
class Some:
    steps: int = 10
    rate: float = 0.1
    rates: tuple[float, ...] = (0.1, 0.2)
    lengths: tuple[int, int] = (1, 40)
    clip: float | None = 1.0
    loss: Literal["mean", "sum"] = "mean"
    wide: bool = False

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError(f"steps is {self.steps}, but must be at least 1.")


def test_every_kind_of_value():
    text = {"steps": "1_000", "rate": "1e-3", "rates": "1,2,3", "lengths": "2,8", "clip": "none", "loss": "sum"}
    changed = _settings.changed(Some(), {**text, "wide": "true"})
    assert changed == Some(steps=1000, rate=1e-3, rates=(1, 2, 3), lengths=(2, 8), clip=None, loss="sum", wide=True)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("steps", "many", "steps must be a whole number"),
        ("rate", "x", "rate must be a number"),
        ("lengths", "1", "lengths takes 2 values"),
        ("loss", "max", "loss is one of mean, sum"),
        ("wide", "1", "wide is true or false"),
        ("steps", "0", "must be at least 1"),
    ],
)
def test_wrong_values_are_told(key: str, value: str, message: str):
    with pytest.raises(UsageError, match=message):
        _settings.changed(Some(), {key: value})


def test_a_wrong_name_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match=r"No setting named 'step'\. Did you mean 'steps'"):
        _settings.check_known({"step": "1"}, Some)


@pytest.mark.parametrize("text", ["steps", "=3", "steps:3"])
def test_assignments_need_an_equals_sign(text: str):
    with pytest.raises(UsageError, match="key=value"):
        _settings.parse_assignments([text])


def test_json_and_back():
    assert Some(**_settings.from_json(_settings.as_json(Some()))) == Some()


def test_differences_in_words():
    changed = {**_settings.as_json(Some(steps=2000, lengths=(1, 20), clip=None)), "model": {"size": 1}}
    reference = {**_settings.as_json(Some()), "model": {"size": 2}}
    assert _settings.differences(changed, reference) == [
        "steps 2,000 instead of 10",
        "lengths 1..20 instead of 1..40",
        "clip none instead of 1.0",
        "size 1 instead of 2",
    ]
