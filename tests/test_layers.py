"""Imports point one way: a module imports only from its own layer and those below."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import humboldt

ROOT = Path(humboldt.__file__).parent
BASE = {"arguments", "compiled", "core", "errors", "registry", "settings"}
# Every room, from the bottom of the house to its top, with the rooms whose files its own may import.
ALLOWED: dict[str, set[str]] = {
    "arguments": {"errors"},
    "compiled": set(),
    "starting": set(),
    "errors": set(),
    "published": set(),
    "core": {"errors"},
    "registry": {"errors"},
    "report": {"errors"},
    "settings": {"errors"},
    "languages": BASE,
    "models": BASE,
    "storage": {"core", "errors"},
    "references": {"errors", "storage"},
    "mdl": {*BASE, "storage"},
    "measures": {"compiled", "core", "errors", "languages"},
    "plugins": {"arguments", "errors", "languages"},
    "training": {*BASE, "languages", "mdl", "models", "storage"},
    # Only engines know networks; but a store's results of models from users' own files are to be shown.
    "suites": {
        *BASE,
        *("languages", "measures", "models", "published", "references", "report", "storage", "training"),
    },
    "inspecting": {*BASE, "languages", "models", "plugins", "report", "storage", "suites", "training"},
    "outside": {*BASE, "languages", "measures", "plugins", "report", "storage", "suites", "training"},
    "running": {*BASE, "models", "plugins", "references", "report", "storage", "suites", "training"},
    "testing": {"core", "errors", "languages", "models", "outside", "plugins"},
    "page": {*BASE, "inspecting", "measures", "report", "storage", "suites"},
    "commands": {
        *BASE,
        *("inspecting", "languages", "models", "outside", "plugins", "report", "running", "storage", "suites"),
    },
    "cli": {"commands", "errors", "plugins", "report"},
}
# What is imported only when a function is called, beside `ALLOWED`: each with its reason.
WHEN_CALLED: dict[str, set[str]] = {
    "models": {"plugins"},  # a user's file is imported as a plugin
    "plugins": {"models", "suites"},  # what it registers with
    "commands": {"mdl", "page"},  # the prover and the page need packages that other commands do not
    "page": {"mdl"},  # pictures of networks
}
TOP = {"__init__", "__main__"}
HEAVY = {"jax", "jaxlib", "equinox", "optax", "jaxtyping", "ray", "torch", "altair", "jinja2", "vl_convert"}
MODULES = sorted(ROOT.rglob("*.py"))
NEED_OTHERS = {
    ROOT / "mdl/_equinox.py",  # the Equinox form of a network; `mdl/convert.py` imports it when it is asked for
    ROOT / "outside/inspect_ai.py",  # inspect_ai imports it, by its entry point
}


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def is_light(path: Path) -> bool:
    """Whether a file must be importable without JAX and torch: all but networks, ensembles and modules.

    Settings of models are light.
    """
    layer, inside = layer_of(path), path.relative_to(ROOT).parts
    if layer == "models":
        return len(inside) == 2 or inside[1] == "zoo"
    return layer != "training" or inside[1] not in ("ensemble", "pytorch") or path.name == "__init__.py"


def imported(path: Path, *, when_called: bool = False) -> set[str]:
    """The names that a file imports when it is imported, and with `when_called` also those that its functions import.

    Imports for type checkers do not count.
    """
    names = set()
    pending: list[ast.AST] = [ast.parse(path.read_text())]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not when_called:
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        pending.extend(ast.iter_child_nodes(node))
    return names


def rooms_of(names: set[str]) -> set[str]:
    return {name.split(".")[1] for name in names if name.startswith("humboldt.")} & set(ALLOWED)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path):
    layer = layer_of(path)
    if layer in TOP:
        return
    names = imported(path)
    assert rooms_of(names) <= ALLOWED[layer] | {layer}
    assert rooms_of(imported(path, when_called=True)) <= ALLOWED[layer] | {layer} | WHEN_CALLED.get(layer, set())
    if path not in NEED_OTHERS and is_light(path):
        assert not {name.split(".")[0] for name in names} & HEAVY


def test_every_layer_has_its_place_in_the_order():
    assert {layer_of(path) for path in MODULES} - TOP == set(ALLOWED)

    def walk(layer: str, above: tuple[str, ...] = ()) -> None:
        assert layer not in above, f"a circle: {' -> '.join([*above, layer])}"
        for other in ALLOWED[layer]:
            walk(other, (*above, layer))

    for layer in ALLOWED:
        walk(layer)


def test_no_room_may_import_more_than_it_does():
    for when_called, allowed in ((False, ALLOWED), (True, WHEN_CALLED)):
        used: dict[str, set[str]] = {room: set() for room in ALLOWED}
        for path in MODULES:
            if layer_of(path) not in TOP:
                used[layer_of(path)] |= rooms_of(imported(path, when_called=when_called))
        for room, rooms in allowed.items():
            assert rooms - BASE <= used[room], f"{room} does not import {rooms - BASE - used[room]}"


def test_an_underscore_means_private_to_its_folder():
    for path in MODULES:
        for name in imported(path, when_called=True):
            parts = name.split(".")
            private = next((i for i, part in enumerate(parts) if part.startswith("_") and part != "__version__"), None)
            if parts[0] == "humboldt" and private is not None and (ROOT.joinpath(*parts[1:private])).is_dir():
                inside = ROOT.joinpath(*parts[1:private])
                assert path.is_relative_to(inside), f"{path.relative_to(ROOT)} imports {name}"


def test_a_network_does_not_know_who_searches_for_it():
    for path in (ROOT / "mdl").glob("*.py"):
        assert not any(name.startswith("humboldt.mdl.search") for name in imported(path)), path


def test_no_suite_knows_an_engine_and_no_engine_knows_a_suite():
    for path in (ROOT / "suites").rglob("*.py"):
        named = {name for name in imported(path) if name.startswith("humboldt.training")}
        assert all(name.startswith(("humboldt.training.base", "humboldt.training.abilities")) for name in named), path
    for path in (ROOT / "training").rglob("*.py"):
        assert not any(name.startswith(("humboldt.suites", "humboldt.storage.store")) for name in imported(path)), path


def heavy_after(code: str) -> list[str]:
    """Which of the heavy packages a process of its own has loaded in the end: lazy imports count, too."""
    tell = f"import sys; print(sorted({HEAVY!r} & set(sys.modules)))"
    return ast.literal_eval(subprocess.check_output([sys.executable, "-c", f"{code}\n{tell}"], text=True))


def test_importing_loads_neither_jax_nor_torch():
    modules = [
        "humboldt." + ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in MODULES
        if layer_of(path) not in TOP and is_light(path) and path not in NEED_OTHERS
    ]
    assert heavy_after("\n".join(f"import {name}" for name in modules)) == []


def test_listing_planning_and_showing_load_neither_jax_nor_torch(tmp_path: Path):
    code = f"""
import humboldt
from pathlib import Path
from humboldt.core.results import ScoredMember, State, TrainedMember
from humboldt.storage.store import Store
from humboldt.suites import catalogue, suites
from humboldt.suites.reading import upgrade
for name in suites.names():
    suite = suites.get(name)
    catalogue.models(suite)
    names = dict(tasks=catalogue.tasks(suite)[:1], models=catalogue.models(suite)[:1])
    study = humboldt.plan(name, **names, out={str(tmp_path)!r})
    study.departures()
    experiment, member = study.experiments[0], study.experiments[0].members[0]
    scored = [(experiment.evaluations[0], [ScoredMember(member, State.FAILED)])]
    study.store.add(experiment.training, [TrainedMember(member, State.FINISHED)], scored, format=suite.format)
    study.table()
"""
    assert heavy_after(code) == []
