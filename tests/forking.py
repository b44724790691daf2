"""Commands in processes of their own that do not import the package first: copies of one process that has.

Starting Python and importing takes a second; a file of tests with a hundred commands would spend its time on that.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

#: Reads requests, one a line, does each in a copy of itself, and answers with the exit status.
SERVER = """
import json, os, resource, signal, sys, traceback
import humboldt.cli
from humboldt.suites import suites

for name in suites.names():
    suites.get(name)

def do(request):
    os.environ.update(request["environment"])
    for number, path in enumerate([os.devnull, *request["outputs"]]):
        os.dup2(os.open(path, os.O_RDWR), number)
    signal.alarm(120)
    if request["limit"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["limit"], request["limit"]))
    try:
        exec(request["code"], {"__name__": "__main__"})
        return 0
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1

for line in sys.stdin:
    child = os.fork()
    if not child:
        code = do(json.loads(line))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Forked:
    """Runs Python code in copies of a process that has imported the package and its suites, but not JAX."""

    def __init__(self) -> None:
        command = [sys.executable, "-B", "-c", SERVER]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(
        self, code: str, *, limit: int | None = None, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """`limit` is the largest file that it may write. What is read while importing, `environment` cannot change."""
        assert self._server.stdin is not None and self._server.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            outputs = [Path(folder, name) for name in ("out", "err")]
            for path in outputs:
                path.touch()
            request = {"code": code, "limit": limit, "environment": dict(environment or {})}
            request["outputs"] = [str(path) for path in outputs]
            self._server.stdin.write(json.dumps(request) + "\n")
            self._server.stdin.flush()
            status = int(self._server.stdout.readline())
            return subprocess.CompletedProcess([], status, *(path.read_text() for path in outputs))

    def stop(self) -> None:
        """Ends the process that was copied."""
        self._server.communicate()
