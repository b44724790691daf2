"""Trees, reduced step by step."""

from hypothesis import given, settings
from pcfg_set_support import EXPRESSIONS, by_hand

from humboldt.languages.pcfg_set import String, innermost, meaning, parse, reduce, reductions, show


def test_the_steps_of_an_example():
    tree = parse("append swap F G H , repeat echo I J")
    assert [show(step) for step in reductions(tree)] == [
        "append swap F G H , repeat echo I J",
        "append H G F , repeat I J J",
        "append H G F , I J J I J J",
        "H G F I J J I J J",
    ]
    assert [show(constituent) for constituent in innermost(tree)] == ["swap F G H", "echo I J"]


def test_figure_9():
    tree = parse("echo append C , prepend B , A")
    assert [show(step) for step in reductions(tree)][1:] == ["echo append C , A B", "echo C A B", "C A B B"]


def test_outputs_are_put_in_place_from_left_to_right():
    tree = parse("append append copy A , copy B , copy C")
    assert show(reduce(tree, [("X",), ("Y",), ()])) == "append append X , Y ,"


@settings(deadline=None)
@given(EXPRESSIONS)
def test_every_step_keeps_the_meaning(expression):
    steps = list(reductions(parse(expression)))
    assert steps[-1] == String(tuple(by_hand(expression).split()))
    assert all(meaning(step) == steps[-1] for step in steps)
    assert all(not innermost(step) for step in steps[-1:])
