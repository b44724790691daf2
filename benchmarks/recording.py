"""Records docs/walk_through.md: what a terminal shows from an empty folder to the page of an own model's bench.

    python benchmarks/recording.py

Types the commands of the page into tmux, at 80x24 and at 120x40, and puts what the terminal shows into the blocks of
the page that follow a remark `<!-- recorded NAME -->`. Everything happens in a temporary folder, with a new
environment. To be run on Linux with tmux and git. The trainings are small, and take some minutes.
"""

import argparse
import os
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/walk_through.md"
BENCH = "humboldt bench my_file.py:GRU --suite syntax --suite tracking --seeds 2"
PROMPT = "$"
PATIENCE = 3600.0  # seconds for one command
CODE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
RECORDED = re.compile(r"^<!-- recorded ([\w-]+) -->\n```\n(.*?)^```", re.DOTALL | re.MULTILINE)


class Terminal:
    """A shell in tmux. Its lines are plain text, without colours."""

    def __init__(self, folder: Path, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self._tmux = ["tmux", "-L", f"humboldt-{os.getpid()}-{columns}", "-f", "/dev/null"]
        home = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder), "PS1": f"{PROMPT} ", "PYTHONPATH": ""}
        home |= {"VIRTUAL_ENV_DISABLE_PROMPT": "1"}  # so that the prompt stays the same
        settings = [f"{name}={value}" for name, value in home.items()]
        shell = shlex.join(["env", *settings, "bash", "--norc", "--noprofile"])
        size = ["-x", str(columns), "-y", str(rows)]
        self._call("new-session", "-d", "-s", "shown", *size, "-c", str(folder), shell)
        self.wait(self.is_at_prompt)

    def _call(self, *arguments: str) -> str:
        return subprocess.run([*self._tmux, *arguments], check=True, capture_output=True, text=True).stdout

    def screen(self) -> str:
        """Returns what is on the screen."""
        return self._call("capture-pane", "-p", "-t", "shown").rstrip() + "\n"

    def history(self) -> str:
        """Returns all lines since the screen was last cleared."""
        return self._call("capture-pane", "-p", "-S", "-", "-t", "shown").rstrip() + "\n"

    def type(self, text: str) -> None:
        """Types a line on an empty screen."""
        self._call("send-keys", "-t", "shown", "clear", "Enter")
        time.sleep(0.5)
        self._call("clear-history", "-t", "shown")
        self._call("send-keys", "-t", "shown", "-l", text)
        self._call("send-keys", "-t", "shown", "Enter")
        time.sleep(0.5)

    def press(self, key: str) -> None:
        """Presses a key."""
        self._call("send-keys", "-t", "shown", key)

    def is_at_prompt(self) -> bool:
        """Returns whether the shell waits for a command."""
        return self.screen().rstrip().endswith(f"\n{PROMPT}") or self.screen().strip() == PROMPT

    def wait(self, is_so: Callable[[], bool]) -> None:
        """Waits until something is so."""
        end = time.monotonic() + PATIENCE
        while not is_so():
            if time.monotonic() > end:
                raise TimeoutError(self.screen())
            time.sleep(0.2)

    def run(self, command: str) -> str:
        """Runs a command to its end; returns what it printed, the command included, without the next prompt."""
        self.type(command)
        self.wait(self.is_at_prompt)
        return self.history().rstrip().removesuffix(PROMPT).rstrip() + "\n"

    def close(self) -> None:
        """Ends the shell."""
        self._call("kill-server")


def main() -> None:
    """Records all blocks, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path, default=PAGE, help="The page whose blocks are replaced.")
    page: Path = parser.parse_args().page
    with tempfile.TemporaryDirectory() as folder:
        blocks = record(Path(folder))
    text = page.read_text(encoding="utf-8")
    if different := {name for name, _ in RECORDED.findall(text)} ^ set(blocks):
        raise SystemExit(f"The page and the recording differ in the blocks {', '.join(sorted(different))}.")
    page.write_text(
        RECORDED.sub(lambda found: f"<!-- recorded {found[1]} -->\n```\n{blocks[found[1]]}```", text), encoding="utf-8"
    )


def record(folder: Path) -> dict[str, str]:
    """Returns the text of each block, by name."""
    (code,) = CODE.findall(PAGE.read_text(encoding="utf-8"))
    small = Terminal(folder, 80, 24)
    blocks = {}
    cloned = small.run(f"git clone --quiet {ROOT} humboldt && cd humboldt").replace(str(ROOT), "<this repository>")
    made = small.run("python3 -m venv .venv && source .venv/bin/activate").replace("python3", "python")
    installed = small.run("pip install -c constraints.txt '.[torch,report]'")
    command, *rest = installed.splitlines()
    last = max(i for i, line in enumerate(rest) if line.startswith("Successfully installed"))
    blocks["install"] = cloned + made + "\n".join([command, "...", *_until_blank(rest[last:])]) + "\n"
    Path(folder, "humboldt/my_file.py").write_text(code, encoding="utf-8")
    blocks["check"] = small.run("humboldt check model my_file.py:GRU --on syntax/np_n_vp_n")
    blocks |= {f"{name}-80": text for name, text in _bench(small, "results").items()}
    blocks["report"] = small.run("humboldt report results")
    blocks["show"] = small.run("humboldt show results --suite tracking")
    small.close()
    large = Terminal(folder / "humboldt", 120, 40)
    large.run("source .venv/bin/activate")
    blocks |= {f"{name}-120": text for name, text in _bench(large, "again").items()}
    large.close()
    return blocks


def _until_blank(lines: list[str]) -> list[str]:
    """Returns the lines of one sentence of pip, without its advice about new versions of itself."""
    return lines[: next((i for i, line in enumerate(lines) if not line.strip() or line.startswith("[")), len(lines))]


def _bench(terminal: Terminal, out: str) -> dict[str, str]:
    """Runs the bench, stops it with Ctrl-C, and resumes; returns the screens."""
    command = BENCH if out == "results" else f"{BENCH} --out {out}"
    terminal.type(command)
    terminal.wait(lambda: bool(re.search(r"nested_dependency.*\n?.* (?!0)[\d,]+/2,000 \d", terminal.screen())))
    time.sleep(5)
    running = terminal.screen()
    terminal.press("C-c")
    terminal.wait(terminal.is_at_prompt)
    stopped = terminal.history().rstrip().removesuffix(PROMPT).rstrip() + "\n"
    again = terminal.run(command)
    place = stopped.index("np_n_vp_n · my_file.py:GRU: validation")  # what is above was on the screen before
    return {"running": running, "stopped": f"...\n{stopped[place:]}", "resumed": again}


if __name__ == "__main__":
    main()
