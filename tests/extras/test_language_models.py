"""PyTorch and causal language models: the blocks of the page that need them."""

from pathlib import Path

import pytest
from pages import run_block
from test_score_page import BLOCKS

pytestmark = pytest.mark.extras


@pytest.mark.parametrize("number", range(sum(needs_torch for needs_torch, _, _ in BLOCKS)))
def test_blocks_that_need_torch_run(with_torch: Path, tmp_path: Path, number: int):
    kind, text = [(kind, text) for needs_torch, kind, text in BLOCKS if needs_torch][number]
    printed = run_block(kind, text, tmp_path, str(with_torch))
    if "GPT2" in text:
        assert "random GPT-2 (outside)" in printed and "share of pairs" in printed and "met_0 0.0000" in printed
    else:
        assert printed.count("torch.Size") == 3
