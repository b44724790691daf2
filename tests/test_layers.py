"""Imports point one way: a module imports only from its own layer and those below."""

import ast
from pathlib import Path

import pytest

import humboldt

ROOT = Path(humboldt.__file__).parent
ALLOWED = {
    "_compiled": set(),
    "checkpoints": {"errors"},
    "environment": set(),
    "errors": set(),
    "registry": {"errors"},
    "languages": {"_compiled", "errors", "registry"},
    "measures": {"_compiled", "errors", "languages"},
    "mdl": {"_compiled", "checkpoints", "errors"},
    "models": {"errors", "registry"},
    "published": set(),
    "store": {"errors"},
    "report": {"errors", "published", "store"},
    "training": {"checkpoints", "environment", "errors", "languages", "models"},
    "suites": {
        "_compiled",
        "checkpoints",
        "environment",
        "errors",
        "languages",
        "mdl",
        "measures",
        "models",
        "published",
        "registry",
        "report",
        "store",
        "training",
    },
}
WITHOUT_JAX = (
    "_compiled",
    "checkpoints",
    "environment",
    "languages",
    "mdl",
    "measures",
    "store",
    "report",
    "published",
    "errors",
    "registry",
    "study",
    "cli",
    "_progress",
)
MODULES = sorted(ROOT.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Everything that the file imports when it is imported: imports inside functions do not count."""
    found = set()
    pending: list[ast.AST] = [ast.parse(path.read_text())]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        pending.extend(ast.iter_child_nodes(node))
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path):
    layer = path.relative_to(ROOT).parts[0].removesuffix(".py")
    names = imported(path)
    if layer in ALLOWED:
        layers = {name.split(".")[1] for name in names if name.startswith("humboldt.")} & set(ALLOWED)
        assert layers <= ALLOWED[layer] | {layer}
        assert not {"humboldt.cli", "humboldt.study"} & names
    if path == ROOT / "mdl/_equinox.py":
        return  # the Equinox form of a network; `mdl/convert.py` imports it when it is asked for
    if layer in WITHOUT_JAX or (layer == "suites" and not path.stem.endswith("_training")):
        assert not {name.split(".")[0] for name in names} & {"jax", "equinox", "optax", "torch"}


def test_a_network_does_not_know_who_searches_for_it():
    for path in (ROOT / "mdl").glob("*.py"):
        assert not any(name.startswith("humboldt.mdl.search") for name in imported(path)), path
