"""A study in a notebook: its progress can be read there."""

from pathlib import Path

import pytest

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
