"""Examples of the tasks, as `humboldt data` prints them."""

import itertools
from collections.abc import Iterator

import numpy as np

from humboldt import settings as settings_
from humboldt.errors import UsageError, unknown_name
from humboldt.languages import tasks
from humboldt.languages.chomsky.base import AbstractTransduction
from humboldt.suites.base import AbstractSuite
from humboldt.suites.capabilities import ExampleRequest
from humboldt.suites.chomsky.problem import Transduction
from humboldt.suites.chomsky.protocol import LengthGeneralisation
from humboldt.suites.plans import outside_trainings


def examples(suite: AbstractSuite, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
    """Yields pairs of input and target symbols: fresh training strings, or the strings that models are scored on."""
    task, settings = request.task, request.settings
    if request.split == "test":
        yield from _test_strings(suite, request)
        return
    if request.split is not None:
        raise UsageError(
            f"--split {request.split}: this suite draws fresh strings for training, and has a split `test`. Use "
            "that, or leave --split out."
        )
    count = 10 if request.count is None else request.count
    options = {field.name: field for field in settings_.fields(tasks.get(f"chomsky/{task}"))}
    for key in settings:
        if key not in options:
            raise unknown_name("setting", key, options, hint=f"{task} has: {', '.join(options) or 'none'}.")
    typed = {key: settings_.typed_value(options[key], value) for key, value in settings.items()}
    language = suite.make_task(task, None, typed)
    assert isinstance(language, AbstractTransduction)
    rng = np.random.default_rng(request.seed)
    first, last = LengthGeneralisation().train_lengths
    for _ in range(count):  # one at a time, so that a larger count begins with the same strings
        length = request.length or int(rng.integers(max(first, language.shortest), last + 1))
        yield from language.sample(rng, 1, length).symbols(language.input_alphabet, language.output_alphabet)


def _test_strings(suite: AbstractSuite, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
    """Yields the strings that models are scored on, in that order."""
    if request.length is not None:
        raise UsageError(
            f"--length {request.length}: the test strings have many lengths. Leave --length out, or use --set "
            f"test_lengths={request.length},{request.length}."
        )
    (resolved,) = outside_trainings(suite, request.task, "any", request.preset, request.settings)
    alphabets = resolved.task.input_alphabet, resolved.task.output_alphabet
    problem = Transduction(resolved.task, resolved.protocol)
    strings = (pair for _, pairs in problem.test_pairs() for pair in pairs.symbols(*alphabets))
    yield from itertools.islice(strings, request.count)
