"""What every registered suite promises."""

import itertools
import json
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any, Literal

import pytest
from forking import Forked

import humboldt
from humboldt import cli
from humboldt.core.events import Silent
from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.running.study import Study, plan
from humboldt.settings import Field, Role, fields
from humboldt.storage import files
from humboldt.storage.store import Store
from humboldt.suites import catalogue, plans, suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.capabilities import OffersData
from humboldt.suites.catalogue import PAPER
from humboldt.suites.departures import departures
from humboldt.suites.experiments import MemberScore, Request, ScoringInput

#: For each suite the smallest study that trains by every one of its engines, and a change of its evaluation alone.
TINY: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "chomsky": (
        {
            "tasks": ["parity_check"],
            "models": ["rnn"],
            "settings": {
                **{"steps": 3, "batch_size": 2, "hidden_size": 2, "train_lengths": (1, 3), "test_lengths": (4, 5)},
                **{"strings_per_length": 2, "num_test_lengths": 1, "learning_rates": (1e-3,)},
            },
        },
        {"num_test_lengths": 2},
    ),
    "bliss": (
        {
            "tasks": ["an_bn"],
            "models": ["lstm", "mdlrnn"],
            "settings": {
                **{"factors": (2,), "order": 1, "epochs": 1, "hidden_size": 2, "penalties": ("none",)},
                **{"generations": 1, "population_size": 4},
            },
        },
        {"test_memory": 100},
    ),
    "syntax": (
        {
            "tasks": ["adj_n_np"],
            "models": ["lstm"],
            "settings": {
                **{"train": 4, "validation": 2, "test": 2, "long": 2, "epochs": 1, "batch_size": 4},
                **{"lengths": (4, 8), "long_lengths": (9, 12), "embedding_size": 2, "hidden_size": 2},
                **{"terminals": (2,), "learning_rates": (0.1,)},
            },
        },
        {"test": 3},
    ),
    "pcfg_set": (
        {
            "tasks": ["systematicity"],
            "models": ["transformer"],
            "settings": {
                **{"size": 200, "letters": 40, "deepest": 2, "epochs": 1, "batch_size": 64, "buckets": 1},
                **{"embedding_size": 2, "hidden_size": 2, "num_layers": 1, "num_heads": 1, "longest_output": 2},
            },
        },
        {"longest_output": 3},
    ),
    "bias": (
        {
            "tasks": ["hierarchical_or_linear"],
            "models": ["cnn_s2s"],
            "settings": {
                **{"updates": 2, "warm_up": 1, "hidden_size": 2, "embedding_size": 2, "bottleneck": 2},
                **{"description_length": False, "longest_output": 2},
            },
        },
        {"longest_output": 3},
    ),
    "tracking": (
        {
            "tasks": ["s3"],
            "models": ["rnn"],
            "settings": {
                **{"steps": 3, "batch_size": 2, "hidden_size": 2, "shortest": 1, "longest": (3,)},
                **{"test_lengths": (4, 5), "strings_per_length": 2, "num_test_lengths": 1, "learning_rates": (1e-3,)},
            },
        },
        {"num_test_lengths": 2},
    ),
    "recognition": (
        {
            "tasks": ["parity"],
            "models": ["lstm"],
            "settings": {
                **{"train": 8, "longest": 8, "validation": 4, "longest_validation": 8, "test": 4, "longest_test": 9},
                **{"epochs": 1, "batch_size": 4, "num_layers": 1, "embedding_size": 2, "hidden_size": 2},
                **{"learning_rates": (1e-3,)},
            },
        },
        {"test": 5},
    ),
}
every_suite = pytest.mark.parametrize("suite", [suites.get(name) for name in suites.names()], ids=suites.names())


def tiny(suite: AbstractSuite, out: Path, seeds: int = 2, **changes: Any) -> Study:
    options, _ = TINY[suite.name]
    settings = {**options["settings"], **changes}
    return plan(suite.name, **{**options, "settings": settings, "seeds": seeds, "preset": PAPER, "out": out})


@every_suite
def test_the_paper_preset_has_no_departures_but_declared_ones(suite: AbstractSuite):
    experiments = plans.plan(suite, Request(preset=PAPER))
    found = departures(suite, [(e.training, one, e.members) for e in experiments for one in e.evaluations])
    declared = {text for contender in suite.contenders.values() for text in map(str, contender.departures)}
    assert {str(departure) for departure in found} == declared
    cells = catalogue.preset(suite, PAPER).cells or itertools.product(suite.printed_tasks, suite.contenders)
    assert {(e.training.task, e.training.model) for e in experiments} == set(cells)


