"""The base class of the two languages with agreement: nouns, then verbs, each verb in the class of one noun."""

from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np

from humboldt.languages.syntax.base import AbstractPseudoLanguage, cells, choose

CLASSES = 5  # agreement classes, section 2.2 of the paper


class AbstractAgreement(AbstractPseudoLanguage):
    """n nouns of random classes, then n verbs.

    `partners` computes the noun that each verb agrees with. `next_noun` defines the same for the recogniser: the next
    verb agrees with the first or with the last of the nouns that have no verb yet.

    A negative has k ~ U(1, length / 2) of its verbs replaced: each gets one of the four other classes, uniformly, and
    a newly drawn terminal of that class.
    """

    categories = tuple(f"{kind}{i}" for kind in ("NP", "VP") for i in range(CLASSES))
    shortest = 0
    length_step = 2
    next_noun: ClassVar[Literal["first", "last"]]

    @abstractmethod
    def partners(self, verbs: np.ndarray, halves: np.ndarray) -> np.ndarray:
        """Returns the nouns (0 to n - 1) that verbs number `verbs` (0 to n - 1) agree with, where `halves` is n."""

    def accepts_categories(self, categories: list[str]) -> bool:
        waiting: list[str] = []
        seen_verb = False
        for category in categories:
            if category.startswith("NP"):
                if seen_verb:
                    return False
                waiting.append(category[2:])
            else:
                seen_verb = True
                if not waiting or waiting.pop(0 if self.next_noun == "first" else -1) != category[2:]:
                    return False
        return not waiting

    def draw_categories(self, rng: np.random.Generator, lengths: np.ndarray, inside: np.ndarray) -> np.ndarray:
        halves = lengths[:, None] // 2
        positions = np.arange(inside.shape[1])
        is_noun = positions < halves
        classes = np.zeros(inside.shape, np.int64)
        classes[is_noun] = rng.integers(0, CLASSES, is_noun.sum())
        nouns = np.where(is_noun, positions, self.partners(positions - halves, halves))
        agreeing = np.take_along_axis(classes, np.where(inside, nouns, 0), axis=1)
        return np.where(is_noun, agreeing, agreeing + CLASSES)

    def spoil(
        self, rng: np.random.Generator, tokens: np.ndarray, lengths: np.ndarray, within: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        del within  # the length stays
        inside = cells(lengths)
        halves = lengths // 2
        verbs = inside & (np.arange(inside.shape[1]) >= halves[:, None])
        replaced = choose(rng, verbs, rng.integers(1, halves + 1))
        spoiled = tokens[:, : inside.shape[1]].astype(np.int32)
        old = spoiled[replaced] // self.terminals - CLASSES
        new = (old + rng.integers(1, CLASSES, len(old))) % CLASSES
        spoiled[replaced] = self._rewrite(rng, new + CLASSES)
        return spoiled, lengths.copy()
