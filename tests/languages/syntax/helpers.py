"""Definitions of the four languages written a second time, straight from the formulas of the paper (section 2.1)."""

import itertools
from collections.abc import Callable

import numpy as np

from humboldt.languages import tasks
from humboldt.languages.syntax import AbstractPseudoLanguage

NAMES = ("adj_n_np", "np_n_vp_n", "nested_dependency", "cross_serial_dependency")
CLASSES = "01234"


def make(name: str, **settings) -> AbstractPseudoLanguage:
    task = tasks.get(f"syntax/{name}")(**settings)
    assert isinstance(task, AbstractPseudoLanguage)
    return task


def skeletons(name: str, length: int) -> set[tuple[str, ...]]:
    """All strings of non-terminals of that length."""
    half = length // 2
    if name == "adj_n_np":
        return {("ADJ",) * (length - 1) + ("NP",)} if length else set()
    if length % 2:
        return set()
    if name == "np_n_vp_n":
        return {("NP",) * half + ("VP",) * half}
    order: Callable[[tuple[str, ...]], tuple[str, ...]] = {
        "nested_dependency": lambda classes: classes[::-1],
        "cross_serial_dependency": lambda classes: classes,
    }[name]
    return {
        tuple(f"NP{i}" for i in classes) + tuple(f"VP{i}" for i in order(classes))
        for classes in itertools.product(CLASSES, repeat=half)
    }


def strings(name: str, length: int, terminals: int) -> set[tuple[str, ...]]:
    """All strings of the language of that length."""
    return {
        tuple(f"{category}_{i}" for category, i in zip(skeleton, choice, strict=True))
        for skeleton in skeletons(name, length)
        for choice in itertools.product(range(terminals), repeat=length)
    }


def decode(task: AbstractPseudoLanguage, tokens: np.ndarray, lengths: np.ndarray) -> list[tuple[str, ...]]:
    return [tuple(task.input_alphabet.decode(row[:n])) for row, n in zip(tokens, lengths, strict=True)]


def categories(string: tuple[str, ...]) -> list[str]:
    return [symbol.rpartition("_")[0] for symbol in string]
