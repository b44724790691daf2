"""Unrolled evaluation: by hand, for models with known faults, and the authors' own, step by step."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pcfg_set_support import EXPRESSIONS, by_hand, ignores_outermost, oracle, released, truncates

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import CorpusSettings, corpus, localism_splits, num_functions
from humboldt.measures.pcfg_set import Share, localism_consistency, longest_intermediate, unroll


def test_figure_9():
    (unrolled,) = unroll(["echo append C , prepend B , A"], oracle)
    assert unrolled.steps == (("prepend B , A", "A B"), ("append C , A B", "C A B"), ("echo C A B", "C A B B"))
    assert unrolled.output == "C A B B" and unrolled.longest_intermediate == 3


@settings(deadline=None)
@given(st.lists(EXPRESSIONS, max_size=4))
def test_a_perfect_model_says_what_the_expression_means(expressions):
    for expression, unrolled in zip(expressions, unroll(expressions, oracle), strict=True):
        assert unrolled.output == by_hand(expression)
        assert len(unrolled.steps) == num_functions(expression)
        assert unrolled.longest_intermediate == longest_intermediate(expression)


def test_each_level_is_asked_for_at_once():
    batches = []

    def predict(sources: list[str]) -> list[str]:
        batches.append(sources)
        return oracle(sources)

    unroll(["append copy A , copy B", "repeat reverse echo C D", "A"], predict)
    assert batches == [
        ["copy A", "copy B", "echo C D"],
        ["append A , B", "reverse C D D"],
        ["repeat D D C"],
    ]


def test_whatever_a_model_says_is_fed_back():
    outputs = {"copy A": "", "append , B": "swap , B7", "echo swap , B7": "x"}
    (unrolled,) = unroll(["echo append copy A , B"], lambda sources: [outputs[source] for source in sources])
    assert unrolled.output == "x" and unrolled.longest_intermediate == 3


def test_a_model_that_ignores_the_outermost_function():
    sources = ["reverse shift A B C", "append A B , C D", "repeat copy A B", "echo append A B , C D"]
    direct = ignores_outermost(sources)
    unrolled = unroll(sources, ignores_outermost)
    assert direct == ["B C A", "A B", "A B", "A B C D"]
    assert [item.output for item in unrolled] == ["A B C", "A B", "A B", "A B"]
    targets = oracle(sources)
    score = localism_consistency(
        targets, direct, [u.output for u in unrolled], [u.longest_intermediate for u in unrolled]
    )
    assert score.flags == (False, True, True, False) and score.value == 0.5
    assert score.parts["consistent_correct"] == Share(0, 4)


def test_a_model_that_truncates_outputs():
    sources = ["reverse repeat A B C", "echo copy A B C", "repeat repeat A B", "reverse echo A B C D E"]
    direct, unrolled = truncates(sources), unroll(sources, truncates)
    # reverse of A B C A B | C: the sixth letter is lost when unrolled. reverse of A B C D E | E likewise.
    assert direct == ["C B A C B", "A B C C", "A B A B A", "E E D C B"]
    assert [item.output for item in unrolled] == ["B A C B A", "A B C C", "A B A B A", "E D C B A"]
    right = [longest_intermediate(source) for source in sources]
    assert right == [6, 3, 4, 6]
    score = localism_consistency(oracle(sources), direct, [u.output for u in unrolled], right)
    assert score.value == 0.5
    assert score.breakdowns["intermediate_strings"] == {"at most 5": Share(2, 2), "more than 5": Share(0, 2)}


def test_a_perfect_model_scores_one():
    data = localism_splits(corpus(3, CorpusSettings(size=2_000)))
    unrolled = unroll(data.test.sources, oracle)
    score = localism_consistency(
        data.test.targets,
        oracle(list(data.test.sources)),
        [u.output for u in unrolled],
        [u.longest_intermediate for u in unrolled],
        num_functions=[num_functions(source) for source in data.test.sources],
    )
    assert score.value == 1 and score.n == len(data.test) > 100
    assert set(score.breakdowns) == {"intermediate_strings", "num_functions"}


def test_the_authors_unrolled_evaluation():
    """Their model, as a table of what it said, through our driver: the same steps and the same verdicts."""
    with gzip.open(released("predictions/lstms2s_localism.txt.gz"), "rt") as file:
        blocks = file.read().split("-----------------------------\n")[1:2_001]
    said: dict[str, str] = {}
    sources, outputs, verdicts, steps, long = [], [], [], [], []
    for block in blocks:
        *lines, verdict = block.strip("\n").split("\n")
        asked = [(" ".join(source.split()), output.strip()) for source, output in (line.split("->") for line in lines)]
        said |= dict(asked)
        sources.append(asked[-1][0])
        outputs.append(asked[-1][1])
        steps.append(set(asked[:-1]))
        long.append(any(len(output.split()) > 5 for _, output in asked[:-2]))
        verdicts.append(verdict == "True")
    unrolled = unroll(sources, lambda batch: [said[source] for source in batch])
    assert [set(item.steps) for item in unrolled] == steps
    score = localism_consistency(
        oracle(sources), outputs, [u.output for u in unrolled], [u.longest_intermediate for u in unrolled]
    )
    assert list(score.flags) == verdicts
    flags = [flag for flag, is_long in zip(verdicts, long, strict=True) if is_long]
    assert score.breakdowns["intermediate_strings"]["more than 5"] == Share(sum(flags), len(flags))
    assert score.value == pytest.approx(0.46, abs=0.03)  # printed, over all items and three runs


def test_a_model_that_loses_items():
    with pytest.raises(UsageError, match="given 2 sources and returned 1 outputs"):
        unroll(["copy A", "copy B"], lambda sources: ["A"])
