"""A task in a few lines, and what happens when one breaks a promise."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from humboldt.errors import UsageError
from humboldt.languages.bias import AbstractBiasTask, Rule


def first(symbols):
    return symbols[0].upper()


def last(symbols):
    return [symbols[-1].upper()]


class FirstOrLast(AbstractBiasTask):
    """A user's task: plain functions, strings with spaces, nothing else. Tests change one of its parts."""

    rules: Mapping[str, Rule] = MappingProxyType({"first": first, "last": last})

    def __init__(self, **parts: Any) -> None:
        self.parts = parts
        self.rules = parts.get("rules", self.rules)

    def training(self):
        return self.parts.get("training", [("a b a", "A"), ("b b", "B")])

    def holdout(self):
        return self.parts.get("holdout", ["a b", "b a", ["b", "a", "a"]])


def test_a_task_is_training_pairs_inputs_and_rules():
    task = FirstOrLast()
    task.verify()
    assert task.training_pairs == ((("a", "b", "a"), ("A",)), (("b", "b"), ("B",)))
    assert task.holdout_pairs("first") == ((("a", "b"), ("A",)), (("b", "a"), ("B",)), (("b", "a", "a"), ("B",)))
    assert task.output("last", "a a b") == ("B",)
    assert task.input_alphabet.symbols == ("a", "b") and task.output_alphabet.symbols == ("A", "B")
    assert task.chance == pytest.approx(1 / 3)
    assert task.examples == (("a b a", "A"), ("b b", "B"))


def test_the_output_alphabet_holds_symbols_that_only_a_rule_writes():
    task = FirstOrLast(rules={"first": first, "odd": lambda s: s[0].upper() if s[0] == s[-1] else "C"})
    task.verify()
    assert task.output_alphabet.symbols == ("A", "B", "C")


def test_the_oracle_knows_training_inputs_only():
    assert FirstOrLast().oracle(["b", "b"]) == ["B"]
    with pytest.raises(UsageError, match=r"'a b' is not a training input.*Ask for the output of a rule: first, last"):
        FirstOrLast().oracle(["a", "b"])


def test_a_rule_that_is_not_there():
    with pytest.raises(UsageError, match=r"No rule named 'lust'. Did you mean 'last'"):
        FirstOrLast().holdout_pairs("lust")
    with pytest.raises(UsageError, match="No rule named 'middle'"):
        FirstOrLast().output("middle", "a b")


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"training": []}, "0 training pairs, 3 hold-out inputs and 2 rules"),
        ({"holdout": []}, "2 training pairs, 0 hold-out inputs"),
        ({"rules": {"first": first}}, "1 rules. It needs at least one, one and two"),
        ({"training": [("a a", "A"), ("a a", "B")]}, "gives the input 'a a' two targets, 'A' and 'B'"),
        ({"holdout": ["a b", "b b"]}, "hold-out input 'b b' is in the training set"),
        ({"holdout": ["a b", "b a", "a b"]}, "hold-out input 'a b' is twice in the hold-out set"),
        ({"rules": {"first": first, "x": lambda s: "A"}}, "'x' gives 'A' for the training input 'b b', whose target"),
        ({"holdout": ["a a", "b a b"]}, "'first' and 'last' have the same output for every hold-out input"),
        (
            {
                "training": [("a", "a")],
                "holdout": ["a b"],
                "rules": {"first": lambda s: s[0], "last": lambda s: s[-1]},
            },
            "symbols a b are in inputs and in outputs",
        ),
    ],
)
def test_a_broken_promise_is_named(parts: dict[str, Any], words: str):
    with pytest.raises(UsageError, match=words):
        FirstOrLast(**parts).verify()
