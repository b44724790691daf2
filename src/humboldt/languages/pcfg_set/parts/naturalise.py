"""Naturalisation, appendix A of the paper: expressions whose lengths and depths are distributed like given ones.

`naturalise` implements steps 1 to 4, which find productions. `skeletons` implements step 5: data that have the wanted
distribution exactly, with one set of productions (as in the appendix) or with new ones for every tree (as in the
released corpus).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set.parts.evaluation import Encoded, encode, measure
from humboldt.languages.pcfg_set.parts.functions import PCFG_SET, Language
from humboldt.languages.pcfg_set.parts.productions import (
    JointHistogram,
    Productions,
    RandomProductions,
    estimate,
    uniform_productions,
)
from humboldt.languages.pcfg_set.parts.sampling import draw_freely
from humboldt.languages.pcfg_set.parts.sized import SizedTrees, distinct

Pair = tuple[int, int]  # length and depth of one expression, or of one sentence of a natural language
Increments = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Skeletons:
    """Trees as flat token ids; every letter has the id of the first one. Tree `i` begins at `offsets[i]`."""

    encoded: Encoded
    tokens: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def pairs(self) -> np.ndarray:
        """Returns the length and depth of each tree, shape `(count, 2)`."""
        depths, _ = measure(self.tokens, self.offsets, self.encoded.arities, self.encoded.parts)
        return np.stack([np.diff(self.offsets), depths], 1)

    def texts(self) -> tuple[str, ...]:
        """Returns the trees as expressions over one letter."""
        return self.encoded.texts(self.tokens, self.offsets)

    def take(self, indices: np.ndarray) -> "Skeletons":
        """Returns the trees at these indices, in that order."""
        lengths = np.diff(self.offsets)[indices]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - self.offsets[indices], lengths)
        return Skeletons(self.encoded, self.tokens[places], offsets)


def free_skeletons(
    rng: np.random.Generator, count: int, productions: Productions | None, longest: int, language: Language = PCFG_SET
) -> Skeletons:
    """Draws trees from a grammar. Trees of more than `longest` tokens are dropped, so there may be fewer than `count`.

    Without `productions`, `unary` and `function` are drawn for every tree, uniform in [0, 1] (step 2).
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
    """Returns indices of the trees of a sample to keep, so that it is distributed like the target (step 3, i to vii).

    Both are partitioned into cells ⌊feature / increment⌋. The cell that is largest in the target is kept completely;
    from any other cell a number of trees in proportion to the target is kept (at most all).
    """
    ours = np.asarray(sample) // increments
    theirs = np.asarray(target) // increments
    width = int(max(ours[:, 1].max(initial=0), theirs[:, 1].max())) + 1
    ours, theirs = ours @ (width, 1), theirs @ (width, 1)  # one number per cell
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
    """Returns the Kullback-Leibler divergence, in nats, of Gaussians fitted to `pairs` and the target (3, viii)."""
    ours, theirs = np.asarray(pairs, float), np.asarray(target, float)
    mean, covariance = ours.mean(0), np.cov(ours, rowvar=False)
    target_mean, target_covariance = theirs.mean(0), np.cov(theirs, rowvar=False)
    inverse = np.linalg.inv(target_covariance)
    difference = target_mean - mean
    ratio = np.linalg.slogdet(target_covariance)[1] - np.linalg.slogdet(covariance)[1]
    return float((np.trace(inverse @ covariance) + difference @ inverse @ difference - len(mean) + ratio) / 2)


@dataclass(frozen=True)
class Naturalisation:
    """Productions for a target distribution, and the divergence of the resampled trees from it (in nats)."""

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
    """Finds productions whose trees resemble the target in length and depth (steps 1 to 4).

    **Arguments:**

    - `target`: length and depth of each sentence of a natural language.
    - `sample`: the number of trees with random probabilities (step 2).
    - `increments`: for length and depth; each is tried, and the one with the lowest divergence is used (step 3, viii).
      The default is that of the released code.
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
    """Returns a histogram with `count` entries and nearly the same shares (largest remainders).

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
    productions: Productions | RandomProductions,
    histogram: JointHistogram,
    language: Language = PCFG_SET,
) -> Skeletons:
    """Draws trees with the joint histogram of length and depth (step 5), in random order.

    The distribution is that of drawing freely without end and then `resample`, but no tree is rejected: each is drawn
    conditional on the length and depth of its cell. Cells that no tree of the grammar can have stay empty.
    """
    longest = max(n for n, _ in histogram.counts)
    deepest = max(d for _, d in histogram.counts)
    examples = _examples(productions)
    rates = [SizedTrees.fixed(example, longest, deepest, language) for example in examples]
    possible = JointHistogram(
        {(n, d): c for (n, d), c in histogram.counts.items() if any(trees.rate(n, d) > 0 for trees in rates)}
    )
    if not possible.counts:
        raise UsageError(
            "No expression of the grammar has a length and depth of the histogram. Pairs are (length, depth): "
            "`copy A B` has length 3 and depth 1."
        )
    cells = proportional(possible, count).counts
    pairs = np.repeat(np.array(list(cells), np.int64), list(cells.values()), axis=0)
    pairs = pairs[rng.permutation(count)]
    offsets = np.concatenate([[0], np.cumsum(pairs[:, 0])])
    if isinstance(productions, Productions):
        return Skeletons(encode(language), rates[0].draw(rng, pairs), offsets)
    return _random_skeletons(rng, pairs, productions, possible, rates[-1], language)


def _examples(productions: Productions | RandomProductions) -> list[Productions]:
    """Returns productions that cover every possible tree: the sizes that exist do not depend on the numbers."""
    if isinstance(productions, Productions):
        return [productions]
    return [productions.given(0.5, 0.5, late=late) for late in (False, True)]


def _random_skeletons(
    rng: np.random.Generator,
    pairs: np.ndarray,
    productions: RandomProductions,
    histogram: JointHistogram,
    late_sizes: SizedTrees,
    language: Language,
) -> Skeletons:
    """Draws trees of these lengths and depths, each from its own productions."""
    longest, deepest = pairs.max(0).tolist()
    early = SizedTrees.random(productions.given(0.5, 0.5), longest, deepest, language)
    is_late = np.zeros(len(pairs), bool)
    if productions.late_string_lengths is not None:
        total = histogram.counts.total()
        sizes, size_of = distinct(pairs)
        shares = [
            _early_share(productions.early, early.rate(n, d), late_sizes.rate(n, d), histogram.counts[n, d] / total)
            for n, d in sizes.tolist()
        ]
        is_late = rng.random(len(pairs)) >= np.array(shares)[size_of]
    tokens = [early.draw(rng, pairs[~is_late])]
    if is_late.any():
        del early  # the tables of both would be 80 MB
        late = SizedTrees.random(productions.given(0.5, 0.5, late=True), longest, deepest, language)
        tokens.append(late.draw(rng, pairs[is_late]))
    order = np.argsort(is_late, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(pairs[order, 0])])
    return Skeletons(encode(language), np.concatenate(tokens), offsets).take(np.argsort(order, kind="stable"))


def _early_share(early: float, early_rate: float, late_rate: float, wanted: float) -> float:
    """Returns the share of the trees of one size that was drawn before the shortest strings ran out.

    The corpus has the first trees of each size, `wanted` for each tree of the corpus. Of these, `early` times
    `early_rate` are early, and the others are late.
    """
    if late_rate == 0:
        return 1.0
    return min(1.0, early * early_rate / wanted) if early_rate > 0 else 0.0
