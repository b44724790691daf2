"""Data of the auxiliary tests."""

from collections import Counter

import pytest
from pcfg_set_support import BINARY, UNARY, by_hand

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import function_difficulty, longer_strings, num_functions, string_arguments


def test_functions_are_applied_to_the_same_expressions(full):
    data = function_difficulty(full)
    assert data.keys() == UNARY.keys() | BINARY.keys()
    known = set(full.test.sources)
    for names in (UNARY, BINARY):
        arguments = {tuple(source.split(" ", 1)[1] for source in data[name].sources) for name in names}
        assert len(arguments) == 1  # minimally different corpora
        (texts,) = arguments
        assert len(texts) == len(set(texts)) == 5_000
        if names is UNARY:
            assert set(texts) <= known
        else:
            for text in texts[:500]:
                parts = text.split(" , ")
                assert any({" , ".join(parts[:i]), " , ".join(parts[i:])} <= known for i in range(1, len(parts)))
    for name, examples in data.items():
        assert all(source.startswith(name + " ") and by_hand(source) == target for source, target in examples)
        sizes = {num_functions(source) for source in examples.sources}
        assert min(sizes) >= 2 and max(sizes) <= (8 if name in UNARY else 6)


def test_a_small_corpus_gives_what_it_has(small):
    data = function_difficulty(small)
    assert len(data["copy"]) == sum(num_functions(source) < 8 for source in small.test.sources)
    tiny = function_difficulty(small, most_functions={1: 2, 2: 3})
    singles = sum(num_functions(source) == 1 for source in small.test.sources)
    assert len(tiny["copy"]) == singles and len(tiny["append"]) == singles * (singles - 1)


def test_longer_strings(small):
    data = longer_strings(small)
    assert len(data.examples) == (6 + 2 * 4) * 19 * 53
    for (source, target), function, length, argument in zip(
        data.examples, data.functions, data.lengths, data.arguments, strict=True
    ):
        assert source.startswith(function + " ") and num_functions(source) == 1 and by_hand(source) == target
        sizes = [len(string.split()) for string in string_arguments(source)]
        assert sizes[argument] == length
        assert all(2 <= size <= 5 for place, size in enumerate(sizes) if place != argument)
    counts = Counter(zip(data.functions, data.arguments, data.lengths, strict=True))
    assert set(counts.values()) == {53} and {key[2] for key in counts} == set(range(2, 21))
    assert {key[:2] for key in counts} == {(f, 0) for f in UNARY} | {(f, i) for f in BINARY for i in (0, 1)}


def test_lengths_that_are_no_range(small):
    with pytest.raises(UsageError, match="not a range of 1 or more"):
        longer_strings(small, lengths=(5, 4))
