from typing import Any, Literal

import pytest

from humboldt.errors import UsageError
from humboldt.settings import (
    Role,
    as_json,
    changed,
    check_known,
    checked,
    fields,
    from_json,
    from_text,
    names,
    setting,
    settings,
    words,
)


@settings
class Some:
    steps: int = setting(10, "training steps", "section 4", least=1, most=10**9)
    rate: float = setting(0.1, "learning rate", above=0)
    rates: tuple[float, ...] = setting((0.1, 0.2), "learning rates", role=Role.MEMBERS, above=0)
    lengths: tuple[int, int] = setting((1, 40), "first and last length", least=1)
    clip: float | None = setting(1.0, "largest norm", above=0)
    loss: Literal["mean", "sum"] = setting("mean", "over symbols")
    wide: bool = setting(False, "whether it is wide")
    sizes: tuple[int, ...] = setting((2, 5), "a training each", role=Role.EACH, each="size", least=1)
    strings: int = setting(512, "test strings", role=Role.EVALUATION, least=1)
    kinds: tuple[Literal["none", "l1"], ...] = setting(("none",), "penalties", role=Role.MEMBERS)
    dropout: bool = setting(False, "in tests", role=Role.EVALUATION, added_later=True)
    title: str = setting("x", "any text")

    def check(self) -> None:
        if self.lengths[0] > self.lengths[1]:
            raise UsageError(f"lengths {self.lengths} is not a range.")


FIELDS = {field.name: field for field in fields(Some)}


def test_every_kind_of_value_as_text():
    text = {
        **{"steps": "1_000", "rate": "1e-3", "rates": "1, 2,3", "lengths": "2,8", "clip": "none", "loss": "sum"},
        **{"wide": "true", "sizes": "7", "kinds": "none,l1", "dropout": "TRUE", "title": " a b "},
    }
    assert changed(Some(), text) == Some(
        **{"steps": 1000, "rate": 1e-3, "rates": (1.0, 2.0, 3.0), "lengths": (2, 8), "clip": None, "loss": "sum"},
        **{"wide": True, "sizes": (7,), "kinds": ("none", "l1"), "dropout": True, "title": "a b"},
    )


def test_a_typed_value_means_what_its_text_means():
    typed = {"steps": 7, "rates": [3, 4.5], "lengths": [2, 3], "clip": 2, "wide": True, "kinds": ["l1"]}
    text = {"steps": "7", "rates": "3,4.5", "lengths": "2,3", "clip": "2", "wide": "true", "kinds": "l1"}
    assert changed(Some(), typed) == changed(Some(), text)
    assert isinstance(changed(Some(), typed).clip, float) and changed(Some(), typed).rates == (3.0, 4.5)


WHOLE = "a whole number of at least 1 and at most 1,000,000,000"


@pytest.mark.parametrize(
    ("key", "text", "rule"),
    [
        ("steps", "many", WHOLE),
        ("steps", "0", WHOLE),
        ("steps", "1000000001", WHOLE),
        ("steps", "1.0", WHOLE),
        ("steps", "1e3", WHOLE),
        ("steps", "", WHOLE),
        ("steps", "nan", WHOLE),
        ("steps", "５", WHOLE),  # a digit, but not ours
        ("steps", "٣", WHOLE),
        ("steps", "1,2", WHOLE),
        ("steps", "true", WHOLE),
        ("rate", "x", "a number above 0"),
        ("rate", "0", "a number above 0"),
        ("rate", "nan", "a number above 0"),
        ("rate", "inf", "a number above 0"),
        ("rate", "-inf", "a number above 0"),
        ("rate", "1e999", "a number above 0"),
        ("rate", "0.５", "a number above 0"),
        ("rate", "1e-50", "from 1e-30 to 1e+30"),  # which is 0 in single precision
        ("clip", "1e50", "from 1e-30 to 1e+30"),
        ("steps", "9" * 50, "below 2^63"),
        ("rates", "", "one value or several separated by commas, each a number above 0"),
        ("rates", "1,,2", "one value or several separated by commas, each a number above 0"),
        ("rates", "1,", "one value or several separated by commas, each a number above 0"),
        ("rates", "1,1.0", "each at most once"),
        ("rates", "1,-1", "each a number above 0"),
        ("lengths", "1", "2 values separated by commas, each a whole number of at least 1"),
        ("lengths", "1,2,3", "2 values separated by commas"),
        ("lengths", "0,3", "each a whole number of at least 1"),
        ("clip", "0", "a number above 0, or none"),
        ("clip", "nothing", "a number above 0, or none"),
        ("loss", "max", "one of mean, sum"),
        ("loss", "Mean", "one of mean, sum"),
        ("wide", "1", "true or false"),
        ("wide", "yes", "true or false"),
        ("kinds", "none,l3", "each one of none, l1"),
        ("kinds", "l1,l1", "each at most once"),
    ],
)
def test_wrong_texts_are_answered_with_the_rule(key: str, text: str, rule: str):
    with pytest.raises(UsageError) as error:
        changed(Some(), {key: text})
    said = str(error.value)
    assert said.startswith(f"{key}=") and f"{key} must be " in said and rule in said and said.endswith(".")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("steps", True),
        ("steps", 1.0),
        ("steps", None),
        ("steps", float("nan")),
        ("steps", 10**400),
        ("rate", 10**400),
        ("rate", float("inf")),
        ("rate", False),
        ("rates", ()),
        ("rates", 0.1),
        ("rates", {0.1}),
        ("lengths", (1, 2, 3)),
        ("lengths", (1, True)),
        ("wide", 1),
        ("wide", "true"),  # text is for `changed` alone
        ("loss", 1),
        ("title", 5),
    ],
)
def test_wrong_values_in_python_are_refused_when_they_are_made(key: str, value: Any):
    with pytest.raises(UsageError, match=f"{key}=.*{key} must be "):
        Some(**{key: value})


