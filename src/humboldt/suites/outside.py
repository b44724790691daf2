"""Anybody's model as a suite asks it: functions and files of predictions, in the form of a predictor.

The suites score it with the code that scores our own members, on the same strings. NumPy only.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from humboldt import files
from humboldt.errors import HumboldtError, RunError, UsageError
from humboldt.languages import Alphabet, Batch, ProblemKind
from humboldt.measures.bliss import FromPrefixes, Stepper, check_distributions
from humboldt.training.base import AbstractPredictor, AbstractProblem

NO_SYMBOLS = ("<unk>", "<s>")  # tokens of sequence-to-sequence models that are no symbols of a task: always wrong
BOUNDARY = "#"  # begins and ends every string of a next-symbol model
STEPPER_ROWS, PREFIX_ROWS = 16_384, 1_024  # that are asked about at once
SHOWN = 100  # characters of an example, in an error

Strings = list[list[str]]


@dataclass(frozen=True)
class NextSymbols:
    """A next-symbol model, of any kind, for BLISS and for syntax.

    `distributions(strings)` is given strings that begin with `#`, and returns for each an array of shape
    `(len(string), len(symbols))`: after each of its symbols, the probabilities of the next one, in the order of
    `humboldt.symbols(suite, task)`, `#` (the end) first.
    """

    distributions: Callable[[Strings], Sequence[np.ndarray]]

    def checked(self, strings: Strings, alphabet: Alphabet) -> list[np.ndarray]:
        """The distributions; raises where they are none, with the prefix."""
        answered = _call(self.distributions, strings)
        return [
            check_distributions(found, len(string), len(alphabet), lambda row, string=string: string[: row + 1])
            for string, found in zip(strings, answered, strict=True)
        ]

    def log_probabilities(self, strings: Strings, alphabet: Alphabet) -> np.ndarray:
        """The logarithm of the probability of each string, its end included; minus infinity where it is impossible."""
        whole = [[BOUNDARY, *string] for string in strings]
        totals = []
        for string, distributions in zip(strings, self.checked(whole, alphabet), strict=True):
            following = alphabet.encode([*string, BOUNDARY])
            with np.errstate(divide="ignore"):
                totals.append(np.log(distributions[np.arange(len(following)), following]).sum())
        return np.array(totals)


class AbstractAnswers(ABC):
    """Who answers: one member."""

    @abstractmethod
    def answers(self, inputs: Strings, targets: Sequence[Sequence[str]] | None) -> Sequence[Any]:
        """The answer to each input. `targets` are the right ones, where there are any: a file may have them, too."""


@dataclass(frozen=True)
class Function(AbstractAnswers):
    """A function from a list of inputs, each a list of symbols, to the list of their answers."""

    function: Callable[[Strings], Any]

    def answers(self, inputs: Strings, targets: Sequence[Sequence[str]] | None) -> Sequence[Any]:
        del targets
        return _call(self.function, inputs)


def _call(function: Callable[[Strings], Any], inputs: Strings) -> Sequence[Any]:
    """The answers of a function; whatever it raises is told with the first input that makes it raise."""
    try:
        answers = function(inputs)
    except HumboldtError:
        raise
    except Exception as error:
        culprit, raised = inputs[0] if inputs else [], error
        for one in inputs:
            try:
                function([one])
            except Exception as alone:
                culprit, raised = one, alone
                break
        raise RunError(
            f"The model failed on the input {_shown(culprit)}: {type(raised).__name__}: {raised}. Call it with a list "
            "of inputs, of which this is one, to see why."
        ) from raised
    try:
        count = len(answers)
    except TypeError:
        raise UsageError(
            f"The model returned {_shown(answers)} for {len(inputs)} inputs. Return a list with one answer for each."
        ) from None
    if count != len(inputs):
        raise UsageError(
            f"The model returned {count} answers for {len(inputs)} inputs, of which the first is "
            f"{_shown(inputs[0]) if inputs else 'missing'}. Return a list with one answer for each, in their order."
        )
    return answers


class Recorded(AbstractAnswers):
    """A file of predictions for the test strings, each once and in their order: `humboldt data` writes them.

    It is read once, while the strings are scored. What does not fit is told with its line. `covers` names the test sets
    that it has predictions for, where these are not all.
    """

    def __init__(self, path: Path, covers: tuple[str, ...] | None = None) -> None:
        self.path, self.covers = path, covers
        self._rows = self._read()
        self.count = 0

    def _read(self) -> Iterator[files.Row]:
        return files.read(self.path, ("input", "prediction"))

    def answers(self, inputs: Strings, targets: Sequence[Sequence[str]] | None) -> Sequence[Any]:
        found = []
        for number, wanted in enumerate(inputs):
            row = next(self._rows, None)
            text = " ".join(wanted)
            if row is None:
                raise UsageError(
                    f"{self.path.name} ends after {self.count:,} predictions, and test string {self.count + 1:,} is "
                    f"{_short(text)}. Give one for every test string; `humboldt data` writes them."
                )
            self.count += 1
            if row.fields["input"] != text:
                raise self._misplaced(row, text)
            if targets is not None and "target" in row.fields and row.fields["target"] != " ".join(targets[number]):
                raise UsageError(
                    f"{row.place}: the target is {_short(str(row.fields['target']))}, but that of {_short(text)} is "
                    f"{_short(' '.join(targets[number]))}. The file is of another version of the task."
                )
            if row.fields["prediction"] is None:
                raise UsageError(f"{row.place}: the prediction is missing. Write symbols with spaces between them.")
            found.append(Placed(row.place, row.fields["prediction"]))
        return found

    def check_finished(self) -> None:
        """Raises an error if there are more predictions than test strings."""
        row = next(self._rows, None)
        if row is not None:
            raise UsageError(
                f"{row.place}: all {self.count:,} test strings have their prediction, and this line has one more, for "
                f"{_short(str(row.fields['input']))}. Remove the extra lines."
            )

    def _misplaced(self, wrong: files.Row, wanted: str) -> UsageError:
        """Why a line is not the one that is due: the file is read again to tell where things are."""
        given, earlier, later = wrong.fields["input"], None, None
        for row in self._read():
            if row.line < wrong.line and row.fields["input"] == given:
                earlier = row
            if row.line > wrong.line and row.fields["input"] == wanted:
                later = row
                break
        reason = f"It stands in line {earlier.line} already" if earlier is not None else "No line before has it"
        due = f"the due one is in line {later.line}" if later is not None else "no later line has the due one"
        return UsageError(
            f"{wrong.place}: the input is {_short(str(given))}, but test string {self.count:,} is {_short(wanted)}. "
            f"{reason}; {due}. Give every test string once, in the order in which `humboldt data` writes them."
        )


class Looked(AbstractAnswers):
    """Predictions in any order, all in memory: for tests that ask in an order of their own."""

    def __init__(self, name: str, found: Mapping[str, "Placed"]) -> None:
        self.name, self._found = name, found

    @classmethod
    def read(cls, *paths: Path) -> "list[Looked]":
        """Files of one model; of several members, where rows have a field `seed`."""
        name = " and ".join(path.name for path in paths)
        by_seed: dict[Any, dict[str, Placed]] = {}
        for path in paths:
            for row in files.read(path, ("input", "prediction")):
                source, found = row.fields["input"], by_seed.setdefault(row.fields.get("seed"), {})
                if source in found and found[source].answer != row.fields["prediction"]:
                    raise UsageError(
                        f"{row.place}: the input {_short(source)} has another prediction in {found[source].place}. "
                        "Give one."
                    )
                found[source] = Placed(row.place, row.fields["prediction"])
        return [cls(name, found) for found in by_seed.values()]

    def answers(self, inputs: Strings, targets: Sequence[Sequence[str]] | None) -> Sequence[Any]:
        del targets
        answers = []
        for wanted in inputs:
            text = " ".join(wanted)
            if text not in self._found:
                raise UsageError(f"{self.name} has no prediction for the test string {_short(text)}. Give all of them.")
            answers.append(self._found[text])
        return answers


@dataclass(frozen=True)
class Placed:
    """An answer that stands in a file, and where."""

    place: str
    answer: Any


class OutsidePredictor(AbstractPredictor):
    """Models that were trained elsewhere. What a suite asks is put in symbols; the answers become what it expects.

    Only rows that count are asked about.
    """

    def __init__(self, problem: AbstractProblem, alphabet: Alphabet, models: Sequence[Any]) -> None:
        self.problem, self.alphabet, self.models = problem, alphabet, tuple(models)
        self.num_members = len(self.models)
        self.covers = next((model.covers for model in self.models if isinstance(model, Recorded)), None)
        self._names = np.array(problem.symbols, object)
        self._ids = {symbol: i for i, symbol in enumerate(alphabet.symbols)}
        if problem.output_size > len(alphabet) + 1:  # our own members may say such things, too
            self._ids |= dict.fromkeys(NO_SYMBOLS, len(alphabet) + 1)

    def take(self, members: Sequence[int]) -> "OutsidePredictor":
        return OutsidePredictor(self.problem, self.alphabet, [self.models[member] for member in members])

    def correct(self, batch: Batch, *, number: int = 0) -> np.ndarray:
        del number
        rows = np.flatnonzero(batch.weight > 0)
        inputs = self._inputs(batch, rows)
        targets = [batch.targets[row][batch.target_mask[row]] for row in rows]
        named = [self.alphabet.decode(target) for target in targets]
        found = np.zeros((self.num_members, len(batch.tokens)))
        for member, model in enumerate(self.models):
            if isinstance(model, NextSymbols):
                found[member, rows] = self._preferred(model, inputs, np.array([target[-1] for target in targets]))
                continue
            answers = _answers(model).answers(inputs, named)
            for row, source, target, answer in zip(rows, inputs, targets, answers, strict=True):
                ids = self._encoded(answer, source)[: len(target)]
                found[member, row] = np.count_nonzero(ids == target[: len(ids)])
        return found

    def _preferred(self, model: NextSymbols, inputs: Strings, labels: np.ndarray) -> np.ndarray:
        """For every pair of a grammatical string and the ungrammatical one after it: 1 for both if the first is more
        probable, a half if both are as probable."""
        if self.problem.kind is not ProblemKind.CLASSIFICATION:
            raise UsageError("Only BLISS and syntax can be asked of a next-symbol model. Give a function of inputs.")
        assert (labels.reshape(-1, 2) == [1, 0]).all(), "strings come in pairs"
        alphabet = Alphabet((BOUNDARY, *self.problem.symbols))
        good, bad = model.log_probabilities(inputs, alphabet).reshape(-1, 2).T
        return np.repeat((np.sign(np.nan_to_num(good - bad)) + 1) / 2, 2)

    def outputs(self, batch: Batch, longest: int) -> np.ndarray:
        end = self.problem.end
        assert end is not None
        rows = np.flatnonzero(batch.weight > 0)
        inputs = self._inputs(batch, rows)
        found = np.full((self.num_members, len(batch.tokens), longest), end, np.int32)
        for member, model in enumerate(self.models):
            for row, source, answer in zip(rows, inputs, _answers(model).answers(inputs, None), strict=True):
                ids = self._encoded(answer, source)[:longest]
                found[member, row, : len(ids)] = ids
        return found

    def answers(self, inputs: Strings) -> list[tuple[str, ...]]:
        """What the first member answers, as symbols: its answers as they are scored."""
        names = {i: symbol for symbol, i in self._ids.items()}
        answered = _answers(self.models[0]).answers(inputs, None)
        return [
            tuple(names[i] for i in self._encoded(answer, source).tolist())
            for source, answer in zip(inputs, answered, strict=True)
        ]

    def stepper(self, member: int, *, longest: int, most_memory: int) -> tuple[Any, int]:
        del longest, most_memory
        return stepper_of(self.models[member], self.alphabet)

    def _inputs(self, batch: Batch, rows: np.ndarray) -> Strings:
        """What these rows read, without marks."""
        is_symbol = batch.mask & (batch.tokens < self.problem.num_symbols)
        return [self._names[batch.tokens[row][is_symbol[row]]].tolist() for row in rows]

    def _encoded(self, answer: Any, source: list[str]) -> np.ndarray:
        """An answer as ids. Text has spaces between symbols; a number or a truth value is a label."""
        where = f"To the input {_shown(source)} the model"
        if isinstance(answer, Placed):
            where, answer = f"{answer.place}: for the input {_shown(source)} the file", answer.answer
        symbols = self._symbols(answer, where)
        try:
            return np.array([self._ids[symbol] for symbol in symbols], np.int32)
        except (KeyError, TypeError):
            strange = next(symbol for symbol in symbols if not isinstance(symbol, str) or symbol not in self._ids)
            few = self.alphabet.symbols[:20]
            raise UsageError(
                f"{where} answers {_shown(symbols)}, and {strange!r} is no symbol of the output alphabet "
                f"{' '.join(few)}{' ...' if len(few) < len(self.alphabet) else ''}. Answer with a list of these, or "
                "text with single spaces between them."
            ) from None

    def _symbols(self, answer: Any, where: str) -> Sequence[str]:
        if isinstance(answer, str):
            return answer.split()
        if isinstance(answer, list | tuple):
            return answer
        if isinstance(answer, np.ndarray) and answer.ndim == 1:
            return answer.tolist()
        is_label = self.problem.kind is ProblemKind.CLASSIFICATION
        if is_label and isinstance(answer, bool | int | np.bool_ | np.integer) and 0 <= int(answer) < 2:
            return [self.alphabet.symbols[int(answer)]]
        wanted = f"one of {', '.join(self.alphabet.symbols)}, or 1 or 0" if is_label else "a list of symbols"
        raise UsageError(f"{where} answers {_shown(answer)}, a {type(answer).__name__}. Answer with {wanted}.")


def _answers(model: Any) -> AbstractAnswers:
    if isinstance(model, AbstractAnswers):
        return model
    if callable(model):
        return Function(model)
    raise UsageError(f"The model {_shown(model)} cannot be called. Give a function from a list of inputs to answers.")


def stepper_of(model: Any, alphabet: Alphabet) -> tuple[Stepper, int]:
    """A model of any form that BLISS takes, as it is measured, and how many rows it should be given at once."""
    if isinstance(model, Stepper):
        return model, STEPPER_ROWS
    if isinstance(model, NextSymbols):

        def last(strings: Strings) -> np.ndarray:
            return np.stack([found[-1] for found in model.checked(strings, alphabet)])

        return _FromStrings(last, alphabet).stepper(), PREFIX_ROWS
    if callable(model):
        return _FromStrings(model, alphabet).stepper(), PREFIX_ROWS
    raise UsageError(
        f"The model {_shown(model)} is neither a stepper (`init`, `step`, `take`) nor a function from prefixes to "
        "distributions."
    )


@dataclass(frozen=True)
class _FromStrings:
    """A function of prefixes in symbols, given prefixes in ids."""

    function: Callable[[Strings], Any]
    alphabet: Alphabet

    def stepper(self) -> FromPrefixes:
        names = np.array(self.alphabet.symbols, object)
        return FromPrefixes(lambda prefixes: np.asarray(_call(self.function, names[prefixes].tolist())))


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
        return _short(" ".join(value))
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _short(text: str) -> str:
    return repr(text) if len(text) <= SHOWN else f"{text[:SHOWN]!r}..."
