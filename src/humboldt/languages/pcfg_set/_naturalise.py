"""Naturalisation, appendix A of the paper: expressions whose lengths and depths are distributed like given ones.

Steps 1 to 4 find productions: `naturalise`. Steps 4 and 5, data from these productions in the wanted distribution:
`skeletons`, which meets it exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set._evaluation import Encoded, encode, measure
from humboldt.languages.pcfg_set._functions import PCFG_SET, Language
from humboldt.languages.pcfg_set._productions import JointHistogram, Productions, estimate, uniform_productions
from humboldt.languages.pcfg_set._sampling import draw_freely, draw_skeletons, tree_weights

Pair = tuple[int, int]  # length and depth of one expression, or of one sentence of a natural language
Increments = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Skeletons:
    """Trees as flat token ids, the first letter's id in place of every letter. Tree `i` begins at `offsets[i]`."""

    encoded: Encoded
    tokens: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def pairs(self) -> np.ndarray:
        """Length and depth of each, shape `(count, 2)`."""
        depths, _ = measure(self.tokens, self.offsets, self.encoded.arities, self.encoded.parts)
        return np.stack([np.diff(self.offsets), depths], 1)

    def texts(self) -> tuple[str, ...]:
        """As expressions over one letter."""
        return self.encoded.texts(self.tokens, self.offsets)

    def take(self, indices: np.ndarray) -> "Skeletons":
        """Some of them, in that order."""
        lengths = np.diff(self.offsets)[indices]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - self.offsets[indices], lengths)
        return Skeletons(self.encoded, self.tokens[places], offsets)


def free_skeletons(
    rng: np.random.Generator, count: int, productions: Productions | None, longest: int, language: Language = PCFG_SET
) -> Skeletons:
    """Trees from a grammar as it is. Those of more than `longest` tokens are left out, so fewer may come back.

    Without `productions` every tree has probabilities of its own, `unary` and `function` uniform in [0, 1] (step 2).
    """
    encoded = encode(language)
    known = productions or uniform_productions(language, unary=0.5, function=0.5)
    unary, function = rng.random((2, count)) if productions is None else np.full((count, 2), known.chances).T.copy()
    tokens, offsets = draw_freely(
        rng,
        unary,
        function,
        known.choices(language, 1),
        known.choices(language, 2),
        np.cumsum(known.string_weights),
        encoded.comma,
        longest,
    )
    return Skeletons(encoded, tokens, offsets)


