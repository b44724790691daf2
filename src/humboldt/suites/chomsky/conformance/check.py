"""The conformance kit: compares another implementation's examples with our definition and explains differences."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.languages.chomsky.base import AbstractTransduction
from humboldt.suites.chomsky.conformance.forms import ABSENT, FORMS, SPELLINGS
from humboldt.suites.chomsky.conformance.readings import READINGS, Symbols

PREFIX = "chomsky/"
MOST_SHOWN = 100  # disagreements in JSON
EXPECTED = 'Every line is a JSON object like {"input": "a b", "target": "b a"}, with single spaces between symbols.'


@dataclass(frozen=True)
class Disagreement:
    """One example whose target differs from that of our definition."""

    line: int
    input: str
    target: str
    expected: str


@dataclass(frozen=True)
class Explanation:
    """An alternative definition, with the numbers of disagreements and of all examples whose targets it reproduces."""

    says: str
    disagreements: int
    examples: int


@dataclass(frozen=True)
class Report:
    """The result of `check_file`. `explanations` are sorted, best first."""

    task: str
    version: int | str
    examples: int
    chance: float  # mean probability that a guessed target is correct
    disagreements: tuple[Disagreement, ...]
    explanations: tuple[Explanation, ...]

    @property
    def agrees(self) -> bool:
        """Whether every example has the target of our definition."""
        return not self.disagreements

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

    def lines(self, show: int = 10) -> Iterator[str]:
        """Yields the report as text: the verdict, likely explanations, and the first `show` disagreements."""
        if self.agrees:
            yield f"{self.task}: all {self.examples} examples agree with the definition."
            return
        wrong = len(self.disagreements)
        yield f"{self.task}: {wrong} of {self.examples} examples disagree with the definition."
        for explanation in self.diagnoses:
            opening = "Looks as if" if explanation.examples == self.examples else "Perhaps"
            yield (
                f"{opening} {explanation.says}: this gives {explanation.disagreements} of these {wrong} targets, "
                f"and {explanation.examples} of all {self.examples}."
            )
        if not self.diagnoses:
            yield "No alternative definition that we know gives most of these targets."
        for each in self.disagreements[:show]:
            yield f"line {each.line}: for input {each.input!r} expected {each.expected!r}, found {each.target!r}"
        if wrong > show:
            yield f"... and {wrong - show} more."

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON. Only the first disagreements are listed; `disagreeing` counts all of them."""
        shown = {**asdict(self), "disagreements": [asdict(each) for each in self.disagreements[:MOST_SHOWN]]}
        counts = {"disagreeing": len(self.disagreements), "agrees": self.agrees}
        return {**shown, **counts, "diagnoses": [asdict(each) for each in self.diagnoses]}


@dataclass(frozen=True)
class _Example:
    line: int
    symbols: Symbols
    given: Symbols
    expected: Symbols

    @property
    def agrees(self) -> bool:
        return self.given == self.expected


def check_file(task_name: str, lines: Iterable[str]) -> Report:
    """Compares examples from outside, JSON lines of `input` and `target`, with our definition of a task.

    **Arguments:**

    - `task_name`: as registered, `"chomsky/odds_first"`, or without the suite's name.
    - `lines`: the lines of the file. Empty lines are skipped; keys other than `input`, `target` and `task` are ignored.

    >>> print(check_file("reverse_string", ['{"input": "a b", "target": "a b"}']))
    chomsky/reverse_string: 1 of 1 examples disagree with the definition.
    Looks as if the string is copied, not reversed: this gives 1 of these 1 targets, and 1 of all 1.
    line 1: for input 'a b' expected 'b a', found 'a b'
    """
    name = PREFIX + task_name.removeprefix(PREFIX)
    entry = tasks.entry(name)
    task = entry.value()
    assert isinstance(task, AbstractTransduction)
    examples = [_read(name, task, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not examples:
        raise UsageError(f"There is no example of {name} to check. {EXPECTED}")
    disagreements = tuple(
        Disagreement(each.line, " ".join(each.symbols), " ".join(each.given), " ".join(each.expected))
        for each in examples
        if not each.agrees
    )
    chance = sum(task.chance ** len(each.expected) for each in examples) / len(examples)
    return Report(name, entry.version, len(examples), chance, disagreements, tuple(_explain(name, examples)))


def _read(name: str, task: AbstractTransduction, number: int, line: str) -> _Example:
    """Returns the example on a line; raises an error that names the line."""

    def wrong(what: str) -> UsageError:
        return UsageError(f"Line {number}: {what}")

    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise wrong(f"{line.strip()[:80]!r} is not JSON ({error.msg}). {EXPECTED}") from None
    except RecursionError:
        raise wrong(f"{line.strip()[:80]!r} is not JSON that can be read (too many brackets). {EXPECTED}") from None
    if not isinstance(record, dict):
        raise wrong(f"{line.strip()[:80]!r} is not a JSON object. {EXPECTED}")
    for key in ("input", "target"):
        if key not in record:
            raise wrong(f"the key {key!r} is missing; there is {', '.join(map(repr, record)) or 'none'}. {EXPECTED}")
        if not isinstance(record[key], str):
            raise wrong(f"the value of {key!r} is {json.dumps(record[key])[:80]}, not a string. {EXPECTED}")
    owner = record.get("task", name)
    if owner not in (name, name.removeprefix(PREFIX)):
        raise wrong(f"this is an example of the task {owner!r}, not of {name!r}. Check one task at a time.")
    symbols, given = (record[key].split(" ") if record[key] else [] for key in ("input", "target"))
    if len(symbols) < task.shortest:
        raise wrong(f"the input {record['input']!r} is too short: this task needs at least {task.shortest} symbols.")
    try:
        task.input_alphabet.encode(symbols)
        return _Example(number, symbols, given, task.oracle(symbols))
    except UsageError as error:
        raise wrong(f"{error}{_hint(name, task, symbols)}") from None


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


def _explain(name: str, examples: list[_Example]) -> list[Explanation]:
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
