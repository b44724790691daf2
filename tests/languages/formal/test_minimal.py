import json

import numpy as np
import pytest
from languages.formal.regular_support import language_of, random_automaton, residuals, with_random_weights

from humboldt.languages.formal.automaton import MISSING, Automaton
from humboldt.languages.formal.automaton_file import parse_automaton
from humboldt.languages.formal.continuations import Continuations
from humboldt.languages.formal.minimal import canonical, equivalent, in_order, minimal, trimmed, with_weights
from humboldt.languages.formal.regex import parse_regex


def shuffled(automaton: Automaton, rng: np.random.Generator) -> Automaton:
    return automaton.restricted(rng.permutation(len(automaton)))


def doubled(automaton: Automaton, rng: np.random.Generator) -> Automaton:
    """Two copies of every state; each transition goes to one of them at random."""
    n = len(automaton)
    table = np.concatenate([automaton.table, automaton.table])
    table = np.where(table == MISSING, MISSING, table + n * rng.integers(0, 2, table.shape))
    weights = () if automaton.moves is None else (np.tile(automaton.moves, (2, 1)), np.tile(automaton.stops, 2))  # pyright: ignore[reportArgumentType, reportCallIssue]
    return Automaton(automaton.alphabet, table, np.tile(automaton.accepting, 2), automaton.start, (), *weights)


@pytest.mark.parametrize("seed", range(200))
def test_minimal_automata_have_one_state_per_residual(seed: int) -> None:
    rng = np.random.default_rng(seed)
    automaton = random_automaton(rng, states=int(rng.integers(1, 6)), symbols=2)
    smallest = minimal(automaton)
    language = language_of(automaton, 8)
    assert language_of(smallest, 8) == language
    # Five states and a rejecting one: prefixes of four symbols reach all, suffixes of four separate all.
    assert len(smallest) == max(1, residuals(language, automaton.alphabet, prefix=4, suffix=4))
    again = minimal(shuffled(doubled(automaton, rng), rng))
    assert canonical(again) == canonical(automaton) and len(again) == len(smallest)


@pytest.mark.parametrize("seed", range(60))
def test_equivalence_is_equality_of_languages(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = (random_automaton(rng, states=3, symbols=1 + seed % 2) for _ in range(2))
    assert equivalent(one, other) == (language_of(one, 7) == language_of(other, 7))


@pytest.mark.parametrize("seed", range(60))
def test_weighted_forms_merge_equal_states_and_keep_probabilities(seed: int) -> None:
    rng = np.random.default_rng(seed)
    automaton = trimmed(random_automaton(rng, states=5, symbols=2))
    if automaton.is_empty:
        return
    weighted = with_random_weights(automaton, rng)
    copy = shuffled(doubled(weighted, rng), rng)
    assert canonical(copy, "weighted") == canonical(weighted, "weighted")
    smallest = minimal(copy)
    assert len(smallest) <= len(automaton)
    one, other = Continuations(weighted), Continuations(smallest)
    for string in language_of(automaton, 4):
        assert one.probability(string) == pytest.approx(other.probability(string))


def test_weights_are_part_of_the_weighted_form_only() -> None:
    text = "start s\naccept s [{}]\ns a s"
    one, other = (parse_automaton(text.format(weight)) for weight in ("0.25", "0.5"))
    assert equivalent(one, other) and not equivalent(one, other, "weighted")
    assert equivalent(other, parse_regex("a*"), "weighted")  # equal shares
    assert equivalent(one, parse_automaton("start t\nt a t [3/4]\naccept t"), "weighted")


def test_states_are_outputs_in_the_form_for_states() -> None:
    short = parse_automaton("start s\naccept s\ns a s")
    long = parse_automaton("start s\naccept s t\ns a t\nt a s")
    renamed = parse_automaton("t a start0\nstart start0\nstart0 a t\naccept t start0")
    assert equivalent(short, long) and not equivalent(short, long, "state")
    assert equivalent(long, renamed, "state")
    assert in_order(renamed).names == ("start0", "t")


def test_the_alphabet_is_part_of_a_language() -> None:
    one = parse_automaton("start s\naccept s\ns a s\ns b t\nt a t")
    assert not equivalent(one, parse_regex("a*")) and minimal(one).alphabet == ("a", "b")


def test_canonical_forms_are_plain_data() -> None:
    form = canonical(parse_regex("( a b )*"), "weighted")
    assert json.loads(json.dumps(form)) == form


def test_the_empty_language_has_one_state() -> None:
    empty = Automaton(("a",), np.array([[1], [0]]), np.array([False, False]))
    assert len(minimal(empty)) == 1 and empty.is_empty and minimal(empty).is_empty
    assert canonical(empty) == canonical(Automaton(("a",), np.array([[0]]), np.array([False])))


def test_equal_shares_ignore_ways_that_cannot_end() -> None:
    weighted = with_weights(parse_automaton("start s\naccept s\ns a s\ns b t\nt a t"))
    assert weighted.moves is not None and weighted.moves.tolist() == [[0.5, 0.0]] and weighted.names == ("s",)


def test_a_long_chain_is_minimised() -> None:
    states = 3_000
    chain = Automaton(("a",), np.append(np.arange(1, states), MISSING)[:, None], np.arange(states) == states - 1)
    assert len(minimal(chain)) == states
