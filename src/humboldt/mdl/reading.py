"""Gives an MDL network the interface of all other networks: tokens in, logits and internals out."""

import numpy as np

from humboldt.core.internals import TIME, Internal
from humboldt.mdl.corpus_bits import step_slow
from humboldt.mdl.network import Network


class ReadableNetwork:
    """A network with the interface of those in `humboldt.models`, in NumPy."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def __call__(self, tokens: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """Returns the log-probabilities of the next symbol, shape `(time, symbol)`; minus infinity for symbols that the
        network excludes."""
        del mask  # later tokens do not change a step
        with np.errstate(divide="ignore"):
            return np.log(self._steps(tokens)[1])

    def inspect(self, tokens: np.ndarray, mask: np.ndarray) -> dict[str, Internal]:
        """Returns the values of all units after every step."""
        del mask
        names = tuple(self.network.name(unit) for unit in range(len(self.network.units)))
        return {"units": Internal(self._steps(tokens)[0], (TIME, "unit"), names)}

    def _steps(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, distributions, before = [], [], None
        for token in tokens.tolist():
            before, distribution = step_slow(self.network, before, token)
            values.append(before)
            distributions.append(distribution)
        return np.array(values), np.array(distributions)
