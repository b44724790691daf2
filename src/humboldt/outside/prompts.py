"""Questions to language models: fresh strings of a task in a prompt with examples, and the judgement of an answer.

Everything follows from a seed. The right answer always comes from the task's oracle. `humboldt.outside.inspect_ai`
makes tasks for inspect_ai of these questions.
"""

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from humboldt.errors import UsageError, unknown_name
from humboldt.languages import AbstractTask, ProblemKind
from humboldt.plugins import load_installed
from humboldt.report.words import counted
from humboldt.suites import catalogue, suites
from humboldt.suites.capabilities import OffersData, OffersLabelledStrings
from humboldt.suites.own_tasks import register_language
from humboldt.suites.plans import outside_trainings

POOL = 32  # strings from which examples are drawn: of each length of transductions, of all labelled strings
TRIES, TRIES_SHOWN = 6, 2  # draws of labelled strings of a group of lengths; each has four times as many
LETTERS = ("A", "B")  # the two strings of a pair

Strings = tuple[str, ...]  # one string with spaces between its symbols, or the two of a pair


class Form(enum.StrEnum):
    """The kind of question about a string."""

    TRANSDUCE = "transduce"
    RECOGNISE = "recognise"
    MINIMAL_PAIRS = "minimal_pairs"


@dataclass(frozen=True)
class Question:
    """A question about a string, or about a pair: the text for the model, the right answer, and the group of lengths
    that it belongs to."""

    prompt: str
    target: str
    length: int
    strings: tuple[str, ...]


@dataclass(frozen=True)
class Judgement:
    """The judgement of an answer: the answer as it was read, the share of right symbols, and whether all of it is
    right."""

    answer: str
    symbols: float
    is_right: bool


