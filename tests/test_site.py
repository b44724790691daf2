"""The site has every page of the repository and every public name; a link that leads nowhere ends its build."""

import importlib
import inspect
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pages import ROOT, script

import humboldt

SITE = script("docs/site.py")
CONFIGURATION = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
TABS: dict[str, list[dict[str, str]]] = {title: pages for tab in CONFIGURATION["nav"] for title, pages in tab.items()}
ENTRIES = [place for pages in TABS.values() for page in pages for place in page.values()]


def test_every_page_is_behind_a_tab_and_only_once():
    """Two clicks: the tab, then the page in its list."""
    written = [str(SITE.place(path)) for path in SITE.sources()]
    reference = ["reference/README.md", *(f"reference/{name}.md" for name in SITE.MODULES)]
    assert sorted(ENTRIES) == sorted([*written, *reference, "results.html"])


def test_links_are_those_of_the_site():
    text = "[a](docs/bench.md#references) [b](reproductions/bias) [c](reproductions) [d](examples/flax_gru.py) [e](#x)"
    linked: dict[Path, Path] = {}
    assert SITE.rewritten(text, ROOT / "README.md", linked) == (
        "[a](docs/bench.md#references) [b](reproductions/bias/README.md) [c](reproductions/files.md)"
        " [d](examples/flax_gru.py.md) [e](#x)"
    )
    assert SITE.rewritten("[a](../README.md)\n```\n[b](no.md)\n```", ROOT / "docs/bench.md", linked) == (
        "[a](../index.md)\n```\n[b](no.md)\n```"
    )
    assert ROOT / "examples/flax_gru.py" in linked


def test_a_link_to_a_missing_file_is_an_error():
    with pytest.raises(SystemExit, match=r"README.md links to `docs/none.json`, which does not exist"):
        SITE.rewritten("[a](docs/none.json)", ROOT / "README.md", {})


def test_broken_links_of_the_built_site_are_found(tmp_path: Path):
    (tmp_path / "a.html").write_text(
        '<a class="x" href="b.html#part">b</a> <img src="c.svg"> <a href="https://d">d</a>'
    )
    (tmp_path / "b.html").write_text('<a href="a.html">a</a>')
    assert SITE.broken_links(tmp_path) == ["a.html: c.svg"]


def test_every_public_name_is_in_the_reference():
    offered = {name for name in vars(humboldt) if not name.startswith("_")}
    modules = {name for name in offered if inspect.ismodule(getattr(humboldt, name))}
    assert offered - modules == set(SITE.public_names(humboldt))


@pytest.mark.parametrize("name", SITE.MODULES)
def test_every_public_name_has_a_docstring(name: str):
    module = importlib.import_module(name)
    things: dict[str, Any] = {one: getattr(module, one) for one in SITE.public_names(module)}
    written = {one: thing for one, thing in things.items() if inspect.isclass(thing) or inspect.isfunction(thing)}
    assert written and inspect.getdoc(module)
    assert [one for one, thing in written.items() if not inspect.getdoc(thing)] == []
