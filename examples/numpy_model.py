"""A network in bare NumPy, scored like ours, with neither JAX nor PyTorch: `python examples/numpy_model.py`."""

import numpy as np

import humboldt

STAY, SWAP = np.eye(2), np.eye(2)[::-1]  # what a and b do to the state


def predict(inputs: list[list[str]]) -> list[list[str]]:
    """Returns b if the number of b's is even: a linear network whose state is (1, 0) or (0, 1)."""
    lengths = np.array([len(symbols) for symbols in inputs])
    is_b = np.array(
        [[symbol == "b" for symbol in symbols + ["a"] * (lengths.max() - len(symbols))] for symbols in inputs]
    )
    state = np.tile([1.0, 0.0], (len(inputs), 1))
    for now in is_b.T:
        state = np.where(now[:, None], state @ SWAP, state @ STAY)
    return [["a" if odd > even else "b"] for even, odd in state]


print(humboldt.score("chomsky", predict, tasks="parity_check", preset="quick", name="parity by hand"))
