"""Compares examples from outside, JSON lines of `input` and `target`, with our definition of a task."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from humboldt.errors import UsageError
from humboldt.languages import AbstractTask

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
class Example:
    """An example from outside, with the target of our definition."""

    line: int
    symbols: list[str]
    given: list[str]
    expected: list[str]

    @property
    def agrees(self) -> bool:
        """Whether the target is that of our definition."""
        return self.given == self.expected


@dataclass(frozen=True)
class Report:
    """The disagreements of some examples with our definition."""

    task: str
    version: int | str
    examples: int
    disagreements: tuple[Disagreement, ...]

    @property
    def agrees(self) -> bool:
        """Whether every example has the target of our definition."""
        return not self.disagreements

    def lines(self, show: int = 10) -> Iterator[str]:
        """Yields the report as text: the verdict, remarks, and the first `show` disagreements."""
        if self.agrees:
            yield f"{self.task}: all {self.examples} examples agree with the definition."
            return
        wrong = len(self.disagreements)
        yield f"{self.task}: {wrong} of {self.examples} examples disagree with the definition."
        yield from self.remarks()
        for each in self.disagreements[:show]:
            yield f"line {each.line}: for input {each.input!r} expected {each.expected!r}, found {each.target!r}"
        if wrong > show:
            yield f"... and {wrong - show} more."

    def remarks(self) -> Iterator[str]:
        """Yields sentences about the disagreements."""
        return iter(())

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON. Only the first disagreements are listed; `disagreeing` counts all of them."""
        shown = {**asdict(self), "disagreements": [asdict(each) for each in self.disagreements[:MOST_SHOWN]]}
        return {**shown, "disagreeing": len(self.disagreements), "agrees": self.agrees}


def check_examples(name: str, version: int | str, task: AbstractTask, lines: Iterable[str]) -> Report:
    """Compares examples with the oracle of a task; `name` is its full name, `tracking/a5`."""
    examples = read_examples(name, task, lines)
    return Report(name, version, len(examples), disagreements_of(examples))


def disagreements_of(examples: Iterable[Example]) -> tuple[Disagreement, ...]:
    """Returns the examples whose targets differ, as text."""
    return tuple(
        Disagreement(each.line, " ".join(each.symbols), " ".join(each.given), " ".join(each.expected))
        for each in examples
        if not each.agrees
    )


def read_examples(
    name: str, task: AbstractTask, lines: Iterable[str], hint: Callable[[list[str]], str] = lambda symbols: ""
) -> list[Example]:
    """Reads examples of a task; raises an error that names the line. `hint` returns a remark about unknown symbols.

    Empty lines are skipped; keys other than `input`, `target` and `task` are ignored.
    """
    examples = [_read(name, task, number, line, hint) for number, line in enumerate(lines, 1) if line.strip()]
    if not examples:
        raise UsageError(f"There is no example of {name} to check. {EXPECTED}")
    return examples


def _read(name: str, task: AbstractTask, number: int, line: str, hint: Callable[[list[str]], str]) -> Example:
    def wrong(what: str) -> UsageError:
        return UsageError(f"Line {number}: {what}")

    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:  # ValueError: also for a number of thousands of digits
        raise wrong(f"{line.strip()[:80]!r} is not JSON ({error}). {EXPECTED}") from None
    if not isinstance(record, dict):
        raise wrong(f"{line.strip()[:80]!r} is not a JSON object. {EXPECTED}")
    for key in ("input", "target"):
        if key not in record:
            raise wrong(f"the key {key!r} is missing; there is {', '.join(map(repr, record)) or 'none'}. {EXPECTED}")
        if not isinstance(record[key], str):
            raise wrong(f"the value of {key!r} is {json.dumps(record[key])[:80]}, not a string. {EXPECTED}")
    owner = record.get("task", name)
    if owner not in (name, name.partition("/")[2]):
        raise wrong(f"this is an example of the task {owner!r}, not of {name!r}. Check one task at a time.")
    symbols, given = (record[key].split(" ") if record[key] else [] for key in ("input", "target"))
    shortest = getattr(task, "shortest", 0)
    if len(symbols) < shortest:
        raise wrong(f"the input {record['input']!r} is too short: this task needs at least {shortest} symbols.")
    try:
        task.input_alphabet.encode(symbols)
        return Example(number, symbols, given, task.oracle(symbols))
    except UsageError as error:
        raise wrong(f"{error}{hint(symbols)}") from None
