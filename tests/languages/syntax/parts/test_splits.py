"""Splits: sizes, lengths, labels, no string in two of them, the same on every machine."""

import hashlib

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.languages.syntax import Split, SplitSettings, draw_split, splits
from humboldt.languages.syntax.parts.splits import quarters

from ..helpers import NAMES, decode, make

SMALL = SplitSettings(train=400, validation=200, test=150, long=100)


def distinct(split: Split) -> set[bytes]:
    return {row[:length].tobytes() for row, length in zip(split.tokens, split.lengths, strict=True)}


def digest(split: Split) -> str:
    data = b"".join(np.ascontiguousarray(a, "<i4").tobytes() for a in (split.tokens, split.lengths, split.labels))
    return hashlib.sha256(data).hexdigest()[:16]


@pytest.mark.parametrize("name", NAMES)
def test_the_papers_sizes_and_lengths(name):
    task = make(name, terminals=10)
    drawn = splits(task, 0)
    sizes = {"train": 40_000, "validation": 5_000, "test": 2_500, "long": 2_500}
    assert list(drawn) == list(sizes)
    for split_name, split in drawn.items():
        low, high = (31, 100) if split_name == "long" else (4, 30)
        assert split.tokens.shape == (2 * sizes[split_name], high)
        assert all(a.dtype == np.int32 for a in (split.tokens, split.lengths, split.labels, split.origins))
        assert split.labels.sum() == sizes[split_name]
        assert low <= split.lengths.min() and split.lengths.max() <= high
        assert not split.tokens[np.arange(high) >= split.lengths[:, None]].any()
        assert (split.labels[split.origins] == 1).all()
        positives = split.labels == 1
        np.testing.assert_array_equal(split.origins[positives], np.flatnonzero(positives))
        np.testing.assert_array_equal(np.sort(split.origins[~positives]), np.flatnonzero(positives))
        found, counts = np.unique(split.lengths[positives], return_counts=True)
        np.testing.assert_array_equal(found, task.lengths_between(low, high))
        expected = sizes[split_name] / len(found)
        assert ((counts - expected) ** 2 / expected).sum() < len(found) + 7 * np.sqrt(2 * len(found))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("terminals", [1, 2, 100])
def test_labels_are_the_recognisers(name, terminals):
    task = make(name, terminals=terminals)
    settings = SplitSettings(train=400, validation=200, test=150, long=100, disjoint=terminals > 1)
    for split in splits(task, 3, settings).values():
        for string, label in zip(decode(task, split.tokens, split.lengths), split.labels, strict=True):
            assert task.accepts(string) == bool(label)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("terminals", [2, 5])
def test_no_string_is_in_two_splits_under_any_seed(name, terminals):
    task = make(name, terminals=terminals)
    first, second = splits(task, 0, SMALL), splits(task, 1, SMALL)
    for a in first:
        for b in second:
            if a != b:
                assert not distinct(first[a]) & (distinct(second[b]) | distinct(first[b]))


def test_a_tiny_vocabulary_drops_the_lengths_that_a_split_owns_nothing_of():
    """With one terminal there is one positive per length, so each length has one owner."""
    drawn = splits(make("adj_n_np", terminals=1), 0, SMALL)
    lengths = [set(split.lengths[::2].tolist()) for name, split in drawn.items() if name != "long"]
    assert set.union(*lengths) == set(range(4, 31))
    assert sum(map(len, lengths)) == 27


def test_a_split_that_owns_nothing_is_an_error_with_a_way_out():
    task = make("adj_n_np", terminals=1)
    few = SplitSettings(train=10, validation=10, test=10, long=10, lengths=(4, 4))
    with pytest.raises(UsageError, match=r"split would be empty: .* disjoint=False"):
        splits(task, 0, few)
    apart = SplitSettings(train=10, validation=10, test=10, long=10, lengths=(4, 4), disjoint=False)
    assert all(len(split) == 20 for split in splits(task, 0, apart).values())


