"""A small real store for tests of the page: tiny runs of all suites, exported by `humboldt archive`."""

from pathlib import Path

from humboldt.core.results import Scores
from humboldt.page.collect import collect
from humboldt.page.content import Page
from humboldt.suites.reading import stored

STORE = Path(__file__).parent / "page" / "store"
HOSTILE = "<script>alert(1)</script>"


def results() -> list[Scores]:
    return stored(STORE)


def small_page(folder: str = "results") -> Page:
    return collect(results(), folder)
