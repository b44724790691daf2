"""How long does it take from a clone to the first table of an own PyTorch model, in a new environment?

    python benchmarks/first_table.py

It does what docs/pytorch.md says under "From nothing to a table": clones this repository into a temporary folder, makes
an environment, installs `[torch]`, writes the class of the page, checks it and trains it. Nothing is shared with other
environments but pip's index; pip has no cache. Prints one JSON record: for each step the command with its wall and
processor seconds, and the lines of code that a user writes. The machine's load before and after says how much other
work there was: on an idle machine a step takes at least its processor time divided by the number of cores.
"""

import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from _record import report

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/pytorch.md"


def main() -> None:
    """Runs the commands of the page in a new folder, and prints the record."""
    text = PAGE.read_text(encoding="utf-8").partition("## What it takes")[0]
    install, train = re.findall(r"^```\n((?:python -m venv|humboldt check).*?)^```", text, re.DOTALL | re.MULTILINE)
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    steps = ["git clone --quiet " + str(ROOT) + " humboldt", "cd humboldt", *install.splitlines(), *train.splitlines()]
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        home.mkdir()
        # A shell for all steps, so that an activated environment stays; it says when each step ends.
        own = {"HOME": str(home), "XDG_CACHE_HOME": str(home), "PIP_NO_CACHE_DIR": "1", "PYTHONPATH": ""}
        shell = subprocess.Popen(
            ["bash", "-e"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, **own},
            text=True,
        )
        assert shell.stdin is not None and shell.stdout is not None
        found: list[dict[str, Any]] = []
        for step in steps:
            if step.startswith("humboldt check"):
                Path(folder, "humboldt/my_file.py").write_text(code, encoding="utf-8")
            begin = time.perf_counter()
            shell.stdin.write(f"{{ {step}\n}} >&2; times; echo done\n")
            shell.stdin.flush()
            # `times` prints the shell's own time, then that of all programs that it has run.
            lines = [shell.stdout.readline().strip() for _ in range(3)]
            assert lines[2] == "done", f"{step} failed"
            used = sum(60 * float(m) + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", lines[1]))
            found.append({"command": step, "wall_seconds": time.perf_counter() - begin, "processor_seconds": used})
        shell.stdin.close()
        shell.wait()
    used = [0.0, *(step["processor_seconds"] for step in found)]
    for i, step in enumerate(found):
        step["processor_seconds"] = round(used[i + 1] - used[i], 1)
        step["wall_seconds"] = round(step["wall_seconds"], 1)
    found[0]["command"] = "git clone --quiet <this repository> humboldt"
    totals = {name: round(sum(step[name] for step in found)) for name in ("wall_seconds", "processor_seconds")}
    lines_of_code = sum(bool(line.strip()) for line in code.splitlines())
    loads = [round(load, 1), round(os.getloadavg()[0], 1)]
    report("first_table", {"lines_of_code": lines_of_code, **totals, "load_before_and_after": loads, "steps": found})


if __name__ == "__main__":
    main()
