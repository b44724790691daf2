"""What tests of PCFG SET share: the released data, an interpreter written apart from ours, models with known faults."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import strategies as st

# Figure 3 of the paper, by hand.
UNARY: dict[str, Callable[[list[str]], list[str]]] = {
    "copy": lambda x: x,
    "reverse": lambda x: list(reversed(x)),
    "shift": lambda x: [*x[1:], x[0]],
    "echo": lambda x: [*x, x[-1]],
    "swap": lambda x: x if len(x) == 1 else [x[-1], *x[1:-1], x[0]],
    "repeat": lambda x: x + x,
}
BINARY: dict[str, Callable[[list[str], list[str]], list[str]]] = {
    "append": lambda x, y: x + y,
    "prepend": lambda x, y: y + x,
    "remove_first": lambda x, y: y,
    "remove_second": lambda x, y: x,
}


def name_of(token: str) -> str:
    """A function's name without the spellings of synonyms and of the released data."""
    token = token.removesuffix("_syn").removesuffix("_twin")
    return "swap" if token == "swap_first_last" else token


def by_hand(source: str) -> str:
    """The meaning of an expression, read from right to left with a stack, without a tree."""
    stack: list[list[str]] = []
    letters: list[str] = []
    for token in reversed(source.split()):
        name = name_of(token)
        if name in UNARY or name in BINARY or token == ",":
            if letters:
                stack.append(letters[::-1])
                letters = []
            if name in UNARY:
                stack.append(UNARY[name](stack.pop()))
            elif name in BINARY:
                first, second = stack.pop(), stack.pop()
                stack.append(BINARY[name](first, second))
        else:
            letters.append(token)
    if letters:
        stack.append(letters[::-1])
    assert len(stack) == 1
    return " ".join(stack[0])


def released(name: str = "") -> Path:
    """A file of the authors' data; the test is skipped where it is absent."""
    for parent in Path(__file__).resolve().parents:
        if (parent / "shared/data/pcfg_set" / name).exists():
            return parent / "shared/data/pcfg_set" / name
    pytest.skip(f"the released data ({name}) are not here")


def released_test_sources() -> list[str]:
    """The sources of the released test set, in the released spelling: they stand beside the authors' outputs."""
    with gzip.open(released("predictions/transformer_pcfgset.tsv.gz"), "rt", encoding="utf-8") as file:
        return [line.split("\t")[0] for line in file.read().splitlines()[1:]]


LETTERS = [f"{letter}{number}" for letter in "ABZ" for number in (1, 9, 20)] + ["A", "B"]
SPELLINGS = [*UNARY, *BINARY, "swap_first_last", "swap_syn", "append_twin", "swap_first_last_twin"]


def _applied(arguments: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    unary = [name for name in SPELLINGS if name_of(name) in UNARY]
    binary = [name for name in SPELLINGS if name_of(name) in BINARY]
    return st.one_of(
        st.builds(lambda f, x: f"{f} {x}", st.sampled_from(unary), arguments),
        st.builds(lambda f, x, y: f"{f} {x} , {y}", st.sampled_from(binary), arguments, arguments),
    )


EXPRESSIONS = st.recursive(
    st.lists(st.sampled_from(LETTERS), min_size=1, max_size=5).map(" ".join), _applied, max_leaves=12
)


def oracle(sources: list[str]) -> list[str]:
    """A model that is always right."""
    return [by_hand(source) for source in sources]


def ignores_outermost(sources: list[str]) -> list[str]:
    """A model that leaves out the first function; of a binary one it keeps the first argument."""
    outputs = []
    for source in sources:
        first, *rest = source.split(" ")
        if name_of(first) in BINARY:
            # Where the first argument ends: when every function in it has its arguments.
            open_arguments, end = 1, 0
            while True:
                token = rest[end]
                if name_of(token) in BINARY:
                    open_arguments += 1
                elif token == ",":
                    open_arguments -= 1
                    if open_arguments == 0:
                        break
                end += 1
            rest = rest[:end]
        outputs.append(by_hand(" ".join(rest)))
    return outputs


def truncates(sources: list[str], longest: int = 5) -> list[str]:
    """A model that never says more than five symbols."""
    return [" ".join(by_hand(source).split()[:longest]) for source in sources]


def dislikes_synonyms(sources: list[str]) -> list[str]:
    """A model that says nothing wherever a synonym occurs."""
    return ["" if "_syn" in source else by_hand(source) for source in sources]
