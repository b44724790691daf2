"""Probabilities of the grammar, joint histograms, and what is shipped of the released data."""

import importlib.util
import json
from importlib import resources
from pathlib import Path

import pytest
from pcfg_set_support import released, released_test_sources

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import (
    PCFG_SET,
    JointHistogram,
    Language,
    Productions,
    authors_productions,
    estimate,
    parse_functions,
    released_histogram,
    released_productions,
    statistics,
    uniform_productions,
)


def test_estimates_are_relative_frequencies():
    found = estimate(["copy A B", "append copy A B C , swap_syn D E", "remove_first D E , F G H I"])
    assert found.unary == 3 / 5  # copy copy swap of five
    assert found.function == 2 / 7  # copy and swap of two functions and five strings that are arguments
    assert found.functions["copy"] == 2 / 3 and found.functions["swap"] == 1 / 3 and found.functions["echo"] == 0
    assert found.functions["append"] == found.functions["remove_first"] == 1 / 2
    assert found.string_lengths == {2: 3 / 5, 3: 1 / 5, 4: 1 / 5}


def test_the_shipped_file_is_what_the_script_writes(tmp_path, monkeypatch, capsys):
    script = Path(__file__).parents[4] / "reproductions/pcfg_set/estimate.py"
    spec = importlib.util.spec_from_file_location("estimate_script", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    test = tmp_path / "test.src"
    test.write_text("\n".join(released_test_sources()))
    monkeypatch.setattr("sys.argv", ["estimate.py", str(released("dev.src")), str(test), str(tmp_path / "out.json")])
    module.main()
    shipped = resources.files("humboldt.languages.pcfg_set").joinpath("naturalised.json").read_text()
    assert (tmp_path / "out.json").read_text() == shipped
    assert "mean   4.40  deviation  2.03" in capsys.readouterr().out


def test_what_is_shipped():
    histogram = released_histogram()
    assert histogram.counts.total() == 4_860 + 9_721
    assert sum(count for (_, d), count in histogram.counts.items() if d == 1) == 225
    productions = released_productions()
    assert set(productions.functions) == {function.name for function in PCFG_SET.functions}
    assert list(productions.string_lengths) == [2, 3, 4, 5]
    assert sum(productions.functions.values()) == pytest.approx(2)
    random = authors_productions()
    assert random.functions == {
        function.name: pytest.approx(1 / 6 if function.arity == 1 else 1 / 4) for function in PCFG_SET.functions
    }
    assert random.string_lengths == {n: 1 / 4 for n in (2, 3, 4, 5)}
    assert random.late_string_lengths == {n: 1 / 3 for n in (3, 4, 5)}
    text = resources.files("humboldt.languages.pcfg_set").joinpath("naturalised.json").read_text()
    # 270,400 strings of two letters last for about 358,000 trees: three strings in a tree, a quarter of them so short.
    early = json.loads(text)["early_interval"]
    assert early[0] < random.early < early[1] and random.early * 97_203 == pytest.approx(358_000, rel=0.03)
    assert len(text) < 10_000 and json.loads(text)["columns"] == ["length", "depth", "count"]


def test_distance_between_histograms():
    first = JointHistogram([(3, 1), (3, 1), (4, 2), (5, 2)])
    assert first.distance(first) == 0
    assert first.distance(JointHistogram([(9, 9)])) == 1
    assert first.distance(JointHistogram({(3, 1): 1, (4, 2): 1})) == pytest.approx(0.25)
    assert JointHistogram.of(["copy A B", "copy copy A B"]).counts == {(3, 1): 1, (4, 2): 1}


def test_statistics():
    found = statistics(["copy A B", "append swap F G H , repeat I J"])
    assert (found.depth.mean, found.depth.deviation, found.depth.smallest, found.depth.largest) == (1.5, 0.5, 1, 2)
    assert (found.length.mean, found.num_functions.mean, found.count) == (6, 2, 2)
    assert "depth          mean   1.50  deviation  0.50  from 1 to 2" in str(found)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Productions(1.2, 0.5, {}, {2: 1.0}), "unary = 1.2 is not between 0 and 1"),
        (lambda: Productions(0.5, 0.5, {}, {2: 0.5}), "sum to 1, not to 0.5"),
        (lambda: Productions(0.5, 0.5, {}, {0: 1.0}), "must be 1 or more"),
        (lambda: estimate(["A B"]), "cannot be estimated from expressions without functions"),
        (lambda: statistics([]), "no expressions to describe"),
        (
            lambda: Productions(0.5, 0.5, dict.fromkeys(released_productions().functions, 0.1), {2: 1.0}).choices(
                PCFG_SET, 1
            ),
            "functions with 1 arguments sum to 0.6",
        ),
        (
            lambda: released_productions().choices(Language(parse_functions("mirror x -> x[::-1]"), "ab"), 1),
            "no probability to the function 'mirror'. They have copy, reverse",
        ),
    ],
)
def test_what_is_refused(make, text):
    with pytest.raises(UsageError) as error:
        make()
    assert text in str(error.value)


def test_uniform_productions():
    found = uniform_productions(PCFG_SET, unary=0.3, function=0.2)
    assert found.functions["copy"] == 1 / 6 and found.functions["append"] == 1 / 4
    assert found.string_lengths == {2: 0.25, 3: 0.25, 4: 0.25, 5: 0.25}
