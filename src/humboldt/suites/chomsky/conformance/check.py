"""The conformance kit: compares another implementation's examples with our definition and explains differences."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from humboldt import settings
from humboldt.languages import tasks
from humboldt.languages.chomsky.base import AbstractTransduction
from humboldt.suites import conformance
from humboldt.suites.chomsky.conformance.forms import ABSENT, FORMS, SPELLINGS
from humboldt.suites.chomsky.conformance.readings import READINGS, Symbols
from humboldt.suites.conformance import Example

PREFIX = "chomsky/"


@dataclass(frozen=True)
class Explanation:
    """An alternative definition, with the numbers of disagreements and of all examples whose targets it reproduces."""

    says: str
    disagreements: int
    examples: int


@dataclass(frozen=True)
class Report(conformance.Report):
    """The result of `check_file`. `explanations` are sorted, best first."""

    chance: float  # mean probability that a guessed target is correct
    explanations: tuple[Explanation, ...]

    @property
    def diagnoses(self) -> tuple[Explanation, ...]:
        """The explanations of every example. If there are none: those of most disagreements that also explain more of
        all examples than guessing does, since swapping two labels explains every disagreement."""
        whole = tuple(each for each in self.explanations if each.examples == self.examples)
        return whole or tuple(
            each
            for each in self.explanations
            if 2 * each.disagreements > len(self.disagreements) and each.examples > self.by_chance
        )

    @property
    def by_chance(self) -> float:
        """Upper limit on the number of examples that guessing gets right: the mean plus two standard deviations."""
        expected = self.chance * self.examples
        return expected + 2 * (expected * (1 - self.chance)) ** 0.5

    def remarks(self) -> Iterator[str]:
        """Yields likely explanations of the disagreements."""
        for explanation in self.diagnoses:
            opening = "Looks as if" if explanation.examples == self.examples else "Perhaps"
            yield (
                f"{opening} {explanation.says}: this gives {explanation.disagreements} of these "
                f"{len(self.disagreements)} targets, and {explanation.examples} of all {self.examples}."
            )
        if not self.diagnoses:
            yield "No alternative definition that we know gives most of these targets."

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON, with the diagnoses."""
        return {**super().to_dict(), "diagnoses": [asdict(each) for each in self.diagnoses]}


def check_file(task_name: str, lines: Iterable[str], options: Mapping[str, Any] | None = None) -> Report:
    """Compares examples from outside, JSON lines of `input` and `target`, with our definition of a task.

    **Arguments:**

    - `task_name`: as registered, `"chomsky/odds_first"`, or without the suite's name.
    - `lines`: the lines of the file. Empty lines are skipped; keys other than `input`, `target` and `task` are ignored.
    - `options`: changed settings of the task.

    >>> print(check_file("reverse_string", ['{"input": "a b", "target": "a b"}']))
    chomsky/reverse_string: 1 of 1 examples disagree with the definition.
    Looks as if the string is copied, not reversed: this gives 1 of these 1 targets, and 1 of all 1.
    line 1: for input 'a b' expected 'b a', found 'a b'
    """
    name = PREFIX + task_name.removeprefix(PREFIX)
    entry = tasks.entry(name)
    settings.check_known(options or (), [entry.value])
    task = settings.changed(entry.value(), options) if options else entry.value()
    assert isinstance(task, AbstractTransduction)
    examples = conformance.read_examples(name, task, lines, lambda symbols: _hint(name, task, symbols))
    chance = sum(task.chance ** len(each.expected) for each in examples) / len(examples)
    disagreements = conformance.disagreements_of(examples)
    return Report(name, entry.version, len(examples), disagreements, chance, tuple(_explain(name, examples)))


def _hint(name: str, task: AbstractTransduction, symbols: Symbols) -> str:
    """Returns a remark on the meaning of an unknown symbol, or on its absence from the task; empty if there is none."""
    ours = task.input_alphabet.symbols
    absent = ABSENT.get(name.removeprefix(PREFIX), {})
    for symbol in symbols:
        if symbol in absent:
            return f" {absent[symbol]}"
        meant = [known for known in ours if symbol not in ours and symbol in SPELLINGS.get(known, ())]
        if meant:
            return f" {symbol!r} may be what we write {' or '.join(map(repr, meant))}."
    return ""


def _explain(name: str, examples: list[Example]) -> list[Explanation]:
    """Finds the alternatives that give some of the disagreeing targets: readings and forms, alone and together.

    A reading combined with a form is included only if it explains more than any single alternative.
    """
    if all(each.agrees for each in examples):
        return []
    short = name.removeprefix(PREFIX)
    meanings = {"": [each.expected for each in examples]}
    meanings |= {
        reading.says: [reading.target(each.symbols) for each in examples] for reading in READINGS.get(short, ())
    }
    spellings = {"": [each.given for each in examples]}
    spellings |= {
        form.says: [form.undo(each.given, each.symbols) for each in examples] for form in FORMS.get(short, ())
    }
    alone, together = [], []
    for reading, meant in meanings.items():
        seen = set()
        for form, written in spellings.items():
            fits = tuple(target == expected for target, expected in zip(written, meant, strict=True))
            wrong = sum(fit and not each.agrees for fit, each in zip(fits, examples, strict=True))
            # A form that changes nothing, or no more than a simpler one before it, is not informative.
            if wrong and fits not in seen:
                explanation = Explanation(", and ".join(filter(None, (reading, form))), wrong, sum(fits))
                (together if reading and form else alone).append(explanation)
            seen.add(fits)
    best = min(map(_key, alone), default=(0, 0))
    return sorted([*alone, *(each for each in together if _key(each) < best)], key=_key)


def _key(explanation: Explanation) -> tuple[int, int]:
    """Returns the sort key: better explanations first."""
    return -explanation.examples, -explanation.disagreements
