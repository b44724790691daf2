"""Writes docs/api.md from signatures and docstrings: `python docs/api.py`. A test holds the page to what this gives."""

import ast
import enum
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

PAGE = Path(__file__).with_suffix(".md")
HEAD = """# Python reference

Made from the docstrings by `python docs/api.py`; a test holds it to them. Types of arguments are in the source. How the
pieces are used together is in the tutorials: [predictions](score.md), [PyTorch](pytorch.md), [JAX](jax.md),
[a task of your own](own_task.md).
"""
# The modules that users import from. Where names are given, the others are for Humboldt itself.
MODULES: dict[str, tuple[str, ...]] = {
    "humboldt": (),
    "humboldt.outside.batching": ("Batches", "Symbols"),
    "humboldt.inspecting.inspection": ("KeptMember", "Inspection"),
    "humboldt.core.internals": ("Internal",),
    "humboldt.outside.language_models": (),
    "humboldt.settings": ("setting", "settings", "Role"),
    "humboldt.plugins": ("load_files",),
    "humboldt.errors": ("HumboldtError", "UsageError", "RunError", "Interrupted"),
    "humboldt.languages": (),
    "humboldt.languages.chomsky": (),
    "humboldt.languages.bliss": (),
    "humboldt.languages.syntax": (),
    "humboldt.languages.pcfg_set": (),
    "humboldt.languages.bias": (),
    "humboldt.measures.bliss": (),
    "humboldt.measures.pcfg_set": (),
    "humboldt.measures.bias": (),
    "humboldt.models.networks.base": ("AbstractStepwise", "AbstractInspectable"),
    "humboldt.mdl": (),
    "humboldt.mdl.search": (),
    "humboldt.mdl.proofs": (),
}


def page() -> str:
    """The whole page."""
    modules = {name: importlib.import_module(name) for name in MODULES}
    contents = "\n".join(
        f"- [`{name}`](#{name.replace('.', '')}): {_first(module)}" for name, module in modules.items()
    )
    return "\n".join([HEAD, contents, "", *(part for module in modules.values() for part in _module(module))])


def public_names(module: ModuleType) -> list[str]:
    """What a module offers: those that are named in `MODULES`, or all that it defines or imports `as` themselves."""
    if MODULES[module.__name__]:
        return list(MODULES[module.__name__])
    found = []
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ImportFrom):
            found += [alias.name for alias in node.names if alias.asname == alias.name]
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.append(node.name)
    return [name for name in found if not name.startswith("_")]


def _module(module: ModuleType) -> Iterator[str]:
    yield f"## `{module.__name__}`\n\n{_first(module)}\n"
    for name in public_names(module):
        thing = getattr(module, name)
        yield f"### `{name}`\n"
        yield from _class(name, thing) if inspect.isclass(thing) else _other(name, thing)


def _class(name: str, thing: type) -> Iterator[str]:
    if issubclass(thing, enum.Enum):
        yield f"{_doc(thing)}\n"
        yield f"Values: {', '.join(f'`{member.name}`' for member in thing)}.\n"
        return
    if not inspect.isabstract(thing) and not issubclass(thing, BaseException):
        yield f"```\n{name}{_signature(thing)}\n```\n"
    yield f"{_doc(thing)}\n"
    methods = list(_methods(thing))
    if methods:
        yield "\n".join(f"- `{shown}`: {doc}" for shown, doc in methods) + "\n"


def _methods(thing: type) -> Iterator[tuple[str, str]]:
    """Public methods and properties that the package has written and documented, with the first sentence of each."""
    for name, attribute in inspect.getmembers_static(thing):
        is_property = isinstance(attribute, property | cached_property)
        written = getattr(attribute, "fget", getattr(attribute, "func", None)) if is_property else attribute
        written = getattr(written, "__func__", written)  # of class methods and static ones
        is_ours = inspect.isfunction(written) and written.__module__.startswith("humboldt")
        doc = inspect.getdoc(getattr(thing, name)) if is_ours and not name.startswith("_") else None
        if doc:
            yield f".{name}{'' if is_property else _signature(getattr(thing, name))}", _line(doc)


def _other(name: str, thing: Any) -> Iterator[str]:
    if inspect.isfunction(thing) or hasattr(thing, "__wrapped__"):
        yield f"```\n{name}{_signature(thing)}\n```\n\n{_doc(thing)}\n"
    elif isinstance(thing, str | int | float | tuple):
        yield f"`{thing!r}`\n"
    else:
        yield f"A `{type(thing).__name__}`. {_first(type(thing))}\n"


def _signature(thing: Any) -> str:
    """Names and defaults. Types would make lines of several hundred letters."""
    shown = []
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except (TypeError, ValueError):
        return "(...)"
    for number, one in enumerate(parameters):
        if number == 0 and one.name == "self":
            continue
        before = {earlier.kind for earlier in parameters[:number]}
        if one.kind is one.KEYWORD_ONLY and not before & {one.KEYWORD_ONLY, one.VAR_POSITIONAL}:
            shown.append("*")
        mark = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        shown.append(f"{mark}{one.name}{_default(one)}")
    return f"({', '.join(shown)})"


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return ""
    shown = repr(parameter.default)
    return f"={shown}" if len(shown) < 40 and "<" not in shown else "=..."


def _doc(thing: Any) -> str:
    """Examples that a prompt begins (`>>>`) become blocks."""
    doc = inspect.getdoc(thing) or ""
    return re.sub(r"(?m)^>>> (?:.+\n?)+", lambda found: f"```\n{found.group().rstrip()}\n```\n", doc)


def _first(thing: Any) -> str:
    return _line(inspect.getdoc(thing) or "")


def _line(doc: str) -> str:
    """The first paragraph, on one line."""
    return " ".join(doc.split("\n\n")[0].split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
