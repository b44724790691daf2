"""Sequence accuracy: by hand, for models with known faults, and for the authors' own outputs."""

import csv
import gzip

import pytest
from pcfg_set_support import by_hand, ignores_outermost, oracle, released, truncates

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import (
    CorpusSettings,
    corpus,
    function_difficulty,
    longer_strings,
    productivity_splits,
    systematicity_splits,
)
from humboldt.measures.pcfg_set import (
    Share,
    held_out_pairs_of,
    relative_drop,
    sequence_accuracy,
    sizes_of,
    stops_early,
)

SOURCES = [
    "copy A B",  # A B
    "copy copy A B",  # A B
    "reverse copy A B C",  # C B A
    "append A B , copy C",  # A B C
    "repeat append A B , C D E",  # A B C D E A B C D E
]
MEANINGS = ["A B", "A B", "C B A", "A B C", "A B C D E A B C D E"]


def test_the_hand_written_meanings_are_right():
    assert [by_hand(source) for source in SOURCES] == MEANINGS


def test_a_model_that_ignores_the_outermost_function():
    outputs = ignores_outermost(SOURCES)
    assert outputs == ["A B", "A B", "A B C", "A B", "A B C D E"]
    score = sequence_accuracy(MEANINGS, outputs, by=sizes_of(SOURCES))
    assert (score.value, score.n, score.flags) == (2 / 5, 5, (True, True, False, False, False))
    # Of the three wrong ones A B is a piece of A B C, and A B C D E of A B C D E A B C D E; A B C is not one of C B A.
    assert score.parts["stops_early"] == Share(2, 3)
    assert score.breakdowns["depth"] == {1: Share(1, 1), 2: Share(1, 4)}
    assert score.breakdowns["num_functions"] == {1: Share(1, 1), 2: Share(1, 4)}
    assert score.breakdowns["length"] == {
        3: Share(1, 1),
        4: Share(1, 1),
        5: Share(0, 1),
        6: Share(0, 1),
        8: Share(0, 1),
    }


def test_a_model_that_truncates_outputs():
    score = sequence_accuracy(MEANINGS, truncates(SOURCES), by=sizes_of(SOURCES))
    assert score.value == 4 / 5 and score.parts["stops_early"] == Share(1, 1)
    assert score.breakdowns["length"][8] == Share(0, 1)


def test_outputs_are_compared_symbol_by_symbol():
    assert sequence_accuracy(["A1 B"], ["A1  B "]).value == 1
    assert sequence_accuracy(["A1 B"], ["A1B"]).value == 0
    assert sequence_accuracy(["A1 B"], ["A1 B B"]).value == 0


def test_a_piece_is_made_of_whole_neighbouring_symbols():
    assert stops_early(["A12 B C", "A12 B C", "A12 B C"], ["A1", "A12 C", "B C"]) == Share(1, 3)
    assert stops_early(["A", "B"], ["A", "B"]) == Share(0, 0)
    assert stops_early(["A B", "A"], ["", "A A"]) == Share(1, 2)  # nothing at all is a piece; too much is not


def test_pairs():
    assert held_out_pairs_of(["append swap_first_last repeat A B , C", "copy A"]) == [
        frozenset({"append swap", "swap repeat"}),
        frozenset(),
    ]


def test_relative_drops_of_the_paper():
    # Section 6.3.2, from the printed accuracies: 62%, 64% and 46%.
    assert [round(relative_drop(*pair), 2) for pair in [(0.79, 0.30), (0.85, 0.31), (0.92, 0.50)]] == [0.62, 0.64, 0.46]


def test_a_perfect_model_scores_one_on_every_accuracy():
    made = corpus(3, CorpusSettings(size=2_000))
    data = [
        made.test,
        systematicity_splits(made).test,
        productivity_splits(made).test,
        longer_strings(made, count=1).examples,
    ]
    data += function_difficulty(made, count=50).values()
    for examples in data:
        score = sequence_accuracy(examples.targets, oracle(list(examples.sources)), by=sizes_of(examples.sources))
        assert score.value == 1 and score.n == len(examples) > 0 and score.parts["stops_early"] == Share(0, 0)
        assert all(share.value == 1 for breakdown in score.breakdowns.values() for share in breakdown.values())


@pytest.mark.parametrize("name", ["transformer_pcfgset.tsv", "transformer_systematicity.tsv"])
def test_the_authors_outputs(name):
    expected = {
        row["file"]: row for row in csv.DictReader(released("predictions/expected.csv").read_text().splitlines())
    }[name]
    with gzip.open(released(f"predictions/{name}.gz"), "rt") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    sources, targets, outputs = (list(column) for column in zip(*rows, strict=True))
    score = sequence_accuracy(targets, outputs, by={"pair": held_out_pairs_of(sources), **sizes_of(sources)})
    # Plain counts, apart from everything above.
    right = [target == output for _, target, output in rows]
    assert score.n == len(rows) == int(expected["n"])
    assert score.value == sum(right) / len(rows) == pytest.approx(float(expected["value"]), abs=5e-7)
    wrong = [(target, output) for _, target, output in rows if target != output]
    pieces = sum(f" {output} " in f" {target} " or output == "" for target, output in wrong)
    assert score.parts["stops_early"] == Share(pieces, len(wrong))
    for pair in ("swap_first_last repeat", "append remove_second", "repeat remove_second", "append swap_first_last"):
        flags = [r for r, source in zip(right, sources, strict=True) if f" {pair} " in f" {source} "]
        shown = score.breakdowns["pair"][pair.replace("swap_first_last", "swap")]
        assert shown == Share(sum(flags), len(flags))
    by_length: dict[int, list[bool]] = {}
    for r, source in zip(right, sources, strict=True):
        by_length.setdefault(len(source.split()), []).append(r)
    assert score.breakdowns["length"] == {n: Share(sum(f), len(f)) for n, f in sorted(by_length.items())}


def test_columns_must_fit():
    with pytest.raises(UsageError, match="1 targets, 2 predictions"):
        sequence_accuracy(["A"], ["A", "B"])
