"""The page about scoring: every block runs, in its order and in one folder, and the examples are short."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT

PAGE = (ROOT / "docs/score.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(<!-- needs torch -->\n)?```(python|bash)\n(.*?)```", re.DOTALL)
BLOCKS = [(bool(torch), kind, text) for torch, kind, text in BLOCK.findall(PAGE)]
SUITES = ("chomsky", "syntax", "pcfg_set", "bias", "bliss")


def run_block(kind: str, text: str, folder: Path, python: str = sys.executable) -> str:
    """What a block prints; `humboldt` and `python` are those of the environment."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    for name, line in (("humboldt", f'exec "{python}" -m humboldt "$@"'), ("python", f'exec "{python}" "$@"')):
        (tools / name).write_text(f"#!/bin/sh\n{line}\n")
        (tools / name).chmod(0o755)
    command = ["bash", "-euo", "pipefail", "-c", text] if kind == "bash" else [python, "-c", text]
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{text}\n{done.stderr}"
    return done.stdout


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
        assert "score 1.0000 (95% 1.0000 to 1.0000; n 1,536; chance 0.5; paper: RNN 100, Stack-RNN 100" in printed
    if "check model" in text:
        shown = re.search(r"```\n(  passed.*?)```", PAGE, re.DOTALL)
        assert shown and shown.group(1) in printed
    if "class Counter" in text:
        assert "met_0 1.0000" in printed
    if "reverses" in text:
        assert '"value": 1.0' in printed
    if "seeds.jsonl" in text:
        assert '"rule": "hierar",\n    "agreeing": 3,\n    "members": 3' in printed