def test_very_long_texts_are_refused_at_once_and_shown_in_short():
    for key, text in (("steps", "9" * 10**6), ("rates", ",".join(["1"] * 5000)), ("loss", "m" * 10**6)):
        with pytest.raises(UsageError) as error:
            changed(Some(), {key: text})
        assert len(str(error.value)) < 300


def test_relations_are_checked_after_the_values():
    with pytest.raises(UsageError, match=r"lengths \(9, 3\) is not a range"):
        changed(Some(), {"lengths": "9,3"})


def test_settings_are_frozen_and_given_by_name():
    with pytest.raises(AttributeError):
        Some().steps = 3  # pyright: ignore
    with pytest.raises(TypeError):
        Some(3)  # pyright: ignore
    with pytest.raises(TypeError):
        Some(step=3)  # pyright: ignore


def test_a_wrong_name_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match=r"No setting named 'step'\. Did you mean 'steps'"):
        check_known({"step": "1"}, [Some])
    check_known({"steps": "1"}, [Some])
    assert changed(Some(), {"of_another_class": "1"}) == Some()


def test_what_a_class_says_about_its_settings():
    assert names(Some)[:2] == ["steps", "rate"] and names(int) == []
    steps = FIELDS["steps"]
    assert (steps.about, steps.source, steps.default, steps.role) == (
        "training steps",
        "section 4",
        10,
        Role.TRAINING,
    )


def test_roles_choose_what_is_stored():
    values = Some(strings=3)
    assert as_json(values, [Role.EVALUATION]) == {"strings": 3}
    assert as_json(values, [Role.MEMBERS]) == {"rates": [0.1, 0.2], "kinds": ["none"]}
    assert set(as_json(values, [Role.TRAINING, Role.EACH])) == {
        *("steps", "rate", "lengths", "clip", "loss", "wide", "size", "title")
    }


def test_what_was_added_later_is_stored_only_when_it_differs():
    assert "dropout" not in as_json(Some()) and as_json(Some(dropout=True))["dropout"] is True
    assert from_json(Some, {"strings": 7}).dropout is False


@pytest.mark.parametrize(
    "values",
    [
        Some(),
        Some(steps=3, rates=(1e-4, 3e-4), lengths=(2, 9), clip=None, loss="sum", wide=True, sizes=(9,)),
        Some(dropout=True, kinds=("none", "l1"), title="", rate=1e-30),
    ],
)
def test_json_and_back(values: Some):
    assert from_json(Some, as_json(values)) == values


def test_one_value_of_a_setting_with_a_training_each():
    assert from_json(Some, {**as_json(Some()), "size": 7}).sizes == (7,)  # as a single training stores it
    with pytest.raises(UsageError, match=r"No setting named 'sizes'\. Did you mean 'size'"):
        from_json(Some, {"sizes": [7]})


def test_json_with_a_key_that_is_not_known_is_an_error():
    with pytest.raises(UsageError, match="No setting named 'stepz'"):
        from_json(Some, {"stepz": 1})


def test_values_in_words():
    assert words((0.1,)) == "0.1" and words((1, 40)) == "1..40" and words(()) == "nothing"
    assert words("x" * 100) == "x" * 57 + "..."
    assert words((True, False)) == "true, false"


def test_a_large_number_keeps_its_value():
    assert from_text(FIELDS["steps"], "999_999_999") == 999_999_999
    assert checked(FIELDS["steps"], 123_456_789) == 123_456_789


def test_a_bound_is_allowed_and_said_exactly():
    @settings
    class Bounded:
        seed: int = setting(0, "a seed", least=0, most=2**32 - 1)
        size: int = setting(12_345_678, "a size", least=12_345_678)

    assert changed(Bounded(), {"seed": str(2**32 - 1)}).seed == 2**32 - 1
    with pytest.raises(UsageError, match=r"of at least 0 and at most 4,294,967,295\."):
        changed(Bounded(), {"seed": str(2**32)})
    with pytest.raises(UsageError, match=r"of at least 12,345,678\."):
        changed(Bounded(), {"size": "1"})
