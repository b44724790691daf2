"""The meaning and the size of expressions."""

from humboldt.languages.pcfg_set.parts.functions import COMMA, PCFG_SET, RELEASED_SPELLINGS, SYNONYM_ENDINGS, Language
from humboldt.languages.pcfg_set.parts.parse import parse
from humboldt.languages.pcfg_set.parts.tree import Tree, meaning, show, tree_depth, tree_functions


def interpret(expression: str, language: Language = PCFG_SET) -> str:
    """Returns the meaning of an expression, letters separated by single spaces.

    >>> interpret("echo remove_first D K , E F")
    'E F F'
    >>> interpret("append swap_syn F G H , repeat I J")
    'H G F I J I J'
    """
    return str(meaning(parse(expression, language)))


def depth(expression: str | Tree, language: Language = PCFG_SET) -> int:
    """Returns the depth of nested functions: 1 for a single function.

    >>> depth("append swap F G H , repeat I J")
    2
    """
    return tree_depth(parse(expression, language) if isinstance(expression, str) else expression)


def length(expression: str | Tree) -> int:
    """Returns the number of tokens, including commas.

    >>> length("append swap F G H , repeat I J")
    9
    """
    text = expression if isinstance(expression, str) else show(expression)
    return len(text.split())


def num_functions(expression: str | Tree, language: Language = PCFG_SET) -> int:
    """Returns the number of functions in an expression.

    >>> num_functions("append swap F G H , repeat I J")
    3
    """
    if isinstance(expression, str):
        return sum(token in language.by_spelling for token in expression.split())
    return tree_functions(expression)


def string_arguments(expression: str, language: Language = PCFG_SET) -> list[str]:
    """Returns the strings that functions are applied to, from left to right.

    >>> string_arguments("append swap F G H , repeat I J")
    ['F G H', 'I J']
    """
    strings: list[str] = []
    letters: list[str] = []
    for token in expression.split():
        if token != COMMA and token not in language.by_spelling:
            letters.append(token)
        elif letters:
            strings.append(" ".join(letters))
            letters = []
    return [*strings, " ".join(letters)] if letters else strings


def to_paper_spelling(expression: str) -> str:
    """Returns the expression with `swap` and `_syn`, as in the paper.

    >>> to_paper_spelling("swap_first_last append_twin A B , C D")
    'swap append_syn A B , C D'
    """
    return " ".join(_respell(token, RELEASED_SPELLINGS, SYNONYM_ENDINGS) for token in expression.split())


def to_released_spelling(expression: str) -> str:
    """Returns the expression with `swap_first_last` and `_twin`, as in the released data.

    >>> to_released_spelling("swap append_syn A B , C D")
    'swap_first_last append_twin A B , C D'
    """
    spellings = {paper: released for released, paper in RELEASED_SPELLINGS.items()}
    return " ".join(_respell(token, spellings, SYNONYM_ENDINGS[::-1]) for token in expression.split())


def _respell(token: str, spellings: dict[str, str], endings: tuple[str, ...]) -> str:
    new, old = endings
    stem, ending = (token.removesuffix(old), new) if token.endswith(old) else (token, "")
    if not ending and token.endswith(new):
        stem, ending = token.removesuffix(new), new
    return spellings.get(stem, stem) + ending
