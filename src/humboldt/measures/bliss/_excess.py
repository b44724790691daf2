"""How far a model's distribution over strings is from the language's own."""

from dataclasses import dataclass

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.bliss._base import AbstractLanguage
from humboldt.languages.bliss._corpus import PRIOR
from humboldt.measures.bliss._kernel import Table, divergences
from humboldt.measures.bliss._stepper import Stepper, check_distributions


@dataclass(frozen=True)
class Excess:
    """Excess cross-entropy in bits per symbol, and the share of a sampled string's expected symbols it rests on."""

    bits_per_symbol: float
    coverage: float


def excess_cross_entropy(
    language: AbstractLanguage, stepper: Stepper, p: float = PRIOR, *, smallest: float = 1e-6
) -> Excess:
    """Cross-entropy of a model on the language, less the language's own entropy, in bits per symbol.

    With P the language and Q the model, both as distributions over strings that end with `#`, this is
    (H(P, Q) - H(P)) / E|s#|. By the chain rule the numerator is Σ_x P(x) KL(P(. | x) || Q(. | x)) over all prefixes x,
    and E|s#| = Σ_x P(x): nothing is sampled. Infinitely many prefixes have little probability each; the sums run over
    those with P(x) >= `smallest`, and `coverage` is their part of E|s#|. It tends to 1 as `smallest` tends to 0.
    """
    language.check_prior(p)
    if not 0 < smallest <= 1:
        raise UsageError(f"smallest = {smallest:g} is no probability of a prefix. Use one in (0, 1], such as 1e-6.")
    table, automaton = Table(language, p), language.automaton
    state, known = stepper.init(1), automaton.init(1)
    symbols, chances = np.array([0]), np.array([1.0])
    read = np.zeros((1, 0), np.int64)
    divergence = mass = 0.0
    while len(symbols):
        state, distributions = stepper.step(state, symbols)
        if read.shape[1]:
            known = automaton.advance(known, symbols)
        kinds = automaton.kinds(known)
        distributions = check_distributions(
            distributions,
            len(kinds),
            table.vocabulary,
            lambda row, read=read: ["#", *language.input_alphabet.decode(read[row])],
        )
        divergence += float(chances @ divergences(distributions, kinds, table.distributions, table.entropies))
        mass += float(chances.sum())
        following = table.distributions[kinds].T * chances
        following[0] = 0  # behind the end comes nothing
        symbols, rows = np.nonzero(following >= smallest)
        chances = following[symbols, rows]
        read = np.concatenate([read[rows], symbols[:, None]], 1)
        state, known = stepper.take(state, rows), automaton.take(known, rows)
    return Excess(max(divergence / mass, 0.0), mass / (language.expected_length(p) + 1))
