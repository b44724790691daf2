"""How long does a new user take to have an own PyTorch model in all five tables? The code and commands of the page.

    python benchmarks/walk_through.py

The page is docs/pytorch.md. To be run by the Python of an environment that was installed with the extra `[torch]`; the
record says whether it has JAX.
Prints one JSON record: for each suite the command, the lines of code that it needs, and its wall and processor seconds.
"""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from _record import report

PAGE = Path(__file__).parents[1] / "docs/pytorch.md"


def main() -> None:
    """Writes the page's classes into a file, runs the page's commands in that folder, and prints the record."""
    text = PAGE.read_text(encoding="utf-8")
    code = {
        re.findall(r"class (\w+)", block)[0]: block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    }
    commands = re.findall(r"\| `(humboldt run [^`]*)` \|", text)
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "my_file.py").write_text("\n\n".join(code.values()), encoding="utf-8")
        environment = {**os.environ, "XDG_CACHE_HOME": folder}  # nothing is remembered of earlier runs
        for command in commands:
            begin, before = time.perf_counter(), os.times()
            arguments = shlex.split(command)[1:]
            subprocess.run(
                [sys.executable, "-m", "humboldt", *arguments], cwd=folder, env=environment, check=True, stdout=2
            )
            after = os.times()
            own = re.findall(r"my_file.py:(\w+)", command)[0]
            found.append(
                {
                    "command": command,
                    "lines": sum(bool(line.strip()) for line in code[own].splitlines()),
                    "wall_seconds": round(time.perf_counter() - begin),
                    "processor_seconds": round(
                        after.children_user + after.children_system - before.children_user - before.children_system
                    ),
                }
            )
    has_jax = importlib.util.find_spec("jax") is not None
    report("walk_through", {"torch": metadata.version("torch"), "has_jax": has_jax, "suites": found})


if __name__ == "__main__":
    main()
