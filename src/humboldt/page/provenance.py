"""Provenance of the numbers of a page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from humboldt.core.identity import canonical
from humboldt.core.results import Result
from humboldt.page import commands
from humboldt.page.spreads import spread_lines
from humboldt.report.words import duration
from humboldt.suites import catalogue
from humboldt.suites.base import AbstractSuite
from humboldt.suites.cells import Cell
from humboldt.suites.departures import departures, sentence
from humboldt.suites.reading import parts_of

MOST_LISTED = 12  # different values in a line


def provenance_of(suite: AbstractSuite, cell: Cell, folder: str) -> dict[str, Any]:
    """Returns the provenance of a cell: command, settings, members, versions, statistics."""
    command = commands.of_cell(suite, cell, folder)
    results = cell.results
    states = Counter(result.state.value for result in results)
    scores = cell.scores[0]
    versions = {**scores.training.versions, "measure": scores.evaluation.version}
    environments = [result.environment for result in results]
    lines: list[tuple[str, str]] = [
        ("Setting", str(cell.heading)),
        ("Not the paper's", _departures(suite, cell) or "nothing: all settings are the paper's"),
        ("Members", ", ".join(f"{count} {state}" for state, count in sorted(states.items()))),
        *((key.replace("_", " "), text) for key, text in _member_values(results)),
        ("Network", f"{catalogue.contender(suite, cell.model).model}, engine {scores.training.engine}"),
        ("Versions", ", ".join(f"{key} {value}" for key, value in sorted(versions.items()))),
        ("Software", _distinct(_software(environment) for environment in environments)),
        ("Device", _distinct(environment.get("device", "not known") for environment in environments)),
        ("Wall time", f"{duration(sum(result.seconds for result in results))}, the shares of all members together"),
        ("Trainings", _distinct(scores.training.key for scores in cell.scores)),
    ]
    return {
        "title": f"{cell.suite} · {cell.task} · {catalogue.contender(suite, cell.model).title}",
        "command": command.text,
        "exact": command.is_exact,
        "lines": lines,
        "spreads": [spread_lines(values) for values in suite.presentation.measured(cell)],
    }


def _departures(suite: AbstractSuite, cell: Cell) -> str:
    text = sentence(departures(suite, parts_of([cell])))
    return text.removeprefix("Not the paper's setting: ")


def _member_values(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    keys = dict.fromkeys(key for result in results for key in result.member)
    for key in keys:
        members = [result.member[key] for result in results if key in result.member]
        values = sorted({str(value) if type(value) is int else canonical(value) for value in members})  # the same
        numbers = [int(value) for value in values if value.lstrip("-").isdigit()]
        if len(numbers) == len(values) > 2 and sorted(numbers) == list(range(min(numbers), max(numbers) + 1)):
            yield key, f"{min(numbers)} to {max(numbers)}"
        else:
            shown = [value.strip('"') or "–" for value in values[:MOST_LISTED]]
            more = f" and {len(values) - MOST_LISTED} more" if len(values) > MOST_LISTED else ""
            yield key, ", ".join(shown) + more


def _software(environment: Mapping[str, str]) -> str:
    shown = {key: value for key, value in environment.items() if key not in ("device", "devices")}
    return ", ".join(f"{key} {value}" for key, value in sorted(shown.items())) or "not known"


def _distinct(texts: Any) -> str:
    values = list(dict.fromkeys(texts))
    more = f"; and {len(values) - MOST_LISTED} more" if len(values) > MOST_LISTED else ""
    return "; ".join(values[:MOST_LISTED]) + more
