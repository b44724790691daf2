"""Scores of files, test by test: any expressions, twins, epochs; and what is refused with its line."""

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from pcfg_set_support import dislikes_synonyms, ignores_outermost, oracle, released, truncates

import humboldt
from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import (
    CorpusSettings,
    Examples,
    corpus,
    equally_distributed,
    localism_splits,
    overgeneralisation_splits,
    productivity_splits,
    systematicity_splits,
)
from humboldt.measures.pcfg_set import unroll
from humboldt.storage.store import Store
from humboldt.suites import suites

HEADER = "source\ttarget\tprediction"
SMALL = {"size": 1500, "letters": 60, "deepest": 3}
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(rows: Iterable[tuple[str, ...]], name: str = "mine.tsv", header: str = HEADER) -> Path:
        (tmp_path / name).write_text("\n".join([header, *("\t".join(row) for row in rows)]) + "\n")
        return tmp_path / name

    return write


def said(examples: Examples, model: Callable[[list[str]], list[str]] = oracle) -> list[tuple[str, ...]]:
    return list(zip(examples.sources, examples.targets, model(list(examples.sources)), strict=True))


def score(test: str, path: Path, twin: Path | None = None, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The readings by measure, and the details: those of the file and of its one member."""
    found = humboldt.score("pcfg_set", path, tasks=test, twin=twin, **options).to_dict()
    assert json.loads(json.dumps(found)) == found and found["task"] == test
    (member,) = found["details"].pop("members")
    return {reading["measure"]: reading for reading in found["readings"]}, {**found["details"], **member}


@pytest.fixture(scope="module")
def small():
    return corpus(3, CorpusSettings(size=2_000))


def test_a_perfect_model_scores_one_on_every_test(small, write: Write):
    synonyms = equally_distributed(small)
    local = localism_splits(small).test
    unrolled = [(s, t, u.output) for (s, t), u in zip(local, unroll(local.sources, oracle), strict=True)]
    cases = [
        ("task_accuracy", said(small.test), None),
        ("systematicity", said(systematicity_splits(small).test), None),
        ("productivity", said(productivity_splits(small).test), None),
        ("substitutivity", said(synonyms.test), said(synonyms.synonyms)),
        ("localism", said(local), unrolled),
        ("overgeneralisation", said(overgeneralisation_splits(small, 0.02).test), None),
    ]
    measures = ["sequence_accuracy"] * 3 + ["consistency"] * 2 + ["overgeneralised"]
    for (test, rows, twins), measure in zip(cases, measures, strict=True):
        found, details = score(test, write(rows), None if twins is None else write(twins, "twin.tsv"))
        assert found[measure]["value"] == 1 and found[measure]["n"] > 5, test
        assert found[measure]["published"] or measure == "overgeneralised", test
        assert details["num_disagreements"] == 0, test


def test_models_with_faults(write: Write):
    sources = ["copy A B", "reverse copy A B C", "append A B , copy C", "repeat append A B , C D E"]
    meanings = oracle(sources)

    def scored(model) -> tuple[dict, dict]:
        return score("task_accuracy", write(zip(sources, meanings, model(sources), strict=True)))

    found, details = scored(ignores_outermost)
    assert found["sequence_accuracy"]["value"] == 1 / 4
    assert found["sequence_accuracy"]["breakdown"]["depth"] == {"1": 1.0, "2": 0.0}
    assert details["score"]["breakdowns"]["depth"] == {"1": {"value": 1.0, "n": 1}, "2": {"value": 0.0, "n": 3}}
    found, _ = scored(truncates)
    assert found["sequence_accuracy"]["value"] == 3 / 4
    assert (found["stops_early"]["value"], found["stops_early"]["n"]) == (1.0, 1)
    twins = [f"{s.split(' ', 1)[0]}_syn {s.split(' ', 1)[1]}" for s in sources[1:]]
    first = write(zip(sources[1:], meanings[1:], meanings[1:], strict=True))
    second = write(zip(twins, meanings[1:], dislikes_synonyms(twins), strict=True), "twin.tsv")
    found, _ = score("substitutivity", first, second)
    assert [found[name]["value"] for name in ("consistency", "sequence_accuracy", "twin_accuracy")] == [0, 1, 0]


def test_outputs_are_compared_with_the_language_and_wrong_targets_are_listed(write: Write):
    found, details = score("task_accuracy", write([("swap A B C", "C A B", "C B A"), ("copy A", "A", "A")]))
    assert found["sequence_accuracy"]["value"] == 1 and details["num_disagreements"] == 1
    assert details["disagreements"] == [{"line": 2, "source": "swap A B C", "target": "C A B", "meaning": "C B A"}]


def test_any_symbols_may_be_written_and_long_outputs_are_not_cut(write: Write):
    long = " ".join(["A"] * 300)  # the paper's protocol cuts outputs of networks after 256 symbols
    rows = [("copy A", "A", "copy <unk>"), (f"copy {long}", long, long), (f"echo {long}", f"{long} A", f"{long} B")]
    found, details = score("task_accuracy", write(rows))
    assert found["sequence_accuracy"]["value"] == pytest.approx(1 / 3) and details["cut_outputs"] == 0


def test_epochs(write: Write):
    rows = [("reverse echo A B", "A B B", "B", "5"), ("prepend reverse A B , C", "A B B", "C B A", "5")]
    rows += [("reverse echo A B", "A B B", "B B A", "12"), ("prepend reverse A B , C", "A B B", "C B A", "12")]
    rows += [("reverse echo A B", "A B B", "A B B", "20"), ("prepend reverse A B , C", "C B A", "x", "20")]
    found, details = score("overgeneralisation", write(rows, header=HEADER + "\tepoch"))
    assert found["overgeneralisation_of_all"]["value"] == found["overgeneralisation"]["value"] == 1
    assert "epoch 12" in found["overgeneralisation_of_all"]["note"] and found["overgeneralisation"]["published"]
    assert (found["overgeneralised"]["value"], found["overgeneralised"]["n"]) == (0, 2)  # in the end
    epochs = details["milestones"]
    assert [epoch["epoch"] for epoch in epochs] == [5, 12, 20]
    assert [epoch["overgeneralised"]["all"] for epoch in epochs] == [0.5, 1, 0]
    assert [epoch["memorised"]["all"] for epoch in epochs] == [0, 0, 0.5]
    assert details["num_disagreements"] == 0
    assert details["exceptions"]["breakdowns"]["kind"] == {"primitive": {"value": 0.0, "n": 2}}
    assert set(details["exceptions"]["breakdowns"]["pair"]) == {"reverse echo", "prepend reverse"}


def test_localism_leaves_single_functions_out_and_knows_long_strings(write: Write):
    rows = [("copy A", "A", "x"), ("reverse echo A B C D E", "E E D C B A", "x"), ("copy copy A", "A", "A")]
    twins = [("copy A", "A", "y"), ("reverse echo A B C D E", "E E D C B A", "y"), ("copy copy A", "A", "A")]
    found, details = score("localism", write(rows), write(twins, "twin.tsv"))
    assert (found["consistency"]["n"], found["consistency"]["value"], details["single_functions_left_out"]) == (
        2,
        0.5,
        1,
    )
    assert found["consistency"]["breakdown"]["intermediate_strings"] == {"at most 5": 1.0, "more than 5": 0.0}
    assert details["intermediate_strings_from"] == "the right outputs"
    given = [(*row, length) for row, length in zip(twins, ("0", "2", "9"), strict=True)]
    found, details = score("localism", write(rows), write(given, "twin.tsv", HEADER + "\tlongest_intermediate"))
    assert found["consistency"]["breakdown"]["intermediate_strings"]["more than 5"] == 1.0
    assert details["intermediate_strings_from"] == "the model's outputs"


@pytest.mark.parametrize(
    ("test", "rows", "twins", "text"),
    [
        ("sistematicity", [], None, "No test of pcfg_set named 'sistematicity'. Did you mean 'systematicity'"),
        ("localism", [("copy A", "A", "A")], None, "Give the twin file: the final outputs of the unrolled evaluation"),
        ("task_accuracy", [("copy A", "A", "A")], [], "has no twin file; only substitutivity and localism do"),
        ("systematicity", [("copy A", "A", "A")], None, "mine.tsv, line 2: 'copy A' has no held-out pair"),
        ("productivity", [("copy A", "A", "A")], None, "mine.tsv, line 2: 'copy A' has 1 functions"),
        ("overgeneralisation", [("copy A", "A", "A")], None, "mine.tsv, line 2: 'copy A' has none of the pairs"),
        (
            "overgeneralisation",
            [("remove_first reverse echo A B , C", "C", "C")],
            None,
            "line 2: 'remove_first reverse echo A B , C' means 'C' by the rules and as an exception",
        ),
        ("localism", [("copy A", "A", "A")], [("copy A", "A", "A")], "nothing that could be unrolled"),
        ("substitutivity", [("copy A", "A", "A")] * 2, [("copy_syn A", "A", "A")], "Line 3 of mine.tsv is the first"),
        ("task_accuracy", [("copy A", "A", "A"), ("copy A", "A", "B")], None, "line 3: the input 'copy A' has another"),
    ],
)
def test_what_is_refused(test, rows, twins, text, write: Write):
    with pytest.raises(UsageError) as error:
        score(test, write(rows), None if twins is None else write(twins, "twin.tsv"))
    assert text in str(error.value)


def test_columns_that_are_not_numbers(write: Write):
    rows = [("reverse echo A B", "A B B", "x", "first")]
    with pytest.raises(UsageError, match="line 2: the epoch is 'first', not a whole number"):
        score("overgeneralisation", write(rows, header=HEADER + "\tepoch"))
    twins = write([("copy copy A", "A", "A", "-1")], "twin.tsv", HEADER + "\tlongest_intermediate")
    with pytest.raises(UsageError, match=r"twin\.tsv, line 2: longest_intermediate is '-1'"):
        score("localism", write([("copy copy A", "A", "A")]), twins)


def test_settings_choose_a_corpus_for_a_table_only(write: Write):
    with pytest.raises(UsageError, match="--set size: predictions for pcfg_set are compared with what"):
        score("task_accuracy", write([("copy A", "A", "A")]), settings={"size": 100})


def test_a_table_has_the_items_of_the_corpus(write: Write, tmp_path: Path):
    options: Any = {"settings": SMALL, "preset": "quick", "out": tmp_path / "out"}
    suite: Any = suites.get("pcfg_set")
    about = {"count": None, "length": None, "seed": 0, "settings": SMALL, "preset": "quick"}
    data = {split: list(suite.data("task_accuracy", split=split, **about)) for split in ("test", "train")}
    rows = [(" ".join(x), " ".join(y), " ".join(y)) for x, y in data["test"]]
    found, _ = score("task_accuracy", write(reversed(rows)), **options)
    assert found["sequence_accuracy"]["value"] == 1 and found["sequence_accuracy"]["n"] == len(rows)
    (stored,) = Store.open(tmp_path / "out").scores("pcfg_set")
    assert stored.evaluation.name == "accuracy" and stored.results[0].measures["sequence_accuracy"] == 1
    other = next(" ".join(x) for x, _ in data["train"] if " ".join(x) not in {row[0] for row in rows})
    with pytest.raises(UsageError, match=f"line {len(rows) + 2}: .* is not a test item of task_accuracy"):
        score("task_accuracy", write([*rows, (other, "x", "x")]), **options)
    with pytest.raises(UsageError, match=r"mine\.tsv has no prediction for the test string"):
        score("task_accuracy", write(rows[1:]), **options)
    with pytest.raises(UsageError, match="substitutivity has a table for each of"):
        score("substitutivity", write(rows), write(rows, "twin.tsv"), out=tmp_path / "out")


@pytest.mark.parametrize(
    ("test", "names", "measure", "value"),
    [
        ("task_accuracy", ["transformer_pcfgset"], "sequence_accuracy", 0.907005),
        ("systematicity", ["transformer_systematicity"], "sequence_accuracy", 0.724029),
        ("substitutivity", ["transformer_primitive", "transformer_primitive_synonym"], "consistency", 0.8952),
    ],
)
def test_the_authors_files(test, names, measure, value, tmp_path: Path):
    paths = []
    for name in names:
        paths.append(tmp_path / f"{name}.tsv")
        paths[-1].write_bytes(gzip.decompress(released(f"predictions/{name}.tsv.gz").read_bytes()))
    found, details = score(test, *paths)
    assert found[measure]["value"] == pytest.approx(value, abs=5e-7) and details["num_disagreements"] == 0
