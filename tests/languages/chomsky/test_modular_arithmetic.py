import pytest
from chomsky_support import assert_frequency, drawn, make, oracle
from hypothesis import given
from hypothesis import strategies as st

from humboldt.errors import UsageError

TASK = make("modular_arithmetic")
DIGITS = "01234"
SHORT = {
    1: {f"{d}" for d in DIGITS},
    2: {f"-{d}" for d in DIGITS},
    3: {f"({d})" for d in DIGITS},
    4: {f"(-{d})" for d in DIGITS},
}


def every_expression(length: int) -> set[str]:
    """What the docstring says is drawn."""
    if length in SHORT:
        return SHORT[length]
    return {
        f"({left}{operator}{right})"
        for size in range(1, length - 3)
        for left in every_expression(size)
        for right in every_expression(length - 3 - size)
        for operator in "+-*"
    }


@pytest.mark.parametrize("length", range(1, 8))
def test_sampler_draws_every_short_expression_rightly(length: int):
    pairs = set(drawn(TASK, 20_000, length))
    assert {source.replace(" ", "") for source, _ in pairs} == every_expression(length)
    assert all(eval(source) % 5 == int(target) for source, target in pairs)


# More than is drawn: operators without brackets of their own, minus before brackets.
expressions = st.recursive(
    st.sampled_from(DIGITS),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map("".join),
        st.tuples(st.just("("), inner, st.just(")")).map("".join),
        inner.map("-{}".format),
    ),
    max_leaves=30,
)


@given(expressions)
def test_python_agrees(expression: str):
    assert TASK.oracle(list(expression)) == [str(eval(expression) % 5)]


def test_deep_brackets():
    """Deeper than Python's own parser goes."""
    assert TASK.oracle([*"(" * 5000, *"3", *"+1)" * 5000]) == ["3"]


def test_zero_is_the_most_frequent_answer():
    """The shares that the docstring names follow from the rule by which expressions are drawn."""
    zero = [0.0, *[0.2] * 4]  # share of 0 by length; the other four answers share the rest equally
    for length in range(5, 501):
        total = 0.0
        for size in range(1, length - 3):
            left, right = zero[size], zero[length - 3 - size]
            in_sum = left * right + (1 - left) * (1 - right) / 4
            in_product = left + right - left * right
            total += (2 * in_sum + in_product) / 3
        zero.append(total / (length - 4))
    assert [round(zero[length], 2) for length in (5, 40, 500)] == [0.25, 0.29, 0.32]
    for length in (5, 40, 500):
        answers = [target for _, target in drawn(TASK, 5000, length)]
        assert_frequency(answers.count("0"), 5000, zero[length])
        for other in "1234":
            assert_frequency(answers.count(other), 5000, (1 - zero[length]) / 4)


def test_all_divisions_and_operators_are_equally_likely():
    count = 10_000
    roots = []
    for source, _ in drawn(TASK, count, 12):
        depth, previous = 0, "("
        for place, symbol in enumerate(source.split(" ")):
            if depth == 1 and symbol in "+-*" and previous not in "(+-*":
                roots.append((place, symbol))
            depth += (symbol == "(") - (symbol == ")")
            previous = symbol
    assert len(roots) == count
    for place in range(2, 10):
        assert_frequency(sum(root[0] == place for root in roots), count, 1 / 8)
    for operator in "+-*":
        assert_frequency(sum(root[1] == operator for root in roots), count, 1 / 3)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("1 +", "at its end a number is missing"),
        ("( 1", "at its end a closing bracket is missing"),
        ("1 )", r"'\)' at position 1 comes where an operator or the end must be"),
        ("1 2", "'2' at position 1"),
        ("* 2", "'\\*' at position 0 comes where a digit, a bracket or a minus must be"),
        ("( )", r"'\)' at position 1"),
        ("1 * * 2", "position 2"),
    ],
)
def test_no_expression(source: str, what: str):
    with pytest.raises(UsageError, match=what):
        oracle(TASK, source)