def resample(
    rng: np.random.Generator, sample: np.ndarray, target: Sequence[Pair] | np.ndarray, increments: Increments = (1, 1)
) -> np.ndarray:
    """Which members of a sample to keep, so that it is distributed like the target (step 3, i to vii).

    Both are partitioned into cells ⌊feature / increment⌋. The target's largest cell is kept whole in the sample; of any
    other cell as many members, in proportion, as the target has (at most all there are). **Returns:** indices.
    """
    ours = np.asarray(sample) // increments
    theirs = np.asarray(target) // increments
    width = int(max(ours[:, 1].max(initial=0), theirs[:, 1].max())) + 1
    ours, theirs = ours @ (width, 1), theirs @ (width, 1)  # one number for a cell
    cells, counts = np.unique(theirs, return_counts=True)
    order = np.argsort(ours, kind="stable")
    begins = np.searchsorted(ours[order], cells)
    ends = np.searchsorted(ours[order], cells, side="right")
    largest = int(counts.argmax())
    kept = []
    for count, begin, end in zip(counts, begins, ends, strict=True):
        wanted = int(count * (ends[largest] - begins[largest]) // counts[largest])
        kept.append(rng.choice(order[begin:end], min(wanted, end - begin), replace=False))
    return np.sort(np.concatenate(kept))


def gaussian_divergence(pairs: np.ndarray, target: Sequence[Pair] | np.ndarray) -> float:
    """The Kullback-Leibler divergence, in nats, of the Gaussians that fit `pairs` and the target (3, viii)."""
    ours, theirs = np.asarray(pairs, float), np.asarray(target, float)
    mean, covariance = ours.mean(0), np.cov(ours, rowvar=False)
    target_mean, target_covariance = theirs.mean(0), np.cov(theirs, rowvar=False)
    inverse = np.linalg.inv(target_covariance)
    difference = target_mean - mean
    ratio = np.linalg.slogdet(target_covariance)[1] - np.linalg.slogdet(covariance)[1]
    return float((np.trace(inverse @ covariance) + difference @ inverse @ difference - len(mean) + ratio) / 2)


@dataclass(frozen=True)
class Naturalisation:
    """Productions for a target distribution, and how near the transformed sample came to it (in nats)."""

    productions: Productions
    increments: Increments
    divergence: float
    sample: int


def naturalise(
    target: Sequence[Pair],
    seed: int,
    *,
    language: Language = PCFG_SET,
    sample: int = 500_000,
    increments: Sequence[Increments] = ((1, 1), (2, 1), (3, 1), (4, 1), (5, 1)),
) -> Naturalisation:
    """Steps 1 to 4: productions whose trees resemble the target in length and depth.

    **Arguments:**

    - `target`: length and depth of each sentence of a natural language.
    - `sample`: how many trees with random probabilities are drawn (step 2).
    - `increments`: for length and depth; each is tried, and the one with the lowest divergence is used (step 3, viii).
      The default is what the released code tries.
    """
    rng = np.random.default_rng([seed, *b"naturalise"])
    drawn = free_skeletons(rng, sample, None, max(n for n, _ in target), language)
    pairs = drawn.pairs()
    best: tuple[float, Increments, np.ndarray] | None = None
    for increment in increments:
        kept = resample(rng, pairs, target, increment)
        if len(kept) < 3:
            continue
        divergence = gaussian_divergence(pairs[kept], target)
        if best is None or divergence < best[0]:
            best = divergence, increment, kept
    if best is None:
        raise UsageError(
            f"Of {sample:,} random trees almost none has a length and depth of the {len(target):,} given. Pairs are "
            "(length, depth); an expression has at least three tokens, and is longer than it is deep."
        )
    divergence, increment, kept = best
    return Naturalisation(estimate(drawn.take(kept).texts(), language), increment, divergence, len(kept))


def proportional(histogram: JointHistogram, count: int) -> JointHistogram:
    """A histogram with `count` entries and the same shares, as nearly as whole numbers can be (largest remainders).

    >>> sorted(proportional(JointHistogram({(3, 1): 2, (4, 2): 1}), 10).counts.items())
    [((3, 1), 7), ((4, 2), 3)]
    """
    cells = sorted(histogram.counts)
    exact = np.array([histogram.counts[cell] for cell in cells]) * (count / histogram.counts.total())
    whole = np.floor(exact + 1e-9).astype(np.int64)
    order = np.argsort(-(exact - whole), kind="stable")
    whole[order[: count - whole.sum()]] += 1
    return JointHistogram({cell: int(n) for cell, n in zip(cells, whole, strict=True) if n})


def skeletons(
    rng: np.random.Generator,
    count: int,
    productions: Productions,
    histogram: JointHistogram,
    language: Language = PCFG_SET,
) -> Skeletons:
    """Trees from a grammar, resampled to the joint histogram of length and depth (step 5), in random order.

    The same distribution as drawing freely without end and then `resample`, without its waste: each tree is drawn under
    the condition that it has the length and depth of its cell. Cells that no tree of the grammar can have get none.
    """
    longest = max(n for n, _ in histogram.counts)
    deepest = max(d for _, d in histogram.counts)
    weights = tree_weights(productions.unary, productions.function, productions.string_weights, longest, deepest)
    applications = weights[0]
    possible = JointHistogram({(n, d): c for (n, d), c in histogram.counts.items() if d > 0 and applications[d, n] > 0})
    if not possible.counts:
        raise UsageError(
            "No expression of the grammar has a length and depth of the histogram. Pairs are (length, depth): "
            "`copy A B` has length 3 and depth 1."
        )
    cells = proportional(possible, count).counts
    pairs = np.repeat(np.array(list(cells), np.int64), list(cells.values()), axis=0)
    pairs = pairs[rng.permutation(count)]
    encoded = encode(language)
    tokens = draw_skeletons(
        rng,
        pairs[:, 0].copy(),
        pairs[:, 1].copy(),
        productions.unary,
        weights,
        productions.choices(language, 1),
        productions.choices(language, 2),
        encoded.comma,
    )
    return Skeletons(encoded, tokens, np.concatenate([[0], np.cumsum(pairs[:, 0])]))
