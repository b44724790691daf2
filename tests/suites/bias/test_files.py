"""Anyone's files of outputs and nats: scores, members, and errors that name the line."""

import math
from pathlib import Path
from typing import Any

import pytest

import humboldt
from humboldt.errors import UsageError
from humboldt.languages.bias.count_or_memorization import CountOrMemorization
from humboldt.languages.bias.hierarchical_or_linear import HierarchicalOrLinear
from humboldt.storage import files

SETTINGS = {"l": 3, "span": 2}
TASK = CountOrMemorization(l=3, span=2)  # hold-out inputs of 1, 2, 4 and 5 symbols


def predictions(rule: str, *seed: Any, training: bool = True) -> list[dict[str, Any]]:
    sources = [*TASK.holdout_inputs, *TASK.training_targets] if training else list(TASK.holdout_inputs)
    rows = [{"input": " ".join(source), "prediction": " ".join(TASK.output(rule, source))} for source in sources]
    return [{**row, "seed": seed[0]} for row in rows] if seed else rows


def nats(seed: int, **values: float) -> list[dict[str, Any]]:
    return [
        {"input": " ".join(source), "rule": rule, "nats": value, "seed": seed}
        for rule, value in values.items()
        for source in TASK.holdout_inputs
    ]


@pytest.fixture
def score(tmp_path: Path):
    """Scores rows as a file; gives the readings by measure, and the details."""

    def score(rows: list[dict[str, Any]], task: str = "count_or_memorization", **options: Any) -> tuple[Any, Any]:
        files.write(tmp_path / "mine.jsonl", rows)
        card = humboldt.score("bias", tmp_path / "mine.jsonl", tasks=task, **{"settings": SETTINGS, **options})
        found = card.to_dict()
        return {reading["measure"]: reading for reading in found["readings"]}, found["details"]

    return score


def test_predictions_of_several_seeds(score):
    found, details = score([*predictions("count", 1), *predictions("mem", 2), *predictions("count", "third")])
    assert found["fits"]["value"] == 1 and found["fits"]["n"] == 3 and details["seeds"] == [1, 2, "third"]
    assert [found[f"FPA-{rule}"]["value"] for rule in TASK.rules] == [pytest.approx(2 / 3), pytest.approx(1 / 3)]
    assert [found[f"accuracy-{rule}"]["value"] for rule in TASK.rules] == [pytest.approx(2 / 3), pytest.approx(1 / 3)]
    assert found["FPA-count"]["low"] < 0.5
    assert not any("without empty" in measure for measure in found)
    assert [member["member"]["seed"] for member in details["members"]] == [0, 1, 2]


def test_predictions_without_a_seed_are_of_one_member(score):
    found, _ = score(predictions("mem", training=False))
    assert found["FPA-mem"]["n"] == 1 and "fits" not in found  # without training inputs it is not known
    assert [found[f"FPA-{rule}"]["value"] for rule in TASK.rules] == [0.0, 1.0]


def test_the_empty_output_is_scored_apart(score):
    task = CountOrMemorization(l=2, span=2)
    rows = [
        {"input": " ".join(source), "prediction": " ".join(target) or "b"}
        for source, target in task.holdout_pairs("count")
    ]
    found, _ = score(rows, settings={"l": 2, "span": 2})
    assert (found["FPA-count"]["value"], found["FPA-count, without empty outputs"]["value"]) == (0.0, 1.0)


def test_symbols_that_the_task_does_not_have(score):
    rows = predictions("count", 1)
    rows[0] = {**rows[0], "prediction": "b <unk>"}
    assert score(rows)[0]["FPA-count"]["value"] == 0
    rows[2] = {**rows[2], "prediction": "bbbb"}
    with pytest.raises(
        UsageError, match=r"line 3: the prediction has the symbol 'bbbb', .* alphabet b\. Put single spaces"
    ):
        score(rows)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"input": "a a a a a a"}, "line 2: the input 'a a a a a a' is neither a hold-out input nor a training input"),
        ({"input": "aa"}, "line 2: the input 'aa' is neither .* the first hold-out input is 'a'"),
        ({"input": 3}, "line 2: `input` is 3. Give text"),
        ({"prediction": ["b"]}, "line 2: `prediction` is"),
        ({"input": "a"}, "line 2: the input 'a' of seed 1 is there already, in mine.jsonl, line 1. Give it once"),
        ({"seed": 1.5}, "line 2: `seed` is 1.5. Give a whole number or a name"),
        ({"seed": 2}, "Seed 1 has no output for the hold-out input 'a a'"),
    ],
)
def test_wrong_predictions_are_named(change: dict[str, Any], words: str, score):
    rows = predictions("count", 1)
    rows[1] = {**rows[1], **change}
    with pytest.raises(UsageError, match=words):
        score(rows)


