"""Trees of given lengths and depths, from one set of probabilities or from new ones for every tree."""

from dataclasses import dataclass

import numpy as np

from humboldt.languages.pcfg_set.parts.evaluation import encode
from humboldt.languages.pcfg_set.parts.functions import Language
from humboldt.languages.pcfg_set.parts.productions import Productions
from humboldt.languages.pcfg_set.parts.sampling import Weights, draw_skeletons, tree_weights


@dataclass(frozen=True, eq=False)
class SizedTrees:
    """Trees conditional on length and depth, from a mixture of grammars that differ in `unary` and `function`.

    - `unary`: of each grammar of the mixture. `masses`: the prior probability of each grammar.
    - `weights`: the probability of each size of tree in each grammar, as returned by `tree_weights`.
    """

    productions: Productions  # all grammars of the mixture share its functions and string lengths
    language: Language
    unary: np.ndarray
    masses: np.ndarray
    weights: Weights

    @classmethod
    def fixed(cls, productions: Productions, longest: int, deepest: int, language: Language) -> "SizedTrees":
        """Returns the trees of one grammar."""
        unary, function = np.array([[productions.unary], [productions.function]])
        weights = tree_weights(unary, function, productions.string_weights, longest, deepest)
        return cls(productions, language, unary, np.ones(1), weights)

    @classmethod
    def random(cls, productions: Productions, longest: int, deepest: int, language: Language) -> "SizedTrees":
        """Returns the trees whose `unary` and `function` are uniform in [0, 1], independently for every tree.

        A tree with a unary and b binary functions has b + 1 strings, so its probability is a polynomial of the two
        chances, u^a (1 - u)^b f^(a + b - 1) (1 - f)^(b + 1), times a constant. Its mean over the square is a weighted
        sum over a grid of m by m Gauss-Legendre points, exact up to a degree of 2m - 1. So drawing a point by its
        weight, and then the tree, gives the same distribution as drawing the chances from the whole square.
        """
        # The degree, a + 2b, is at most the number of tokens without letters, and at most 2 for each possible function.
        degree = min(longest - 1, 2 * (2 ** min(deepest, 30) - 1))
        points, masses = np.polynomial.legendre.leggauss(degree // 2 + 1)
        points, masses = (points + 1) / 2, masses / 2
        unary, function = np.repeat(points, len(points)), np.tile(points, len(points))
        weights = tree_weights(unary, function, productions.string_weights, longest, deepest)
        return cls(productions, language, unary, np.outer(masses, masses).ravel(), weights)

    def rate(self, length: int, depth: int) -> float:
        """Returns the probability that a tree has this length and depth."""
        return float(self._rates(length, depth).sum())

    def _rates(self, length: int, depth: int) -> np.ndarray:
        """Returns the probability in each grammar of the mixture, times its mass, shape `(grammars,)`."""
        return self.masses * self.weights[0][:, depth, length]

    def draw(self, rng: np.random.Generator, pairs: np.ndarray) -> np.ndarray:
        """Draws trees with these lengths and depths, shape `(count, 2)`. Returns the tokens of all skeletons."""
        grammars = self._choose(rng, pairs)
        order = np.argsort(grammars, kind="stable")
        ends = np.cumsum(np.bincount(grammars, minlength=len(self.masses)))
        lengths, depths = pairs[order, 0].copy(), pairs[order, 1].copy()
        unary_choices, binary_choices = (self.productions.choices(self.language, arity) for arity in (1, 2))
        comma = encode(self.language).comma
        parts = []
        for i in np.unique(grammars):
            rows = slice(ends[i - 1] if i else 0, ends[i])
            parts.append(
                draw_skeletons(
                    rng,
                    lengths[rows],
                    depths[rows],
                    self.unary[i],
                    tuple(table[i] for table in self.weights),
                    unary_choices,
                    binary_choices,
                    comma,
                )
            )
        tokens = np.concatenate(parts) if parts else np.empty(0, np.int32)
        return _reordered(tokens, lengths, np.argsort(order, kind="stable"))

    def _choose(self, rng: np.random.Generator, pairs: np.ndarray) -> np.ndarray:
        """Draws the grammar of the mixture for each tree, given its size, shape `(count,)`."""
        grammars = np.zeros(len(pairs), np.int64)
        if len(self.masses) > 1:
            cells, cell_of = distinct(pairs)
            order = np.argsort(cell_of, kind="stable")
            end = 0
            for (length, depth), count in zip(cells.tolist(), np.bincount(cell_of).tolist(), strict=True):
                begin, end = end, end + count
                cumulative = np.cumsum(self._rates(length, depth))
                drawn = np.searchsorted(cumulative, rng.random(count) * cumulative[-1], side="right")
                grammars[order[begin:end]] = np.minimum(drawn, len(cumulative) - 1)
        return grammars


def distinct(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the distinct rows of lengths and depths, and the index of each row among them."""
    width = int(pairs[:, 1].max(initial=0)) + 1  # one number per row, because `np.unique` of whole rows is slow
    numbers, row_of = np.unique(pairs @ (width, 1), return_inverse=True)
    return np.stack([numbers // width, numbers % width], 1), row_of


def _reordered(tokens: np.ndarray, lengths: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Returns the tokens of consecutive sequences, with the sequences in the order of `indices`."""
    begins = np.cumsum(lengths) - lengths
    wanted = lengths[indices]
    places = np.arange(wanted.sum()) - np.repeat(np.cumsum(wanted) - wanted - begins[indices], wanted)
    return tokens[places]
