"""Examples of the languages, as `humboldt data` prints them."""

import itertools
from collections.abc import Iterator
from typing import Any

from humboldt import settings as settings_
from humboldt.errors import UsageError, unknown_name
from humboldt.languages.syntax import draw_split
from humboldt.languages.syntax.parts.splits import NAMES as SPLITS
from humboldt.suites import catalogue
from humboldt.suites.base import AbstractSuite
from humboldt.suites.capabilities import ExampleRequest
from humboldt.suites.syntax.problem import SCORED
from humboldt.suites.syntax.protocol import OF_DATA, PseudoLanguages

EVERYTHING_SCORED = "scored"  # the splits that models are scored on, one after the other


def examples(suite: AbstractSuite, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
    """Yields pairs of a string and its label: those of a split, or of all splits that models are scored on."""
    settings, count = request.settings, request.count
    if request.length is not None:
        raise UsageError(
            f"--length {request.length}: a split has a range of lengths, not one. Leave --length out, or change "
            "the range with --set lengths=4,30 (--set long_lengths=31,100 for the split long)."
        )
    for key in settings:
        if key not in OF_DATA:
            raise unknown_name("setting of the data", key, OF_DATA)
    name = request.split or "train"
    if name not in (*SPLITS, EVERYTHING_SCORED):
        raise unknown_name("split", name, (*SPLITS, EVERYTHING_SCORED))
    changes = catalogue.preset(suite, request.preset).changes_for(request.task, "")
    protocol = settings_.changed(PseudoLanguages(terminals=(10,)), {**changes, **settings})
    if len(protocol.terminals) != 1:
        raise UsageError(f"--set terminals={settings['terminals']}: strings are drawn for one number of terminals.")
    language: Any = suite.make_task(request.task, protocol, {})
    names = SCORED if name == EVERYTHING_SCORED else (name,)
    strings = 2 * sum(getattr(protocol, each) for each in names)
    if count is not None and count > strings:
        raise UsageError(
            f"--count {count}: the split {name} has {strings:,} strings. Use a smaller number, or a larger split: "
            f"--set {name}={-(-count // 2)} (positives, with as many negatives)."
        )
    drawn = (draw_split(language, each, request.seed, protocol.splits).pairs() for each in names)
    symbols = (pair for pairs in drawn for pair in pairs.symbols(language.input_alphabet, language.output_alphabet))
    yield from itertools.islice(symbols, count)
