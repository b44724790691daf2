"""Notebooks: progress can be read there, and that of the tutorial runs from its first to its last cell."""

import os
from pathlib import Path

import pytest
from pages import ROOT, make_tools

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("ignore")]  # of Jupyter's own
CODE = """
import humboldt

study = humboldt.run("faults", settings={"pause": 0.01}, out=OUT)
print(study.table())
"""


def test_progress_and_results_are_shown_as_plain_lines(tmp_path: Path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    plugin = Path(__file__).parents[1] / "fault_plugin.py"
    load = f"from pathlib import Path\nfrom humboldt.plugins import load_files\nload_files([Path({str(plugin)!r})])"
    cells = [load, CODE.replace("OUT", repr(str(tmp_path / "out")))]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = notebook.cells[1].outputs
    assert {output.name for output in outputs} == {"stdout"}  # nothing looks like an error
    lines = "".join(output.text for output in outputs).splitlines()
    assert lines[0] == "sums · adder: sum 3.711 (best of 2 members), 1 s [1 of 2 experiments finished, 1 s left]"
    assert lines[1] == "more_sums · adder: sum 3.711 (best of 2 members), 1 s [2 of 2 experiments finished]"
    assert "faults, paper" in lines[2] and not any("\x1b" in line for line in lines)


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With fewer steps and strings. A command that fails does not fail its cell, so what it prints is read."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    monkeypatch.setenv("PATH", f"{make_tools(tmp_path)}{os.pathsep}{os.environ['PATH']}")
    notebook = nbformat.read(ROOT / "examples/tutorial.ipynb", as_version=4)
    nbformat.validate(notebook)
    small = "--seeds 1 --set steps=20 --set num_test_lengths=2 --set strings_per_length=4 --set hidden_size=4"
    for cell in notebook.cells:
        cell.source = cell.source.replace("--seeds 1", small)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    written, trained, shown = ("".join(output.get("text", "") for output in cell.outputs) for cell in code)
    assert "my_file.py" in written and (tmp_path / "my_file.py").exists()
    for printed in (trained, shown):
        assert "Error" not in printed and "Traceback" not in printed
        assert "parity_check" in printed and "reverse_string" in printed and "my_file.py:GRU" in printed
