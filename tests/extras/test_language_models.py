"""PyTorch and causal language models: the blocks of the page that need them, and the lm-evaluation-harness itself."""

import json
from pathlib import Path

import pytest
from extras_support import ROOT, run
from test_score_page import BLOCKS, run_block

pytestmark = pytest.mark.extras


@pytest.mark.parametrize("number", range(sum(needs_torch for needs_torch, _, _ in BLOCKS)))
def test_blocks_that_need_torch_run(with_torch: Path, tmp_path: Path, number: int):
    kind, text = [(kind, text) for needs_torch, kind, text in BLOCKS if needs_torch][number]
    printed = run_block(kind, text, tmp_path, str(with_torch))
    if "GPT2" in text:
        assert "random GPT-2 (outside)" in printed and "share of pairs" in printed and "met_0 0.0000" in printed
    else:
        assert printed.count("torch.Size") == 3


PARQUET = """
import datasets, sys
rows = datasets.load_dataset("parquet", data_files=sys.argv[1])["train"]
assert rows.column_names == ["input", "target"] and len(rows) == 12, rows
"""


@pytest.mark.slow  # the installation alone takes minutes
def test_the_harness_scores_as_we_do(with_lm_eval: Path, tmp_path: Path):
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    offline["PYTHONPATH"] = str(ROOT / "src")
    printed = run(with_lm_eval, ROOT / "tests/extras/lm_eval_agreement.py", tmp_path / "tasks", **offline).stdout
    found = json.loads(printed.splitlines()[-1])
    recorded = json.loads((ROOT / "benchmarks/records/lm_eval_agreement.json").read_text(encoding="utf-8"))
    assert found["scores"] == recorded["scores"]
    for theirs, ours in found["scores"].values():
        assert theirs == pytest.approx(ours, abs=1e-3)
    strings = tmp_path / "test.parquet"
    small = ["--set", "test_lengths=41,43", "--set", "strings_per_length=4"]
    chosen = ["chomsky", "reverse_string", "--split", "test", *small]
    run(with_lm_eval, "-m", "humboldt", "data", *chosen, "--output", strings, **offline)
    run(with_lm_eval, "-c", PARQUET, strings, **offline)
