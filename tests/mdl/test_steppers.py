import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humboldt.errors import RunError, UsageError
from humboldt.mdl.corpus_bits import NO_CLIP, step_slow
from humboldt.mdl.network import published_networks
from humboldt.mdl.steppers import PlainStepper, StateGraph

from .helpers import networks

FIGURE_4 = published_networks()["an_bn_figure_4"]
DYCK_1 = published_networks()["dyck_1"]


def slow_distributions(network, symbols):
    state, rows = None, []
    for symbol in symbols:
        state, row = step_slow(network, state, symbol, NO_CLIP)
        rows.append(row)
    return np.array(rows).reshape(len(symbols), network.num_symbols)


@settings(max_examples=200, deadline=None)
@given(networks(), st.lists(st.integers(0, 2), max_size=12))
def test_all_roads_give_the_same_bits(network, symbols):
    expected = slow_distributions(network, symbols)
    stepper, graph = PlainStepper(network), StateGraph(network, capacity=2)  # a small one has to grow
    end, fed = stepper.feed(symbols)
    np.testing.assert_array_equal(fed, expected)
    state = stepper.init_state()
    for symbol, row in zip(symbols, expected, strict=True):
        state, distribution = stepper.step(state, symbol)
        np.testing.assert_array_equal(distribution, row)
    np.testing.assert_array_equal(state, end)
    _, steps = graph.feed(symbols)
    np.testing.assert_array_equal(graph.distributions[steps], expected)


def test_feeding_in_pieces_equals_feeding_at_once():
    symbols = [0, 1, 1, 1, 2, 2, 2]
    stepper = PlainStepper(FIGURE_4)
    middle, first = stepper.feed(symbols[:3])
    _, rest = stepper.feed(symbols[3:], middle)
    np.testing.assert_array_equal(np.concatenate([first, rest]), stepper.feed(symbols)[1])


def test_batches_equal_single_steps():
    stepper, graph = PlainStepper(DYCK_1), StateGraph(DYCK_1)
    states = np.stack([stepper.feed(prefix)[0] for prefix in ([], [0], [0, 1], [0, 1, 1])])
    numbers = np.array([graph.feed(prefix)[0] for prefix in ([], [0], [0, 1], [0, 1, 1])])
    symbols = np.array([0, 1, 2, 2])
    new, rows = stepper.step_batch(states, symbols)
    reached, steps = graph.step_batch(numbers, symbols)
    np.testing.assert_array_equal(graph.distributions[steps], rows)
    np.testing.assert_array_equal(graph.next_states(steps), reached)
    for i in range(4):
        state, row = stepper.step(states[i], int(symbols[i]))
        np.testing.assert_array_equal(state, new[i])
        np.testing.assert_array_equal(row, rows[i])


def an_bn_errors(network, longest: int) -> list[int]:
    """The n up to `longest` for which some step after the first b is predicted wrongly."""
    graph = StateGraph(network)
    start, _ = graph.feed([0])
    _, steps = graph.feed(np.full(longest, 1), start)
    states = graph.next_states(steps)  # after # a^n, n = 1, 2, ...
    wrong, likeliest = set(), np.empty(0)
    for k in range(1, longest + 1):  # the k-th b, in all strings with n >= k
        states[k - 1 :], steps = graph.step_batch(states[k - 1 :], np.full(longest - k + 1, 2))
        if len(likeliest) < graph.num_steps:
            likeliest = graph.distributions.argmax(axis=1)
        predicted = likeliest[steps]
        wrong |= {k + int(i) for i in np.flatnonzero(predicted[1:] != 2) + 1} | ({k} if predicted[0] != 0 else set())
    return sorted(wrong)


def test_figure_4_is_right_for_every_n():
    assert an_bn_errors(FIGURE_4, 1500) == []


@pytest.mark.slow
def test_figure_4_is_right_up_to_35000():
    assert an_bn_errors(FIGURE_4, 35_000) == []


def test_the_check_can_fail():
    weaker = FIGURE_4.to_json().replace('"to": 5, "weight": "3"', '"to": 5, "weight": "-3"')
    assert an_bn_errors(type(FIGURE_4).from_json(weaker), 10) == list(range(2, 11))


def test_dyck_1_accepts_every_string_up_to_length_24():
    # Depth is all that matters, but the network is asked: all prefixes, merged where its state is the same.
    graph = StateGraph(DYCK_1)
    layer = {(graph.feed([0])[0], 0): graph.feed([0])[1][0]}
    for length in range(25):
        new = {}
        for (state, depth), step in layer.items():
            p_end, p_open, p_close = graph.distributions[step]
            assert p_open > 0
            assert (p_end > 0) == (depth == 0)
            assert (p_close > 0) == (depth > 0)
            for symbol, change in ((1, 1), (2, -1)):
                if 0 <= depth + change <= 24 - length:
                    reached, steps = graph.feed([symbol], state)
                    new[reached, depth + change] = steps[0]
        layer = new


def test_a_counter_has_few_states():
    graph = StateGraph(FIGURE_4)
    graph.feed([0] + [1] * 1000 + [2] * 1000)
    assert graph.num_states == 1002  # before, and h = 0, 1/2, ..., 500


def test_a_graph_that_outgrows_its_limit_says_so():
    graph = StateGraph(FIGURE_4, capacity=4, limit=10)
    graph.feed([0] + [1] * 9)
    with pytest.raises(RunError, match=r"10 different steps, the limit of this graph.*Use `PlainStepper`"):
        graph.feed([0] + [1] * 10)


def test_wrong_symbols_and_states_are_refused():
    with pytest.raises(UsageError, match="from 0 to 2"):
        PlainStepper(FIGURE_4).feed([0, 3])
    with pytest.raises(UsageError, match="from 0 to 2"):
        StateGraph(FIGURE_4).feed([-1])
    with pytest.raises(UsageError, match="States have shape"):
        PlainStepper(FIGURE_4).step_batch(np.zeros((2, 9)), np.array([0, 0]))
    with pytest.raises(UsageError, match="one state from 0 to 0"):
        StateGraph(FIGURE_4).step_batch(np.array([5]), np.array([0]))
