"""Training neural networks as recognizers of formal languages (Butoi et al. 2025): in or out?"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from humboldt.core.identity import Member
from humboldt.errors import UsageError
from humboldt.languages import ProblemKind
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage
from humboldt.languages.recognition import AbstractRecognition
from humboldt.languages.recognition.parts.own import OwnContextFree, OwnRegular, recognition_task
from humboldt.models.forms import form
from humboldt.suites.bench import demo_part
from humboldt.suites.capabilities import ExampleRequest, OffersLabelledStrings, Split
from humboldt.suites.counting import AbstractCountingSuite, Scoring
from humboldt.suites.experiments import Resolved
from humboldt.suites.presentation import Presentation
from humboldt.suites.reading import warn
from humboldt.suites.recognition import answer, figures, interchange, scoring, tables
from humboldt.suites.recognition.problem import MOST_SYMBOLS, audit_sentence
from humboldt.suites.recognition.problem import Recognition as Problem
from humboldt.suites.recognition.protocol import CONTENDERS, PRESETS, SCORED, SPLITS, TASKS, Recognisers
from humboldt.training.base import Heads, Recipe


class Recognition(AbstractCountingSuite, OffersLabelledStrings):
    """The suite of Butoi et al. (2025)."""

    name = "recognition"
    paper = "Butoi et al. 2025, Training neural networks as recognizers of formal languages (FLaRe)"
    question = "In or out?"
    measure = "accuracy by length and by edit distance"
    kind = ProblemKind.CLASSIFICATION
    protocol = Recognisers
    contenders = CONTENDERS
    printed_tasks = TASKS
    presets = PRESETS
    position = 7
    bench_position = 40
    demo = (demo_part("parity"),)
    headline = "test"
    evaluation = ("accuracy", scoring.VERSION)
    scoring = Scoring(
        score=scoring.score,
        readings=scoring.readings,
        probe=scoring.probe,
        first_wrong=scoring.first_wrong,
    )
    presentation = Presentation(
        answers=answer.answers,
        records=tables.records,
        layout=tables.layout,
        measured=tables.measured,
        overview=figures.glance,
        figures=figures.figures,
    )
    test_sets = SCORED

    def most_tokens(self, resolved: Resolved) -> int:
        return max(resolved.protocol.longest_validation, resolved.protocol.longest_test) + 1  # and the end mark

    def task_of_language(self, language: RegularLanguage | ContextFreeLanguage) -> type[AbstractRecognition]:
        return recognition_task(language)

    def check_plan(self, resolved: Resolved) -> None:
        """Draws strings if the language is from a file; raises if it has none, and warns of shortcuts. Raises if
        further heads are requested of a network that does not answer at every symbol."""
        heads, title = resolved.protocol.loss_heads, getattr(resolved.model, "title", resolved.training.model)
        if heads != "recognition":
            if resolved.training.engine != "jax" or form(resolved.model, self.kind) != "causal":
                raise UsageError(
                    f"loss_heads={heads}: {title} does not answer at every symbol, or is not trained with JAX. Use a "
                    "family, e.g. --model family/lstm, or loss_heads=recognition."
                )
            if (symbols := len(resolved.task.input_alphabet)) > MOST_SYMBOLS:
                raise UsageError(
                    f"loss_heads={heads}: {resolved.training.task} has {symbols} symbols; sets "
                    f"of next symbols have at most {MOST_SYMBOLS}. Use loss_heads=recognition."
                )
        if isinstance(resolved.task, OwnRegular | OwnContextFree):
            self._warn_of_shortcuts(type(resolved.task), resolved.protocol.longest, resolved.protocol.longest_test)

    @lru_cache(maxsize=8)  # noqa: B019  a suite is one object; each language is warned of once
    def _warn_of_shortcuts(self, language: type[OwnRegular | OwnContextFree], longest: int, longest_test: int) -> None:
        sentence = audit_sentence(language, longest, longest_test)
        if sentence is not None:
            warn(sentence)

    def work(self, resolved: Resolved) -> str:
        return f"{resolved.protocol.epochs} epochs of {resolved.protocol.train:,} strings"

    def recipe(self, resolved: Resolved) -> Recipe:
        return replace(super().recipe(resolved), heads=self._heads(resolved))

    def _heads(self, resolved: Resolved) -> Heads | None:
        next_symbol, next_set = resolved.protocol.further_heads()
        if not next_symbol and not next_set:
            return None
        symbols, answers = len(resolved.task.input_alphabet), len(resolved.task.output_alphabet)
        return Heads(answers=answers, symbols=symbols, next_symbol=next_symbol, next_set=next_set)

    def problem(self, resolved: Resolved, members: Sequence[Member]) -> Problem:
        del members
        return Problem(resolved.task, resolved.protocol)

    def shared_splits(self, task: str) -> list[Split]:
        return [Split(part, part) for part in SPLITS]

    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        return interchange.examples(self, request)

    def settings_of_lengths(self, count: int, first: int, last: int) -> dict[str, Any]:
        """Returns the settings of a draw of strings of all lengths up to `last`."""
        del first
        longest = max(8, last)
        return {"train": count, "longest": longest, "longest_test": max(500, longest)}
