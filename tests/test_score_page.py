"""The page about scoring: every block runs, in its order and in one folder, and the examples are short."""

import re

import pytest
from pages import ROOT, blocks, run_block

PAGE = (ROOT / "docs/score.md").read_text(encoding="utf-8")
BLOCKS = [(bool(needs), kind, text) for needs, kind, text in blocks("docs/score.md") if kind]
SUITES = ("chomsky", "syntax", "pcfg_set", "bias", "bliss")


def test_there_is_an_example_for_every_suite_in_fewer_than_20_lines():
    examples = [text for needs_torch, kind, text in BLOCKS if kind == "python" and not needs_torch][:5]
    assert [re.search(r'score\("(\w+)"', text).group(1) for text in examples] == list(SUITES)  # pyright: ignore[reportOptionalMemberAccess]
    for text in examples:
        assert sum(bool(line.strip()) for line in text.splitlines()) < 20


@pytest.mark.parametrize("number", range(len(BLOCKS)), ids=lambda number: f"{number}-{BLOCKS[number][1]}")
def test_every_block_runs(number: int, tmp_path_factory: pytest.TempPathFactory):
    needs_torch, kind, text = BLOCKS[number]
    if needs_torch:
        pytest.skip("in tests/extras/test_language_models.py")
    folder = tmp_path_factory.getbasetemp() / "score_page"
    folder.mkdir(exist_ok=True)
    printed = run_block(kind, text, folder)
    if 'name="counts"' in text:
        assert "score 1.0000 (95% 0.9975 to 1.0000; n 1,536; chance 0.5; floor 0.5004; paper: RNN 100" in printed
    if "check model" in text:
        shown = re.search(r"```\n(  passed.*?)```", PAGE, re.DOTALL)
        assert shown and shown.group(1) in printed
    if "class Counter" in text:
        assert "met_0 1.0000" in printed
    if "reverses" in text:
        assert '"value": 1.0' in printed
    if "seeds.jsonl" in text:
        assert '"measure": "FPA-hierar",\n   "value": 1.0,\n   "n": 3' in printed
