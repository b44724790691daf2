"""Longer and deeper Dyck strings, against the definition of M_cat string by string."""

from typing import cast

import numpy as np
import pytest

from humboldt.core.stepping import FromPrefixes
from humboldt.errors import UsageError
from humboldt.languages.bliss import AbstractDyck, get
from humboldt.measures.bliss import Oracle, Reach, Uniform, accepts_each, reach

DYCK_1, DYCK_2 = cast(AbstractDyck, get("dyck_1")), cast(AbstractDyck, get("dyck_2"))


def forgetful(language: AbstractDyck, most: int):
    """A model that knows the language as long as no more than `most` brackets are open, and then knows nothing."""

    def predict(prefixes: np.ndarray) -> np.ndarray:
        rows = []
        for prefix in prefixes[:, 1:].tolist():
            string = language.input_alphabet.decode(np.array(prefix, np.int64))
            deep = language.depth(string) > most
            rows.append(np.full(2 * len(language.brackets) + 1, 1 / (2 * len(language.brackets) + 1)) if deep
                        else language.next_distribution(string))  # fmt: skip
        return np.stack(rows)

    return FromPrefixes(predict)


def accepts_slowly(language: AbstractDyck, function, string: str, epsilon: float) -> bool:
    """M_cat as section 3.5 has it, one prefix at a time."""
    ids = [0, *language.input_alphabet.encode(string).tolist()]
    valid = language.valid_mask(string)
    return all(
        np.array_equal(function(np.array([ids[: i + 1]]))[0] > epsilon, valid[i]) for i in range(len(string) + 1)
    )


@pytest.mark.parametrize("language", [DYCK_1, DYCK_2], ids=["dyck_1", "dyck_2"])
def test_each_string_by_the_definition(language: AbstractDyck):
    model = forgetful(language, 3)
    rng = np.random.default_rng(1)
    strings = [language.random_string(rng, 12) for _ in range(40)]
    found = accepts_each(language, model, strings)
    expected = [accepts_slowly(language, model.function, string, 0.005) for string in strings]
    assert found.tolist() == expected and 0 < sum(expected) < 40
    assert expected == [language.depth(string) <= 3 for string in strings]


def test_the_language_itself_reaches_everything_and_chance_nothing():
    for language in (DYCK_1, DYCK_2):
        found = reach(language, Oracle(language))
        assert found.lengths == tuple(range(2, 101, 2)) and len(found.nested_accepted) == 50
        assert (found.longest, found.deepest) == (100, 50)
        assert found.accepted_beyond(40) == 1 and found.nested_beyond(10) == 1
        chance = reach(language, Uniform(2 * len(language.brackets) + 1), longest=8, per_length=3)
        assert (chance.longest, chance.deepest) == (0, 0) and not any(chance.accepted)


def test_a_model_of_limited_depth():
    found = reach(DYCK_1, forgetful(DYCK_1, 4), longest=20, per_length=30)
    assert found.deepest == 4 and found.nested_accepted == (True,) * 4 + (False,) * 6
    assert found.longest >= 8  # shorter strings are not deeper
    assert 0 < found.accepted_beyond(10) < 1 and found.nested_beyond(4) == 0


def test_the_seed_decides_the_strings():
    model = forgetful(DYCK_1, 3)
    options = {"longest": 14, "per_length": 8}
    assert reach(DYCK_1, model, 1, **options) == reach(DYCK_1, model, 1, **options)
    assert reach(DYCK_1, model, 1, **options) != reach(DYCK_1, model, 2, **options)


def test_a_gap_counts():
    gap = Reach((2, 4, 6, 8), (1.0, 0.5, 1.0, 1.0), 2, (True, False, True, True))
    assert (gap.longest, gap.deepest) == (2, 1)
    assert gap.accepted_beyond(2) == pytest.approx(2.5 / 3) and gap.nested_beyond(2) == 1


def test_wrong_input():
    with pytest.raises(UsageError, match="leave no string"):
        reach(DYCK_1, Uniform(3), longest=1)
    found = reach(DYCK_1, Uniform(3), longest=4, per_length=1)
    with pytest.raises(UsageError, match="No string here is longer than 4"):
        found.accepted_beyond(4)
    with pytest.raises(UsageError, match="No string here is deeper than 2"):
        found.nested_beyond(2)
