"""Answers of a trained member to a string, with its internals."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from humboldt.arguments import shown
from humboldt.core.identity import Member, Training
from humboldt.core.internals import TIME, Inspectable, Internal, blocks
from humboldt.errors import UsageError, named_extras
from humboldt.languages import Batch, ProblemKind
from humboldt.report.tables import Table, TableCell, as_text
from humboldt.settings import words
from humboldt.suites import catalogue, resolving
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Resolved
from humboldt.training.abilities import HasNetwork, WritesOutputs, ability
from humboldt.training.base import AbstractProblem, Arrays

MARK, COMPUTATION = "∅", "…"  # tokens that are not symbols: the place of an answer, and time to compute
END, UNKNOWN = "⊣", "<unk>"  # after the last symbol of a source or an output; an output that is not a symbol
STATES, READ = "states", ("tokens", "mask")  # the internal with a vector for each layer; what a network reads
LONGEST = 1_000  # symbols after which an output is cut off, if the suite's protocol has no limit


@dataclass(frozen=True)
class Inspection:
    """The answer of a member to one string, and its internals.

    - `tokens`: its input, step by step; `∅` is the place of an answer, `…` is a computation token, `⊣` is an end. A
      sequence-to-sequence model reads its own previous answers after the source.
    - `steps`: the steps at which it answers, in the order of `answer` and of the rows of `probabilities`.
    - `probabilities`: of every symbol of `alphabet`, shape `(answer, alphabet)`.
    - `expected`: the right answer, or `None` if the task has none for this string.
    - `internals`: arrays with named axes, by name; empty if the network has none to show.
    """

    title: str
    tokens: tuple[str, ...]
    steps: tuple[int, ...]
    answer: tuple[str, ...]
    expected: tuple[str, ...] | None
    alphabet: tuple[str, ...]
    probabilities: np.ndarray
    internals: Mapping[str, Internal]

    @property
    def is_right(self) -> bool | None:
        """Whether the answer begins with the expected one; `None` if that is not known."""
        return None if self.expected is None else self.answer[: len(self.expected)] == self.expected  # ends included

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON."""
        return {
            "title": self.title,
            "tokens": list(self.tokens),
            "steps": list(self.steps),
            "answer": list(self.answer),
            "expected": None if self.expected is None else list(self.expected),
            "right": self.is_right,
            "alphabet": list(self.alphabet),
            "probabilities": self.probabilities.tolist(),
            "internals": {name: internal.to_dict() for name, internal in self.internals.items()},
        }

    def __str__(self) -> str:
        return as_text([self._answers(), *self._tables()])

    def _answers(self) -> Table:
        few = len(self.alphabet) <= 8
        rows = []
        for step, answer, chances in zip(self.steps, self.answer, self.probabilities, strict=True):
            shown = chances if few else [chances.max()]
            numbers = (TableCell(value=float(chance), form=".4f") for chance in shown)
            rows.append((TableCell(value=int(step)), self.tokens[step], answer, *numbers))
        notes = [f"Read: {' '.join(self.tokens)}", f"Answer: {' '.join(self.answer)}"]
        if self.expected is not None:
            verdict = "right" if self.is_right else "wrong"
            notes.append(f"Expected: {' '.join(self.expected)} ({verdict})")
        if not self.internals:
            notes.append("This network shows no internals.")
        columns = self.alphabet if few else ("probability",)
        return Table(
            self.title,
            ("Step", "Token", "Answer", *(f"P({c})" if few else c for c in columns)),
            tuple(rows),
            tuple(notes),
        )

    def _tables(self) -> list[Table]:
        tables = []
        for name, internal in self.internals.items():
            for block in blocks(name, internal, len(self.tokens)):
                rows = [
                    (
                        TableCell(value=step),
                        self.tokens[step],
                        *(TableCell(value=float(value), form="7.3g") for value in row),
                    )
                    for step, row in enumerate(block.rows, internal.first)
                ]
                remarks = (block.remark,) if block.remark else ()
                tables.append(Table(block.title, ("Step", "Token", *block.columns), tuple(rows), remarks))
        return tables


