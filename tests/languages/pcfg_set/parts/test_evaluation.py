"""The compiled interpreter against the one for a single expression."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pcfg_set_support import EXPRESSIONS

from humboldt.languages.pcfg_set import (
    PCFG_SET,
    Language,
    depth,
    interpret,
    parse_functions,
    to_paper_spelling,
    with_meanings,
)
from humboldt.languages.pcfg_set.parts.evaluation import NO_BOUND, _window, encode, flatten, measure


def own_spelling(expression: str) -> str:
    """Without synonyms and one-letter letters, which ids do not have."""
    tokens = to_paper_spelling(expression).replace("_syn", "").split()
    return " ".join(f"{token}1" if len(token) == 1 and token != "," else token for token in tokens)


@settings(deadline=None)
@given(st.lists(EXPRESSIONS, min_size=1, max_size=5))
def test_meanings_and_depths_are_the_same(expressions):
    sources = [own_spelling(expression) for expression in expressions]
    assert with_meanings(sources).targets == tuple(interpret(source) for source in sources)
    encoded = encode(PCFG_SET)
    depths, sizes = measure(*flatten(sources, encoded), encoded.arities, encoded.parts)
    assert depths.tolist() == [depth(source) for source in sources]
    assert sizes.tolist() == [len(interpret(source).split()) for source in sources]


def test_slices_are_pythons():
    bounds = [None, -4, -2, -1, 0, 1, 2, 5]
    for size, start, stop, step in itertools.product(range(5), bounds, bounds, [-3, -2, -1, 1, 2, 3]):
        taken = list(range(size))[start:stop:step]
        first, count = _window(NO_BOUND if start is None else start, NO_BOUND if stop is None else stop, step, size)
        assert count == len(taken)
        assert not taken or [first + k * step for k in range(count)] == taken


def test_a_language_of_ones_own():
    language = Language(
        parse_functions("middle x -> x[1:-1] x[::2]\nback x -> x[::-1][:2]\nzip x , y -> y[-2:] x[:1]"), "abc"
    )
    rng = np.random.default_rng(0)
    sources = []
    for _ in range(200):
        text = "a b c a c"
        for _ in range(rng.integers(1, 6)):
            text = rng.choice([f"middle {text}", f"back {text}", f"zip {text} , c b a b", f"zip b a , {text}"])
        sources.append(str(text))
    assert with_meanings(sources, language).targets == tuple(interpret(source, language) for source in sources)


def test_no_expressions():
    assert len(with_meanings([])) == 0
