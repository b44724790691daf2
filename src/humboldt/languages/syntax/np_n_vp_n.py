"""NPⁿ VPⁿ (context-free)."""

import numpy as np

from humboldt.languages import tasks
from humboldt.languages.syntax.base import AbstractPseudoLanguage, cells

NOUN, VERB = 0, 1  # category numbers


@tasks.register("syntax/np_n_vp_n", version=1)
class NpNVpN(AbstractPseudoLanguage):
    """n noun phrases, then n verb phrases.   NP_0 NP_1 VP_5 VP_0 -> grammatical

    A negative has m verb phrases instead of n, m drawn uniformly from all m >= 0 other than n for which n + m is in
    the length range of the split. It loses its last verbs, or gains newly drawn ones at the end. So a negative may
    have an odd length, which no positive has.
    """

    categories = ("NP", "VP")
    shortest = 0
    length_step = 2
    negatives_change_length = True
    examples = (
        ("NP_0 NP_1 NP_0 VP_3 VP_0 VP_0", "grammatical"),
        ("", "grammatical"),
        ("NP_0 NP_1 NP_0 VP_3 VP_0", "ungrammatical"),
        ("VP_0 VP_0 NP_1 NP_0", "ungrammatical"),
    )

    def accepts_categories(self, categories: list[str]) -> bool:
        half = len(categories) // 2
        return categories == ["NP"] * half + ["VP"] * half

    def draw_categories(self, rng: np.random.Generator, lengths: np.ndarray, inside: np.ndarray) -> np.ndarray:
        del rng  # the length determines the categories
        return np.where(np.arange(inside.shape[1]) < lengths[:, None] // 2, NOUN, VERB)

    def spoil(
        self, rng: np.random.Generator, tokens: np.ndarray, lengths: np.ndarray, within: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        low, high = within
        nouns = lengths // 2
        fewest = np.maximum(low - nouns, 0)
        verbs = rng.integers(fewest, high - nouns) if lengths.size else nouns  # one value fewer: n is skipped below
        verbs += verbs >= nouns
        new_lengths = nouns + verbs
        inside = cells(new_lengths)
        old = np.zeros(inside.shape, np.int32)
        width = min(inside.shape[1], tokens.shape[1])
        old[:, :width] = tokens[:, :width]
        added = inside & (np.arange(inside.shape[1]) >= lengths[:, None])
        spoiled = np.where(inside, old, 0).astype(np.int32)
        spoiled[added] = self._rewrite(rng, np.full(added.sum(), VERB))
        return spoiled, new_lengths