class KeptMember:
    """A trained member with its weights, which can answer strings. `humboldt.load` makes it.

    `measures` has all stored measures of it.
    """

    def __init__(
        self,
        suite: AbstractSuite,
        training: Training,
        member: Member,
        weights: Arrays,
        measures: Mapping[str, float],
    ) -> None:
        self.training, self.member, self.measures = training, member, measures
        self.title = title(suite, training, member, measures)
        self.resolved: Resolved = resolving.resolve(suite, training)
        job = suite.job(self.resolved, [member])
        self.problem: AbstractProblem = job.problem
        with named_extras():
            self.predictor = catalogue.engine_of(self.resolved.contender).restore(job, [weights])

    @cached_property
    def network(self) -> Any:
        """The network itself: `network(tokens, mask)`, and for most `network.inspect(tokens, mask)`."""
        return ability(self.predictor, HasNetwork).model(0)

    def predict(self, string: str | Sequence[str]) -> list[str]:
        """Returns the answer to one string, given as symbols or as text with spaces between them."""
        return [symbol for symbol in self._answered(string, with_internals=False).answer if symbol != END]

    def inspect(self, string: str | Sequence[str]) -> Inspection:
        """Returns the answer to one string, with probabilities and internals."""
        return self._answered(string, with_internals=True)

    def states_of(self, strings: Sequence[Sequence[str]]) -> np.ndarray | None:
        """Returns the vectors of all tokens after every layer, shape `(string, layer, time, width)`.

        The strings have one length. Returns `None` for a network without layers of such vectors.
        """
        batches = [self.problem.framed(symbols) for symbols in strings]
        inspect_all = getattr(self.network, "inspect_all", None)
        if inspect_all is None or self.problem.kind is ProblemKind.SEQUENCE_TO_SEQUENCE:
            return None
        try:
            found = inspect_all(STATES, *(np.concatenate([getattr(b, name) for b in batches]) for name in READ))
        except KeyError:
            return None
        return found[0] if found[1][:2] == ("layer", TIME) else None

    def _answered(self, string: str | Sequence[str], *, with_internals: bool) -> Inspection:
        symbols = string.split() if isinstance(string, str) else string
        if not isinstance(symbols, Sequence) or not all(isinstance(symbol, str) for symbol in symbols):
            raise UsageError(
                f"{shown(string)} is not a string of symbols. Give a list of them, or text with spaces between."
            )
        batch = self.problem.framed(symbols)
        if not batch.tokens.size:
            raise UsageError("The string is empty: there is nothing to read. Give at least one symbol.")
        if self.problem.kind is ProblemKind.SEQUENCE_TO_SEQUENCE:
            return self._written(symbols, batch, with_internals=with_internals)
        tokens, mask = batch.tokens[0].copy(), batch.mask[0]
        steps = np.flatnonzero(batch.target_mask[0])
        logits = self._logits(tokens, mask, steps)
        chances = _chances(logits)
        alphabet = self.resolved.task.output_alphabet
        read = self._named(tokens, int(steps[0]))
        internals = {}
        if with_internals and isinstance(self.network, Inspectable):
            internals = _as_arrays(self.network.inspect(tokens, mask))
        return Inspection(
            title=self.title,
            tokens=tuple(read),
            steps=tuple(steps.tolist()),
            answer=tuple(alphabet.decode(chances.argmax(1))),
            expected=self._expected(read),
            alphabet=alphabet.symbols,
            probabilities=chances,
            internals=internals,
        )

    def _written(self, symbols: Sequence[str], batch: Batch, *, with_internals: bool) -> Inspection:
        """Returns the inspection of a sequence-to-sequence model, decoded as in scoring."""
        problem, alphabet = self.problem, self.resolved.task.output_alphabet
        assert problem.start is not None and problem.end is not None
        tokens, mask = batch.tokens[0], batch.mask[0]
        longest = getattr(self.resolved.protocol, "longest_output", LONGEST)
        output = ability(self.predictor, WritesOutputs).outputs(batch, longest)[0, 0].tolist()
        output = output[: output.index(problem.end) + 1] if problem.end in output else output
        before = np.array([problem.start, *output[:-1]], np.int32)  # the decoder's inputs
        logits = np.asarray(self.network(tokens, mask, before, np.ones(len(before), bool)), np.float64)
        shows_internals = with_internals and isinstance(self.network, Inspectable)
        names = [*alphabet.symbols, *[UNKNOWN] * (problem.output_size - len(alphabet))]
        names[problem.end] = END
        answer = [names[i] for i in output]
        try:
            expected = (*self.resolved.task.oracle(list(symbols)), END)
        except UsageError:
            expected = None
        read = [*symbols, *[END] * (len(tokens) - len(symbols)), MARK, *answer[:-1]]
        return Inspection(
            title=self.title,
            tokens=tuple(read),
            steps=tuple(range(len(tokens), len(read))),
            answer=tuple(answer),
            expected=expected,
            alphabet=tuple(names),
            probabilities=_chances(logits),
            internals=_as_arrays(self.network.inspect(tokens, mask, before)) if shows_internals else {},
        )

    def _logits(self, tokens: np.ndarray, mask: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Returns the logits at these steps, shape `(steps, alphabet)`. An autoregressive model is run once for every
        answer, and its answers are written into `tokens`."""
        if self.problem.answers_from is not None:
            for before, step in itertools.pairwise(steps):
                tokens[step] = np.asarray(self.network(tokens, mask))[before].argmax()
        return np.asarray(self.network(tokens, mask), np.float64)[steps]

    def _named(self, tokens: np.ndarray, first_answer: int) -> list[str]:
        """Returns the names of tokens. After the first answer come marks, or the answers that the model reads."""
        marks = {self.problem.num_symbols: MARK, self.problem.num_symbols + 1: COMPUTATION}
        answers = self.resolved.task.output_alphabet.symbols
        reads_answers = self.problem.answers_from is not None
        return [
            marks.get(token) or (answers if reads_answers and step > first_answer else self.problem.symbols)[token]
            for step, token in enumerate(tokens.tolist())
        ]

    def _expected(self, read: list[str]) -> tuple[str, ...] | None:
        """Returns the oracle's answer; `None` if the input is not a string of the task."""
        begin = read.index(MARK) if MARK in read else len(read)
        try:
            return tuple(self.resolved.task.oracle([symbol for symbol in read[:begin] if symbol != COMPUTATION]))
        except UsageError:
            return None


def _chances(logits: np.ndarray) -> np.ndarray:
    chances = np.exp(logits - logits.max(1, keepdims=True))
    return chances / chances.sum(1, keepdims=True)


def _as_arrays(internals: Mapping[str, Internal]) -> dict[str, Internal]:
    return {name: internal._replace(values=np.asarray(internal.values)) for name, internal in internals.items()}


def title(suite: AbstractSuite, training: Training, member: Member, measures: Mapping[str, float]) -> str:
    """Returns a title: `chomsky/parity_check, rnn, seed 0, learning_rate 0.001: score 1`."""
    about = [f"{training.suite}/{training.task}", training.model]
    about += [f"{key} {words(value)}" for key, value in member.items()]
    score = measures.get(suite.headline)
    return ", ".join(about) + ("" if score is None else f": {suite.headline} {score:.4g}")
