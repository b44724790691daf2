"""Expressions with their meanings, as `humboldt data pcfg_set` prints them."""

from collections.abc import Iterator, Mapping
from typing import Any

from humboldt import settings as settings_
from humboldt.errors import UsageError, unknown_name
from humboldt.languages import tasks
from humboldt.languages.pcfg_set import Examples, Substitutivity, localism_splits
from humboldt.languages.pcfg_set.base import AbstractTest
from humboldt.suites import catalogue
from humboldt.suites.base import AbstractSuite
from humboldt.suites.capabilities import ExampleRequest
from humboldt.suites.pcfg_set.protocol import PRINTED_RATE, TASKS

LOCALISM = "localism"
TESTS = (*TASKS, LOCALISM)
SPLITS = ("train", "validation", "test")


def examples(suite: AbstractSuite, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
    """Yields the items of a split of a test, from the corpus of a preset with changes."""
    if request.length is not None:
        raise UsageError(
            f"--length {request.length}: a corpus has expressions of many lengths, distributed as in the paper. "
            "Leave --length out, or bound the nesting of functions with --set deepest=2."
        )
    task = suite.trained_task(request.task)
    of_task = settings_.names(tasks.get(f"pcfg_set/{task}"))
    of_preset = catalogue.preset(suite, request.preset).changes_for(task, "")
    changes = {**{key: value for key, value in of_preset.items() if key in of_task}, **request.settings}
    return pairs(request.task, request.split, request.count, request.seed, changes)


def pairs(
    test: str, split: str | None, count: int | None, seed: int, changes: Mapping[str, Any]
) -> Iterator[tuple[list[str], list[str]]]:
    """Yields sources and targets of one split of a test, as symbols."""
    if test not in TESTS:
        raise unknown_name("test", test, TESTS)
    cls = tasks.get(f"pcfg_set/{'task_accuracy' if test == LOCALISM else test}")
    settings_.check_known(changes, [cls])
    defaults = {"rates": (PRINTED_RATE,)} if test == "overgeneralisation" else {}
    task: Any = settings_.changed(cls(**defaults), changes)
    examples = _examples(task, test, split or "train", seed)
    if count is not None and count > len(examples):
        raise UsageError(
            f"--count {count}: the {split or 'train'} set of {test} has {len(examples):,} items. Use a smaller number, "
            "or a larger corpus: --set size=..."
        )
    return (
        (source.split(), target.split())
        for source, target in examples.take(range(len(examples) if count is None else count))
    )


def _examples(task: AbstractTest, test: str, split: str, seed: int) -> Examples:
    splits = localism_splits(task.corpus(seed)) if test == LOCALISM else task.splits(seed)
    known = (*SPLITS, "synonyms") if isinstance(splits, Substitutivity) else SPLITS
    if split not in known:
        raise unknown_name("split", split, known)
    return getattr(splits, split)
