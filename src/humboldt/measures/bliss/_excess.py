"""Excess cross-entropy: the distance of a model's distribution over strings from that of the language."""

from dataclasses import dataclass

import numpy as np

from humboldt.core.stepping import Stepper
from humboldt.errors import UsageError
from humboldt.languages.bliss.base import AbstractLanguage
from humboldt.languages.bliss.parts.corpus import PRIOR
from humboldt.measures.bliss._kernel import Table, divergences
from humboldt.measures.bliss._stepper import check_distributions


@dataclass(frozen=True)
class Excess:
    """The result of `excess_cross_entropy`.

    - `bits_per_symbol`: the excess, infinite if the model rules out a symbol that can follow. Results store it as
      `excess_bits`; they cannot hold infinity, which is indicated by `ruled_out` > 0.
    - `coverage`: the share of a sampled string's expected symbols that the sums include.
    - `ruled_out`: the share of those symbols before which the model gave probability 0 to a symbol that can follow.
    """

    bits_per_symbol: float
    coverage: float
    ruled_out: float


def excess_cross_entropy(
    language: AbstractLanguage, stepper: Stepper, p: float = PRIOR, *, smallest: float = 1e-6
) -> Excess:
    """Returns the cross-entropy of a model on the language minus the entropy of the language, in bits per symbol.

    With P the language and Q the model, both as distributions over strings that end with `#`, this is
    (H(P, Q) - H(P)) / E|s#|. By the chain rule the numerator is Σ_x P(x) KL(P(. | x) || Q(. | x)) over all prefixes x,
    and E|s#| = Σ_x P(x): nothing is sampled. There are infinitely many prefixes; the sums run over those with
    P(x) >= `smallest`, and `coverage` is their share of E|s#|. It tends to 1 as `smallest` tends to 0.
    """
    language.check_prior(p)
    if not 0 < smallest <= 1:
        raise UsageError(f"smallest = {smallest:g} is not a probability of a prefix. Use one in (0, 1], such as 1e-6.")
    table, automaton = Table(language, p), language.automaton
    state, known = stepper.init(1), automaton.init(1)
    symbols, chances = np.array([0]), np.array([1.0])
    read = np.zeros((1, 0), np.int64)
    divergence = mass = ruled_out = 0.0
    while len(symbols):
        state, distributions = stepper.step(state, symbols)
        if read.shape[1]:
            known = automaton.advance(known, symbols)
        kinds = automaton.kinds(known)
        table = table.covering(kinds)
        distributions = check_distributions(
            distributions,
            len(kinds),
            table.vocabulary,
            lambda row, read=read: ["#", *language.input_alphabet.decode(read[row])],
        )
        bits = divergences(distributions, kinds, table.distributions, table.entropies)
        divergence += float(chances @ bits)
        ruled_out += float(chances[np.isinf(bits)].sum())
        mass += float(chances.sum())
        following = table.distributions[kinds].T * chances
        following[0] = 0  # nothing follows the end
        symbols, rows = np.nonzero(following >= smallest)
        chances = following[symbols, rows]
        read = np.concatenate([read[rows], symbols[:, None]], 1)
        state, known = stepper.take(state, rows), automaton.take(known, rows)
    return Excess(max(divergence / mass, 0.0), mass / (language.expected_length(p) + 1), ruled_out / mass)
