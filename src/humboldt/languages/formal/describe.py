"""All that can be computed about a language from its file, as data and as text."""

import math
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.formal.algebra import Classification, classify
from humboldt.languages.formal.ambiguity import ambiguity
from humboldt.languages.formal.counting import DENSE, Growth, growth, lengths_of
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage, read
from humboldt.languages.formal.minimal import minimal, with_weights, without_weights
from humboldt.languages.formal.text import spelled
from humboldt.languages.formal.theory import ARCHITECTURES, Prediction, predictions

MOST_SYMBOLS = 20  # of an alphabet that are printed
MOST_DIGITS = 4_000  # of a number; Python reads and writes 4,300
MOST_COUNTED = 10**MOST_DIGITS

FINITE = Classification(
    states=0,  # of its automaton, which is not built
    elements=None,
    finite=True,
    star_free=True,
    r_trivial=True,
    groups=(),
    solvable=True,
    pure_group=False,
)
"""Any finite language of a grammar."""


@dataclass(frozen=True)
class Description:
    """A language in numbers.

    - `kind`: `regex`, `automaton` or `grammar`. `size`: numbers of states, or of rules and nonterminals.
    - `counts`: the numbers of distinct strings of length 0, 1, ...; `None` where they cannot be counted.
    - `derivations`: the numbers of derivations of the same lengths; `None` for a regular language.
    - `growth`: of `counts`, or of `derivations` where strings may have several; see `growth_of`.
    - `shortest`, `longest`: lengths; `None` in the empty language, and `longest` is infinite in an infinite one.
    - `expected_length`, `entropy`: under the weights, the entropy in bits; infinite where they do not exist. Where
      strings may have several derivations, `entropy_of` is `derivations`.
    - `classes`: names of the classes that the language is in, most special first. `groups`: in its monoid.
    - `sentences`: emptiness, finiteness, properness and ambiguity. `notes`: parts of the file without effect.
    """

    name: str
    kind: str
    alphabet: tuple[str, ...]
    size: dict[str, int]
    weighted: bool
    counts: tuple[int | None, ...]
    derivations: tuple[int, ...] | None
    growth: Growth
    growth_of: str
    shortest: int | None
    longest: int | float | None
    expected_length: float
    entropy: float
    entropy_of: str
    ambiguity: str
    classes: tuple[str, ...]
    groups: tuple[str, ...] | None
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    predictions: tuple[Prediction, ...]

    def to_json(self) -> dict[str, Any]:
        """Returns plain data. Infinite values and NaN become `None`."""
        return _plain(asdict(self))

    def lines(self) -> list[str]:
        """Returns the description as text, one fact per line."""
        shown = " ".join(map(spelled, self.alphabet[:MOST_SYMBOLS])) + " ..." * (len(self.alphabet) > MOST_SYMBOLS)
        size = ", ".join(_number(count, what) for what, count in self.size.items())
        rows = [
            ("alphabet", f"{_number(len(self.alphabet), 'symbols')}: {shown}" if self.alphabet else "no symbols"),
            ("size", size + ("" if self.weighted else "; no weights, so all continuations are equally probable")),
            ("strings", _listed(self.counts)),
        ]
        if self.derivations is not None:
            rows.append(("derivations", _listed(self.derivations)))
        rows += [("growth", f"{_grown(self.growth)} (of {self.growth_of})"), ("lengths", self._lengths())]
        if math.isfinite(self.expected_length):
            rows.append(("mean length", f"{self.expected_length:.6g}"))
        if math.isfinite(self.entropy):
            rows.append(("entropy", f"{self.entropy:.6g} bits (of {self.entropy_of})"))
        rows.append(("class", ", ".join(self.classes) + self._groups()))
        rows += [("", sentence) for sentence in self.sentences]
        rows += [("note", note) for note in self.notes]
        rows += [
            (
                "theory",
                f"{ARCHITECTURES[p.architecture]}: {p.verdict} recognise it ({p.source}; if {', '.join(p.conditions)})",
            )
            for p in self.predictions
        ]
        return [f"{self.name} ({self.kind})", *(f"{label:<12} {text}".rstrip() for label, text in rows)]

    def _lengths(self) -> str:
        if self.shortest is None:
            return "no strings"
        return f"{self.shortest} to {self.longest}" if self.longest != math.inf else f"{self.shortest} and longer"

    def _groups(self) -> str:
        return f"; groups {', '.join(self.groups)}" if self.groups else ""


def describe(path: str | Path, length: int = 20) -> Description:
    """Describes the language in a file, with counts of strings up to `length`."""
    language = read(path)
    kind = Path(path).suffix[1:]
    return _regular(language, kind, length) if isinstance(language, RegularLanguage) else _free(language, kind, length)


def _regular(language: RegularLanguage, kind: str, length: int) -> Description:
    automaton = language.automaton
    least = minimal(without_weights(automaton))
    reported = growth(automaton)
    classification = classify(automaton)
    expected_length, entropy = means(language)
    shortest, longest = lengths_of(least)
    return Description(
        name=language.name,
        kind=kind,
        alphabet=language.alphabet,
        size={"states": len(automaton), "states when minimal": len(least)},
        weighted=automaton.is_weighted,
        counts=_written(tuple(language.count(n) for n in range(length + 1)), "strings"),
        derivations=None,
        growth=reported,
        growth_of="strings",
        shortest=shortest,
        longest=longest,
        expected_length=expected_length,
        entropy=entropy,
        entropy_of="strings",
        ambiguity="unambiguous",
        classes=_classes(classification),
        groups=None if classification.groups is None else tuple(map(str, classification.groups)),
        sentences=(_finiteness(reported, "strings"),),
        notes=(),
        predictions=tuple(predictions(classification)),
    )


