"""Reads files of predictions as test items and a predictor. A file may have any expressions, also those of other
corpora."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humboldt.core.identity import Evaluation
from humboldt.errors import OtherStrings, UsageError, unknown_name
from humboldt.languages import Batch
from humboldt.languages.pcfg_set import (
    Examples,
    Overgeneralisation,
    Splits,
    Substitutivity,
    exception_places,
    exception_targets,
    localism_splits,
    num_functions,
)
from humboldt.measures.pcfg_set import held_out_pairs_of, longest_intermediate
from humboldt.storage import files
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Resolved
from humboldt.suites.files import FileRequest, OutsideInput, RecordedOutputs, shortened, trained_elsewhere
from humboldt.suites.pcfg_set.problem import Expressions, Vocabulary
from humboldt.suites.pcfg_set.protocol import PRINTED_RATE, TASKS
from humboldt.suites.pcfg_set.rows import Row, check_same_sources, disagreements, read_rows, replaced_functions

SUBSTITUTIVITY = "substitutivity"  # a test of its own for files: it does not matter how a model was trained
EVALUATIONS = {  # of every test
    "task_accuracy": "accuracy",
    "systematicity": "accuracy",
    "productivity": "accuracy",
    SUBSTITUTIVITY: SUBSTITUTIVITY,
    "overgeneralisation": "overgeneralisation",
    "localism": "localism",
}
NEED_TWIN = {
    SUBSTITUTIVITY: "the outputs for the same items with synonyms",
    "localism": "the final outputs of the unrolled evaluation of the same items",
}
MOST_DISAGREEMENTS = 100  # that are listed; all are counted
FEWEST_FUNCTIONS = 9  # of an item of the productivity test
NOTHING = Examples((), ())


class FileExpressions(Expressions):
    """The expressions of a file as a problem without training. Its vocabulary has all symbols of the file, so that no
    output is changed."""

    def __init__(self, resolved: Resolved, splits: Any, rows: Sequence[Row], longest_output: int) -> None:
        symbols = dict.fromkeys(symbol for row in rows for symbol in row.source.split())
        letters = dict.fromkeys(symbol for row in rows for symbol in row.prediction.split())
        self.task, self.splits = resolved.task, splits
        self.protocol = dataclasses.replace(resolved.protocol, longest_output=longest_output)
        self.vocabulary = Vocabulary(tuple(symbols), tuple(letters), ends_sources=False)
        self.symbols, self.num_symbols = self.vocabulary.symbols, len(symbols)
        self.input_size, self.output_size = self.vocabulary.input_size, self.vocabulary.output_size
        self.start, self.end = self.vocabulary.start, self.vocabulary.end

    def batch(self, step: int) -> Batch:
        raise UsageError("A file of predictions has nothing to train on.")


class RecordedExpressions(RecordedOutputs):
    """One member with the answers of a file.

    - `unrolled`: for each source, the output of its unrolled evaluation and the length of the longest string that was
      fed back (localism).
    - `epochs`: the same model at earlier points of training, by epoch (overgeneralisation).
    """

    unrolled: Mapping[str, tuple[str, int]]
    epochs: "Mapping[int, RecordedExpressions]"

    def __init__(
        self,
        problem: FileExpressions,
        answers: Mapping[str, str],
        *,
        name: str,
        unrolled: Mapping[str, tuple[str, int]] | None = None,
        epochs: "Mapping[int, RecordedExpressions] | None" = None,
    ) -> None:
        super().__init__(problem, problem.vocabulary.letters, [answers], name=name)
        self.unrolled, self.epochs = unrolled or {}, epochs or {}

    def take(self, members: Sequence[int]) -> "RecordedExpressions":
        assert list(members) == [0], "a file has one member"
        return self

    def unrolled_output(self, source: str) -> tuple[str, int]:
        """Returns the output of the unrolled evaluation of a source, and the length of the longest string fed back."""
        if source not in self.unrolled:
            raise OtherStrings(
                f"{self.name} has no prediction for the test string {shortened(source)}. Give all of them."
            )
        return self.unrolled[source]


def file_input(suite: AbstractSuite, request: FileRequest) -> OutsideInput:
    """Reads a file into its items and a model with its answers.

    With `for_table` the file must have exactly the items of the corpus.
    """
    request.check_no_split(suite)
    test = SUBSTITUTIVITY if request.task in TASKS and request.task.startswith(SUBSTITUTIVITY) else request.task
    if test not in EVALUATIONS:
        raise unknown_name("test of pcfg_set", test, EVALUATIONS)
    _check_twin(test, request.twin)
    resolved, evaluation = _trained_elsewhere(suite, test, request)
    path, twin = request.only(), request.twin
    found = _File(path.name, "" if twin is None else twin.name, _read(path), [] if twin is None else _read(twin))
    items = ITEMS[test](found)
    splits, rows = items.splits, [*found.rows, *found.twins]
    longest = 1 + max(len(row.prediction.split()) for row in rows)
    if request.for_table:
        splits = _splits_of(resolved, test)
        items.check_same_as(splits, request.task)
        longest = resolved.protocol.longest_output
    problem = FileExpressions(resolved, splits, rows, longest)
    wrong = disagreements(rows, exceptions=test == "overgeneralisation")
    return OutsideInput(
        resolved=resolved,
        evaluations=(evaluation,),
        problem=problem,
        predictor=items.predictor(problem, found.name if twin is None else f"{found.name} and {found.twin_name}"),
        members=(suite.outside_member(request.seed),),
        details={
            **items.details,
            "num_disagreements": len(wrong),
            "disagreements": wrong[:MOST_DISAGREEMENTS],
        },
    )


def _read(path: Path) -> list[Row]:
    return read_rows(path.name, files.read(path, ("input", "prediction")))


def _check_twin(test: str, twin: Path | None) -> None:
    if test in NEED_TWIN and twin is None:
        raise UsageError(
            f"The test {test!r} compares two outputs for each item. Give the twin file: {NEED_TWIN[test]}."
        )
    if twin is not None and test not in NEED_TWIN:
        raise UsageError(f"The test {test!r} has no twin file; only {' and '.join(NEED_TWIN)} do. Leave it out.")


def _trained_elsewhere(suite: AbstractSuite, test: str, request: FileRequest) -> tuple[Resolved, Evaluation]:
    task, changes = request.task, dict(request.settings)
    if task == SUBSTITUTIVITY:
        ways = [name for name in TASKS if name.startswith(SUBSTITUTIVITY)]
        if request.for_table:
            raise UsageError(f"{task} has a table for each of {' and '.join(ways)}. Name the one of your model.")
        task = ways[0]
    if not request.for_table:
        if changes:
            raise UsageError(
                f"--set {next(iter(changes))}: predictions for pcfg_set are compared with what their sources mean, for "
                "every corpus. Leave --set out."
            )
        changes = {"rates": (PRINTED_RATE,)} if test == "overgeneralisation" else {}
    resolved, evaluations = trained_elsewhere(suite, task, request.name, request.preset, changes)
    (evaluation,) = (one for one in evaluations if one.name == EVALUATIONS[test])
    return resolved, evaluation


def _splits_of(resolved: Resolved, test: str) -> Any:
    seed = resolved.protocol.data_seed
    return localism_splits(resolved.task.corpus(seed)) if test == "localism" else resolved.task.splits(seed)


@dataclass(frozen=True)
class _File:
    """A file of predictions, and its twin if it has one."""

    name: str
    twin_name: str
    rows: Sequence[Row]
    twins: Sequence[Row]


@dataclass(frozen=True)
class _Items:
    """The items of a file as splits without training items, and the rows that have the outputs for them.

    - `unrolled`, `epochs`: as `RecordedExpressions` has them, with rows in place of models.
    - `details`: contents of the file beside outputs.
    """

    splits: Any
    rows: Sequence[Row]
    unrolled: Mapping[str, tuple[str, int]] = dataclasses.field(default_factory=dict)
    epochs: Mapping[int, Sequence[Row]] = dataclasses.field(default_factory=dict)
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def predictor(self, problem: FileExpressions, name: str) -> RecordedExpressions:
        """Returns the model of the file."""
        epochs = {
            number: RecordedExpressions(problem, _answers(rows), name=f"{name}, epoch {number}")
            for number, rows in self.epochs.items()
        }
        return RecordedExpressions(problem, _answers(self.rows), name=name, unrolled=self.unrolled, epochs=epochs)

    def check_same_as(self, splits: Any, task: str) -> None:
        """Raises a usage error for items that the corpus does not test. Missing items are an error in scoring."""
        known = {*splits.test.sources, *(splits.synonyms.sources if isinstance(splits, Substitutivity) else ())}
        for row in self.rows:
            if row.source not in known:
                raise UsageError(
                    f"{row.place}: {shortened(row.source)} is not a test item of {task} with these settings, and a "
                    "table has test items only. Choose the corpus with --preset and --set, or leave --out out."
                )


def _answers(rows: Sequence[Row]) -> dict[str, str]:
    first: dict[str, Row] = {}
    for row in rows:
        known = first.setdefault(row.source, row)
        if known.prediction != row.prediction:
            raise UsageError(
                f"{row.place}: the input {shortened(row.source)} has another prediction in {known.place}. Give one."
            )
    return {source: row.prediction for source, row in first.items()}


def _examples(rows: Sequence[Row]) -> Examples:
    return Examples(tuple(row.source for row in rows), tuple(row.meaning for row in rows))


def _accuracy(file: _File) -> _Items:
    return _Items(Splits(NOTHING, NOTHING, _examples(file.rows)), file.rows)


def _systematicity(file: _File) -> _Items:
    for row, pairs in zip(file.rows, held_out_pairs_of([row.source for row in file.rows]), strict=True):
        if not pairs:
            raise UsageError(
                f"{row.place}: {row.source!r} has no held-out pair of functions. Every item of the systematicity test "
                "has one. Score other items as task_accuracy."
            )
    return _accuracy(file)


def _productivity(file: _File) -> _Items:
    for row in file.rows:
        count = num_functions(row.source)
        if count < FEWEST_FUNCTIONS:
            raise UsageError(
                f"{row.place}: {row.source!r} has {count} functions. Items of the productivity test have nine or more. "
                "Score others as task_accuracy."
            )
    return _accuracy(file)


def _substitutivity(file: _File) -> _Items:
    functions = tuple(replaced_functions(file.rows, file.twins, file.name, file.twin_name))
    splits = Substitutivity(NOTHING, NOTHING, _examples(file.rows), _examples(file.twins), functions)
    return _Items(splits, [*file.rows, *file.twins])


def _localism(file: _File) -> _Items:
    check_same_sources(file.rows, file.twins, file.name, file.twin_name)
    composed = [(row, twin) for row, twin in zip(file.rows, file.twins, strict=True) if num_functions(row.source) > 1]
    if not composed:
        raise UsageError(
            f"{file.name} has no item with two functions or more, so there is nothing that could be unrolled."
        )
    column = "longest_intermediate"
    unrolled: dict[str, tuple[str, int]] = {}
    final = _answers([twin for _, twin in composed])
    for row, twin in composed:
        text = twin.extra.get(column)
        if text is not None and not text.isdecimal():
            raise UsageError(f"{twin.place}: {column} is {text!r}, not a whole number of symbols.")
        unrolled[row.source] = final[row.source], longest_intermediate(row.source) if text is None else int(text)
    rows = [row for row, _ in composed]
    is_given = column in composed[0][1].extra
    details = {
        "intermediate_strings_from": "the model's outputs" if is_given else "the right outputs",
        "single_functions_left_out": len(file.rows) - len(rows),
    }
    return _Items(Splits(NOTHING, NOTHING, _examples(rows)), rows, unrolled=unrolled, details=details)


def _overgeneralisation(file: _File) -> _Items:
    epochs: dict[int, list[Row]] = {}
    for row in file.rows:
        text = row.extra.get("epoch", "1")
        if not text.isdecimal():
            raise UsageError(f"{row.place}: the epoch is {text!r}, not a whole number.")
        epochs.setdefault(int(text), []).append(row)
    first, *later = sorted(epochs)
    items, targets = epochs[first], []
    for row in items:
        possible = exception_targets(row.source)
        if not possible:
            raise UsageError(
                f"{row.place}: {row.source!r} has none of the pairs with an exceptional meaning (Table 6), so it "
                "cannot be overgeneralised. Leave it out."
            )
        target = row.target if row.target in possible else possible[0]
        if target == row.meaning:
            raise UsageError(
                f"{row.place}: {row.source!r} means {target!r} by the rules and as an exception, so an output could "
                "not tell the two apart. Leave it out."
            )
        targets.append(target)
    for number in later:
        check_same_sources(items, epochs[number], f"{file.name}, epoch {first}", f"{file.name}, epoch {number}")
    splits = Overgeneralisation(
        train=NOTHING,
        validation=NOTHING,
        test=Examples(tuple(row.source for row in items), tuple(targets)),
        original_targets=tuple(row.meaning for row in items),
        pairs=tuple(exception_places(row.source)[0][1] for row in items),
        primitive=tuple(num_functions(row.source) == 2 for row in items),
        rate=PRINTED_RATE,
    )
    known = {number: epochs[number] for number in sorted(epochs)} if later else {}
    return _Items(splits, epochs[max(epochs)], epochs=known)


ITEMS: dict[str, Callable[[_File], _Items]] = {
    "task_accuracy": _accuracy,
    "systematicity": _systematicity,
    "productivity": _productivity,
    SUBSTITUTIVITY: _substitutivity,
    "overgeneralisation": _overgeneralisation,
    "localism": _localism,
}
