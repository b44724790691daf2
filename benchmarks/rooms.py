"""Counts the parts of a checkout: modules, rooms, methods of a suite, public classes, lines, repeated code.

    python benchmarks/rooms.py PATH [PATH ...]

Prints one JSON record with an entry for each path, under the name of its folder. Reads files only; nothing of the
checkout is imported. Repeated code is counted by a program `duplicates`, and is `null` where that is not installed.
"""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from _record import report

TOP = {"__init__", "__main__"}  # the public names, and `python -m humboldt`
MOST_PAIRS = 200  # that are listed; the others are counted


def modules_of(folder: Path) -> list[Path]:
    """Returns all Python files below a folder."""
    return sorted(folder.rglob("*.py"))


def loose_modules(package: Path) -> list[str]:
    """Returns the names of the modules that are directly in the package."""
    return sorted(path.stem for path in package.glob("*.py") if path.stem not in TOP)


def rooms(package: Path) -> dict[str, set[str]]:
    """Returns the folders and modules of the package, each with those that it imports when it is imported."""
    files: dict[str, list[Path]] = {}
    for path in modules_of(package):
        files.setdefault(path.relative_to(package).parts[0].removesuffix(".py"), []).append(path)
    names = set(files) - TOP
    return {name: set[str]().union(*map(_imports, files[name])) & names - {name} for name in sorted(names)}


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue  # imported when it is called
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        pending.extend(ast.iter_child_nodes(node))
    return {name.split(".")[1] for name in names if name.startswith("humboldt.")}


def levels(graph: Mapping[str, set[str]]) -> int:
    """Returns the number of levels: a room is one above the highest room that it imports.

    >>> levels({"errors": set(), "core": {"errors"}, "cli": {"core", "errors"}})
    3
    """
    height: dict[str, int] = {}

    def of(name: str, above: tuple[str, ...] = ()) -> int:
        if name in above:
            raise ValueError(f"Rooms import each other: {' -> '.join((*above, name))}.")
        if name not in height:
            height[name] = 1 + max((of(below, (*above, name)) for below in graph[name]), default=0)
        return height[name]

    return max(map(of, graph))


def suite_class(package: Path) -> ast.ClassDef:
    """Returns the definition of `AbstractSuite`."""
    tree = ast.parse((package / "suites" / "base.py").read_text(encoding="utf-8"))
    return next(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == "AbstractSuite")


def public_classes(package: Path) -> list[str]:
    """Returns the names of all classes at the top of a module that do not begin with an underscore."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in modules_of(package))
    nodes = (node for tree in trees for node in tree.body)
    return sorted(node.name for node in nodes if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))


def lines(folder: Path) -> int:
    """Returns the number of lines of all Python files below a folder."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in modules_of(folder))


def repeated(folder: Path) -> int | None:
    """Returns the number of pairs of places that share six or more lines."""
    program = shutil.which("duplicates")
    if program is None:
        return None
    command = [program, "--repo", str(folder), "--most", str(MOST_PAIRS), "--seconds", "600"]
    return pairs(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def pairs(shown: str) -> int:
    """Returns the number of pairs in what `duplicates` prints.

    >>> pairs("5 pairs\\nD1 a.py:1-9 ~ b.py:1-9\\nD2 a.py:1-7 ~ c.py:2-8\\n(+3 more pairs)")
    5
    """
    if "incomplete:" in shown:
        raise RuntimeError(shown)
    listed = sum(line[:1] == "D" and line[1:2].isdigit() for line in shown.splitlines())
    more = re.search(r"^\(\+([\d,]+) more pairs\)", shown, re.MULTILINE)
    return listed + (int(more[1].replace(",", "")) if more else 0)


def count(checkout: Path) -> dict[str, Any]:
    """Returns all counts of a checkout."""
    package = checkout / "src" / "humboldt"
    graph, suite, classes = rooms(package), suite_class(package), public_classes(package)
    methods = [node for node in suite.body if isinstance(node, ast.FunctionDef)]
    abstract = [node for node in methods if any("abstract" in ast.unparse(line) for line in node.decorator_list)]
    return {
        "commit": _commit(checkout),
        "loose_modules": len(loose_modules(package)),
        "rooms": len(graph),
        "levels": levels(graph),
        "suite_methods": len(methods),
        "suite_abstract_methods": len(abstract),
        "public_classes": len(classes),
        "names_of_several_classes": len({name for name in classes if classes.count(name) > 1}),
        "source_files": len(modules_of(package)),
        "source_lines": lines(package),
        "test_lines": lines(checkout / "tests"),
        "repeated_pairs": repeated(checkout),
        "repeated_pairs_in_source": repeated(checkout / "src"),
    }


def _commit(checkout: Path) -> str | None:
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() or None


def main() -> None:
    """Prints the counts of all checkouts."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    report("rooms", {Path(path).resolve().name: count(Path(path)) for path in sys.argv[1:]})


if __name__ == "__main__":
    main()
