"""Keeps the shortest network of a search that is proved right about every string, beside the shortest one.

The shortest network of a corpus need not be right. The shortest proved network answers another question: is there a
network of at most this many bits that is right for all n?
"""

import math
import operator
from collections.abc import Iterator, Mapping

import numpy as np

from humboldt.mdl.corpus_bits import description_length
from humboldt.mdl.machine_words import unpack
from humboldt.mdl.network import Network
from humboldt.mdl.proofs import Proved, prove
from humboldt.mdl.proofs.described import described
from humboldt.mdl.search.state import SearchState
from humboldt.mdl.steppers import PlainStepper
from humboldt.mdl.trie import Trie

FROM_EACH_ISLAND = 3  # shortest networks tried at each look: a proof takes some milliseconds, as long as a generation
FAR = 200  # letters in each free block of the string that is read in floats before a proof is tried
NAMES = ("proved_network", "proved_bits")


class ShortestProved:
    """Inspects a search periodically. The network it keeps depends only on the states it has inspected.

    - `language`: a name for `prove`, which uses the language's own measure at a margin of 0.
    - `network`, `bits`: the shortest network proved so far, and its full description length; `None` and infinity
      before there is one.
    """

    def __init__(self, language: str, symbols: tuple[str, ...], trie: Trie, activations: tuple[str, ...]) -> None:
        self.language, self.symbols, self.trie, self.activations = language, symbols, trie, activations
        self.network: Network | None = None
        self.bits = math.inf
        self._is_proved: dict[bytes, bool] = {}  # earlier networks: it saves time and changes no result

    def look(self, state: SearchState) -> None:
        """Tries to prove the shortest networks of each island, if they are shorter than the shortest proved one."""
        for least_bits, words in sorted(_candidates(state), key=lambda candidate: candidate[0]):
            if least_bits >= self.bits:
                return
            key = words[0].tobytes() + words[1].tobytes()
            network = unpack(*words, self.symbols)
            if key not in self._is_proved:
                self._is_proved[key] = not is_wrong_far_out(network, self.language) and isinstance(
                    prove(network, self.language, run_on=False), Proved
                )
            if self._is_proved[key]:
                bits = description_length(network, self.trie, self.activations).total
                if bits < self.bits:
                    self.network, self.bits = network, bits

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Returns the arrays for a checkpoint."""
        text = "" if self.network is None else self.network.to_json()
        return dict(zip(NAMES, (np.frombuffer(text.encode(), np.uint8), np.array([self.bits])), strict=True))

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores the arrays that `to_arrays` returned."""
        text, bits = (arrays[name] for name in NAMES)
        self.network = Network.from_json(text.tobytes().decode()) if text.size else None
        self.bits = float(bits[0])


def is_wrong_far_out(network: Network, language: str) -> bool:
    """Returns whether a network is wrong about one long string of blocks, as the suite evaluates it, in floats.

    It takes a thousandth of the time of a proof that fails. Dyck-1 is not tested: its proofs fail quickly.
    """
    strings = described(language)
    if strings.is_brackets:
        return False
    free = [FAR] * strings.free
    runs = [*free, *(sum(map(operator.mul, needs, free)) for needs in strings.needs)]
    symbols = np.repeat(np.arange(len(runs) + 1), [1, *runs])
    _, chances = PlainStepper(network).feed(symbols.tolist())
    first = 1 + sum(free)  # the first symbol after which only one can follow
    targets = np.append(symbols[first + 1 :], 0)
    preferred = chances[np.arange(first, len(symbols)), targets]
    return bool(((chances[first:] >= preferred[:, None]).sum(1) > 1).any())  # the target itself is one


def _candidates(state: SearchState) -> Iterator[tuple[float, tuple[np.ndarray, np.ndarray]]]:
    """Yields bits and words of the shortest networks of each island, and of the record.

    Islands may charge too little for impossible symbols, so that the bits are a lower bound.
    """
    totals = state.grammar + state.data
    for island, lengths in enumerate(totals):
        shortest = np.argsort(lengths, kind="stable")[:FROM_EACH_ISLAND]
        for member in shortest:
            units, edges = state.sizes[island, member]
            yield float(lengths[member]), (state.units[island, member, :units], state.edges[island, member, :edges])
    units, edges = state.record_sizes
    if units:
        yield float(state.record_lengths.sum()), (state.record_units[:units], state.record_edges[:edges])
