"""Imports point one way: a module imports only from its own layer and those below."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import humboldt

ROOT = Path(humboldt.__file__).parent
BOTTOM = {
    *(
        "_compiled",
        "checkpoints",
        "databases",
        "environment",
        "errors",
        "events",
        "files",
        "identity",
        "internals",
        "locks",
        "problems",
    ),
    *("registry", "results", "settings"),
}
KNOWLEDGE = {"languages", "measures", "models", "mdl", "published"}
ALLOWED: dict[str, set[str]] = {
    "_compiled": set(),
    "checkpoints": {"errors"},
    "databases": {"errors"},
    "environment": set(),
    "errors": set(),
    "events": {"errors"},
    "files": {"errors"},
    "identity": set(),
    "internals": set(),
    "problems": set(),
    "registry": {"errors"},
    "results": {"identity"},
    "settings": {"errors"},
    "languages": BOTTOM,
    "measures": {*BOTTOM, "languages"},
    "mdl": BOTTOM,
    "models": BOTTOM,
    "published": set(),
    "store": {"databases", "errors", "identity", "results"},
    "report": {"errors", "published"},
    "outside_models": {*BOTTOM, "models"},
    "training": {*BOTTOM, "languages", "mdl", "models", "outside_models"},
    # Only engines know networks; but a store's results of models from users' own files are to be shown.
    "suites": {*BOTTOM, *KNOWLEDGE, "outside_models", "report", "store", "training"} - {"models", "mdl"},
    "plugins": {*BOTTOM, "languages"},  # what it registers with, it imports when it is called
    "execution": {*BOTTOM, "store", "suites", "training"},
    "matching": {*BOTTOM, "suites"},
    "study": {
        *BOTTOM,
        *("_progress", "estimates", "execution", "locks", "outside_models", "plugins", "report", "store", "suites"),
        "matching",
    },
    "inspection": {*BOTTOM, "languages", "report", "suites", "training"},
    "kept": {*BOTTOM, "inspection", "outside_models", "plugins", "report", "store", "suites"},
    "locks": set(),
    "cluster": {*BOTTOM, "execution", "outside_models", "plugins", "store", "suites", "training"},
    "estimates": {*BOTTOM, "suites", "training"},
    "listing": {*BOTTOM, "languages", "suites"},
    "merging": {"checkpoints", "databases", "errors", "results", "store"},
    "planning": {"errors", "report", "study", "suites"},
    "_progress": {"events", "report"},
    "page": {*BOTTOM, "inspection", "kept", "measures", "report", "suites"},  # draws networks when called
    "batching": {*BOTTOM, "languages", "plugins", "suites", "training"},
    "language_models": {"errors", "suites"},
    "model_check": {*BOTTOM, "batching", "languages", "measures", "report", "scoring", "suites", "training"},
    "export": {*BOTTOM, "languages", "plugins", "scoring", "suites"},
    "scoring": {*BOTTOM, "languages", "plugins", "report", "store", "suites"},
    "commands": {  # page and prover are imported when they are called
        *BOTTOM,
        *("_progress", "cluster", "execution", "export", "kept", "listing", "merging", "model_check", "outside_models"),
        *("planning", "plugins", "report", "scoring", "store", "study", "suites"),
    },
    "cli": {"commands", "errors", "plugins"},
}
TOP = {"__init__", "__main__"}
HEAVY = {"jax", "jaxlib", "equinox", "optax", "jaxtyping", "ray", "torch", "altair", "jinja2", "vl_convert"}
MODULES = sorted(ROOT.rglob("*.py"))


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def is_light(path: Path) -> bool:
    """Whether a file must be importable without JAX and torch: all but networks, ensembles and modules.

    Settings of models are light.
    """
    layer, inside = layer_of(path), path.relative_to(ROOT).parts
    if layer == "models":
        return len(inside) == 2 or inside[1] == "options"
    return layer != "training" or inside[1] not in ("ensemble", "pytorch") or path.name == "__init__.py"


def imported(path: Path) -> set[str]:
    """Everything that the file imports when it is imported: imports inside functions, or for type checkers, do not
    count."""
    found = set()
    pending: list[ast.AST] = [ast.parse(path.read_text())]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        pending.extend(ast.iter_child_nodes(node))
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path):
    layer = layer_of(path)
    if layer in TOP:
        return
    names = imported(path)
    layers = {name.split(".")[1] for name in names if name.startswith("humboldt.")} & set(ALLOWED)
    assert layers <= ALLOWED[layer] | {layer}
    if path == ROOT / "mdl/_equinox.py":
        return  # the Equinox form of a network; `mdl/convert.py` imports it when it is asked for
    if is_light(path):
        assert not {name.split(".")[0] for name in names} & HEAVY


def test_every_layer_has_its_place_in_the_order():
    assert {layer_of(path) for path in MODULES} - TOP == set(ALLOWED)

    def walk(layer: str, above: tuple[str, ...] = ()) -> None:
        assert layer not in above, f"a circle: {' -> '.join([*above, layer])}"
        for other in ALLOWED[layer]:
            walk(other, (*above, layer))

    for layer in ALLOWED:
        walk(layer)


def test_a_network_does_not_know_who_searches_for_it():
    for path in (ROOT / "mdl").glob("*.py"):
        assert not any(name.startswith("humboldt.mdl.search") for name in imported(path)), path


def test_no_suite_knows_an_engine_and_no_engine_knows_a_suite():
    for path in (ROOT / "suites").rglob("*.py"):
        named = {name for name in imported(path) if name.startswith("humboldt.training")}
        assert all(name.startswith("humboldt.training.base") for name in named), path
    for path in (ROOT / "training").rglob("*.py"):
        assert not any(name.startswith(("humboldt.suites", "humboldt.store")) for name in imported(path)), path


def heavy_after(code: str) -> list[str]:
    """Which of the heavy packages a process of its own has loaded in the end: lazy imports count, too."""
    tell = f"import sys; print(sorted({HEAVY!r} & set(sys.modules)))"
    return ast.literal_eval(subprocess.check_output([sys.executable, "-c", f"{code}\n{tell}"], text=True))


def test_importing_loads_neither_jax_nor_torch():
    modules = [
        "humboldt." + ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in MODULES
        if layer_of(path) not in TOP and is_light(path) and path != ROOT / "mdl/_equinox.py"
    ]
    assert heavy_after("\n".join(f"import {name}" for name in modules)) == []


def test_listing_planning_and_showing_load_neither_jax_nor_torch(tmp_path: Path):
    code = f"""
import humboldt
from pathlib import Path
from humboldt.results import ScoredMember, State, TrainedMember
from humboldt.store import Store
from humboldt.suites import suites
from humboldt.suites.reading import upgrade
for name in suites.names():
    suite = suites.get(name)
    suite.models()
    study = humboldt.plan(name, tasks=suite.tasks()[:1], models=suite.models()[:1], out={str(tmp_path)!r})
    study.departures()
    experiment, member = study.experiments[0], study.experiments[0].members[0]
    scored = [(experiment.evaluations[0], [ScoredMember(member, State.FAILED)])]
    study.store.add(experiment.training, [TrainedMember(member, State.FINISHED)], scored, format=suite.format)
    study.table()
"""
    assert heavy_after(code) == []
