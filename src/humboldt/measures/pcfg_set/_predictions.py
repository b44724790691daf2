"""Anyone's predictions: a source, a prediction, and a target that is compared with what the source means."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from humboldt import files
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
from humboldt.measures.pcfg_set._accuracy import same

COLUMNS = ("source", "target", "prediction")
NEEDED = ("input", "prediction")  # as `humboldt.files` names them


@dataclass(frozen=True)
class Row:
    """One line of a file of predictions. `source` is in the paper's spelling, whatever the file has.

    - `line`: its number in the file, the header being line 1. `extra`: what further columns hold.
    - `meaning`: what the source means; `target` is what the file says it does.
    """

    line: int
    source: str
    target: str
    prediction: str
    meaning: str
    extra: dict[str, str]


@dataclass(frozen=True)
class Disagreement:
    """A target that is not the meaning of its source."""

    line: int
    source: str
    target: str
    meaning: str

    def __str__(self) -> str:
        return f"Line {self.line}: the target is {self.target!r}, but {self.source!r} means {self.meaning!r}."


@dataclass(frozen=True)
class File:
    """Predictions as they stand in a file: for each item the number of its line and its columns by name.

    `name` is what error messages call it.
    """

    name: str
    records: Sequence[tuple[int, Mapping[str, str]]]

    @classmethod
    def tsv(cls, name: str, lines: Iterable[str]) -> "File":
        """Tab-separated lines, header first, with or without line ends."""
        return cls._of(name, files.table_rows(name, lines, NEEDED))

    @classmethod
    def read(cls, path: Path) -> "File":
        """A file on disk: JSON lines, tab-separated or Parquet, by its ending."""
        return cls._of(path.name, files.read(path, NEEDED))

    @classmethod
    def _of(cls, name: str, rows: Iterable[files.Row]) -> "File":
        return cls(name, [(row.line, {_named(key): value for key, value in row.fields.items()}) for row in rows])


def _named(field: str) -> str:
    return "source" if field == "input" else field


def read_predictions(file: File, language: Language = PCFG_SET) -> list[Row]:
    """The rows of a file, with their sources parsed and interpreted.

    >>> file = File.tsv("mine.tsv", ["source\\ttarget\\tprediction", "swap_first_last A B\\tB A\\tA B"])
    >>> (row,) = read_predictions(file)
    >>> row.source, row.meaning, row.prediction
    ('swap A B', 'B A', 'A B')
    """
    rows: list[Row] = []
    for line, columns in file.records:
        for column in ("source", "prediction"):
            if not isinstance(columns.get(column), str):
                raise UsageError(f"{file.name}, line {line}: there is no {column}. Every item needs one, as text.")
        extra = {column: str(value) for column, value in columns.items() if column not in COLUMNS}
        source = columns["source"]
        try:
            meaning = interpret(source, language)
        except ExpressionError as error:
            raise UsageError(f"{file.name}, line {line}: the source {source!r} is not an expression. {error}") from None
        target = columns.get("target", meaning)
        rows.append(Row(line, to_paper_spelling(source), target, columns["prediction"], meaning, extra))
    if not rows:
        raise UsageError(f"{file.name} has no predictions. {files.FORM} At least one line must follow.")
    return rows


def disagreements(
    rows: Sequence[Row], *, exceptions: bool = False, language: Language = PCFG_SET
) -> list[Disagreement]:
    """The rows whose target is not what their source means.

    With `exceptions` the targets of the overgeneralisation test (Table 6) are known, and no disagreement.
    """
    return [
        Disagreement(row.line, row.source, row.target, row.meaning)
        for row in rows
        if not same(row.target, row.meaning)
        and not (exceptions and row.target in exception_targets(row.source, language=language))
    ]


def replaced_functions(rows: Sequence[Row], twins: Sequence[Row], name: str, twin_name: str) -> list[str]:
    """The function that each twin replaces by its synonym. A twin that is not such a twin is an error."""
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
                f"{twin_name}, line {twin.line}: the source {twin.source!r} must be that of {name}, line {row.line}, "
                f"{row.source!r}, with one function replaced by its synonym ({SYNONYM!r}, '_twin') wherever it occurs."
            )
        functions.append(changed.pop())
    return functions


def check_same_sources(rows: Sequence[Row], twins: Sequence[Row], name: str, twin_name: str) -> None:
    """Refuses two files whose sources differ."""
    check_twin_length(rows, twins, name, twin_name)
    for row, twin in zip(rows, twins, strict=True):
        if row.source != twin.source:
            raise UsageError(
                f"{twin_name}, line {twin.line}: the source is {twin.source!r}, but {name}, line {row.line}, has "
                f"{row.source!r}. Both files must have the same sources in the same order."
            )


def check_twin_length(rows: Sequence[Row], twins: Sequence[Row], name: str, twin_name: str) -> None:
    """Refuses two files of different lengths."""
    if len(rows) != len(twins):
        shorter, longer = sorted([(len(rows), name, rows), (len(twins), twin_name, twins)], key=lambda file: file[0])
        first_without = longer[2][shorter[0]].line
        raise UsageError(
            f"{name} has {len(rows)} predictions and {twin_name} has {len(twins)}. Line {first_without} of {longer[1]} "
            "is the first without a partner. Both files must have the same items in the same order."
        )
