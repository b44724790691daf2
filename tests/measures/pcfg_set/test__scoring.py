"""Scores of files, test by test."""

import gzip
import json
from collections.abc import Iterable

import pytest
from pcfg_set_support import dislikes_synonyms, ignores_outermost, oracle, released, truncates

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import (
    CorpusSettings,
    corpus,
    equally_distributed,
    localism_splits,
    overgeneralisation_splits,
    productivity_splits,
    systematicity_splits,
)
from humboldt.measures.pcfg_set import File, score_predictions, unroll

HEADER = "source\ttarget\tprediction"


def file(rows: Iterable[tuple[str, ...]], name: str = "mine.tsv", header: str = HEADER) -> File:
    return File.tsv(name, [header, *("\t".join(row) for row in rows)])


def made(examples, model=oracle, name: str = "mine.tsv") -> File:
    outputs = model(list(examples.sources))
    return file(zip(examples.sources, examples.targets, outputs, strict=True), name)


@pytest.fixture(scope="module")
def small():
    return corpus(3, CorpusSettings(size=2_000))


def test_a_perfect_model_scores_one_on_every_test(small):
    synonyms = equally_distributed(small)
    exceptions = overgeneralisation_splits(small, 0.02)
    local = localism_splits(small).test
    unrolled = [(s, t, u.output) for (s, t), u in zip(local, unroll(local.sources, oracle), strict=True)]
    results = [
        score_predictions("task_accuracy", made(small.test)),
        score_predictions("systematicity", made(systematicity_splits(small).test)),
        score_predictions("productivity", made(productivity_splits(small).test)),
        score_predictions("substitutivity", made(synonyms.test), made(synonyms.synonyms, name="twin.tsv")),
        score_predictions("localism", made(local), file(unrolled, "twin.tsv")),
        score_predictions("overgeneralisation", made(exceptions.test)),
    ]
    measures = ["sequence_accuracy"] * 3 + ["consistency"] * 2 + ["overgeneralisation"]
    for result, measure in zip(results, measures, strict=True):
        assert result[measure] == 1 and result["n"] > 5 and result["num_disagreements"] == 0, result["test"]
        assert json.loads(json.dumps(result)) == result


def test_models_with_faults():
    sources = ["copy A B", "reverse copy A B C", "append A B , copy C", "repeat append A B , C D E"]
    rows = list(zip(sources, oracle(sources), strict=True))

    def score(model) -> dict:
        return score_predictions("task_accuracy", file([(*r, o) for r, o in zip(rows, model(sources), strict=True)]))

    assert score(ignores_outermost)["sequence_accuracy"] == 1 / 4
    assert score(ignores_outermost)["breakdowns"]["depth"] == {
        "1": {"value": 1.0, "n": 1},
        "2": {"value": 0.0, "n": 3},
    }
    assert score(truncates)["sequence_accuracy"] == 3 / 4 and score(truncates)["stops_early"] == {"value": 1.0, "n": 1}
    twins = [f"{s.split(' ', 1)[0]}_syn {s.split(' ', 1)[1]}" for s in sources[1:]]
    first = file([(s, m, m) for s, m in rows[1:]])
    second = file([(t, m, o) for t, (_, m), o in zip(twins, rows[1:], dislikes_synonyms(twins), strict=True)])
    result = score_predictions("substitutivity", first, second)
    assert result["consistency"] == 0 and result["accuracy"]["value"] == 1 and result["twin_accuracy"]["value"] == 0


def test_outputs_are_held_against_the_language_and_wrong_targets_are_listed():
    result = score_predictions("task_accuracy", file([("swap A B C", "C A B", "C B A"), ("copy A", "A", "A")]))
    assert result["sequence_accuracy"] == 1 and result["num_disagreements"] == 1
    assert result["disagreements"] == [{"line": 2, "source": "swap A B C", "target": "C A B", "meaning": "C B A"}]


