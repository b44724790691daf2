"""Files of predictions: the request, the problem and predictor that a suite makes of them, and a predictor of recorded
outputs.

Every file becomes a problem and a predictor, and `AbstractSuite.score` makes the numbers.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from humboldt.core.identity import Evaluation, Member
from humboldt.errors import OtherStrings, UsageError
from humboldt.languages import Batch
from humboldt.settings import fields, words
from humboldt.suites import catalogue, plans
from humboldt.suites.base import AbstractSuite
from humboldt.suites.catalogue import OUTSIDE
from humboldt.suites.experiments import Resolved
from humboldt.training.abilities import WritesOutputs
from humboldt.training.base import AbstractPredictor, AbstractProblem

SHOWN = 100  # characters of an example, in an error


@dataclass(frozen=True, kw_only=True)
class FileRequest:
    """A request to score files of predictions.

    - `twin`: a second file, for tests that compare two outputs. `split`: the test set that the files are of.
    - `name`: of the model. `seed`: of the first member.
    - `for_table`: whether the scores are to be stored, so that the test strings must be those of the suite.
    """

    task: str
    paths: tuple[Path, ...]
    twin: Path | None = None
    split: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    preset: str = "paper"
    name: str = "any"
    seed: int = 0
    for_table: bool = False

    def only(self) -> Path:
        """Returns the file; raises a usage error if there is none, or more than one."""
        path, *others = self.paths
        if others:
            raise UsageError(f"{len(self.paths)} files were given, but this is scored from one. Score one at a time.")
        return path

    def check_no_twin(self, suite: AbstractSuite) -> None:
        """Raises a usage error if there is a second file."""
        if self.twin is not None:
            raise UsageError(f"--twin {self.twin}: {suite.name} has no test that compares two outputs. Leave it out.")

    def check_no_split(self, suite: AbstractSuite) -> None:
        """Raises a usage error if a test set is named."""
        if self.split is not None:
            raise UsageError(f"--split {self.split}: {suite.name} needs no split to score a file. Leave it out.")


@dataclass(frozen=True, kw_only=True)
class OutsideInput:
    """A model from outside, ready to be scored by `AbstractSuite.score` under each evaluation.

    - `details`: contents of a file beside scores: disagreements, the number of strings that it covers.
    - `has_table`: whether the scores can be put into a table.
    - `check_finished`: called after scoring; raises if a file has answers that were not needed.
    """

    resolved: Resolved
    evaluations: tuple[Evaluation, ...]
    problem: AbstractProblem
    predictor: AbstractPredictor
    members: tuple[Member, ...]
    details: Mapping[str, Any] = field(default_factory=dict)
    has_table: bool = True
    check_finished: Callable[[], None] = lambda: None


class OffersFiles(ABC):
    """A suite with a reader of its own for files of predictions. Files for other suites have a prediction for every
    test string, in their order."""

    @abstractmethod
    def file_input(self, request: FileRequest) -> OutsideInput:
        """Reads files of predictions into a problem and a predictor."""


def trained_elsewhere(
    suite: AbstractSuite, task: str, name: str, preset: str, changes: Mapping[str, Any], *, compares: bool = False
) -> tuple[Resolved, list[Evaluation]]:
    """Returns the training that a model from outside is scored as, and its evaluations.

    A model is trained for one corpus; if the suite has several, one must be chosen. With `compares`, the answers are
    which of two strings is more probable.
    """
    trained_on = suite.trained_task(task)
    trainings = plans.outside_trainings(suite, trained_on, name, preset, changes)
    if len(trainings) > 1:
        flat = [one.training.flat for one in trainings]
        key = next(key for key in flat[0] if any(one[key] != flat[0][key] for one in flat))
        classes = catalogue.settings_classes(suite, trained_on, f"{OUTSIDE}/{name}")
        each = {option.stored_name: option.name for cls in classes for option in fields(cls)}
        values = ", ".join(dict.fromkeys(words(one[key]) for one in flat))
        raise UsageError(
            f"{suite.name}/{task} has trainings with {key} = {values}, and a model is trained for one of them. Choose "
            f"it: settings={{'{each.get(key, key)}': {words(flat[0][key])}}}, or --set {each.get(key, key)}="
            f"{words(flat[0][key])}."
        )
    (resolved,) = trainings
    if compares:
        setting = {**resolved.training.setting, "model": {"asked": "probabilities"}}
        training = replace(resolved.training, setting=setting)
        resolved = replace(resolved, training=training, model=replace(resolved.model, asked="probabilities"))
    suite.check_plan(resolved)
    evaluations = suite.evaluations(resolved.protocol, trained_on)
    if task != trained_on:  # a test of models that are trained for something else
        evaluations = [evaluation for evaluation in evaluations if evaluation.name == task]
    return resolved, evaluations


class RecordedOutputs(AbstractPredictor, WritesOutputs):
    """Sequence-to-sequence members with the outputs of files: for each member, outputs by source, both as text with
    single spaces. `covers` names the test sets that have outputs, if these are not all."""

    def __init__(
        self,
        problem: AbstractProblem,
        letters: Sequence[str],
        answers: Sequence[Mapping[str, str]],
        *,
        name: str,
        covers: tuple[str, ...] | None = None,
    ) -> None:
        self.problem, self.letters, self.answers, self.name = problem, tuple(letters), tuple(answers), name
        self.covers = covers
        self.num_members = len(self.answers)
        self._names = np.array(problem.symbols, object)
        self._ids = {letter: i for i, letter in enumerate(self.letters)}

    def take(self, members: Sequence[int]) -> "RecordedOutputs":
        answers = [self.answers[member] for member in members]
        return RecordedOutputs(self.problem, self.letters, answers, name=self.name, covers=self.covers)

    def outputs(self, batch: Batch, longest: int) -> np.ndarray:
        end = self.problem.end
        assert end is not None
        found = np.full((self.num_members, len(batch.tokens), longest), end, np.int32)
        is_symbol = batch.mask & (batch.tokens < self.problem.num_symbols)
        for row in np.flatnonzero(batch.weight > 0):
            source = " ".join(self._names[batch.tokens[row][is_symbol[row]]])
            for member, answers in enumerate(self.answers):
                if source not in answers:
                    raise OtherStrings(
                        f"{self.name} has no prediction for the test string {shortened(source)}. Give all of them."
                    )
                ids = [self._ids.get(symbol, end + 1) for symbol in answers[source].split()[:longest]]
                found[member, row, : len(ids)] = ids
        return found


def shortened(text: str) -> str:
    """Returns a text in quotes; of a long one only the beginning."""
    return repr(text) if len(text) <= SHOWN else f"{text[:SHOWN]!r}..."
