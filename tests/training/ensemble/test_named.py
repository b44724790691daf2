import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.training.ensemble.named import from_named, to_named

TREE = {"cell": [jnp.arange(6.0).reshape(2, 3)], "done": np.array([3], np.int32), "nothing": None}


def test_a_tree_and_back():
    named = to_named(TREE)
    assert set(named) == {"['cell'][0]", "['done']"} and all(isinstance(x, np.ndarray) for x in named.values())
    again = from_named(named, TREE)
    np.testing.assert_array_equal(again["cell"][0], TREE["cell"][0])
    assert isinstance(again["done"], np.ndarray) and again["nothing"] is None


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: {**arrays, "['more']": np.zeros(1)},
        lambda arrays: {"['done']": arrays["['done']"]},
        lambda arrays: {**arrays, "['done']": np.zeros(2, np.int32)},
        lambda arrays: {**arrays, "['done']": np.zeros(1, np.float32)},
    ],
)
def test_what_does_not_fit_is_refused(change):
    with pytest.raises(ValueError):
        from_named(change(to_named(TREE)), TREE)
