"""The blocks of pages that need PyTorch or Flax, after those that they build upon."""

from pathlib import Path
from typing import Any

import jax
import pytest
from pages import PAGES, ROOT, blocks
from test_pages import run_statements

import humboldt

pytestmark = pytest.mark.extras
# Those of docs/score.md are complete programs: see test_language_models.py.
WITH_NEEDS = [page for page in PAGES if any(block.needs for block in blocks(page)) and page != Path("docs/score.md")]


@pytest.mark.usefixtures("registrations_undone")
@pytest.mark.parametrize("page", WITH_NEEDS, ids=str)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(humboldt, "run", humboldt.plan)
    names: dict[str, Any] = {"__name__": "__main__", "humboldt": humboldt}
    with jax.numpy_rank_promotion("allow"):  # Flax adds biases to rows
        for block in blocks(page):
            if block.kind == "python":
                run_statements(block.text, names)


@pytest.mark.parametrize(("page", "example"), [("pytorch.md", "pytorch_gru.py"), ("jax.md", "flax_gru.py")])
def test_what_a_page_shows_is_what_the_example_has(page: str, example: str):
    """Examples are trained by other tests. Types and documentation apart, each of their lines is on the page."""
    source = (ROOT / "examples" / example).read_text(encoding="utf-8")
    shown = {line.strip() for block in blocks(f"docs/{page}") if block.needs for line in block.text.splitlines()}
    code = [
        line.strip()
        for line in source.splitlines()
        if line.strip().startswith(("self.", "return", "outputs", "packed"))
    ]
    missing = [line for line in code if line not in shown]
    assert len(code) > 2 and not missing