@every_suite
def test_presets_name_only_what_there_is(suite: AbstractSuite):
    named = {model for preset in suite.presets.values() for model in preset.of_models}  # families, too
    cells = list(itertools.product(suite.printed_tasks, {*suite.contenders, *named}))
    known = {
        field.name: field for cell in cells for cls in catalogue.settings_classes(suite, *cell) for field in fields(cls)
    }
    assert PAPER in suite.presets and "quick" in suite.presets
    for name, preset in suite.presets.items():
        assert preset.name == name
        assert set(preset.of_tasks) <= set(catalogue.tasks(suite)) and set(preset.of_models) <= set(
            catalogue.models(suite)
        )
        assert all(
            task in catalogue.tasks(suite) and model in catalogue.models(suite) for task, model in preset.cells or ()
        )
        for changes in (preset.changes, *preset.of_tasks.values(), *preset.of_models.values(), preset.sweeps or {}):
            assert set(changes) <= set(known), f"{name} changes what nothing has"
    for contender in suite.contenders.values():
        assert set(contender.changes) <= set(known) and set(contender.sweep) <= set(known)


@every_suite
def test_a_setting_means_one_thing(suite: AbstractSuite):
    """`--set key=value` reaches protocol, model and task, so that no two of them may use one name."""
    for cell in itertools.product(suite.printed_tasks, suite.contenders):
        names = [field.name for cls in catalogue.settings_classes(suite, *cell) for field in fields(cls)]
        assert len(set(names)) == len(names), f"{cell}: {sorted(n for n in names if names.count(n) > 1)}"


@every_suite
def test_more_seeds_keep_the_key(suite: AbstractSuite, tmp_path: Path):
    few, many = tiny(suite, tmp_path, 2), tiny(suite, tmp_path, 3)
    for one, other in zip(few.experiments, many.experiments, strict=True):
        assert one.training.key == other.training.key
        assert {str(m) for m in one.members} < {str(m) for m in other.members}


def some_values(field: Field) -> list[Any]:
    """Values of a setting, at least one of which is not what a contender has."""
    kind = field.kind
    if type(None) in typing.get_args(kind):
        kind = next(one for one in typing.get_args(kind) if one is not type(None))
    if typing.get_origin(kind) is Literal:
        values: list[Any] = list(typing.get_args(kind))
    elif typing.get_origin(kind) is tuple:
        default = field.default
        pairs = [(default[0], default[1] - 1), (default[0] + 1, default[1])] if len(default) == 2 else []
        values = [default[:1], (1,), (0.5,), (100,), *pairs]
    else:
        values = {bool: [True, False], int: [1, 2, 3, 5, 8, 12, 40], float: [0.125, 0.25, 0.5, 2.0]}[kind]
    return [*(value for value in values if value != field.default), field.default]  # which a contender may change


@every_suite
def test_every_setting_reaches_an_identity_or_says_that_it_does_not(suite: AbstractSuite):
    task = suite.printed_tasks[0]
    refused, reached = set(), set()
    families = [model for model in ("family/lstm",) if model in catalogue.models(suite)]
    for model in (*suite.contenders, *families):
        for field in (f for cls in catalogue.settings_classes(suite, task, model) for f in fields(cls)):
            sweep = catalogue.contender(suite, model).sweep
            swept = {key: values[0] for key, values in sweep.items() if key != field.name}
            fixed = {f.name: f.default[:1] for f in fields(suite.protocol) if f.role is Role.EACH and f != field}
            keys = identities(suite, task, model, {**swept, **fixed})
            changed, accepted = None, False
            for value in some_values(field):
                try:
                    changed = identities(suite, task, model, {**swept, **fixed, field.name: value})
                except UsageError:  # out of bounds, or at odds with another setting
                    continue
                accepted |= value != field.default
                if changed != keys:
                    break
            assert changed is not None, f"no other value of {field.name} is possible"
            if changed == keys and field.role is not Role.MEMBERS and not accepted:
                refused.add(field.name)  # the plan refuses all other values for this model
                continue
            reached.add(field.name)
            trainings, evaluations = (changed[0] != keys[0]), (changed[1] != keys[1])
            expected = {Role.TRAINING: (True, True), Role.EACH: (True, True), Role.MEMBERS: (False, False)}
            wanted = expected.get(field.role, (False, True))
            assert field.name in sweep or (trainings, evaluations) == wanted, f"{model}: {field.name}"
    assert refused <= reached, "every setting can be changed for some model"


def identities(suite: AbstractSuite, task: str, model: str, settings: dict[str, Any]) -> tuple[set[str], set[str]]:
    experiments = plans.plan(suite, Request((task,), (model,), PAPER, None, settings))
    trainings = {one.training.key for one in experiments}
    return trainings, {e.key_for(one.training) for one in experiments for e in one.evaluations}


@every_suite
def test_resume_and_a_new_evaluation_that_trains_nothing(suite: AbstractSuite, forked: Forked, tmp_path: Path):
    study = tiny(suite, tmp_path, 1)
    study.run(lambda experiment: Silent(), keep="all")
    assert study.pending() == []
    assert study.table() and study.records()
    before = members_of(tmp_path)

    more = tiny(suite, tmp_path, 1, **TINY[suite.name][1])
    pending = more.pending()
    assert pending and all(experiment.score_only for experiment in pending)
    more.run(lambda experiment: Silent())
    assert more.pending() == [] and members_of(tmp_path) == before
    assert len(Store.open(tmp_path).scores()) == 2 * len(study.experiments)

    shown = without_jax(forked, ["show", str(tmp_path)])
    assert shown.returncode == 0, shown.stderr
    assert suite.name in shown.stdout


