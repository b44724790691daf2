"""Links between the pages of the repository lead somewhere: to a file that exists, and to a heading that is there."""

import re
from pathlib import Path

import pytest
from pages import ROOT

PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += [*sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("reproductions/**/*.md")), ROOT / "benchmarks/README.md"]


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them in links."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), f"{link}: there is no such file"
        if anchor:
            found = target / "README.md" if target.is_dir() else target
            assert anchor in anchors(found), f"{link}: {found.name} has no such heading"