def test_epochs():
    rows = [("reverse echo A B", "A B B", "B", "5"), ("prepend reverse A B , C", "A B B", "C B A", "5")]
    rows += [("reverse echo A B", "A B B", "B B A", "12"), ("prepend reverse A B , C", "A B B", "C B A", "12")]
    rows += [("reverse echo A B", "A B B", "A B B", "20"), ("prepend reverse A B , C", "C B A", "x", "20")]
    result = score_predictions("overgeneralisation", file(rows, header=HEADER + "\tepoch"))
    assert (result["overgeneralisation"], result["peak_epoch"], result["n"]) == (1, 12, 2)
    assert [e["epoch"] for e in result["epochs"]] == [5, 12, 20]
    assert [e["memorised"] for e in result["epochs"]] == [0, 0, 0.5]
    assert [e["neither"] for e in result["epochs"]] == [0.5, 0, 0.5]
    assert result["num_disagreements"] == 0 and result["breakdowns"]["kind"] == {"primitive": {"value": 1.0, "n": 2}}
    assert set(result["breakdowns"]["pair"]) == {"reverse echo", "prepend reverse"}


def test_localism_leaves_single_functions_out_and_knows_long_strings():
    rows = [("copy A", "A", "x"), ("reverse echo A B C D E", "E E D C B A", "x"), ("copy copy A", "A", "A")]
    twins = [("copy A", "A", "y"), ("reverse echo A B C D E", "E E D C B A", "y"), ("copy copy A", "A", "A")]
    result = score_predictions("localism", file(rows), file(twins, "twin.tsv"))
    assert (result["n"], result["consistency"], result["single_functions_left_out"]) == (2, 0.5, 1)
    assert result["breakdowns"]["intermediate_strings"] == {
        "at most 5": {"value": 1.0, "n": 1},
        "more than 5": {"value": 0.0, "n": 1},
    }
    assert result["intermediate_strings_from"] == "the right outputs"
    given = [(*row, length) for row, length in zip(twins, ("0", "2", "9"), strict=True)]
    result = score_predictions("localism", file(rows), file(given, header=HEADER + "\tlongest_intermediate"))
    assert result["breakdowns"]["intermediate_strings"]["more than 5"] == {"value": 1.0, "n": 1}
    assert result["intermediate_strings_from"] == "the model's outputs"


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
    ],
)
def test_what_is_refused(test, rows, twins, text):
    with pytest.raises(UsageError) as error:
        score_predictions(test, file(rows), None if twins is None else file(twins, "twin.tsv"))
    assert text in str(error.value)


def test_columns_that_are_no_numbers():
    rows = [("reverse echo A B", "A B B", "x", "first")]
    with pytest.raises(UsageError, match="line 2: the epoch is 'first', not a whole number"):
        score_predictions("overgeneralisation", file(rows, header=HEADER + "\tepoch"))
    twins = file([("copy copy A", "A", "A", "-1")], "twin.tsv", HEADER + "\tlongest_intermediate")
    with pytest.raises(UsageError, match=r"twin\.tsv, line 2: longest_intermediate is '-1'"):
        score_predictions("localism", file([("copy copy A", "A", "A")]), twins)


@pytest.mark.parametrize(
    ("test", "names", "measure", "value"),
    [
        ("task_accuracy", ["transformer_pcfgset"], "sequence_accuracy", 0.907005),
        ("systematicity", ["transformer_systematicity"], "sequence_accuracy", 0.724029),
        ("substitutivity", ["transformer_primitive", "transformer_primitive_synonym"], "consistency", 0.8952),
    ],
)
def test_the_authors_files(test, names, measure, value):
    files = []
    for name in names:
        with gzip.open(released(f"predictions/{name}.tsv.gz"), "rt") as stream:
            files.append(File.tsv(name, stream))
    result = score_predictions(test, *files)
    assert result[measure] == pytest.approx(value, abs=5e-7) and result["num_disagreements"] == 0
