"""Training data for other people's loops: `humboldt.batches`. NumPy arrays, the stream that our own models see."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from humboldt.errors import UsageError, unknown_name
from humboldt.languages import Batch, ProblemKind, tasks
from humboldt.plugins import load_installed
from humboldt.settings import check_known, fields, words
from humboldt.suites import suites
from humboldt.suites.base import OUTSIDE, AbstractSuite
from humboldt.suites.experiments import Parts
from humboldt.suites.outside import BOUNDARY
from humboldt.training.base import AbstractProblem


class Symbols(NamedTuple):
    """The symbols of a task. A symbol's id in arrays is its place.

    - `inputs`, `outputs`: what a model reads, and what it answers with.
    - `next_symbols`: what the distributions of a next-symbol model are over; the first is `#`, the end. None where a
      suite does not take such models.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    next_symbols: tuple[str, ...] | None


@dataclass(frozen=True)
class Batches:
    """The training batches of a task, one after the other: `for batch in batches`. See `humboldt.languages.Batch`.

    - `problem`: how strings became arrays: `symbols`, `input_size`, `output_size`, `end` and so on.
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

    def batch(self, number: int) -> Batch:
        """One batch by its number: always the same arrays."""
        return self.problem.batch(number)

    def training_set(self) -> Batch:
        """All that is trained on, each example once, where a suite has a fixed training set (bliss, syntax)."""
        return self.problem.training_set()


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
    """The training batches of a task: the arrays that our own models are trained on, in the same order. Needs no JAX.

    **Arguments:**

    - `model`: whose batches, where models of the paper have batches of different sizes.
    - `preset`, `settings`: as in `humboldt.run`; for example `settings={"batch_size": 32}`.
    - `start`, `count`: the number of the first batch, and how many; without `count` they never end.

    ```python
    for batch in humboldt.batches("chomsky", "parity_check", preset="quick", count=1000):
        batch.tokens, batch.mask, batch.targets, batch.target_mask
    ```
    """
    load_installed()
    its_suite = suites.get(suite)
    parts = _parts(its_suite, task, model, preset, dict(settings or {}))
    return Batches(its_suite.problem(parts, [its_suite.outside_member(0)]), _symbols(its_suite, parts), start, count)


def symbols(suite: str, task: str, *, preset: str = "paper", settings: Mapping[str, Any] | None = None) -> Symbols:
    """The symbols of a task.

    >>> symbols("chomsky", "cycle_navigation").outputs
    ('0', '1', '2', '3', '4')
    >>> symbols("bliss", "an_bn", settings={"factors": 1}).next_symbols
    ('#', 'a', 'b')
    """
    load_installed()
    its_suite = suites.get(suite)
    return _symbols(its_suite, _parts(its_suite, task, None, preset, dict(settings or {})))


def _symbols(suite: AbstractSuite, parts: Parts) -> Symbols:
    inputs, outputs = parts.task.input_alphabet.symbols, parts.task.output_alphabet.symbols
    following = {ProblemKind.NEXT_SYMBOL: outputs, ProblemKind.CLASSIFICATION: (BOUNDARY, *inputs)}.get(suite.kind)
    return Symbols(inputs, outputs, following)


def _parts(suite: AbstractSuite, task: str, model: str | None, preset: str, changes: dict[str, Any]) -> Parts:
    """One training of a task, with its whole protocol. Where there are several corpora, one must be chosen."""
    if task not in suite.tasks():
        raise unknown_name("task", task, suite.tasks())
    name = f"{OUTSIDE}/any" if model is None else model
    classes = suite.settings_classes(task, name)
    check_known(changes, [*classes, tasks.get(f"{suite.name}/{task}")])
    found: dict[str, tuple[Any, Any]] = {}
    for training, protocol in suite.trainings(task, name, suite.preset(preset), changes):
        of_data = {key: value for key, value in training.flat.items() if key not in training.setting["model"]}
        found.setdefault(str(of_data), (training, protocol))
    if len(found) > 1:
        flat = [training.flat for training, _ in found.values()]
        key = next(key for key in flat[0] if any(one.get(key) != flat[0][key] for one in flat))
        values = ", ".join(dict.fromkeys(words(one[key]) for one in flat))
        option = next((f.name for cls in classes for f in fields(cls) if f.stored_name == key), key)
        raise UsageError(
            f"{suite.name}/{task} has trainings with {key} = {values}: the data depend on it. Choose one: "
            f"settings={{'{option}': {words(flat[0][key])}}}."
        )
    ((training, protocol),) = found.values()
    return replace(suite.restore(training), protocol=protocol)
