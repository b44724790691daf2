"""Adjⁿ NP (regular)."""

import numpy as np

from humboldt.languages import tasks
from humboldt.languages.syntax.base import AbstractPseudoLanguage, cells, choose

ADJECTIVE, NOUN = 0, 1  # category numbers


@tasks.register("syntax/adj_n_np", version=1)
class AdjNNp(AbstractPseudoLanguage):
    """Any number of adjectives, then one noun phrase.   ADJ_0 ADJ_1 NP_0 -> grammatical

    A negative has k ~ U(1, length - 1) of its adjectives replaced by newly drawn noun phrases.
    """

    categories = ("ADJ", "NP")
    shortest = 1
    length_step = 1
    examples = (
        ("ADJ_0 ADJ_1 ADJ_0 NP_3", "grammatical"),
        ("NP_2", "grammatical"),
        ("ADJ_0 NP_1 ADJ_0 NP_3", "ungrammatical"),
        ("ADJ_0 ADJ_0", "ungrammatical"),
    )

    def accepts_categories(self, categories: list[str]) -> bool:
        return categories[-1:] == ["NP"] and all(category == "ADJ" for category in categories[:-1])

    def draw_categories(self, rng: np.random.Generator, lengths: np.ndarray, inside: np.ndarray) -> np.ndarray:
        del rng  # the length determines the categories
        is_last = np.arange(inside.shape[1]) == lengths[:, None] - 1
        return np.where(is_last, NOUN, ADJECTIVE)

    def spoil(
        self, rng: np.random.Generator, tokens: np.ndarray, lengths: np.ndarray, within: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        del within  # the length stays
        adjectives = cells(lengths - 1)
        replaced = choose(rng, adjectives, rng.integers(1, lengths))  # upper end excluded: 1 to length - 1
        spoiled = tokens[:, : lengths.max(initial=0)].astype(np.int32)
        spoiled[:, : adjectives.shape[1]][replaced] = self._rewrite(rng, np.full(replaced.sum(), NOUN))
        return spoiled, lengths.copy()
