"""Examples of the word problems, as `humboldt data` prints them."""

import itertools
from collections.abc import Iterator

import numpy as np

from humboldt.errors import UsageError, unknown_name
from humboldt.suites.base import AbstractSuite
from humboldt.suites.capabilities import ExampleRequest
from humboldt.suites.plans import outside_trainings
from humboldt.suites.tracking.problem import States

SPLITS = ("train", "test")


def examples(suite: AbstractSuite, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
    """Yields strings with their states: fresh ones of the training lengths, or those that models are scored on."""
    split = request.split or "train"
    if split not in SPLITS:
        raise unknown_name("split", split, SPLITS)
    resolved, *_ = outside_trainings(suite, request.task, "any", request.preset, request.settings)
    task, problem = resolved.task, States(resolved.task, resolved.protocol)
    alphabets = task.input_alphabet, task.output_alphabet
    if split == "test":
        if request.length is not None:
            raise UsageError(
                f"--length {request.length}: the test strings have many lengths. Leave --length out, or use --set "
                f"test_lengths={request.length},{request.length}."
            )
        lengths = resolved.protocol.scored_lengths()
        strings = (pair for length in lengths for pair in problem.test_pairs(length).symbols(*alphabets))
        yield from itertools.islice(strings, request.count)
        return
    rng = np.random.default_rng(request.seed)
    first, last = problem.lengths
    for _ in range(10 if request.count is None else request.count):  # one at a time: more begin with the same strings
        length = request.length or int(rng.integers(first, last + 1))
        yield from task.sample(rng, 1, length).symbols(*alphabets)
