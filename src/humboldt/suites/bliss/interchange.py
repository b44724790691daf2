"""Strings of the languages, as `humboldt data bliss` prints them."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from humboldt.errors import UsageError, unknown_name
from humboldt.languages.bliss import PRIOR, AbstractLanguage
from humboldt.suites.base import AbstractSuite
from humboldt.suites.bliss.problem import NextSymbol
from humboldt.suites.capabilities import ExampleRequest
from humboldt.suites.files import trained_elsewhere

N = TypeVar("N", int, float)
SETTINGS = ("p", "after", "format")


def examples(suite: AbstractSuite, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
    """Yields sampled strings, a training corpus, or test strings, as input and target symbols."""
    if request.length is not None:
        raise UsageError(
            f"--length {request.length}: strings of this suite are sampled, or come next after a size. Leave "
            "--length out, or use --split test --after N."
        )
    if request.split is not None and "after" not in request.settings and "factors" in request.settings:
        problem = problem_of(suite, request.task, request.preset, request.settings)
        return test_pairs(problem, request.count) if request.split == "test" else corpus_pairs(problem, request)
    language: Any = suite.make_task(request.task, None, {})
    return pairs(language, request)


def problem_of(suite: AbstractSuite, task: str, preset: str, changes: Mapping[str, Any]) -> NextSymbol:
    """Returns the corpus and test set of one training size."""
    resolved, _ = trained_elsewhere(suite, task, "any", preset, changes)
    return NextSymbol(resolved.task, resolved.protocol, f"bliss/{task}")


def pairs(language: AbstractLanguage, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
    """Yields strings as input and target symbols: sampled ones, a training corpus (sampled, sorted by length), or the
    test strings after a size."""
    settings, split = request.settings, request.split
    for key in settings:
        if key not in SETTINGS:
            raise unknown_name("setting", key, SETTINGS)
    if settings.get("format", "released") != "released":
        raise UsageError(f"--format {settings['format']}: known formats are jsonl (the default) and released.")
    if split not in (None, "train", "test"):
        raise unknown_name("split", split, ("train", "test"))
    count = 10 if request.count is None else request.count
    p = _number("p", settings.get("p", str(PRIOR)), float)
    language.check_prior(p)
    if split == "test":
        if "after" not in settings:
            raise UsageError(
                "--split test needs --after N: test strings are those that come next after strings of size N, the "
                "largest that was trained on. Use --after 0 to begin with the shortest, or --set factors=1 for the "
                "test set of a training size."
            )
        strings = language.test_set(after=_number("after", settings["after"], int), count=count)
    else:
        if "after" in settings:
            raise UsageError(
                f"--after {settings['after']}: a training corpus is sampled. Use --split test, or leave --after out."
            )
        sampled = language.drawn if split is None else lambda *about: language.corpus(*about).strings
        strings = sampled(count, request.seed, p)
    return ((source.split(), target.split()) for source, target in map(language.pair, strings))


def corpus_pairs(problem: NextSymbol, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
    """Returns the strings that models of one training size are trained on, sorted by length."""
    if request.split != "train":
        raise unknown_name("split", str(request.split), ("train", "test"))
    pairs = (problem.language.pair(string) for string in itertools.islice(problem.corpus.strings, request.count))
    return ((source.split(), target.split()) for source, target in pairs)


def test_pairs(problem: NextSymbol, count: int | None) -> Iterator[tuple[list[str], list[str]]]:
    """Returns the strings that models of one training size are tested on, from the first."""
    strings = problem.language.test_set(after=problem.corpus, count=problem.sizes.test)
    pairs = (problem.language.pair(string) for string in itertools.islice(strings, count))
    return ((source.split(), target.split()) for source, target in pairs)


def _number(name: str, text: str, kind: type[N]) -> N:
    try:
        return kind(text)
    except ValueError:
        raise UsageError(f"{name}={text}: {name} must be a {'whole ' if kind is int else ''}number.") from None
