"""A paper's released code, run beside ours: a process of its own, in its own environment, that waits between rounds."""

import argparse
import json
import subprocess
from pathlib import Path
from typing import Any


def add_options(parser: argparse.ArgumentParser) -> None:
    """The two options of every benchmark that has such a baseline."""
    parser.add_argument("--reference", type=Path, help="a checkout of the released code, to run beside ours")
    parser.add_argument("--reference-python", type=Path, help="the Python of its environment")


class Reference:
    """Runs `script` with the checkout as its first argument. It says its versions, then answers requests in JSON."""

    def __init__(self, options: argparse.Namespace, script: str, *arguments: str) -> None:
        if not options.reference_python:
            raise SystemExit("--reference needs --reference-python, the Python of an environment that runs the code.")
        self._checkout = str(options.reference.resolve())
        self._process = subprocess.Popen(
            [str(options.reference_python), str(Path(__file__).with_name(script)), self._checkout, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._versions = self._answer()

    def ask(self, request: Any) -> Any:
        """One request and its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def about(self) -> dict[str, Any]:
        """Which code ran: its commit, and the versions of what it uses."""
        command = ["git", "-C", self._checkout, "rev-parse", "HEAD"]
        commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        return {"commit": commit, "versions": self._versions}

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("The released code has stopped: what it says is above.")
        return json.loads(line)
