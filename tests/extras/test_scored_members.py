"""Our own members, asked through a function and through a file, get exactly the scores that their run stored."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from suite_support import TINY

import humboldt
from humboldt import cli
from humboldt.inspecting.inspection import KeptMember
from humboldt.storage import files
from humboldt.suites import resolving
from humboldt.suites.bias.scoring import outputs
from humboldt.training.abilities import ReadsSymbols, ability

pytestmark = pytest.mark.extras  # one small training of each suite: too long for every run of the tests
Predict = Callable[[list[list[str]]], Any]


def by_string(member: KeptMember) -> Predict:
    return lambda inputs: [member.predict(symbols) for symbols in inputs]


def sequences(member: KeptMember) -> Predict:
    problem: Any = member.problem
    return lambda inputs: problem.outputs(member.predictor, [" ".join(symbols) for symbols in inputs])[0]


def rules(member: KeptMember) -> Predict:
    problem: Any = member.problem

    def predict(inputs: list[list[str]]) -> list[Any]:
        return outputs(problem, member.predictor, [tuple(symbols) for symbols in inputs], 200, None)[0]

    return predict


def stepper(member: KeptMember) -> Any:
    return ability(member.predictor, ReadsSymbols).stepper(0, longest=200, most_memory=2050)[0]


CASES: dict[str, tuple[str, str, dict[str, Any], Callable[[KeptMember], Any]]] = {
    "chomsky": ("reverse_string", "rnn", TINY, by_string),
    "bliss": (
        "an_bn",
        "lstm",
        {"order": 1, "factors": (1,), "epochs": 3, "hidden_size": 4, "penalties": ("none",)},
        stepper,
    ),
    "syntax": (
        "adj_n_np",
        "lstm",
        {
            **{"terminals": (3,), "train": 32, "validation": 8, "test": 12, "long": 10, "epochs": 2, "batch_size": 24},
            **{"learning_rates": (0.1,), "embedding_size": 4, "hidden_size": 4},
        },
        by_string,
    ),
    "pcfg_set": (
        "systematicity",
        "transformer",
        {
            **{"size": 600, "letters": 60, "deepest": 2, "longest_output": 12, "epochs": 1, "buckets": 1},
            **{"embedding_size": 8, "hidden_size": 8, "num_layers": 1, "num_heads": 2},
        },
        sequences,
    ),
    "bias": (
        "count_or_memorization",
        "cnn_s2s",
        {"l": 3, "span": 2, "updates": 60, "embedding_size": 4, "hidden_size": 8, "description_length": False},
        rules,
    ),
}
OF_DATA = {
    "test_lengths",
    "strings_per_length",
    "train_lengths",
    "order",
    "factors",
    "terminals",
    "train",
    "validation",
}
OF_DATA |= {"test", "long", "size", "letters", "deepest", "longest_output", "l", "span"}


def score_file(capsys: Any, monkeypatch: Any, *arguments: object) -> dict[str, Any]:
    monkeypatch.setattr(sys, "argv", ["humboldt", "score", *map(str, arguments)])
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    assert not leaving.value.code
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("suite", CASES)
def test_the_score_is_the_stored_one(suite: str, tmp_path: Path, capsys: Any, monkeypatch: Any):
    task, model, settings, asked = CASES[suite]
    study = humboldt.run(suite, tasks=task, models=model, preset="paper", seeds=1, settings=settings, out=tmp_path)
    (stored,) = study.store.scores()
    (result,) = stored.results
    member = humboldt.load(tmp_path)
    predict = asked(member)
    of_data = {key: value for key, value in settings.items() if key in OF_DATA}
    asked_for: list[list[str]] = []

    def watched(inputs: list[list[str]]) -> Any:
        asked_for.extend(inputs)
        return predict(inputs)

    card = humboldt.score(suite, predict if suite == "bliss" else watched, tasks=task, settings=of_data, out=tmp_path)
    known = {name: value for name, value in result.measures.items() if not name.startswith(("nats_", "training_loss"))}
    assert card.measures() == known

    changes = [part for key, value in of_data.items() for part in ("--set", f"{key}={_text(value)}")]
    path = tmp_path / "mine.jsonl"
    if suite == "bliss":
        files.write(path, _distributions(study, predict))
        found = score_file(capsys, monkeypatch, suite, task, path, *changes)
        met = {reading["measure"]: reading["value"] for reading in found["readings"]}
        assert met == {name: value for name, value in known.items() if name.startswith("met_")}
        assert found["details"]["covers_all"] and found["details"]["strings"] == 10
        return
    answers = [answer if isinstance(answer, str) else " ".join(answer) for answer in predict(asked_for)]
    rows = [
        {"input": " ".join(symbols), "prediction": answer} for symbols, answer in zip(asked_for, answers, strict=True)
    ]
    files.write(path, rows)
    if suite in ("chomsky", "syntax"):
        found = score_file(capsys, monkeypatch, suite, task, path, *changes, "--out", tmp_path)
        assert {reading["measure"]: reading["value"] for reading in found["readings"]} == known
    elif suite == "pcfg_set":
        found = score_file(capsys, monkeypatch, suite, task, path)
        readings = {reading["measure"]: reading for reading in found["readings"]}
        assert {name: reading["value"] for name, reading in readings.items()} == known
        assert readings["sequence_accuracy"]["n"] == len(rows)
    else:
        found = score_file(capsys, monkeypatch, suite, task, path, *changes)
        values = {reading["measure"]: reading["value"] for reading in found["readings"]}
        assert values["fits"] == known["fits"]
        for name, value in known.items():
            if name.startswith("accuracy_"):
                assert values[name.replace("_", "-", 1)] == value


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _distributions(study: humboldt.Study, model: Any) -> list[dict[str, Any]]:
    """What a stepper says of every test string, string by string."""
    suite: Any = study.suite
    (experiment,) = study.experiments
    parts = resolving.resolved(experiment)
    problem = suite.problem(parts, experiment.members)
    rows = []
    for string in problem.language.test_set(after=problem.corpus, count=problem.sizes.test):
        source, target = problem.language.pair(string)
        state, steps = model.init(1), []
        for symbol in problem.language.input_alphabet.encode(source.split()):
            state, distribution = model.step(state, np.array([symbol]))
            steps.append(np.asarray(distribution, np.float64)[0].tolist())
        rows.append({"input": source, "target": target, "prediction": steps})
    return rows
