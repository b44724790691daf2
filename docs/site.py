"""Builds the site in build/site (`make docs`): gathers its pages in build/pages and runs Zensical (zensical.toml).

The site is made from the same files that can be read in the repository, in the same folders, so that links between them
hold in both places. Files that a page links to come along: Python files as pages, folders as lists of their files, all
others as they are. The reference is a page for each module of `MODULES`, filled from its docstrings by mkdocstrings. A
link that leads nowhere ends the build with an error.
"""

import ast
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

ROOT = Path(__file__).parents[1]
PAGES, SITE = ROOT / "build/pages", ROOT / "build/site"
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
REFERENCE = """# Python reference

Made from the docstrings. How the pieces are used together is in the tutorials: [predictions](../docs/score.md),
[PyTorch](../docs/pytorch.md), [JAX](../docs/jax.md), [a task of your own](../docs/own_task.md).

| module | contents |
| --- | --- |
"""
LINK = re.compile(r"(?<=\]\()([^)\s:]+)(?=\))")  # without those to other sites
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"


def sources() -> list[Path]:
    """Returns the pages of the repository that are pages of the site."""
    patterns = ("*.md", "docs/*.md", "reproductions/**/README.md", "benchmarks/README.md", "src/**/NOTES.md")
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def place(path: Path) -> Path:
    """Returns the place of a file in the site, below `PAGES`: README.md of the repository is its first page."""
    within = path.relative_to(ROOT)
    if path.is_dir():
        return within / ("README.md" if (path / "README.md").exists() else "files.md")
    if within == Path("README.md"):
        return Path("index.md")
    return within.with_name(f"{within.name}.md") if path.suffix == ".py" else within


def rewritten(text: str, page: Path, target_of: dict[Path, Path]) -> str:
    """Returns the text of a page with the links of the site, and adds the files that it links to to `target_of`."""
    here = place(page).parent

    def link(found: re.Match[str]) -> str:
        file, mark, anchor = found[1].partition("#")
        target = (page.parent / file).resolve()
        if not file:
            return found[1]
        if not target.exists():
            sys.exit(f"{page.relative_to(ROOT)} links to `{found[1]}`, which does not exist. Correct the link.")
        target_of[target] = place(target)
        return os.path.relpath(target_of[target], here) + mark + anchor

    code = FENCED.findall(text)
    prose = [LINK.sub(link, part) for part in FENCED.split(text)]
    return "".join(part + block for part, block in zip(prose, [*code, ""], strict=True))


def write(within: Path, text: str) -> None:
    """Writes a page of the site."""
    path = PAGES / within
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def add_files(paths: Iterable[Path]) -> None:
    """Writes what pages link to and what is not a page itself. A folder brings the files that git has of it."""
    for path in paths:
        name = path.relative_to(ROOT)
        if path.is_dir():
            listed = subprocess.run(["git", "ls-files", "."], cwd=path, capture_output=True, text=True, check=True)
            files = [path / line for line in listed.stdout.splitlines()]
            add_files(files)
            lines = [f"- [`{file.relative_to(path)}`]({place(file).relative_to(name)})" for file in files]
            write(place(path), f"{NOT_SEARCHED}# `{name}`\n\n" + "\n".join(lines) + "\n")
        elif path.suffix == ".py":
            write(place(path), f"{NOT_SEARCHED}# `{name}`\n\n````python\n{path.read_text(encoding='utf-8')}````\n")
        elif not (PAGES / place(path)).exists():
            (PAGES / place(path)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, PAGES / place(path))


def public_names(module: ModuleType) -> list[str]:
    """Returns what a module offers: the names in `MODULES`, or all that it defines or imports `as` themselves."""
    if MODULES[module.__name__]:
        return list(MODULES[module.__name__])
    found = []
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ImportFrom):
            found += [alias.name for alias in node.names if alias.asname == alias.name]
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.append(node.name)
    return [name for name in found if not name.startswith("_")]


def write_reference() -> None:
    """Writes a page for each module, with its public names for mkdocstrings, and a table of them."""
    rows = []
    for name in MODULES:
        module = importlib.import_module(name)
        members = "".join(f"        - {member}\n" for member in public_names(module))
        write(Path("reference", f"{name}.md"), f"# `{name}`\n\n::: {name}\n    options:\n      members:\n{members}")
        first = " ".join((inspect.getdoc(module) or "").split("\n\n")[0].split())
        rows.append(f"| [`{name}`]({name}.md) | {first} |\n")
    write(Path("reference/README.md"), REFERENCE + "".join(rows))


def broken_links(site: Path) -> list[str]:
    """Returns the links and pictures of the built site whose file is not there, each with its page."""
    found = []
    for page in sorted(site.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        for link in sorted(set(re.findall(r'<(?:a|img|link|script)\b[^>]*?\b(?:href|src)="([^":#?]+)["#?]', text))):
            if page.name not in ("404.html", "results.html") and not (page.parent / unquote(link)).exists():
                found.append(f"{page.relative_to(site)}: {link}")
    return found


def gather() -> None:
    """Writes all that the site is built from."""
    shutil.rmtree(PAGES, ignore_errors=True)
    target_of: dict[Path, Path] = {}
    pages = sources()
    for page in pages:
        write(place(page), rewritten(page.read_text(encoding="utf-8"), page, target_of))
    add_files(path for path in target_of if path not in pages and path / "README.md" not in pages)
    write_reference()
    results = ["report", "reproductions", "--output", str(PAGES / "results.html")]  # the page names the folder so
    subprocess.run([sys.executable, "-m", "humboldt", *results], cwd=ROOT, check=True)


def main() -> None:
    """Gathers the pages, builds the site and follows its links."""
    gather()
    subprocess.run([sys.executable, "-m", "zensical", "build", "--strict", "--clean"], cwd=ROOT, check=True)
    if broken := broken_links(SITE):
        sys.exit("These links of the site lead nowhere:\n" + "\n".join(broken))
    print("Wrote `build/site`. To read it: `python -m http.server --bind 127.0.0.1 --directory build/site`.")


if __name__ == "__main__":
    main()
