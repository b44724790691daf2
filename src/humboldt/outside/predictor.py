"""Models from outside as predictors: functions, and files of predictions.

The suites score them with the code that scores Humboldt's members, on the same strings. NumPy only.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from humboldt.arguments import shown
from humboldt.core.stepping import FromPrefixes, Stepper
from humboldt.errors import HumboldtError, OtherStrings, RunError, UsageError, contained
from humboldt.languages import Alphabet, Batch, ProblemKind
from humboldt.measures.bliss import check_distributions
from humboldt.storage import files
from humboldt.suites.files import shortened
from humboldt.training.abilities import CountsRight, ReadsSymbols, WritesOutputs
from humboldt.training.base import AbstractPredictor, AbstractProblem

NO_SYMBOLS = ("<unk>", "<s>")  # tokens of sequence-to-sequence models that are not symbols of a task: always wrong
BOUNDARY = "#"  # begins and ends every string of a next-symbol model
STEPPER_ROWS, PREFIX_ROWS = 16_384, 1_024  # that are asked about at once

Strings = list[list[str]]


@dataclass(frozen=True)
class NextSymbols:
    """A next-symbol model of any kind, for BLISS and syntax.

    `distributions(strings)` takes strings that begin with `#`, and returns for each an array of shape
    `(len(string), len(symbols))`: after each of its symbols, the probabilities of the next one, in the order of
    `humboldt.symbols(suite, task)`, `#` (the end) first.
    """

    distributions: Callable[[Strings], Sequence[np.ndarray]]

    def checked(self, strings: Strings, alphabet: Alphabet) -> list[np.ndarray]:
        """Returns the distributions; raises an error with the prefix if one is not a distribution."""
        answered = _call(self.distributions, strings)
        return [
            check_distributions(found, len(string), len(alphabet), lambda row, string=string: string[: row + 1])
            for string, found in zip(strings, answered, strict=True)
        ]

    def log_probabilities(self, strings: Strings, alphabet: Alphabet) -> np.ndarray:
        """Returns the log-probability of each string, including its end; minus infinity if it is impossible."""
        whole = [[BOUNDARY, *string] for string in strings]
        totals = []
        for string, distributions in zip(strings, self.checked(whole, alphabet), strict=True):
            following = alphabet.encode([*string, BOUNDARY])
            with np.errstate(divide="ignore"):
                totals.append(np.log(distributions[np.arange(len(following)), following]).sum())
        return np.array(totals)


class AbstractAnswers(ABC):
    """Source of answers for one member."""

    @abstractmethod
    def answers(self, inputs: Strings, targets: Sequence[Sequence[str]] | None) -> Sequence[Any]:
        """Returns the answer to each input. `targets` are the right answers, if there are any, to compare with those of
        a file."""


@dataclass(frozen=True)
class CalledFunction(AbstractAnswers):
    """A function from a list of inputs, each a list of symbols, to the list of their answers."""

    function: Callable[[Strings], Any]

    def answers(self, inputs: Strings, targets: Sequence[Sequence[str]] | None) -> Sequence[Any]:
        del targets
        return _call(self.function, inputs)


def _call(function: Callable[[Strings], Any], inputs: Strings) -> Sequence[Any]:
    """Returns the answers of a function, which gets a copy of the inputs; an error names the first input that causes
    it."""
    try:
        with contained():
            answers = function(_copied(inputs))
    except HumboldtError:
        raise
    except Exception as error:
        culprit, raised = inputs[0] if inputs else [], error
        for single in inputs:
            try:
                with contained():
                    function(_copied([single]))
            except Exception as alone:
                culprit, raised = single, alone
                break
        raise RunError(
            f"The model failed on the input {_shown(culprit)}: {type(raised).__name__}: {raised}. Call it with a list "
            "of inputs, of which this is one, to see why."
        ) from raised
    try:
        with contained():
            count = len(answers)
    except Exception:  # an object of the user's may raise anything
        raise UsageError(
            f"The model returned {_shown(answers)} for {len(inputs)} inputs. Return a list with one answer for each."
        ) from None
    if count != len(inputs):
        raise UsageError(
            f"The model returned {count} answers for {len(inputs)} inputs, of which the first is "
            f"{_shown(inputs[0]) if inputs else 'missing'}. Return a list with one answer for each, in their order."
        )
    return answers


def _copied(inputs: Strings) -> Strings:
    return [list(one) for one in inputs]


class OrderedPredictions(AbstractAnswers):
    """A file of predictions for the test strings, each once and in the order of `humboldt data`.

    It is read once, while the strings are scored. Errors name the line. `covers` names the test sets that it has
    predictions for, if these are not all.
    """

    def __init__(self, path: Path, covers: tuple[str, ...] | None = None) -> None:
        self.path, self.covers = path, covers
        self._rows = self._read()
        self.count = 0

    def _read(self) -> Iterator[files.Row]:
        return files.read(self.path, ("input", "prediction"))

    def answers(self, inputs: Strings, targets: Sequence[Sequence[str]] | None) -> Sequence[Any]:
        answers = []
        for number, wanted in enumerate(inputs):
            row = next(self._rows, None)
            text = " ".join(wanted)
            if row is None:
                raise OtherStrings(
                    f"{self.path.name} ends after {self.count:,} predictions, and test string {self.count + 1:,} is "
                    f"{shortened(text)}. Give one for every test string; `humboldt data` writes them."
                )
            self.count += 1
            if row.fields["input"] != text:
                raise self._misplaced(row, text)
            if targets is not None and "target" in row.fields and row.fields["target"] != " ".join(targets[number]):
                raise UsageError(
                    f"{row.place}: the target is {shortened(str(row.fields['target']))}, but that of {shortened(text)} "
                    f"is {shortened(' '.join(targets[number]))}. The file is of another version of the task."
                )
            if row.fields["prediction"] is None:
                raise UsageError(f"{row.place}: the prediction is missing. Write symbols with spaces between them.")
            answers.append(Placed(row.place, row.fields["prediction"]))
        return answers

    def check_finished(self) -> None:
        """Raises an error if there are more predictions than test strings."""
        row = next(self._rows, None)
        if row is not None:
            raise OtherStrings(
                f"{row.place}: all {self.count:,} test strings have their prediction, and this line has one more, for "
                f"{shortened(str(row.fields['input']))}. Remove the extra lines."
            )

    def _misplaced(self, wrong: files.Row, wanted: str) -> UsageError:
        """Returns the error for an out-of-order line; reads the file again to locate the expected input."""
        given, earlier, later = wrong.fields["input"], None, None
        for row in self._read():
            if row.line < wrong.line and row.fields["input"] == given:
                earlier = row
            if row.line > wrong.line and row.fields["input"] == wanted:
                later = row
                break
        reason = f"Line {earlier.line} already has it" if earlier is not None else "No earlier line has it"
        due = f"the expected one is in line {later.line}" if later is not None else "no later line has the expected one"
        return OtherStrings(
            f"{wrong.place}: the input is {shortened(str(given))}, but test string {self.count:,} is "
            f"{shortened(wanted)}. {reason}; {due}. Give every test string once, in the order in which "
            "`humboldt data` writes them."
        )


@dataclass(frozen=True)
class Placed:
    """An answer read from a file, with its location."""

    place: str
    answer: Any


class OutsidePredictor(AbstractPredictor, CountsRight, WritesOutputs, ReadsSymbols):
    """Models that were trained outside Humboldt. Converts inputs to symbols, and answers to the arrays that a suite
    expects.

    Only rows that count are passed to the model.
    """

    def __init__(self, problem: AbstractProblem, alphabet: Alphabet, models: Sequence[Any]) -> None:
        self.problem, self.alphabet, self.models = problem, alphabet, tuple(models)
        self.num_members = len(self.models)
        self.covers = next((model.covers for model in self.models if isinstance(model, OrderedPredictions)), None)
        self._names = np.array(problem.symbols, object)
        self._ids = {symbol: i for i, symbol in enumerate(alphabet.symbols)}
        if problem.output_size > len(alphabet) + 1:  # Humboldt's members may also output these
            self._ids |= dict.fromkeys(NO_SYMBOLS, len(alphabet) + 1)

    def take(self, members: Sequence[int]) -> "OutsidePredictor":
        return OutsidePredictor(self.problem, self.alphabet, [self.models[member] for member in members])

    def correct(self, batch: Batch, *, number: int = 0) -> np.ndarray:
        del number
        rows = np.flatnonzero(batch.weight > 0)
        inputs = self._inputs(batch, rows)
        targets = [batch.targets[row][batch.target_mask[row]] for row in rows]
        named = [self.alphabet.decode(target) for target in targets]
        counts = np.zeros((self.num_members, len(batch.tokens)))
        for member, model in enumerate(self.models):
            if isinstance(model, NextSymbols):
                counts[member, rows] = self._preferred(model, inputs, np.array([target[-1] for target in targets]))
                continue
            answers = _answers(model).answers(inputs, named)
            for row, source, target, answer in zip(rows, inputs, targets, answers, strict=True):
                ids = self._encoded(answer, source)[: len(target)]
                counts[member, row] = np.count_nonzero(ids == target[: len(ids)])
        return counts

    def _preferred(self, model: NextSymbols, inputs: Strings, labels: np.ndarray) -> np.ndarray:
        """Returns, for every pair of a grammatical string and the ungrammatical one after it, 1 for both if the first
        is more probable, 1/2 if both are equally probable."""
        if self.problem.kind is not ProblemKind.CLASSIFICATION:
            raise UsageError("Next-symbol models can be scored only on BLISS and syntax. Give a function of inputs.")
        if len(labels) % 2 or (labels.reshape(-1, 2) != [1, 0]).any():
            raise UsageError(
                "The test strings of this suite are not pairs of one string of the language and one outside, so that "
                "probabilities cannot be compared. Give a function from inputs to labels."
            )
        alphabet = Alphabet((BOUNDARY, *self.problem.symbols))
        good, bad = model.log_probabilities(inputs, alphabet).reshape(-1, 2).T
        return np.repeat((np.sign(np.nan_to_num(good - bad)) + 1) / 2, 2)

    def outputs(self, batch: Batch, longest: int) -> np.ndarray:
        end = self.problem.end
        assert end is not None
        rows = np.flatnonzero(batch.weight > 0)
        inputs = self._inputs(batch, rows)
        outputs = np.full((self.num_members, len(batch.tokens), longest), end, np.int32)
        for member, model in enumerate(self.models):
            for row, source, answer in zip(rows, inputs, _answers(model).answers(inputs, None), strict=True):
                ids = self._encoded(answer, source)[:longest]
                outputs[member, row, : len(ids)] = ids
        return outputs

    def answers(self, inputs: Strings) -> list[tuple[str, ...]]:
        """Returns the answers of the first member as symbols, as they are scored."""
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
        """Returns the inputs of these rows, without marks."""
        is_symbol = batch.mask & (batch.tokens < self.problem.num_symbols)
        return [self._names[batch.tokens[row][is_symbol[row]]].tolist() for row in rows]

    def _encoded(self, answer: Any, source: list[str]) -> np.ndarray:
        """Returns an answer as ids. Text has spaces between symbols; a number or a Boolean is a label."""
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
                f"{where} answers {_shown(symbols)}, and {strange!r} is not a symbol of the output alphabet "
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
        return CalledFunction(model)
    raise UsageError(f"The model {_shown(model)} cannot be called. Give a function from a list of inputs to answers.")


def stepper_of(model: Any, alphabet: Alphabet) -> tuple[Stepper, int]:
    """Returns a stepper for a model of any form that BLISS supports, and the number of rows of its batches."""
    if isinstance(model, Stepper):
        return _Contained(model), STEPPER_ROWS
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
class _Contained:
    """A user's stepper: errors name the method, and arrays are copied before it gets them."""

    stepper: Stepper

    def init(self, count: int) -> Any:
        return self._called("init", count)

    def step(self, state: Any, symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        found = self._called("step", state, symbols.copy())
        if not isinstance(found, tuple) or len(found) != 2:
            raise UsageError(f"The model's `step` returned {_shown(found)}. Return the state and the distributions.")
        return found

    def take(self, state: Any, rows: np.ndarray) -> Any:
        return self._called("take", state, rows.copy())

    def _called(self, method: str, *arguments: Any) -> Any:
        try:
            with contained():
                return getattr(self.stepper, method)(*arguments)
        except HumboldtError:
            raise
        except Exception as error:
            raise RunError(
                f"The model's `{method}` raised {type(error).__name__}: {error}. It reads rows of symbols one by one; "
                "see `humboldt.core.stepping.Stepper`."
            ) from error


@dataclass(frozen=True)
class _FromStrings:
    """A stepper from a function of prefixes; converts ids to symbols."""

    function: Callable[[Strings], Any]
    alphabet: Alphabet

    def stepper(self) -> FromPrefixes:
        names = np.array(self.alphabet.symbols, object)
        return FromPrefixes(lambda prefixes: np.asarray(_call(self.function, names[prefixes].tolist())))


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
        return shortened(" ".join(value))
    return shown(value)
