import pytest
from chomsky_support import assert_frequency, drawn, every_string, make, oracle

from humboldt.errors import UsageError

TASK = make("missing_duplicate")


def every_pair(length: int) -> set[tuple[str, str]]:
    """By definition: every word twice, every place hidden."""
    pairs = set()
    for word in every_string("01", length // 2):
        whole = [*word.split(" "), *word.split(" ")]
        for place, symbol in enumerate(whole):
            source = [*whole[:place], "_", *whole[place + 1 :], *["#"] * (length % 2)]
            pairs.add((" ".join(source), symbol))
    return pairs


@pytest.mark.parametrize("length", range(2, 10))
def test_all_short_inputs(length: int):
    assert set(drawn(TASK, 20_000, length)) == every_pair(length)
    for source, target in every_pair(length):
        assert oracle(TASK, source) == target


def test_every_place_is_hidden_equally_often():
    pairs = drawn(TASK, 10_000, 9)
    for place in range(8):
        assert_frequency(sum(source.split(" ")[place] == "_" for source, _ in pairs), 10_000, 1 / 8)


@pytest.mark.parametrize("source", ["0 1", "_ _", "_ 1 0 1 1", "_ 0 1 _", "_ 0 1 1", "1 _ # 1", "_ _ _ 1", "_ # 0 #"])
def test_not_a_duplicate(source: str):
    with pytest.raises(UsageError, match="is not a string written twice with one symbol hidden"):
        oracle(TASK, source)


def test_parity_is_a_shortcut():
    """What the page on the tasks warns of: no comparison of the halves is needed."""
    for length in (2, 3, 10, 41):
        for source, target in drawn(TASK, 200, length):
            assert source.count("1") % 2 == int(target)
