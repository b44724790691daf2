import pytest
from chomsky_support import assert_frequency, drawn, make, oracle

from humboldt.errors import UsageError

TASK = make("solve_equation")


@pytest.mark.parametrize("length", [3, 4, 5, 6, 7, 8, 20, 40])
def test_the_target_and_nothing_else_solves_the_equation(length: int):
    for source, target in drawn(TASK, 500, length):
        left, right = source.split(" = ")
        assert [z for z in range(5) if (eval(left, {"z": z}) - int(right)) % 5 == 0] == [int(target)]


def test_all_short_equations_are_drawn():
    for length, left in [(3, "z"), (4, "- z"), (5, "( z )"), (6, "( - z )")]:
        assert {source for source, _ in drawn(TASK, 500, length)} == {f"{left} = {value}" for value in range(5)}
    lefts = {f"( z {o} {d} )" for o in "+-" for d in range(5)} | {f"( {d} {o} z )" for o in "+-" for d in range(5)}
    assert {source for source, _ in drawn(TASK, 5000, 7)} == {
        f"{left} = {value}" for left in lefts for value in range(5)
    }


def test_which_digit_is_hidden():
    """In `(d+d)` a random place and the way on from it lead to the first digit from three places of five."""
    sources = [source for source, _ in drawn(TASK, 10_000, 7)]
    assert_frequency(sum(source.startswith("( z") for source in sources), 10_000, 3 / 5)


@pytest.mark.parametrize("length", [7, 40, 300])
def test_all_solutions_are_equally_likely(length: int):
    targets = [target for _, target in drawn(TASK, 5000, length)]
    for z in "01234":
        assert_frequency(targets.count(z), 5000, 1 / 5)


@pytest.mark.parametrize("source", ["1 + 2 = 3", "z + z = 2", "z + 1 2 4", "z + 1 = z", "1 = z", "z"])
def test_not_an_equation(source: str):
    with pytest.raises(UsageError, match="is not an equation with one unknown"):
        oracle(TASK, source)
