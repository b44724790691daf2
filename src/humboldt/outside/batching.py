"""Training data for other training loops: `humboldt.batches`. NumPy arrays, the same stream as for Humboldt's
models."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from humboldt.arguments import checked_arguments, mapping, optional, text, whole
from humboldt.errors import UsageError
from humboldt.languages import Batch, ProblemKind, tasks
from humboldt.outside.predictor import BOUNDARY
from humboldt.plugins import load_installed
from humboldt.settings import check_known, fields, words
from humboldt.suites import catalogue, plans, suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.catalogue import OUTSIDE
from humboldt.suites.experiments import Resolved
from humboldt.suites.own_tasks import register_language
from humboldt.training.base import AbstractProblem


class Symbols(NamedTuple):
    """The symbols of a task. The id of a symbol in arrays is its position.

    - `inputs`, `outputs`: the symbols of inputs and of answers.
    - `next_symbols`: the symbols of the distributions of a next-symbol model; the first is `#`, the end. `None` if the
      suite does not support such models.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    next_symbols: tuple[str, ...] | None


@dataclass(frozen=True)
class Batches:
    """The training batches of a task, one after the other: `for batch in batches`. See `humboldt.languages.Batch`.

    - `problem`: the encoding of strings as arrays: `symbols`, `input_size`, `output_size`, `end` and so on.
    - `symbols`: of the task. `batch_size`: rows of a batch.
    """

    problem: AbstractProblem
    symbols: Symbols
    start: int = 0
    count: int | None = None

    @property
    def batch_size(self) -> int:
        """Rows of a batch."""
        return self.problem.batch_size

    def __iter__(self) -> Iterator[Batch]:
        numbers = itertools.count(self.start) if self.count is None else range(self.start, self.start + self.count)
        return (self.problem.batch(number) for number in numbers)

    @checked_arguments(number=whole(0))
    def batch(self, number: int) -> Batch:
        """Returns one batch by its number: always the same arrays."""
        return self.problem.batch(number)

    def training_set(self) -> Batch:
        """Returns the training set, each example once, if the suite has a fixed one (bliss, syntax)."""
        return self.problem.training_set()


@checked_arguments(
    suite=text,
    task=text,
    model=optional(text),
    preset=text,
    settings=optional(mapping),
    start=whole(0),
    count=optional(whole(0)),
)
def batches(
    suite: str,
    task: str,
    *,
    model: str | None = None,
    preset: str = "paper",
    settings: Mapping[str, Any] | None = None,
    start: int = 0,
    count: int | None = None,
) -> Batches:
    """Returns the training batches of a task: the arrays that Humboldt's models are trained on, in the same order. Does
    not need JAX.

    **Arguments:**

    - `model`: the model whose batches to return, if models of the paper have batches of different sizes.
    - `preset`, `settings`: as in `humboldt.run`; for example `settings={"batch_size": 32}`.
    - `start`, `count`: the number of the first batch, and the number of batches; without `count` they never end.

    ```python
    for batch in humboldt.batches("chomsky", "parity_check", preset="quick", count=1000):
        batch.tokens, batch.mask, batch.targets, batch.target_mask
    ```
    """
    load_installed()
    its_suite = suites.get(suite)
    task = register_language(its_suite, task)
    resolved = _resolved(its_suite, task, model, preset, dict(settings or {}))
    return Batches(
        its_suite.problem(resolved, [its_suite.outside_member(0)]), _symbols(its_suite, resolved), start, count
    )


@checked_arguments(suite=text, task=text, preset=text, settings=optional(mapping))
def symbols(suite: str, task: str, *, preset: str = "paper", settings: Mapping[str, Any] | None = None) -> Symbols:
    """Returns the symbols of a task.

    >>> symbols("chomsky", "cycle_navigation").outputs
    ('0', '1', '2', '3', '4')
    >>> symbols("bliss", "an_bn", settings={"factors": 1}).next_symbols
    ('#', 'a', 'b')
    """
    load_installed()
    its_suite = suites.get(suite)
    return _symbols(
        its_suite, _resolved(its_suite, register_language(its_suite, task), None, preset, dict(settings or {}))
    )


def _symbols(suite: AbstractSuite, resolved: Resolved) -> Symbols:
    inputs, outputs = resolved.task.input_alphabet.symbols, resolved.task.output_alphabet.symbols
    following = {ProblemKind.NEXT_SYMBOL: outputs, ProblemKind.CLASSIFICATION: (BOUNDARY, *inputs)}.get(suite.kind)
    return Symbols(inputs, outputs, following)


def _resolved(suite: AbstractSuite, task: str, model: str | None, preset: str, changes: dict[str, Any]) -> Resolved:
    """Returns one training of a task, with its whole protocol. Raises if there are several corpora and none is
    chosen."""
    catalogue.check_task(suite, task)
    name = f"{OUTSIDE}/any" if model is None else model
    classes = catalogue.settings_classes(suite, task, name)
    check_known(changes, [*classes, tasks.get(f"{suite.name}/{task}")])
    by_data: dict[str, Resolved] = {}
    for resolved in plans.trainings(suite, task, name, catalogue.preset(suite, preset), changes):
        training = resolved.training
        of_data = {key: value for key, value in training.flat.items() if key not in training.setting["model"]}
        by_data.setdefault(str(of_data), resolved)
    if len(by_data) > 1:
        flat = [resolved.training.flat for resolved in by_data.values()]
        key = next(key for key in flat[0] if any(settings.get(key) != flat[0][key] for settings in flat))
        values = ", ".join(dict.fromkeys(words(settings[key]) for settings in flat))
        option = next((f.name for cls in classes for f in fields(cls) if f.stored_name == key), key)
        raise UsageError(
            f"{suite.name}/{task} has trainings with {key} = {values}: the data depend on it. Choose one: "
            f"settings={{'{option}': {words(flat[0][key])}}}."
        )
    (resolved,) = by_data.values()
    return resolved
