"""Next-symbol distributions of models that read whole strings, after every prefix in a test set."""

import numpy as np

from humboldt.core.stepping import FromStrings
from humboldt.languages.bliss.parts.test_set import Trie

FIRST_SYMBOLS = 64  # symbols that are read at first; then twice as many


class ReadAhead:
    """The distributions of a causal model after every prefix of some strings.

    Strings are read as far as they are needed, then twice as far: the evaluation of a model that fails early ends
    soon, and one that reads to the end reads each symbol about twice. Strings that are equal so far are read once.
    """

    def __init__(self, trie: Trie, model: FromStrings) -> None:
        self.trie, self.model = trie, model
        self._from = self._until = 0  # the depths whose distributions are known
        self._row_of = np.zeros(len(trie.lengths), np.int64)  # where those of each string are
        self._distributions = np.empty((0, 0, 0))

    def at(self, depth: int, strings: np.ndarray) -> np.ndarray:
        """Returns the distributions after `#` and the first `depth` symbols of some strings, `(strings, vocabulary)`.

        Depths must not decrease from call to call.
        """
        if depth >= self._until:
            self._read(depth)
        return self._distributions[self._row_of[strings], depth - self._from]

    def _read(self, depth: int) -> None:
        trie, longest = self.trie, int(self.trie.lengths.max()) + 1
        self._from, self._until = depth, min(max(FIRST_SYMBOLS, 2 * depth), longest)
        differs = trie.shared < self._until - 1  # from the string before it, as far as it is read
        differs[0] = True
        rows = np.flatnonzero(differs)
        left = np.flatnonzero(trie.lengths[rows] >= depth)  # the others have ended
        tokens = np.zeros((len(left), self._until), np.int32)
        for place in range(1, self._until):
            tokens[:, place] = trie.symbols(rows[left], place - 1)
        self._row_of = np.searchsorted(left, np.cumsum(differs) - 1)
        self._distributions = self.model.read(tokens, depth)
