"""Examples of the languages, as `humboldt data` prints them."""

import dataclasses
import itertools
from collections.abc import Iterator

from humboldt.errors import UsageError, unknown_name
from humboldt.suites.base import AbstractSuite
from humboldt.suites.capabilities import ExampleRequest
from humboldt.suites.plans import outside_trainings
from humboldt.suites.recognition.problem import Recognition
from humboldt.suites.recognition.protocol import SCORED, SPLITS

EVERYTHING_SCORED = "scored"  # the splits that models are scored on, one after the other


def examples(suite: AbstractSuite, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
    """Yields pairs of a string and its label: those of a split, or of all splits that models are scored on."""
    if request.length is not None:
        raise UsageError(
            f"--length {request.length}: a split has strings of all lengths from 0 on. Leave --length out, or change "
            "the longest with --set longest=40 (--set longest_test=500 for the split test)."
        )
    split = request.split or "train"
    if split not in (*SPLITS, EVERYTHING_SCORED):
        raise unknown_name("split", split, (*SPLITS, EVERYTHING_SCORED))
    (resolved,) = outside_trainings(suite, request.task, "any", request.preset, request.settings)
    protocol = resolved.protocol
    if request.seed:
        protocol = dataclasses.replace(protocol, data_seed=request.seed)
    problem = Recognition(resolved.task, protocol)
    names = SCORED if split == EVERYTHING_SCORED else (split,)
    alphabets = resolved.task.input_alphabet, resolved.task.output_alphabet
    strings = (pair for name in names for pair in problem.split(name).pairs().symbols(*alphabets))
    yield from itertools.islice(strings, request.count)