def _free(language: ContextFreeLanguage, kind: str, length: int) -> Description:
    grammar, derivations = language.grammar, language.derivations
    shape, proper = derivations.shape, language.properness
    report = ambiguity(grammar, longest=length, derivations=derivations)
    of = "strings" if report.verdict == "unambiguous" else "derivations"
    reported, reported_of = shape.growth, of
    if reported.kind == "finite" and None not in report.counts and (shape.longest or 0) <= length:
        reported, reported_of = Growth("finite", 0.0, count=sum(filter(None, report.counts))), "strings"
    sentences = [_finiteness(reported, reported_of), proper.sentence, report.sentence]
    return Description(
        name=language.name,
        kind=kind,
        alphabet=language.alphabet,
        size={"rules": len(grammar.alternatives), "nonterminals": len(grammar.by_head)},
        weighted=grammar.weighted,
        counts=report.counts,
        derivations=_written(tuple(derivations.counts(length)), "derivations"),
        growth=reported,
        growth_of=reported_of,
        shortest=shape.shortest,
        longest=shape.longest,
        expected_length=proper.expected_length,
        entropy=proper.entropy,
        entropy_of=of,
        ambiguity=report.verdict,
        classes=(*(_classes(FINITE) if reported.kind == "finite" else ()), "context-free"),
        groups=None,
        sentences=tuple(sentences if grammar.useful else [proper.sentence]),
        notes=grammar.notes,
        predictions=tuple(predictions(FINITE)) if reported.kind == "finite" else (),
    )


def means(language: RegularLanguage) -> tuple[float, float]:
    """Returns the mean length, and the entropy in bits, from the mean number of visits to each state."""
    if language.automaton.is_empty:
        return math.inf, math.inf
    automaton = with_weights(language.automaton)
    assert automaton.moves is not None and automaton.stops is not None
    sources, symbols, targets = automaton.edges
    size, moves = len(automaton), automaton.moves[sources, symbols]
    begin = np.arange(size) == automaton.start
    if size <= DENSE:
        step = np.zeros((size, size))
        np.add.at(step, (sources, targets), moves)
        met = np.linalg.solve(np.eye(size) - step.T, begin.astype(float))
    else:
        import scipy.sparse.linalg

        arrivals = scipy.sparse.csc_matrix((moves, (targets, sources)), (size, size))
        met = scipy.sparse.linalg.spsolve(scipy.sparse.eye(size, format="csc") - arrivals, begin.astype(float))
    ways = np.column_stack([automaton.moves, automaton.stops])
    bits = -(ways * np.log2(np.where(ways > 0, ways, 1))).sum(1)
    return float(met @ automaton.moves.sum(1)), float(met @ bits)


def _written(counts: tuple[int, ...], what: str) -> tuple[int, ...]:
    """Returns numbers that can be written down."""
    if max(counts) >= MOST_COUNTED:
        length = next(n for n, count in enumerate(counts) if count >= MOST_COUNTED)
        raise UsageError(
            f"The number of {what} of length {length} has more than {MOST_DIGITS:,} digits, the limit. "
            "Count up to a shorter length with --length."
        )
    return counts


def _classes(classification: Classification) -> tuple[str, ...]:
    classes = [
        (classification.finite, "finite"),
        (classification.r_trivial, "R-trivial"),
        (classification.star_free, "star-free"),
        (classification.pure_group, "group"),
        (classification.solvable and not classification.star_free, "solvable groups only"),
        (classification.solvable is False, "a group that is not solvable"),
        (classification.star_free is None, "star-free: not decided"),
        (classification.solvable is None, "solvable: not decided"),
        (True, "regular"),
    ]
    return tuple(name for holds, name in classes if holds)


def _finiteness(shape: Growth, of: str) -> str:
    if shape.kind != "finite":
        return "The language is infinite."
    if shape.count == 0:
        return "The language is empty."
    return "The language is finite." if shape.count is None else f"The language is finite: {_all(shape, of)}."


def _grown(shape: Growth) -> str:
    if shape.kind == "exponential":
        return f"exponential, like {shape.rate:.6g}^n" if math.isfinite(shape.rate) else "exponential"
    return f"polynomial, like n^{shape.degree}" if shape.kind == "polynomial" else f"finite, {_all(shape)}"


def _all(shape: Growth, of: str = "") -> str:
    return "too many to count" if shape.count is None else f"{_number(shape.count, of)} in all"


def _listed(counts: tuple[int | None, ...]) -> str:
    shown = ["?" if count is None else str(count) if count < 10**9 else f"{Decimal(count):.3e}" for count in counts]
    return f"{', '.join(shown)} (of length 0, 1, ...)"


def _number(count: int, what: str) -> str:
    noun, _, rest = what.partition(" ")
    return " ".join(filter(None, (f"{count:,}", noun if count != 1 else noun.removesuffix("s"), rest)))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
