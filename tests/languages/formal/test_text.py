import pickle
from fractions import Fraction

import pytest

from humboldt.errors import UsageError
from humboldt.languages.formal import text
from humboldt.languages.formal.text import ParseError, read, shares, spelled, statements, tokens


def kinds(content: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in tokens(content)[:-1]]


def test_operators_end_symbols_and_quotes_make_symbols() -> None:
    assert kinds("ab)* c? '*' \"#\"") == [
        ("symbol", "ab"),
        ("operator", ")"),
        ("operator", "*"),
        ("symbol", "c"),
        ("operator", "?"),
        ("symbol", "*"),
        ("symbol", "#"),
    ]


def test_arrows_and_minus_signs() -> None:
    assert kinds("S->a-b → -1") == [
        ("symbol", "S"),
        ("operator", "->"),
        ("symbol", "a-b"),
        ("operator", "->"),
        ("symbol", "-1"),
    ]


def test_comments_and_empty_lines_leave_no_token_and_places_count_from_one() -> None:
    found = tokens("# first\n\n  a b # c\r\n\r\n d '#'\n")
    assert [(token.text, token.line, token.column) for token in found] == [
        ("a", 3, 3),
        ("b", 3, 5),
        ("\n", 3, 10),
        ("d", 5, 2),
        ("#", 5, 4),
        ("", 6, 1),
    ]
    assert [[token.text for token in line[:-1]] for line in statements(found)] == [["a", "b"], ["d", "#"]]
    assert list(statements(tokens("# nothing"))) == []


@pytest.mark.parametrize(
    ("written", "value"),
    [("[0.5]", "1/2"), ("[1/3]", "1/3"), ("[ 1 ]", "1"), ("[.25]", "1/4"), ("[1e-2]", "1/100"), ("[1.]", "1")],
)
def test_weights_are_exact(written: str, value: str) -> None:
    assert tokens(f"a {written}")[1].weight == Fraction(value)


MALFORMED = [
    ("a [half]", 1, 3, "expected a weight"),
    ("a\n [0]", 2, 2, "above 0"),
    ("a [1.5]", 1, 3, "at most 1"),
    ("[-0.5]", 1, 1, "expected a weight"),
    ("[nan]", 1, 1, "expected a weight"),
    ("[1/0]", 1, 1, "expected a weight"),
    ("[1e999]", 1, 1, "expected a weight"),
    ("[]", 1, 1, "expected a weight"),
    ("[abc]*", 1, 1, "( a | b )"),
    ("a [0.5", 1, 3, "alone"),
    ("a ]", 1, 3, "alone"),
    ("a 'b", 1, 3, "closing '"),
    ('a\n\n  "b', 3, 3, 'closing "'),
    ("don't", 1, 4, "closing '"),
    ("''", 1, 1, "without white space"),
    ("'a b'", 1, 1, "without white space"),
    ("a'b'", 1, 2, "white space between"),
    ("'a'b", 1, 4, "white space between"),
    ("a \x00", 1, 3, "U+0000"),
    ("a " + "b" * 101, 1, 3, "the limit is 100"),
    ("\n" + "( " * 201, 2, 401, "200 deep"),
    ("a " * 100_001, 1, 200_001, "100,000"),
]


@pytest.mark.parametrize(("content", "line", "column", "says"), MALFORMED)
def test_malformed_texts_are_refused_at_their_place(content: str, line: int, column: int, says: str) -> None:
    with pytest.raises(ParseError) as caught:
        tokens(content, file="my.file")
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).startswith(f"my.file, line {line}, column {column}: ")
    assert says in str(caught.value)


def test_an_error_survives_pickling() -> None:
    error = tokens("a")[0].error("an operator")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) and (copy.line, copy.column) == (1, 1)


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(UsageError, match="1,000,000"):
        tokens("a" * (text.MOST_BYTES + 1))


def test_files_are_read_with_their_faults_named(tmp_path) -> None:
    path = tmp_path / "my.regex"
    path.write_bytes(b"\xef\xbb\xbfa b\r\n")
    assert [token.text for token in tokens(read(path))] == ["a", "b", ""]
    path.write_bytes("a é\n b ".encode() + b"\xff")
    with pytest.raises(ParseError, match="line 2, column 4: found the byte 0xff"):
        read(path)
    path.write_bytes(b"a" * (text.MOST_BYTES + 1))
    with pytest.raises(UsageError, match="1,000,000 bytes"):
        read(path)
    with pytest.raises(UsageError, match="Cannot read"):
        read(tmp_path)
    with pytest.raises(UsageError, match="Cannot read"):
        read(tmp_path / "missing")


@pytest.mark.parametrize("symbol", ["a", "ab-c", "->", "*", "#", "(", "]", "'", '"', "ε", "start", "a|b", "é", "don't"])
def test_spelled_symbols_are_read_back(symbol: str) -> None:
    (token, _) = tokens(spelled(symbol))
    assert (token.kind, token.text) == ("symbol", symbol)


def test_shares() -> None:
    at = tokens("even")[0]
    half, third = Fraction(1, 2), Fraction(1, 3)
    assert shares([None, None], "it", at) == [half, half]
    assert shares([half, None, None], "it", at) == [half, Fraction(1, 4), Fraction(1, 4)]
    assert shares([third, third, third], "it", at) == [third] * 3
    assert sum(shares([Fraction("0.3333333333")] * 3, "it", at)) == 1
    with pytest.raises(ParseError, match=r"sum to 0\.75"):
        shares([half, Fraction(1, 4)], "it", at)
    with pytest.raises(ParseError, match="leaves nothing for the 1"):
        shares([half, half, None], "it", at)
