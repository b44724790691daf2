"""The audit finds what is planted, finds it with the right classifier, and finds nothing where nothing is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.syntax import SplitSettings, splits
from humboldt.measures.shortcuts import shortcut_audit

COUNT = 3000
LANGUAGES = ("adj_n_np", "np_n_vp_n", "nested_dependency", "cross_serial_dependency")
CHANCE = pytest.approx(0.5, abs=0.05)  # five deviations of 3,000 coin tosses are 0.046


@dataclass(frozen=True)
class Strings:
    tokens: np.ndarray
    lengths: np.ndarray
    labels: np.ndarray


def audit(make, **settings) -> dict[str, float]:
    """Accuracies by classifier where `make(rng)` gives the train and, drawn anew, the scored strings."""
    train, test = make(np.random.default_rng(0)), make(np.random.default_rng(1))
    return {record.classifier: record.accuracy for record in shortcut_audit(train, {"test": test}, **settings)}


def random_strings(rng: np.random.Generator, symbols: int = 6) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(0, symbols, (COUNT, 12)), rng.integers(4, 13, COUNT)


def test_random_labels_give_chance():
    def make(rng):
        return Strings(*random_strings(rng), rng.integers(0, 2, COUNT))

    found = audit(make, categories=np.arange(6) // 2)
    assert len(found) == 9
    assert all(accuracy == CHANCE for accuracy in found.values())


def test_a_length_shortcut():
    def make(rng):
        tokens, lengths = random_strings(rng)
        return Strings(tokens, lengths, (lengths > 8).astype(int))

    found = audit(make)
    assert found["length"] == 1.0
    assert found["bag"] > 0.99  # counts add up to the length
    assert found["first_last"] == pytest.approx(5 / 9, abs=0.05)  # the majority


def test_a_parity_shortcut():
    def make(rng):
        tokens, lengths = random_strings(rng)
        return Strings(tokens, 2 * (lengths // 2) - (labels := rng.integers(0, 2, COUNT)), labels)

    found = audit(make)
    assert found["length_parity"] == found["length"] == 1.0
    assert found["first_last"] == CHANCE


def test_parity_reaches_unseen_lengths_and_the_table_of_lengths_does_not():
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 6, (COUNT, 60))
    short, long = rng.integers(4, 13, COUNT), rng.integers(30, 60, COUNT)
    records = shortcut_audit(Strings(tokens, short, short % 2), {"long": Strings(tokens, long, long % 2)})
    found = {record.classifier: record.accuracy for record in records}
    assert found["length_parity"] == 1.0
    assert found["length"] == CHANCE


def test_a_bag_shortcut():
    def make(rng):
        tokens, lengths = random_strings(rng)
        present = ((tokens == 3) & (np.arange(12) < lengths[:, None])).any(1)
        return Strings(tokens, lengths, present.astype(int))

    found = audit(make)
    assert found["bag"] > 0.99
    assert found["length"] < 0.85


def test_a_first_and_last_shortcut():
    def make(rng):
        tokens, lengths = random_strings(rng)
        return Strings(tokens, lengths, (tokens[:, 0] == tokens[np.arange(COUNT), lengths - 1]).astype(int))

    found = audit(make)
    assert found["first_last"] == 1.0
    assert max(accuracy for name, accuracy in found.items() if name != "first_last") < 0.9  # the majority has 5/6


def test_a_bigram_shortcut_is_found_by_bigrams_only():
    def make(rng):
        """Symbols 0 and 1 stand side by side somewhere inside, in this order or the other; nothing else differs."""
        tokens, lengths = rng.integers(2, 8, (COUNT, 12)), rng.integers(4, 13, COUNT)
        labels = rng.integers(0, 2, COUNT)
        place = rng.integers(1, lengths - 2)
        tokens[np.arange(COUNT), place] = labels
        tokens[np.arange(COUNT), place + 1] = 1 - labels
        return Strings(tokens, lengths, labels)

    found = audit(make)
    assert found.pop("bigrams") == 1.0
    assert all(accuracy == CHANCE for accuracy in found.values())


def test_equal_counts_are_found_by_products_only():
    def make(rng):
        """As many symbols of one category as of the other, or two more of either, in any order."""
        labels, half = rng.integers(0, 2, COUNT), 5
        ones = np.where(labels == 1, half, half + rng.choice([-2, 2], COUNT))
        kinds = np.argsort(rng.random((COUNT, 10)), axis=1) < ones[:, None]
        return Strings(10 * kinds + rng.integers(0, 10, (COUNT, 10)), np.full(COUNT, 10), labels)

    found = audit(make, categories=np.arange(20) // 10)
    assert found.pop("category_bag_quadratic") == 1.0
    assert found.pop("category_bag") == pytest.approx(0.5, abs=0.3)  # a line splits off one side at best
    assert all(accuracy < 0.8 for accuracy in found.values())


def test_categories_find_what_symbols_are_too_many_for():
    def make(rng):
        tokens, lengths = random_strings(rng, symbols=2000)
        first, last = tokens[:, 0] // 1000, tokens[np.arange(COUNT), lengths - 1] // 1000
        return Strings(tokens, lengths, (first == last).astype(int))

    found = audit(make, categories=np.arange(2000) // 1000)
    assert found["category_first_last"] == 1.0
    assert found["first_last"] < 0.6


def test_padding_changes_nothing():
    rng = np.random.default_rng(0)
    tokens, lengths = random_strings(rng)
    labels = rng.integers(0, 2, COUNT)
    other = np.pad(np.where(np.arange(12) < lengths[:, None], tokens, 5), ((0, 0), (0, 4)))
    plain, padded = Strings(tokens, lengths, labels), Strings(other, lengths, labels)
    assert shortcut_audit(plain, {"x": plain}) == shortcut_audit(padded, {"x": padded})


def test_labels_of_any_number_and_value():
    rng = np.random.default_rng(0)
    tokens, lengths = random_strings(rng)
    strings = Strings(tokens, lengths, 10 * tokens[:, 0])
    found = {r.classifier: r.accuracy for r in shortcut_audit(strings, {"x": strings})}
    assert found["first_last"] == 1.0
    assert found["length_parity"] == pytest.approx(1 / 6, abs=0.05)


def test_empty_strings_and_symbols_never_trained_on():
    rng = np.random.default_rng(0)
    tokens, lengths = random_strings(rng)
    train = Strings(tokens, lengths, rng.integers(0, 2, COUNT))
    odd = Strings(np.full((4, 3), 9), np.array([0, 1, 2, 3]), np.array([0, 1, 0, 1]))
    records = shortcut_audit(train, {"odd": odd})
    assert [(record.split, record.n) for record in records] == [("odd", 4)] * 5
    empty = Strings(np.zeros((2, 0), int), np.zeros(2, int), np.array([0, 1]))
    assert all(record.accuracy == 0.5 for record in shortcut_audit(empty, {"x": empty}))


def test_the_languages_own_shortcuts():
    """What the suite's page says of them, on a tenth of the data."""
    settings = SplitSettings(train=4000, validation=100, test=1500, long=1500)
    found = {}
    languages: dict[str, Any] = {name: tasks.get(f"syntax/{name}") for name in LANGUAGES}
    for name, language in languages.items():
        task = language(terminals=2)
        drawn = splits(task, 0, settings)
        records = shortcut_audit(drawn["train"], {"test": drawn["test"]}, categories=task.symbol_categories)
        found[name] = {record.classifier: record.accuracy for record in records}
    assert found["adj_n_np"]["bag"] > 0.99  # a negative has two nouns
    assert found["np_n_vp_n"]["length_parity"] == pytest.approx(0.75, abs=0.04)  # a negative may be odd
    assert found["nested_dependency"]["category_first_last"] == pytest.approx(0.78, abs=0.04)  # they must agree
    assert found["cross_serial_dependency"]["category_first_last"] == CHANCE
    for name in LANGUAGES[1:]:
        assert found[name]["category_bag_quadratic"] > 0.95  # counts alone, no order


def strings_with(**changes) -> Strings:
    arrays = {"tokens": np.zeros((3, 2), int), "lengths": np.full(3, 2), "labels": np.zeros(3, int)}
    return Strings(**(arrays | changes))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (strings_with(labels=np.zeros(4, int)), r"arrays of 'x' do not fit together: .* labels \(4,\)"),
        (strings_with(tokens=np.zeros(3, int)), "do not fit together"),
        (strings_with(lengths=np.full(3, 5)), "a length outside 0 to 2"),
        (strings_with(tokens=np.full((3, 2), -1)), "a negative token"),
        (strings_with(tokens=np.full((3, 2), 4)), "symbol id 4, but `categories` names 2 symbols"),
        (Strings(np.zeros((0, 2), int), np.zeros(0, int), np.zeros(0, int)), "'x' has no strings"),
    ],
)
def test_wrong_strings(wrong, message):
    with pytest.raises(UsageError, match=message):
        shortcut_audit(strings_with(), {"x": wrong}, categories=np.array([0, 1]))


def test_too_many_categories():
    with pytest.raises(UsageError, match=r"from 0 to 99; they must lie in 0 to 31"):
        shortcut_audit(strings_with(), {}, categories=np.arange(100))
