"""The shortcut audit of a language from a file, before anything is trained."""

from functools import lru_cache

from humboldt.languages.syntax import AbstractPseudoLanguage, SplitSettings, draw_split
from humboldt.languages.syntax.parts.own import OwnPseudoLanguage
from humboldt.measures.shortcuts import ShortcutAccuracy, shortcut_audit, shortcut_sentence

POSITIVES = 400  # that the classifiers are trained on


@lru_cache(maxsize=8)
def audit(
    language: type[OwnPseudoLanguage], lengths: tuple[int, int], long_lengths: tuple[int, int]
) -> tuple[ShortcutAccuracy, ...]:
    """Trains the classifiers of the audit on a few strings, with one terminal for each symbol."""
    few = SplitSettings(
        train=POSITIVES,
        test=POSITIVES // 2,
        long=POSITIVES // 4,
        lengths=lengths,
        long_lengths=long_lengths,
        disjoint=False,
    )
    symbols: AbstractPseudoLanguage = language(terminals=1)
    scored = {name: draw_split(symbols, name, 0, few) for name in ("test", "long")}
    train = draw_split(symbols, "train", 0, few)
    return tuple(shortcut_audit(train, scored, categories=symbols.symbol_categories))


def audit_sentence(
    language: type[OwnPseudoLanguage], lengths: tuple[int, int], long_lengths: tuple[int, int]
) -> str | None:
    """Returns a warning if a classifier without structure solves the task; `None` if none does."""
    return shortcut_sentence(language.language.name, audit(language, lengths, long_lengths))
