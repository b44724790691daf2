"""What every registered suite promises."""

import itertools
import subprocess
import typing
from pathlib import Path
from typing import Any, Literal

import pytest
from forking import Forked

from humboldt.errors import UsageError
from humboldt.events import Silent
from humboldt.settings import Field, Role, fields
from humboldt.store import Store
from humboldt.study import Study, plan
from humboldt.suites import suites
from humboldt.suites.base import PAPER, AbstractSuite
from humboldt.suites.capabilities import OffersData
from humboldt.suites.departures import departures
from humboldt.suites.experiments import Request

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
                **{"terminals": (2,), "lstm_learning_rates": (0.1,)},
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
}
every_suite = pytest.mark.parametrize("suite", [suites.get(name) for name in suites.names()], ids=suites.names())


def tiny(suite: AbstractSuite, out: Path, seeds: int = 2, **changes: Any) -> Study:
    options, _ = TINY[suite.name]
    settings = {**options["settings"], **changes}
    return plan(suite.name, **{**options, "settings": settings, "seeds": seeds, "preset": PAPER, "out": out})


@every_suite
def test_the_paper_preset_has_no_departures_but_declared_ones(suite: AbstractSuite):
    experiments = suite.plan(Request(preset=PAPER))
    found = departures(suite, [(e.training, one, e.members) for e in experiments for one in e.evaluations])
    declared = {text for contender in suite.contenders.values() for text in map(str, contender.departures)}
    assert {str(departure) for departure in found} == declared
    cells = suite.preset(PAPER).cells or itertools.product(suite.printed_tasks, suite.contenders)
    assert {(e.training.task, e.training.model) for e in experiments} == set(cells)


@every_suite
def test_presets_name_only_what_there_is(suite: AbstractSuite):
    cells = list(itertools.product(suite.printed_tasks, suite.contenders))
    known = {field.name: field for cell in cells for cls in suite.settings_classes(*cell) for field in fields(cls)}
    assert PAPER in suite.presets and "quick" in suite.presets
    for name, preset in suite.presets.items():
        assert preset.name == name
        assert set(preset.of_tasks) <= set(suite.tasks()) and set(preset.of_models) <= set(suite.models())
        assert all(task in suite.tasks() and model in suite.models() for task, model in preset.cells or ())
        for changes in (preset.changes, *preset.of_tasks.values(), *preset.of_models.values(), preset.sweeps or {}):
            assert set(changes) <= set(known), f"{name} changes what nothing has"
    for contender in suite.contenders.values():
        assert set(contender.changes) <= set(known) and set(contender.sweep) <= set(known)


@every_suite
def test_a_setting_means_one_thing(suite: AbstractSuite):
    """`--set key=value` reaches protocol, model and task, so that no two of them may use one name."""
    for cell in itertools.product(suite.printed_tasks, suite.contenders):
        names = [field.name for cls in suite.settings_classes(*cell) for field in fields(cls)]
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
        values = [default[:1], (1,), (0.5,), *pairs]
    else:
        values = {bool: [True, False], int: [1, 2, 3, 5, 8, 12, 40], float: [0.125, 0.25, 0.5, 2.0]}[kind]
    return [*(value for value in values if value != field.default), field.default]  # which a contender may change


@every_suite
def test_every_setting_reaches_an_identity_or_says_that_it_does_not(suite: AbstractSuite):
    task = suite.printed_tasks[0]
    for model in suite.contenders:
        for field in (f for cls in suite.settings_classes(task, model) for f in fields(cls)):
            swept = {key: values[0] for key, values in suite.contenders[model].sweep.items() if key != field.name}
            fixed = {f.name: f.default[:1] for f in fields(suite.protocol) if f.role is Role.EACH and f != field}
            keys = identities(suite, task, model, {**swept, **fixed})
            changed = None
            for value in some_values(field):
                try:
                    changed = identities(suite, task, model, {**swept, **fixed, field.name: value})
                except UsageError:  # out of bounds, or at odds with another setting
                    continue
                if changed != keys:
                    break
            assert changed is not None, f"no other value of {field.name} is possible"
            trainings, evaluations = (changed[0] != keys[0]), (changed[1] != keys[1])
            expected = {Role.TRAINING: (True, True), Role.EACH: (True, True), Role.MEMBERS: (False, False)}
            wanted = expected.get(field.role, (False, True))
            is_swept = field.name in suite.contenders[model].sweep
            assert is_swept or (trainings, evaluations) == wanted, f"{model}: {field.name}"


def identities(suite: AbstractSuite, task: str, model: str, settings: dict[str, Any]) -> tuple[set[str], set[str]]:
    experiments = suite.plan(Request((task,), (model,), PAPER, None, settings))
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
    assert pending and all(experiment.kept for experiment in pending)
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
    assert all(f"  {model} " in done.stdout for model in suite.models()) and '{"input": ' in done.stdout
    assert "pip install 'humboldt[zoo]'" in done.stderr or "mdlrnn" in done.stderr