@dataclass(frozen=True)
class Subject:
    """The subject of questions: a form of question and a task of a suite, with its settings."""

    form: Form
    suite: str
    task: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        load_installed()
        suite = suites.get(self.suite)
        if not _fits(self.form, suite):
            able = ", ".join(name for name in suites.names() if _fits(self.form, suites.get(name)))
            raise UsageError(f"suite={self.suite}: `{self.form}` asks about tasks of: {able}. Name one of these.")
        if isinstance(suite, OffersLabelledStrings):
            object.__setattr__(self, "settings", {**suite.settings_of_prompts, **self.settings})
        object.__setattr__(self, "task", register_language(suite, self.task))
        if self.task not in catalogue.tasks(suite):
            raise unknown_name("task", self.task, catalogue.tasks(suite))

    @cached_property
    def language(self) -> AbstractTask:
        """The task, which has the oracle."""
        return outside_trainings(suites.get(self.suite), self.task, "any", catalogue.PAPER, self.settings)[0].task

    @property
    def chance(self) -> float:
        """The share of right symbols of a guess."""
        return self.language.chance

    def target(self, strings: Sequence[str]) -> str:
        """Returns the right answer about a string, or the letter of the grammatical string of a pair."""
        if self.form is Form.MINIMAL_PAIRS:
            positive = self.language.output_alphabet.symbols[1]
            (place,) = (i for i, string in enumerate(strings) if self.language.oracle(string.split()) == [positive])
            return LETTERS[place]
        return " ".join(self.language.oracle(strings[0].split()))

    def judge(self, strings: Sequence[str], text: str) -> Judgement:
        """Reads the answer in a model's text, and compares it with the oracle's.

        Symbols of a transduction count as they do for all models: a missing one is wrong, and those after the last
        requested one are ignored. The answer as a whole is right if it is exactly the target.
        """
        target = self.target(strings)
        if self.form is not Form.TRANSDUCE:
            answer = _last_of(text, self.labels)
            return Judgement(answer, float(answer == target), answer == target)
        answered, wanted = _symbols(text, self.language.output_alphabet.symbols), target.split()
        right = sum(mine == theirs for mine, theirs in zip(answered, wanted, strict=False))
        return Judgement(" ".join(answered), right / len(wanted), answered == wanted)

    @property
    def labels(self) -> tuple[str, ...]:
        """The possible answers where there are two."""
        return LETTERS if self.form is Form.MINIMAL_PAIRS else tuple(self.language.output_alphabet.symbols)

    def questions(
        self, lengths: Sequence[int], *, count: int, shots: int, longest_shown: int | None = None, seed: int = 0
    ) -> list[Question]:
        """Returns `count` questions of each group of lengths.

        **Arguments:**

        - `lengths`: of the strings of transductions. Labelled strings are grouped: 5, 10, 20 are the groups of 1 to 5,
          6 to 10, 11 to 20 symbols.
        - `shots`: examples in a prompt, drawn for each question. The string asked about is never one of them.
        - `longest_shown`: the longest example; by default the first of `lengths`, so that others are longer than what
          is shown.
        """
        groups = sorted(set(lengths))
        if not groups or groups[0] < 1 or count < 1 or shots < 0:
            raise UsageError(
                f"lengths={list(lengths)}, count={count}, shots={shots}: give lengths of at least 1, at least one "
                "string of each, and no negative number of examples."
            )
        draw = self._transductions if self.form is Form.TRANSDUCE else self._labelled
        pool = [*draw([longest_shown or groups[0]], max(POOL, 4 * shots), seed, shown=True)]
        rng = np.random.default_rng((seed, 2))
        return [
            Question(self._prompt(rng, strings, pool, shots), self.target(strings), length, strings)
            for length, strings in draw(groups, count, seed, shown=False)
        ]

    def _prompt(
        self, rng: np.random.Generator, strings: Strings, pool: Sequence[tuple[int, Strings]], shots: int
    ) -> str:
        """Returns the text of one question with its own examples, half of them of each label."""
        others = [shown for _, shown in pool if not set(shown) & set(strings)]
        order = [others[place] for place in rng.permutation(len(others))]
        if self.form is Form.RECOGNISE:
            first, second = ([shown for shown in order if self.target(shown) == label] for label in self.labels)
            order = [shown for pair in zip(first, second, strict=False) for shown in pair]
            order = [order[place] for place in rng.permutation(min(shots, len(order)))]
        blocks = [f"{_asked(self.form, shown)} {self.target(shown)}" for shown in order[:shots]]
        if len(blocks) < shots:
            raise UsageError(
                f"shots={shots}: {self.suite}/{self.task} has {counted(len(blocks), 'other example')} of at most this "
                "length. Use fewer, or longer ones: longest_shown."
            )
        return "\n\n".join([INSTRUCTIONS[self.form].format(*self.labels), *blocks, _asked(self.form, strings)])

    def _transductions(
        self, lengths: Sequence[int], count: int, seed: int, *, shown: bool
    ) -> Iterator[tuple[int, Strings]]:
        """Yields strings of these lengths. Those that are shown are distinct, of all lengths up to the longest."""
        shortest = min(getattr(self.language, "shortest", 1), lengths[0])
        drawn = {}
        for length in range(shortest, lengths[-1] + 1) if shown else lengths:
            for place, (source, _) in enumerate(self._draw(count, _seed(seed, shown, length), length=length)):
                drawn[tuple(source) if shown else (length, place)] = length, (" ".join(source),)
        yield from drawn.values()

    def _labelled(self, lengths: Sequence[int], count: int, seed: int, *, shown: bool) -> Iterator[tuple[int, Strings]]:
        """Yields strings of these groups of lengths, as many of each label; or pairs of one of each label."""
        for low, high in zip((0, *lengths), lengths, strict=False):
            rng = np.random.default_rng(_seed(seed, shown, high))
            yield from ((high, strings) for strings in self._group(rng, low, high, count, shown=shown))

    def _group(self, rng: np.random.Generator, low: int, high: int, count: int, *, shown: bool) -> list[Strings]:
        """Returns strings, or pairs, of more than `low` and at most `high` symbols. Those that are shown are distinct,
        and fewer than `count` if there are not more."""
        suite = suites.get(self.suite)
        assert isinstance(suite, OffersLabelledStrings)
        chosen: list[Strings] = []
        for attempt in range(TRIES_SHOWN if shown else TRIES):
            total = max(64, 4 * count * high // (high - low)) * 4**attempt
            settings = {**suite.settings_of_lengths(total, low + 1, high), **self.settings}
            drawn = [" ".join(source) for source, _ in self._draw(None, int(rng.integers(1, 2**31)), settings=settings)]
            chosen = self._chosen(rng, drawn, low, high, count, distinct=shown)
            if len(chosen) == count:
                return chosen
        if shown and chosen:
            return chosen
        raise UsageError(
            f"{self.suite}/{self.task} has too few strings of {low + 1} to {high} symbols for {count} of them, half of "
            "each label. Use longer strings (lengths), or a smaller count."
        )

    def _chosen(
        self, rng: np.random.Generator, drawn: Sequence[str], low: int, high: int, count: int, *, distinct: bool
    ) -> list[Strings]:
        """Returns at most `count` of the strings that were drawn: pairs in random order, or as many of each label."""
        fitting = [low < len(string.split()) <= high for string in drawn]
        if self.form is Form.MINIMAL_PAIRS:
            pairs = [(drawn[i], drawn[i + 1]) for i in range(0, len(drawn), 2) if fitting[i]]
            pairs = list(dict.fromkeys(pairs)) if distinct else pairs
            return [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs[:count]]
        strings = [string for string, fits in zip(drawn, fitting, strict=True) if fits]
        strings = list(dict.fromkeys(strings)) if distinct else strings
        of_label = [[(string,) for string in strings if self.target((string,)) == label] for label in self.labels]
        half = min(count // 2, *map(len, of_label))
        halves = half, min(half + count % 2 * (half == count // 2), len(of_label[1]))
        chosen = [string for found, share in zip(of_label, halves, strict=True) for string in found[:share]]
        return [chosen[place] for place in rng.permutation(len(chosen))]

    def _draw(
        self,
        count: int | None,
        seed: int,
        *,
        length: int | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Iterator[tuple[list[str], list[str]]]:
        suite: Any = suites.get(self.suite)
        split = None if self.form is Form.TRANSDUCE else "train"
        settings = self.settings if settings is None else settings
        return suite.data(self.task, split=split, count=count, length=length, seed=seed, settings=settings)


INSTRUCTIONS = {
    Form.TRANSDUCE: "One rule turns every input into its output. Symbols are separated by spaces. Give the output of "
    "the last input, and nothing else.",
    Form.RECOGNISE: "Some strings follow a rule, and others do not. Symbols are separated by spaces. Give the label of "
    "the last string, {} or {}, and nothing else.",
    Form.MINIMAL_PAIRS: "Of every two strings, one follows a rule and the other does not. Symbols are separated by "
    "spaces. Which of the last two follows it? Answer {} or {}, and nothing else.",
}


def _asked(form: Form, strings: Sequence[str]) -> str:
    """Returns the block of one string in a prompt, up to its answer."""
    if form is Form.MINIMAL_PAIRS:
        listed = "\n".join(f"{letter}: {string}" for letter, string in zip(LETTERS, strings, strict=True))
        return f"{listed}\nAnswer:"
    title = "Input: {}\nOutput:" if form is Form.TRANSDUCE else "String: {}\nLabel:"
    return title.format(strings[0])


def _fits(form: Form, suite: Any) -> bool:
    """Returns whether a suite has strings for a form of question."""
    if form is Form.TRANSDUCE:
        return suite.kind is ProblemKind.TRANSDUCTION and isinstance(suite, OffersData)
    return isinstance(suite, OffersLabelledStrings) and (form is Form.RECOGNISE or suite.has_minimal_pairs)


def _seed(seed: int, shown: bool, length: int) -> int:
    """Returns the seed of the strings of one length. Examples have other seeds than the strings asked about."""
    return int(np.random.SeedSequence((seed, int(shown), length)).generate_state(1)[0])


def _symbols(text: str, known: Sequence[str]) -> list[str]:
    """Returns the symbols of an answer: those of its last line that is not empty, without a title such as `Output:`.
    Symbols of one character may be written without spaces."""
    lines = [line.strip().strip("`") for line in text.splitlines() if line.strip().strip("`")]
    last = lines[-1].rpartition("Output:")[2] if lines else ""
    words = last.split()
    if len(words) == 1 and words[0] not in known and all(len(symbol) == 1 for symbol in known):
        return list(words[0])
    return words


def _last_of(text: str, labels: Sequence[str]) -> str:
    """Returns the last word of a text that is a label; an empty text if none is."""
    words = [word.strip("`*\"'.,:;!()").casefold() for word in text.split()]
    matches = [label for word in words for label in labels if word == label.casefold()]
    return matches[-1] if matches else ""