def members_of(folder: Path) -> list[tuple[str, int]]:
    return sorted((path.parent.name, path.stat().st_mtime_ns) for path in (folder / "weights").rglob("*.weights"))


@every_suite
def test_the_first_example_is_the_same_however_many_are_asked_for(suite: AbstractSuite):
    if not isinstance(suite, OffersData):
        return
    for task in suite.tasks_with_examples()[:2]:
        options: Any = {"split": None, "length": None, "seed": 0, "settings": {}}
        one, ten = (list(suite.data(task, count=count, **options)) for count in (1, 10))
        assert one == ten[:1], task


def prediction_rows(suite: AbstractSuite, task: str, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of a file that `humboldt score` takes: the oracle's answers to test strings."""
    if suite.name == "pcfg_set":  # any expressions
        return [{"input": "swap repeat A B", "prediction": "B B A A"}]
    if suite.name == "bias":
        made: Any = tasks.get(f"bias/{task}")()
        rule = next(iter(made.rules))
        return [{"input": " ".join(x), "prediction": " ".join(y)} for x, y in made.holdout_pairs(rule)]
    assert isinstance(suite, OffersData)
    split = "scored" if suite.test_sets else "test"
    about: Any = {"split": split, "count": None, "length": None, "seed": 0, "settings": settings, "preset": PAPER}
    pairs = [(" ".join(source), " ".join(target)) for source, target in suite.data(task, **about)]
    if suite.name == "bliss":
        vocabulary = len(tasks.get(f"bliss/{task}")().input_alphabet)
        flat = [1 / vocabulary] * vocabulary
        return [{"input": source, "prediction": [flat] * len(source.split())} for source, _ in pairs]
    return [{"input": source, "prediction": target} for source, target in pairs]


@every_suite
def test_a_file_of_predictions_is_scored_by_the_suite_and_printed_in_one_form(
    suite: AbstractSuite, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    task = TINY[suite.name][0]["tasks"][0]
    known = {f.name for f in fields(suite.protocol) if f.of_data or f.role is Role.EVALUATION}
    settings = {key: value for key, value in TINY[suite.name][0]["settings"].items() if key in known}
    settings = {} if suite.name in ("pcfg_set", "bias") else settings
    files.write(tmp_path / "mine.jsonl", prediction_rows(suite, task, settings))
    calls: list[ScoringInput] = []
    own = type(suite).score

    def counted(self: AbstractSuite, scoring_input: ScoringInput) -> list[MemberScore]:
        calls.append(scoring_input)
        return own(self, scoring_input)

    monkeypatch.setattr(type(suite), "score", counted)
    changes = [
        part
        for key, value in settings.items()
        for part in ("--set", f"{key}={','.join(map(str, value)) if isinstance(value, tuple) else value}")
    ]
    monkeypatch.setattr(sys, "argv", ["humboldt", "score", suite.name, task, str(tmp_path / "mine.jsonl"), *changes])
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    printed = capsys.readouterr()
    assert not leaving.value.code, printed.err
    found = json.loads(printed.out)
    assert list(found) == ["suite", "task", "model", "readings", "details"]
    assert (found["suite"], found["task"], found["model"]) == (suite.name, task, "mine")
    names = ["suite", "task", "evaluation", "model", "measure", "value", "n", "low", "high", "chance"]
    more = ["floor", "breakdown", "note", "published"]
    assert found["readings"] and all(list(one) == [*names, *more] for one in found["readings"])
    assert len(calls) == 1 and len(found["details"]["members"]) == len(calls[0].members)
    by_file = humboldt.score(suite.name, tmp_path / "mine.jsonl", tasks=task, settings=settings, name="mine")
    assert json.loads(json.dumps(by_file.to_dict())) == found and len(calls) == 2


def without_jax(forked: Forked, *commands: list[str]) -> subprocess.CompletedProcess[str]:
    """Commands in one process that cannot import JAX, up to the first that fails."""
    code = f"""
import sys
sys.modules.update(dict.fromkeys(("jax", "jaxlib", "equinox", "optax", "jaxtyping")))
from humboldt.cli import main
for arguments in {list(commands)!r}:
    sys.argv = ["humboldt", *arguments]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
"""
    return forked.run(code)


@every_suite
def test_works_without_jax(suite: AbstractSuite, forked: Forked, tmp_path: Path):
    task = suite.printed_tasks[0]
    done = without_jax(
        forked,
        ["list", "models", suite.name],
        ["data", suite.name, task, "--count", "1"],
        ["plan", suite.name, "--task", task, "--out", str(tmp_path)],
    )
    assert done.returncode == 0, done.stderr
    assert all(f"  {model} " in done.stdout for model in catalogue.models(suite)) and '{"input": ' in done.stdout
    assert "pip install 'humboldt[zoo]'" in done.stderr or "mdlrnn" in done.stderr
