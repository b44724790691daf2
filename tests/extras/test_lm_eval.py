"""The exported tasks in the lm-evaluation-harness itself: its scores equal ours, on the same strings."""

import json
from pathlib import Path

import pytest
from extras_support import ROOT, run

pytestmark = pytest.mark.slow  # the installation alone takes minutes
PARQUET = """
import datasets, sys
rows = datasets.load_dataset("parquet", data_files=sys.argv[1])["train"]
assert rows.column_names == ["input", "target"] and len(rows) == 12, rows
"""


def test_the_harness_scores_as_we_do(with_lm_eval: Path, tmp_path: Path):
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    offline["PYTHONPATH"] = str(ROOT / "src")
    printed = run(with_lm_eval, ROOT / "benchmarks/lm_eval_agreement.py", tmp_path / "tasks", **offline).stdout
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
