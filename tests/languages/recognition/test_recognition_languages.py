"""The languages of the recognition suite: two roads to membership, and samplers that agree with both."""

import itertools
from typing import Any

import numpy as np
import pytest

from humboldt.languages import tasks
from humboldt.languages.formal.distance import edit_distance
from humboldt.languages.recognition import AbstractRegular, draw_examples
from humboldt.languages.recognition.parts.binary import parts_of, uniform_below
from humboldt.languages.recognition.parts.examples import UNIFORM, edited, propose

NAMES = [name.removeprefix("recognition/") for name in tasks.names("recognition/")]
every_language = pytest.mark.parametrize("name", NAMES)
MOST_STRINGS = 1_500  # of each language, all up to some length


def make(name: str) -> Any:
    return tasks.get(f"recognition/{name}")()


def all_strings(task: Any) -> list[list[int]]:
    size = len(task.input_alphabet)
    longest = int(np.log(MOST_STRINGS) / np.log(size))
    return [list(string) for n in range(longest + 1) for string in itertools.product(range(size), repeat=n)]


def test_there_are_eighteen():
    assert len(NAMES) == 18 and sum(isinstance(make(name), AbstractRegular) for name in NAMES) == 7


@every_language
def test_both_roads_to_membership_agree_and_the_sampler_draws_nothing_else(name: str):
    task = make(name)
    strings = all_strings(task)
    slow = [task.contains(task.input_alphabet.decode(string)) for string in strings]
    assert task.members(strings).tolist() == slow
    inside = {tuple(string) for string, is_member in zip(strings, slow, strict=True) if is_member}
    longest = max(map(len, strings))
    if longest >= 5:  # binary operations have no shorter strings
        assert set(map(tuple, task.draw(np.random.default_rng(0), 200, longest))) <= inside
    if isinstance(task, AbstractRegular):
        assert task.automaton().alphabet == task.input_alphabet.symbols


@every_language
def test_examples_have_the_right_labels_lengths_and_shares(name: str):
    task = make(name)
    examples = draw_examples(task, np.random.default_rng(0), 300, 40)
    again = draw_examples(task, np.random.default_rng(0), 300, 40)
    assert (examples.tokens == again.tokens).all() and (examples.labels == again.labels).all()
    strings = examples.strings(range(len(examples)))
    decoded = [task.contains(task.input_alphabet.decode(string)) for string in strings]
    assert decoded == (examples.labels == 1).tolist()
    assert examples.tokens.shape == (300, 40) and 0.4 < examples.labels.mean() < 0.6
    assert (examples.edits[examples.labels == 1] == 0).all() and (examples.edits[examples.labels == 0] != 0).all()
    assert max(map(len, strings)) > 30


def test_positives_of_an_automaton_have_uniform_lengths_and_local_weights():
    """`even_pairs`: 000 and 111 stay in states with three ways, 010 and 101 pass one with two, so they are 3/2 times as
    probable among the strings of three symbols."""
    drawn = make("even_pairs").draw(np.random.default_rng(0), 8_000, 3)
    lengths = np.bincount([len(string) for string in drawn])
    assert np.abs(lengths / 8_000 - 1 / 4).max() < 0.02
    of_three = [tuple(string) for string in drawn if len(string) == 3]
    for string, share in {(0, 0, 0): 0.2, (1, 1, 1): 0.2, (0, 1, 0): 0.3, (1, 0, 1): 0.3}.items():
        assert abs(of_three.count(string) / len(of_three) - share) < 0.035


def test_proposals_are_half_uniform_and_half_edited():
    task, rng = make("marked_copy"), np.random.default_rng(0)
    proposals, numbers = propose(task, rng, 4_000, 40)
    edits = numbers[numbers != UNIFORM]
    assert abs(len(edits) / 4_000 - 0.5) < 0.04 and edits.min() == 1 and abs(edits.mean() - 2) < 0.15
    assert max(map(len, proposals)) <= 40
    for _ in range(200):
        assert edited(rng, [0, 1, 2], 1, 3, 3) != [0, 1, 2] and len(edited(rng, [], 1, 2, 5)) == 1


def test_the_distance_to_an_automaton_is_exact():
    task = make("dyck_2_3")
    examples = draw_examples(task, np.random.default_rng(1), 60, 12)
    rows = np.flatnonzero(examples.labels == 0)
    strings = examples.strings(rows)
    expected = [edit_distance(task.automaton(), task.input_alphabet.decode(string)) for string in strings]
    assert task.distances(strings).tolist() == expected and min(expected) >= 1
    made = examples.edits[rows] > 0
    assert (np.array(expected)[made] <= examples.edits[rows][made]).all()
    assert make("majority").distances(strings) is None


def test_parts_and_large_numbers():
    rng = np.random.default_rng(0)
    for total in range(3, 40):
        parts = parts_of(rng, total, (1, 1, 2))
        assert sum(parts) == total and min(parts) >= 1
    assert uniform_below(rng, 1) == 0
    drawn = [uniform_below(rng, 3 * 2**70) for _ in range(400)]
    assert max(drawn) < 3 * 2**70 and abs(sum(number >= 2**71 for number in drawn) / 400 - 1 / 3) < 0.1


MOST_COMPLETED = 70_000  # strings of all symbols, of the longest length that prefixes are completed to


@every_language
def test_what_can_follow_a_prefix_is_what_follows_it_in_some_string(name: str):
    language = make(name)
    symbols = language.input_alphabet.symbols
    longest = min(9, int(np.log(MOST_COMPLETED) / np.log(len(symbols))))
    strings = [s for n in range(longest + 1) for s in itertools.product(symbols, repeat=n) if language.contains(s)]
    following: dict[tuple[str, ...], set[str]] = {}
    for string in strings:
        for end in range(len(string)):
            following.setdefault(string[:end], set()).add(string[end])
    needs_more = name in ("missing_duplicate", "binary_addition")  # a `1` twice; a carry
    inside, short = set(strings), (longest - 1) // 2 - (2 if needs_more else 1)  # these can be completed if any can
    prefixes = list(itertools.chain(*(itertools.product(symbols, repeat=n) for n in range(short + 1))))
    prefixes += [p for p in following if {"=", "#"} & set(p) and not isinstance(language, AbstractRegular)]
    for prefix in prefixes:  # after a mark there is one way on, which is completed if the prefix is
        found = language.valid_next(prefix)
        assert found.symbols == following.get(prefix, set()), prefix
        assert found.can_stop == (prefix in inside), prefix


@pytest.mark.parametrize("name", ["dyck_2_3", "marked_copy", "binary_addition"])
def test_sets_as_bits_are_those_of_every_prefix(name: str):
    language: Any = make(name)
    strings = language.draw(np.random.default_rng(0), 20, 15)
    for string, sets in zip(strings, language.next_sets(strings), strict=True):
        symbols = language.input_alphabet.decode(string)
        assert sets == [language.bits(language.valid_next(symbols[:end])) for end in range(1, len(symbols) + 1)]
        assert sets[-1] >> len(language.input_alphabet) == 1 if sets else language.contains([])
