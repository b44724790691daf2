"""The checker's places are the languages of the suite."""

from itertools import product

import pytest

from humboldt.languages import tasks
from humboldt.languages.bliss import get
from humboldt.mdl.proofs.checker.strings import LANGUAGES, places
from humboldt.mdl.proofs.described import DESCRIBED


def holds(rows, point) -> bool:
    return all(row[0] + sum(x * y for x, y in zip(row[1:], point, strict=True)) >= 0 for row in rows)


def moved(images, point) -> tuple[int, ...]:
    return tuple(row[0] + sum(x * y for x, y in zip(row[1:], point, strict=True)) for row in images)


@pytest.mark.parametrize("name", LANGUAGES)
def test_prefixes_and_what_can_follow_are_those_of_the_language(name: str):
    language = get(name.removeprefix("bliss/"))
    spots, symbols = places(name), language.input_alphabet.symbols
    reached = {("",): (0, (0,) * (len(spots[0].domain[0]) - 1))}
    for length in range(9):
        for text in [key[0] for key in list(reached) if len(key[0]) == length]:
            place, point = reached[(text,)]
            assert holds(spots[place].domain, point), text
            follows = [ids for rows, ids in spots[place].follow if holds(rows, point)]
            assert len(follows) == 1
            assert {symbols[i] for i in follows[0]} == language.valid_next("#" + text), text
            deterministic = place > 0 and len(follows[0]) == 1
            kind = language._kinds("#" + text)[-1]
            assert deterministic == bool(language.deterministic_kinds()[kind])
            onward = [
                (target, moved(images, point)) for rows, target, images in spots[place].moves if holds(rows, point)
            ]
            assert {target for target, _ in onward} == follows[0] - {0}, text
            for target, after in onward:
                reached[(text + symbols[target],)] = (target, after)
    words = {"".join(word) for n in range(7) for word in product(symbols[1:], repeat=n)}
    prefixes = {text for (text,) in reached if len(text) < 7}
    assert prefixes <= words
    assert {word for word in words if language.accepts(word)} <= prefixes


@pytest.mark.parametrize("name", LANGUAGES)
def test_both_descriptions_are_of_the_registered_version(name: str):
    version, letters, needs = LANGUAGES[name]
    assert DESCRIBED[name].definition() == [version, letters, needs]
    assert version == tasks.entry(name).version
    assert tuple(get(name.removeprefix("bliss/")).input_alphabet.symbols) == ("#", *letters)
    assert LANGUAGES.keys() == DESCRIBED.keys()
