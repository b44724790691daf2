"""Distances between embeddings."""

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import PCFG_SET
from humboldt.measures.pcfg_set import embedding_distances
from humboldt.measures.pcfg_set._embeddings import cosine_distance

AXES = dict(zip([function.name for function in PCFG_SET.functions], np.eye(10), strict=True))


def test_cosine_distances():
    vector = np.array([3.0, 4.0])
    assert cosine_distance(vector, 7 * vector) == pytest.approx(0)
    assert cosine_distance(vector, -vector) == pytest.approx(2)
    assert cosine_distance(vector, np.array([4.0, 3.0])) == pytest.approx(1 - 24 / 25)
    with pytest.raises(UsageError, match="A vector of zeros"):
        cosine_distance(vector, np.zeros(2))


def test_functions_at_right_angles():
    # Synonyms at 60 degrees from repeat, in the direction of swap, at right angles, and opposite.
    synonyms = {
        "repeat_syn": AXES["repeat"] + np.sqrt(3) * AXES["copy"],
        "swap_twin": 5 * AXES["swap"],
        "append_syn": AXES["copy"],
        "remove_second_syn": -AXES["remove_second"],
    }
    found = embedding_distances({**AXES, **synonyms, "A1": np.zeros(10), ",": np.ones(10)})
    assert found.synonyms == pytest.approx({"swap": 0, "repeat": 0.5, "append": 1, "remove_second": 2})
    assert found.others == pytest.approx(dict.fromkeys(found.synonyms, 1.0))
    assert (found.mean_synonym, found.mean_other, found.n) == (pytest.approx(0.875), pytest.approx(1), 4)


def test_others_are_the_nine_functions_that_are_no_synonyms():
    vectors = {name: np.array([1.0, 0.0]) for name in AXES} | {f"{name}_syn": np.array([0.0, 1.0]) for name in AXES}
    vectors["copy"] = np.array([-1.0, 0.0])
    found = embedding_distances(vectors)
    assert found.others["swap"] == pytest.approx(2 / 9) and found.synonyms["swap"] == pytest.approx(1)


def test_missing_vectors():
    with pytest.raises(UsageError, match="no embedding of swap_syn, repeat_syn, append_syn, remove_second_syn"):
        embedding_distances(AXES)
    with pytest.raises(UsageError, match="no embedding of copy"):
        embedding_distances({name: vector for name, vector in AXES.items() if name != "copy"}, functions=())