def test_without_disjointness_short_strings_are_shared():
    settings = SplitSettings(train=400, validation=200, test=150, long=100, disjoint=False)
    drawn = splits(make("adj_n_np", terminals=2), 0, settings)
    assert distinct(drawn["train"]) & distinct(drawn["test"])


@pytest.mark.parametrize("name", NAMES)
def test_a_split_depends_on_seed_and_its_own_settings_alone(name):
    task = make(name)
    alone = draw_split(task, "test", 5, SMALL)
    assert digest(alone) == digest(splits(make(name), 5, SMALL)["test"])
    assert digest(alone) == digest(draw_split(task, "test", 5, SplitSettings(train=1, test=150)))
    assert digest(alone) != digest(draw_split(task, "test", 6, SMALL))
    assert digest(alone) != digest(draw_split(task, "validation", 5, SplitSettings(validation=150)))


FROZEN = {
    ("adj_n_np", 1.0): "949a9e22fe698a1f",
    ("adj_n_np", 1.3): "8cab9eec9ed75d9c",
    ("np_n_vp_n", 1.0): "8d48568da719d148",
    ("np_n_vp_n", 1.3): "cc4144f9b9b01117",
    ("nested_dependency", 1.0): "68096ec6efb65641",
    ("nested_dependency", 1.3): "67af53829ae0a428",
    ("cross_serial_dependency", 1.0): "fc3f51191d7b6fd6",
    ("cross_serial_dependency", 1.3): "3e74bd20f28898db",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("exponent", [1.0, 1.3])
def test_the_same_strings_on_every_machine(name, exponent):
    """A change of these is a new version of the task."""
    task = make(name, terminals=100, zipf_exponent=exponent)
    assert digest(draw_split(task, "train", 0, SMALL)) == FROZEN[name, exponent]


def test_ownership_ignores_padding_and_is_even():
    rng = np.random.default_rng(0)
    tokens, lengths = rng.integers(0, 10, (20_000, 9)), rng.integers(0, 10, 20_000)
    owners = quarters(tokens, lengths)
    other_padding = np.where(np.arange(9) < lengths[:, None], tokens, 7)
    np.testing.assert_array_equal(owners, quarters(np.pad(other_padding, ((0, 0), (0, 3))), lengths))
    np.testing.assert_array_equal(
        owners[:5], [int(quarters(tokens[i : i + 1], lengths[i : i + 1])[0]) for i in range(5)]
    )
    long_enough = lengths >= 5
    np.testing.assert_allclose(np.bincount(owners[long_enough]) / long_enough.sum(), 0.25, atol=0.02)


def test_pairs_hold_the_same():
    task = make("nested_dependency")
    split = draw_split(task, "test", 0, SMALL)
    shown = list(split.pairs().symbols(task.input_alphabet, task.output_alphabet))
    assert len(shown) == 300
    for string, target in shown[:40]:
        assert task.oracle(string) == target


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"train": -1}, "train=-1 is not a number of positives"),
        ({"test": 2.5}, "test=2.5 is not a number of positives"),
        ({"lengths": (1, 30)}, "2 <= first <= last"),
        ({"lengths": (30, 4)}, "2 <= first <= last"),
        ({"lengths": (4,)}, "is not a range of lengths"),
        ({"lengths": (4, 40)}, r"overlap .* Use long_lengths=\(41, 100\)"),
        ({"long_lengths": (2, 3)}, "overlap or lie below"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(UsageError, match=message):
        SplitSettings(**settings)


def test_wrong_requests():
    task = make("nested_dependency")
    with pytest.raises(UsageError, match="No split named 'dev'"):
        draw_split(task, "dev", 0)
    with pytest.raises(UsageError, match="seed=-1 is not a seed"):
        draw_split(task, "test", -1)
    with pytest.raises(UsageError, match="no string of a length from 5 to 5"):
        draw_split(task, "test", 0, SplitSettings(lengths=(5, 5)))


def test_an_empty_split():
    split = draw_split(make("adj_n_np"), "test", 0, SplitSettings(test=0))
    assert split.tokens.shape == (0, 30)
