"""Expressions as trees, and traversals. No function is recursive, because expressions may be deep."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from humboldt.languages.pcfg_set.parts.functions import COMMA, Function

T = TypeVar("T")


@dataclass(frozen=True)
class String:
    """A string argument, or the meaning of an expression."""

    letters: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.letters)


@dataclass(frozen=True)
class Application:
    """A function applied to its arguments. `spelling` is the token that named it: `swap`, `swap_syn`, ..."""

    function: Function
    spelling: str
    arguments: "tuple[Tree, ...]"

    def __str__(self) -> str:
        return show(self)


Tree = String | Application


def fold(tree: Tree, leaf: Callable[[String], T], join: Callable[[Application, list[T]], T]) -> T:
    """Computes a value from the leaves up, arguments from left to right.

    **Arguments:** `leaf` returns the value of a string; `join` that of an application, given its arguments' values.
    """
    values: list[T] = []
    pending: list[tuple[Tree, bool]] = [(tree, False)]
    while pending:
        node, arguments_done = pending.pop()
        if isinstance(node, String):
            values.append(leaf(node))
        elif arguments_done:
            count = len(node.arguments)
            arguments = values[-count:]
            del values[-count:]
            values.append(join(node, arguments))
        else:
            pending.append((node, True))
            pending.extend((argument, False) for argument in reversed(node.arguments))
    return values[0]


def show(tree: Tree) -> str:
    """Returns the tree as an expression: prefix notation, single spaces, a comma between two arguments."""
    tokens: list[str] = []
    pending: list[Tree] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, String):
            tokens.extend(node.letters)
        else:
            tokens.append(node.spelling)
            first, *others = node.arguments
            for argument in reversed(others):
                pending += (argument, String((COMMA,)))
            pending.append(first)
    return " ".join(tokens)


def meaning(tree: Tree) -> String:
    """Returns the meaning of the tree: its functions applied from the innermost out."""
    return String(fold(tree, lambda string: string.letters, lambda node, arguments: node.function(*arguments)))


def tree_depth(tree: Tree) -> int:
    """Returns the depth of nested functions: 0 for a string, 1 for a single function."""
    return fold(tree, lambda string: 0, lambda node, arguments: 1 + max(arguments))


def tree_functions(tree: Tree) -> int:
    """Returns the number of functions in the tree."""
    return fold(tree, lambda string: 0, lambda node, arguments: 1 + sum(arguments))


def is_innermost(tree: Tree) -> bool:
    """Returns whether this is an application to strings only."""
    return isinstance(tree, Application) and all(isinstance(argument, String) for argument in tree.arguments)


def innermost(tree: Tree) -> list[Application]:
    """Returns the smallest constituents, applications to strings only, from left to right."""
    constituents: list[Application] = []

    def join(node: Application, arguments: list[None]) -> None:
        if is_innermost(node):
            constituents.append(node)

    fold(tree, lambda string: None, join)
    return constituents


def reduce(tree: Tree, outputs: Iterable[tuple[str, ...]]) -> Tree:
    """Returns the tree with its `innermost` constituents replaced by strings, in the same order."""
    remaining = iter(outputs)

    def join(node: Application, arguments: list[Tree]) -> Tree:
        if is_innermost(node):
            return String(next(remaining))
        return Application(node.function, node.spelling, tuple(arguments))

    return fold(tree, lambda string: string, join)


def reductions(tree: Tree) -> Iterator[Tree]:
    """Yields the tree, then smaller ones: each step replaces all innermost constituents by their meanings."""
    yield tree
    while not isinstance(tree, String):
        tree = reduce(tree, [meaning(constituent).letters for constituent in innermost(tree)])
        yield tree
