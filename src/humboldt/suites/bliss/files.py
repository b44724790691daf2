"""Reads next-symbol distributions from a file: for each test string, one for each of its steps."""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.core.stepping import Stepper
from humboldt.errors import UsageError
from humboldt.measures.bliss import check_distributions
from humboldt.storage import files
from humboldt.suites.base import AbstractSuite
from humboldt.suites.bliss.problem import NextSymbol
from humboldt.suites.files import FileRequest, OutsideInput, trained_elsewhere
from humboldt.training.abilities import ReadsSymbols
from humboldt.training.base import AbstractPredictor

ROWS = 16_384  # that are read at once
SAME = 1e-6  # how far apart two distributions after the same prefix may be


class RecordedStepper:
    """A stepper that returns the distributions of a file. Prefixes are nodes of a tree, so that memory grows only with
    the file."""

    def __init__(self, vocabulary: int) -> None:
        self._children: dict[tuple[int, int], int] = {}
        self._distributions = np.zeros((1024, vocabulary))

    def add(self, ids: np.ndarray, distributions: np.ndarray) -> int | None:
        """Adds one string. Returns the first step at which an earlier string with the same prefix has another
        distribution."""
        node = -1
        for step, symbol in enumerate(ids.tolist()):
            known = self._children.get((node, symbol))
            if known is None:
                known = self._children[node, symbol] = len(self._children)
                if known == len(self._distributions):
                    self._distributions = np.concatenate([self._distributions, np.zeros_like(self._distributions)])
                self._distributions[known] = distributions[step]
            elif np.abs(self._distributions[known] - distributions[step]).max() > SAME:
                return step
            node = known
        return None

    def init(self, count: int) -> np.ndarray:
        """Returns the state before the first symbol of each row."""
        return np.full(count, -1)

    def step(self, state: np.ndarray, symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Reads one symbol in each row; returns the new state and the distributions of the next symbol."""
        pairs = zip(state.tolist(), symbols.tolist(), strict=True)
        state = np.array([self._children[pair] for pair in pairs], int)
        return state, self._distributions[state]

    def take(self, state: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Returns the state of some rows."""
        return state[rows]


@dataclass(frozen=True)
class RecordedDistributions(AbstractPredictor, ReadsSymbols):
    """One member with the answers of a file: those to the first `strings` test strings."""

    recorded: RecordedStepper
    strings: int
    num_members: int = 1

    def take(self, members: Sequence[int]) -> "RecordedDistributions":
        assert list(members) == [0], "a file has one member"
        return self

    def stepper(self, member: int, *, longest: int, most_memory: int) -> tuple[Stepper, int]:
        del member, longest, most_memory
        return self.recorded, ROWS


def file_input(suite: AbstractSuite, request: FileRequest) -> OutsideInput:
    """Reads a file of distributions for the first test strings, in their order."""
    request.check_no_twin(suite)
    request.check_no_split(suite)
    path, task = request.only(), request.task
    resolved, evaluations = trained_elsewhere(suite, task, request.name, request.preset, request.settings)
    problem = NextSymbol(resolved.task, resolved.protocol, f"bliss/{task}")
    language, alphabet = problem.language, problem.language.input_alphabet
    test_set = language.test_set(after=problem.corpus, count=problem.sizes.test)
    recorded, count, last = RecordedStepper(len(alphabet)), 0, ""
    for row, string in itertools.zip_longest(files.read(path, ("input", "prediction")), iter(test_set)):
        if row is None:
            break
        if string is None:
            raise UsageError(f"{row.place}: all {count:,} test strings are there already. Remove the extra lines.")
        source, target = language.pair(string)
        if row.fields["input"] != source:
            raise UsageError(
                f"{row.place}: the input is {str(row.fields['input'])[:80]!r}, but test string {count + 1:,} is "
                f"{source[:80]!r}. Give the first test strings, each once, in the order in which `humboldt data bliss "
                f"{task} --split test --set factors=...` writes them."
            )
        if row.fields.get("target", target) != target:
            raise UsageError(f"{row.place}: the target is not {target[:80]!r}, which belongs to this input.")
        symbols = source.split()
        distributions = _distributions(row, len(symbols), len(alphabet), symbols)
        conflict = recorded.add(alphabet.encode(symbols), distributions)
        if conflict is not None:
            raise UsageError(
                f"{row.place}: after {' '.join(symbols[: conflict + 1])[-80:]!r} an earlier line has another "
                "distribution. A next-symbol model knows the symbols so far, and nothing else."
            )
        count, last = count + 1, string
    if not count:
        raise UsageError(f"{path.name} has no predictions. Give those of the first test strings, at least of one.")
    return OutsideInput(
        resolved=resolved,
        evaluations=tuple(evaluations),
        problem=problem,
        predictor=RecordedDistributions(recorded, count),
        members=(suite.outside_member(request.seed),),
        details={
            "strings": count,
            "of": problem.sizes.test,
            "covers_all": count == problem.sizes.test,
            "largest_n": language.size(last),
        },
        has_table=False,  # a table has measures of other strings, too
    )


def _distributions(row: files.Row, steps: int, vocabulary: int, symbols: list[str]) -> np.ndarray:
    value = row.fields["prediction"]
    try:
        value = json.loads(value) if isinstance(value, str) else value
        array = np.array(value, np.float64)
    except (ValueError, TypeError, OverflowError, RecursionError):
        array = np.zeros(0)
    if array.shape != (steps, vocabulary):
        raise UsageError(
            f"{row.place}: the prediction has shape {array.shape}. Give a list for each of the {steps} symbols of the "
            f"input, each with the probabilities of the {vocabulary} symbols that may come next."
        )
    try:
        return check_distributions(array, steps, vocabulary, lambda step: symbols[: step + 1])
    except UsageError as error:
        raise UsageError(f"{row.place}: {error}") from None
