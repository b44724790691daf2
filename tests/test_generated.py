"""Parts of the pages that are made from records are up to date."""

import re

import pytest
from pages import ROOT, script

GENERATED = script("docs/generated.py")


@pytest.mark.parametrize("path", GENERATED.pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_generated_parts_are_those_of_the_records(path):
    text = path.read_text(encoding="utf-8")
    assert GENERATED.rewritten(text) == text, "run `python docs/generated.py`"
    assert len(GENERATED.PATTERN.findall(text)) == text.count("<!-- generated:") == text.count("<!-- end -->")


def test_every_block_is_on_a_page():
    found = {name for path in GENERATED.pages() for name in re.findall(r"<!-- generated: (\w+) -->", path.read_text())}
    assert found == set(GENERATED.BLOCKS)
