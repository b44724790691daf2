"""Theorems about which architecture can recognise a regular language, as data.

A prediction is about what weights exist, not about what training finds, and holds under its conditions only. Where no
theorem here applies, or the class of the language is not decided, there is no prediction.

>>> from humboldt.languages.formal.algebra import classify
>>> from humboldt.languages.formal.regex import parse_regex
>>> parity = classify(parse_regex("( 0* 1 0* 1 )* 0*"))
>>> {prediction.architecture: prediction.verdict for prediction in predictions(parity)}["nonnegative_diagonal_ssm"]
'cannot'
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from humboldt.languages.formal.algebra import Classification

Verdict = Literal["can", "cannot", "cannot unless TC0 = NC1"]

ARCHITECTURES = {
    "recurrent": "simple RNN or LSTM",
    "hard_attention_transformer": "transformer with masked hard attention",
    "fixed_precision_transformer": "transformer with soft attention and fixed precision",
    "log_precision_transformer": "transformer with logarithmic precision",
    "nonnegative_diagonal_ssm": "state-space model with non-negative diagonal gates",
    "positive_linear_rnn": "linear RNN whose matrices have only real, non-negative eigenvalues",
    "log_precision_ssm": "state-space model, time-invariant or with diagonal gates, with logarithmic precision",
    "householder_linear_rnn": "linear RNN with products of generalised Householder matrices",
}


@dataclass(frozen=True)
class Theorem:
    """A theorem: of which architecture, by whom, what it states, under which conditions.

    `verdict` gives its consequence for a classified language; `None` where it does not apply, or is not decided.
    """

    architecture: str
    source: str
    statement: str
    conditions: tuple[str, ...]
    verdict: Callable[[Classification], Verdict | None]


@dataclass(frozen=True)
class Prediction:
    """The consequence of a theorem for one language."""

    architecture: str
    verdict: Verdict
    reason: str
    source: str
    conditions: tuple[str, ...]


def _exactly(holds: bool | None) -> Verdict | None:
    return None if holds is None else "can" if holds else "cannot"


def _can_if(holds: bool | None) -> Verdict | None:
    return "can" if holds else None


def _parity(language: Classification) -> Verdict | None:
    two = language.pure_group and language.groups is not None and [group.order for group in language.groups] == [2]
    return "cannot" if two else None


def _outside_tc0(language: Classification) -> Verdict | None:
    return "cannot unless TC0 = NC1" if language.solvable is False else None


THEOREMS = (
    Theorem(
        "recurrent",
        "Kleene 1956; Minsky 1967; Merrill 2019, Sequential Neural Networks as Automata",
        "Saturated recurrent networks recognise every regular language.",
        ("activations saturate to constants", "as many units as the automaton needs", "symbols read one by one"),
        lambda language: "can",
    ),
    Theorem(
        "hard_attention_transformer",
        "Yang, Chiang and Angluin 2024, Masked Hard-Attention Transformers Recognize Exactly the Star-Free Languages",
        "They recognise exactly the star-free languages.",
        (
            "each head attends to one position",
            "strict masking: a position does not attend to itself",
            "no position embeddings",
            "a fixed depth, chosen for the language",
        ),
        lambda language: _exactly(language.star_free),
    ),
    Theorem(
        "fixed_precision_transformer",
        "Li and Cotterell 2025, Characterizing the Expressivity of Fixed-Precision Transformer Language Models",
        "They recognise exactly the languages with an R-trivial monoid (linear temporal logic with `past` only).",
        (
            "soft attention",
            "a number of bits that does not grow with the length",
            "strict future masking",
            "no position encodings",
            "the answer is read at a mark after the string",
            "a fixed depth, chosen for the language",
        ),
        lambda language: _exactly(language.r_trivial),
    ),
    Theorem(
        "log_precision_transformer",
        "Merrill and Sabharwal 2023, The Parallelism Tradeoff; Barrington 1989 for the word problem",
        "They recognise languages in uniform TC0 only; a language whose monoid has a non-solvable group is complete "
        "for NC1.",
        (
            "a fixed depth",
            "a number of bits that grows with the logarithm of the length",
            "no tokens written before the answer",
        ),
        _outside_tc0,
    ),
    Theorem(
        "log_precision_transformer",
        "Liu, Ash, Goel, Krishnamurthy and Zhang 2023, Transformers Learn Shortcuts to Automata",
        "Automata without a non-solvable group have shortcuts whose depth does not depend on the length.",
        (
            "for each length, weights of its own, with position encodings",
            "a number of bits that grows with the logarithm of the length",
            "a depth that grows with the number of states",
        ),
        lambda language: _can_if(language.solvable),
    ),
    Theorem(
        "nonnegative_diagonal_ssm",
        "Sarrof, Veitsman and Hahn 2024, The Expressive Capacity of State Space Models",
        "They model exactly the star-free ones among the regular languages.",
        (
            "diagonal gates that depend on the input and are not negative",
            "a number of bits that does not grow with the length",
            "strings of all lengths",
            "a fixed depth, chosen for the language",
        ),
        lambda language: _exactly(language.star_free),
    ),
    Theorem(
        "positive_linear_rnn",
        "Grazzi, Siems, Zela, Franke, Hutter and Pontil 2025, Unlocking State-Tracking in Linear RNNs Through Negative "
        "Eigenvalues",
        "They do not recognise ( 1 1 )*, so not parity, which contains it.",
        (
            "in every layer, all eigenvalues are real and not negative",
            "a number of bits that does not grow with the length",
            "strings of all lengths",
            "any fixed number of layers",
        ),
        _parity,
    ),
    Theorem(
        "log_precision_ssm",
        "Merrill, Petty and Sabharwal 2024, The Illusion of State in State-Space Models; Barrington 1989 for the word "
        "problem",
        "They recognise languages in uniform TC0 only; a language whose monoid has a non-solvable group is complete "
        "for NC1.",
        (
            "matrices that do not depend on the input, or diagonal ones that do",
            "a fixed depth",
            "a number of bits that grows with the logarithm of the length",
        ),
        _outside_tc0,
    ),
    Theorem(
        "householder_linear_rnn",
        "Grazzi, Siems, Zela, Franke, Hutter and Pontil 2025, Unlocking State-Tracking in Linear RNNs Through Negative "
        "Eigenvalues",
        "They recognise every regular language.",
        (
            "matrices are products of identity minus outer product, with eigenvalues from -1 to 1",
            "as many factors and layers as the automaton needs",
            "a number of bits that does not grow with the length",
        ),
        lambda language: "can",
    ),
)


def predictions(language: Classification) -> list[Prediction]:
    """Returns all predictions for a language, in the order of `THEOREMS`."""
    return list(_predictions(language))


def _predictions(language: Classification) -> Iterator[Prediction]:
    for theorem in THEOREMS:
        verdict = theorem.verdict(language)
        if verdict is not None:
            yield Prediction(theorem.architecture, verdict, theorem.statement, theorem.source, theorem.conditions)