def test_missing_fields_are_named(score):
    rows = predictions("count", 1)
    with pytest.raises(UsageError, match=r"line 1: there is no field `prediction`. A record looks like \{\"input\""):
        score([{"input": "a", "seed": 1}])
    with pytest.raises(UsageError, match="line 5: some records have a field `seed` and some have none"):
        score([*rows[:4], {"input": "a a a", "prediction": "b"}])
    with pytest.raises(UsageError, match=r"mine\.jsonl: there is no row"):
        score([])
    with pytest.raises(UsageError, match="Seed 2 has no output for the training input"):
        score([*rows, *predictions("mem", 2, training=False)])


def test_a_file_for_each_seed_has_no_seeds_of_its_own(tmp_path: Path):
    paths = [tmp_path / "0.jsonl", tmp_path / "1.jsonl"]
    for path in paths:
        files.write(path, predictions("count", 1))
    with pytest.raises(UsageError, match=r"0\.jsonl, line 1: a field `seed`, and 2 files"):
        humboldt.score("bias", paths, tasks="count_or_memorization", settings=SETTINGS)


def test_nats_to_description_length(score, tmp_path: Path):
    rows = [*nats(1, count=1.0, mem=2.0), *nats(2, count=0.5, mem=4.0)]
    found, details = score(rows, out=tmp_path / "out")
    assert [found[f"L-{rule}, nats"]["value"] for rule in TASK.rules] == [3.0, 12.0]
    assert found["L-count"]["value"] == pytest.approx(3 / math.log(2)) and found["L-count"]["n"] == 2
    assert "lower than every other rule" in found["L-count"]["note"] and "FPA-count" not in found
    assert details["seeds"] == [1, 2] and {member["evaluation"] for member in details["members"]} == {"preference"}
    shown = humboldt.score("bias", tmp_path / "mine.jsonl", tasks="count_or_memorization", settings=SETTINGS).table()
    assert f"{3 / math.log(2):.2f}" in shown  # L in bits
    only_one = [row for row in rows if row["rule"] == "mem"]
    found, _ = score(only_one)
    assert found["L-mem, nats"]["value"] == 12.0 and "L-count" not in found
    with pytest.raises(UsageError, match="cannot be put into a table"):
        score(only_one, out=tmp_path / "out")


def test_rules_with_the_same_output_may_have_other_nats(score):
    """Half of the hold-out examples of this task are the same for two rules, which different models code."""
    task = HierarchicalOrLinear()
    rows = [
        {"input": " ".join(source), "rule": rule, "nats": number + 100.0 * place}
        for place, rule in enumerate(task.rules)
        for number, source in enumerate(task.holdout_inputs)
    ]
    found, _ = score(rows, "hierarchical_or_linear", settings={})
    count = len(task.holdout_inputs)
    for place, rule in enumerate(task.rules):
        assert found[f"L-{rule}, nats"]["value"] == 100.0 * place * count + count * (count - 1) / 2


def test_a_rounding_error_below_zero_is_zero_and_text_is_a_number(score):
    rows = nats(1, count=-1e-9, mem=1.0)
    rows[-1] = {**rows[-1], "nats": "1.5"}
    found, _ = score(rows)
    assert [found[f"L-{rule}, nats"]["value"] for rule in TASK.rules] == [0.0, 4.5]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nats": -0.1}, "line 3: `nats` is -0.1. Minus the logarithm"),
        ({"nats": float("inf")}, "line 3: `nats` is inf, which is not a finite number"),
        ({"nats": float("nan")}, "line 3: `nats` is nan"),
        ({"nats": "many"}, "line 3: `nats` is 'many'"),
        ({"nats": True}, "line 3: `nats` is True"),
        ({"nats": None}, "line 3: `nats` is None"),
        ({"rule": "coutn"}, "line 3: No rule named 'coutn'. Did you mean 'count'"),
        ({"input": "a a a"}, "line 3: the input 'a a a' is not a hold-out input"),
        (
            {"input": "a a"},
            "line 3: the input 'a a' of seed 1 and rule 'count' is there already, in mine.jsonl, line 2",
        ),
        (
            {"rule": "mem"},
            "line 7: the input 'a a a a' of seed 1 and rule 'mem' is there already, in mine.jsonl, line 3",
        ),
    ],
)
def test_wrong_nats_are_named(change: dict[str, Any], words: str, score):
    rows = nats(1, count=1.0, mem=2.0)
    rows[2] = {**rows[2], **change}
    with pytest.raises(UsageError, match=words):
        score(rows)


def test_a_missing_example_is_named(score):
    with pytest.raises(
        UsageError, match="Seed 1, rule 'mem': 1 of 4 hold-out examples are missing, the first is 'a a a a a'"
    ):
        score(nats(1, count=1.0, mem=2.0)[:-1])
