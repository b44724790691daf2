"""Writes examples/tutorial.ipynb from the first section of docs/pytorch.md: `python docs/notebook.py`.

Text becomes text, the class becomes a file that a cell writes, and commands become commands. What a page shows of
their output is left out: the notebook makes its own. A test holds the notebook to the page.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE, NOTEBOOK = ROOT / "docs/pytorch.md", ROOT / "examples/tutorial.ipynb"
SECTION = "From nothing to a table"
BLOCK = re.compile(r"^(?:<!-- needs \w+ -->\n)?```(\w*)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?:\.\./)?([\w./#-]+)\)")


def notebook() -> str:
    """Returns the notebook as JSON."""
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(f"## {SECTION}\n")
    body = rest.split("\n## ")[0].replace("This section is also [a notebook](../examples/tutorial.ipynb). ", "")
    parts = [("markdown", _linked(head)), *_parts(body), ("code", "!humboldt show results\n")]
    cells = [_cell(i, kind, text) for i, (kind, text) in enumerate(parts)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _parts(body: str) -> Iterator[tuple[str, str]]:
    """Yields the cells of a section: their kinds and texts."""
    pieces = BLOCK.split(body)  # text, kind of block, block, text, ...
    for i, text in enumerate(pieces):
        if i % 3 == 0 and text.strip():
            yield "markdown", _linked(text)
        elif i % 3 == 2 and pieces[i - 1] == "python":
            yield "code", f"%%writefile my_file.py\n{text}"
        elif i % 3 == 2 and text.startswith("humboldt "):
            yield "code", "".join(f"!{line}\n" for line in text.splitlines())
        elif i % 3 == 2 and text.startswith("python -m venv"):
            yield "markdown", f"```\n{text}pip install notebook\n```"


def _linked(text: str) -> str:
    """Returns text with links from the folder of the examples."""

    def link(found: re.Match[str]) -> str:
        place = found[1].partition("#")[0]
        is_page = (ROOT / "docs" / place).exists()
        return f"](../docs/{found[1]})" if is_page else f"]({found[1].removeprefix('examples/')})"

    return LINK.sub(link, text.strip())


def _cell(number: int, kind: str, text: str) -> dict[str, object]:
    code = {"execution_count": None, "outputs": []} if kind == "code" else {}
    source = text.strip("\n").splitlines(keepends=True)
    return {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, **code, "source": source}


if __name__ == "__main__":
    NOTEBOOK.write_text(notebook(), encoding="utf-8")
