"""Rows of files of predictions: a source, a prediction, and possibly a target, which must be the meaning of the
source."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import (
    PCFG_SET,
    SYNONYM,
    ExpressionError,
    Language,
    exception_targets,
    interpret,
    to_paper_spelling,
)
from humboldt.measures.pcfg_set import same
from humboldt.storage import files


@dataclass(frozen=True)
class Row:
    """One line of a file of predictions. `source` is in the paper's spelling.

    - `place`, `line`: its place for messages, and its number. `extra`: the values of further columns.
    - `meaning`: the meaning of the source; `target`: its meaning according to the file.
    """

    place: str
    line: int
    source: str
    target: str
    prediction: str
    meaning: str
    extra: Mapping[str, str]


def read_rows(name: str, rows: Iterable[files.Row], language: Language = PCFG_SET) -> list[Row]:
    """Returns the rows of a file, with their sources parsed and interpreted."""
    result: list[Row] = []
    for place, line, columns in rows:
        for column, title in (("input", "source"), ("prediction", "prediction")):
            if not isinstance(columns.get(column), str):
                raise UsageError(f"{place}: there is no {title}. Every item needs one, as text.")
        extra = {key: str(value) for key, value in columns.items() if key not in ("input", "target", "prediction")}
        source = columns["input"]
        try:
            meaning = interpret(source, language)
        except ExpressionError as error:
            raise UsageError(f"{place}: the source {source!r} is not an expression. {error}") from None
        target = columns.get("target", meaning)
        result.append(Row(place, line, to_paper_spelling(source), target, columns["prediction"], meaning, extra))
    if not result:
        raise UsageError(f"{name} has no predictions. {files.FORM} At least one line must follow.")
    return result


def disagreements(
    rows: Sequence[Row], *, exceptions: bool = False, language: Language = PCFG_SET
) -> list[dict[str, Any]]:
    """Returns the rows whose target is not the meaning of their source.

    With `exceptions`, targets of the overgeneralisation test (Table 6) do not count as disagreements.
    """
    return [
        {"line": row.line, "source": row.source, "target": row.target, "meaning": row.meaning}
        for row in rows
        if not same(row.target, row.meaning)
        and not (exceptions and row.target in exception_targets(row.source, language=language))
    ]


def replaced_functions(rows: Sequence[Row], twins: Sequence[Row], name: str, twin_name: str) -> list[str]:
    """Returns the function that each twin replaces by its synonym; raises a usage error for any other difference."""
    check_twin_length(rows, twins, name, twin_name)
    functions = []
    for row, twin in zip(rows, twins, strict=True):
        tokens, twin_tokens = row.source.split(" "), twin.source.split(" ")
        changed = {
            token for token, new in zip(tokens, twin_tokens, strict=False) if new != token and new == token + SYNONYM
        }
        expected = [token + SYNONYM if token in changed else token for token in tokens]
        if len(changed) != 1 or twin_tokens != expected:
            raise UsageError(
                f"{twin.place}: the source {twin.source!r} must be that of {row.place}, "
                f"{row.source!r}, with one function replaced by its synonym ({SYNONYM!r}, '_twin') wherever it occurs."
            )
        functions.append(changed.pop())
    return functions


def check_same_sources(rows: Sequence[Row], twins: Sequence[Row], name: str, twin_name: str) -> None:
    """Raises a usage error if the sources of two files differ."""
    check_twin_length(rows, twins, name, twin_name)
    for row, twin in zip(rows, twins, strict=True):
        if row.source != twin.source:
            raise UsageError(
                f"{twin.place}: the source is {twin.source!r}, but {row.place}, has "
                f"{row.source!r}. Both files must have the same sources in the same order."
            )


def check_twin_length(rows: Sequence[Row], twins: Sequence[Row], name: str, twin_name: str) -> None:
    """Raises a usage error if two files have different numbers of rows."""
    if len(rows) != len(twins):
        shorter, longer = sorted([(len(rows), name, rows), (len(twins), twin_name, twins)], key=lambda file: file[0])
        first_without = longer[2][shorter[0]].line
        raise UsageError(
            f"{name} has {len(rows)} predictions and {twin_name} has {len(twins)}. Line {first_without} of {longer[1]} "
            "is the first without a partner. Both files must have the same items in the same order."
        )
