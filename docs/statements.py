"""What can be said of each paper in at most five sentences, no stronger than the records show.

`generated.py` puts it on the page of findings.

The first words follow from the tables of a paper that are judged and that it rests on: at least nine tenths of the
judged numbers agree (yes), four fifths (mostly yes), half (in part), or fewer (mostly no); "where it was tried" stands
where less than half of these tables is measured, and "not known yet" where nothing is measured with current versions.
"""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humboldt.suites import catalogue, suites
from humboldt.suites.published_numbers import PublishedNumber, published_numbers

ROOT = Path(__file__).parents[1]
PAPERS = {
    "chomsky": "Neural networks and the Chomsky hierarchy",
    "bliss": "BLISS",
    "pcfg_set": "Compositionality decomposed",
    "bias": "What they do when in doubt",
    "syntax": "Targeted syntactic evaluations with pseudo-languages",
}
#: The tables that a paper rests on.
MAIN = {
    "chomsky": ("table_2",),
    "bliss": ("table_2",),
    "pcfg_set": ("table_1",),
    "bias": ("table_1a", "table_1b", "table_1c", "table_1d", "table_2"),
    "syntax": ("table_2",),
}
#: Sentences that no record can make. Those with numbers are held to the records by tests.
MORE = {
    "chomsky": "",
    "bliss": (
        "No LSTM meets the strict criterion, as in the paper. A B-index is that of the best member, often of a single "
        "one, so it differs easily from run to run; our searches by description length find right networks where the "
        "paper's found none."
    ),
    "pcfg_set": (
        "On the base task of an earlier corpus LSTMS2S has 0.91 with the paper's learning rate, where the paper has "
        "0.79, and 0.77 with that of the authors' script."
    ),
    "bias": (
        "These are shares of learners that follow a rule (p > 0.01, which is weak where few learners fit); two of ten "
        "more, which are on record only as printed, do not agree. Fewer of our Transformers fit their training set "
        "than the paper says, and the CNN composes less on SCAN, which is not explained. Description lengths are "
        "measured, in an unclear unit, but not judged."
    ),
    "syntax": (
        "The margin of 15 points is wide, since the best of 30 members varies. Nearly all that does not agree is in "
        "the columns LSTM and Decoder, which may be exchanged in print. The printed Table 3 repeats Table 2, so there "
        "is nothing to compare for terminals that are drawn uniformly."
    ),
}


def statements() -> str:
    """Returns a paragraph for each paper."""
    return "\n" + "\n\n".join(textwrap.fill(statement(suite), 140, break_long_words=False) for suite in PAPERS) + "\n\n"


def statement(suite: str) -> str:
    """Returns the paragraph of one paper."""
    numbers = [number for number, _ in published_numbers(ROOT / "reproductions", suite)]
    main = [number for number in numbers if number.table in MAIN[suite]]
    measured = [number for number in numbers if number.measured is not None]
    sentences = [
        f"**{PAPERS[suite]}: {answer(main)}.**",
        f"{len(measured)} of its {len(numbers)} numbers are measured{_earlier(measured)}{_steps(suite)}, and "
        f"{_agree(main)} of {_tables(MAIN[suite])} agree ({_by_model(suite, main)}){_longer(main)}.",
        *([MORE[suite]] if MORE[suite] else []),
        *_not_measured(suite, main),
    ]
    return " ".join(sentences)


def answer(main: Sequence[PublishedNumber]) -> str:
    """Returns the first words, by the rule above."""
    judged = [number for number in main if number.agrees is not None]
    current = [number for number in judged if not number.superseded]
    if not current:
        return "not known yet"
    share = sum(number.agrees is True for number in judged) / len(judged)
    word = next(
        word
        for least, word in ((0.9, "yes"), (0.8, "mostly yes"), (0.5, "in part"), (0, "mostly no"))
        if share >= least
    )
    tried = sum(number.measured is not None for number in main) / len(main)
    return word if tried >= 0.5 else f"{word}, where it was tried"


def _agree(numbers: Sequence[PublishedNumber]) -> str:
    judged = [number for number in numbers if number.agrees is not None]
    return f"{sum(number.agrees is True for number in judged)} of the {len(judged)} judged numbers"


def _by_model(suite: str, numbers: Sequence[PublishedNumber]) -> str:
    of_models = {
        model: [number for number in numbers if number.model == model and number.agrees is not None]
        for model in dict.fromkeys(number.model for number in numbers)
    }
    return ", ".join(
        f"{_title(suite, model)} {sum(number.agrees is True for number in own)} of {len(own)}"
        for model, own in of_models.items()
        if own
    )


def _earlier(measured: Sequence[PublishedNumber]) -> str:
    old = sum(number.superseded for number in measured)
    if not old:
        return ""
    which = "all" if old == len(measured) else str(old)
    return f" ({which} with earlier versions of a corpus or a network)"


def _steps(suite: str) -> str:
    return ", after at most 10,000 of the paper's million steps" if suite == "chomsky" else ""


def _longer(main: Sequence[PublishedNumber]) -> str:
    longer = [number.extended for number in main if number.extended is not None]
    return f"; trained longer, {sum(longer)} of {len(longer)} agree" if longer else ""


def _not_measured(suite: str, main: Sequence[PublishedNumber]) -> list[str]:
    """Returns a sentence on models, tasks and judged tables of which nothing is measured, if there are any."""
    models = [model for model in dict.fromkeys(n.model for n in main) if not _any(n for n in main if n.model == model)]
    tasks = [task for task in dict.fromkeys(n.task for n in main) if not _any(n for n in main if n.task == task)]
    parts = [_title(suite, model) for model in models] + [task for task in tasks if not models or len(tasks) < 8]
    if models and len(tasks) >= 8:
        parts.append(f"{len(tasks)} of {len({n.task for n in main})} tasks")
    return [f"Not measured: {_listed(parts)}."] if parts else []


def _any(numbers: Any) -> bool:
    return any(number.measured is not None for number in numbers)


def _tables(names: Sequence[str]) -> str:
    titles = [name.removeprefix("table_") for name in names]
    return f"Table {titles[0]}" if len(titles) == 1 else f"Tables {_listed(titles)}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _title(suite: str, model: str) -> str:
    return catalogue.contender(suites.get(suite), model).title
