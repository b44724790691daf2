"""Targeted syntactic evaluations with pseudo-languages: does a model see structure without words?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from humboldt.core.identity import Member, Training
from humboldt.languages import AbstractTask, ProblemKind
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage
from humboldt.languages.syntax import SplitSettings, draw_split
from humboldt.languages.syntax.parts.own import OwnPseudoLanguage, syntax_task
from humboldt.languages.syntax.parts.splits import NAMES as SPLITS
from humboldt.measures.accuracy import VERSION
from humboldt.suites.bench import demo_part
from humboldt.suites.capabilities import ExampleRequest, OffersLabelledStrings, Split
from humboldt.suites.counting import AbstractCountingSuite, Scoring
from humboldt.suites.experiments import Resolved, Variation
from humboldt.suites.presentation import Presentation
from humboldt.suites.reading import warn
from humboldt.suites.syntax import answer, figures, interchange, scoring, tables
from humboldt.suites.syntax.audit import audit_sentence
from humboldt.suites.syntax.problem import SCORED, Classification
from humboldt.suites.syntax.protocol import CONTENDERS, OTHERS, PRESETS, TASKS, PseudoLanguages


class Syntax(AbstractCountingSuite, OffersLabelledStrings):
    """The suite of Someya et al. (2024)."""

    name = "syntax"
    paper = "Someya et al. 2024, Targeted syntactic evaluations with pseudo-languages"
    question = "Does it see structure without words?"
    measure = "in- and out-of-distribution accuracy"
    kind = ProblemKind.CLASSIFICATION
    protocol = PseudoLanguages
    contenders = CONTENDERS
    others = OTHERS
    printed_tasks = TASKS
    presets = PRESETS
    position = 5
    bench_position = 20
    demo = (demo_part("nested_dependency"),)
    headline = "validation"
    evaluation = ("accuracy", VERSION)
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
        place=tables.place,
        shown=("terminals", "distribution"),
    )
    test_sets = tuple(SCORED)
    has_minimal_pairs = True
    settings_of_prompts = MappingProxyType({"terminals": 2})  # so that a few examples show all symbols

    def make_task(self, name: str, protocol: PseudoLanguages, options: Mapping[str, Any]) -> AbstractTask:
        (terminals,) = protocol.terminals
        words = {"distribution": protocol.distribution, "zipf_exponent": protocol.zipf_exponent}
        return super().make_task(name, protocol, {**options, "terminals": terminals, **words})

    def variation(self, training: Training) -> Variation | None:
        """Returns the variation of Table 3, whose terminals are drawn uniformly."""
        is_uniform = training.setting["distribution"] == "uniform"
        return Variation({"distribution": "uniform"}, PseudoLanguages().seeds) if is_uniform else None

    def task_of_language(self, language: RegularLanguage | ContextFreeLanguage) -> type[OwnPseudoLanguage]:
        return syntax_task(language)

    def check_plan(self, resolved: Resolved) -> None:
        """Draws a few strings of each split; raises if the language has none. One from a file is audited first."""
        few = replace(resolved.protocol.splits, **dict.fromkeys(SPLITS, 16))
        for name in SPLITS:
            draw_split(resolved.task, name, resolved.protocol.data_seed, few)
        if isinstance(resolved.task, OwnPseudoLanguage):
            self._warn_of_shortcuts(type(resolved.task), few)

    def most_tokens(self, resolved: Resolved) -> int:
        return max(resolved.protocol.lengths[1], resolved.protocol.long_lengths[1])

    @lru_cache(maxsize=8)  # noqa: B019  a suite is one object; each language is warned of once
    def _warn_of_shortcuts(self, language: type[OwnPseudoLanguage], splits: SplitSettings) -> None:
        sentence = audit_sentence(language, splits.lengths, splits.long_lengths)
        if sentence is not None:
            warn(sentence)

    def work(self, resolved: Resolved) -> str:
        protocol: PseudoLanguages = resolved.protocol
        return f"{protocol.epochs} epochs of {2 * protocol.train:,} strings of {protocol.terminals[0]} terminals"

    def problem(self, resolved: Resolved, members: Sequence[Member]) -> Classification:
        del members
        return Classification(resolved.training.task, resolved.task, resolved.protocol)

    def shared_splits(self, task: str) -> list[Split]:
        return [Split(part, part) for part in SPLITS]

    def examples(self, request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
        return interchange.examples(self, request)

    def settings_of_lengths(self, count: int, first: int, last: int) -> dict[str, Any]:
        """Returns the settings of a plain draw, in which a string may be of several splits."""
        shortest = max(2, first)  # of a negative
        lengths = {"lengths": (shortest, max(shortest, last)), "long_lengths": (last + 2, last + 70)}
        return {"train": -(-count // 2), "disjoint": False, **lengths}
