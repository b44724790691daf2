import os
import subprocess
import sys

from humboldt.mdl.jit import SOURCES, entry

CALLER = """
import sys
import humboldt.mdl.jit as jit
jit.SOURCES = int(sys.argv[1])
from callee import g

@jit.entry
def f(sources):
    def f(x):
        _ = sources
        return g(x)
    return f

print(f(1), sum(f.stats.cache_hits.values()))
"""


def test_where_nothing_can_be_kept_on_disk_it_still_compiles():
    # Code that comes from no file has no place for a cache: Numba refuses, as it does in a folder it cannot write.
    space = {}
    exec("def make(sources):\n    def f(x):\n        _ = sources\n        return x + 1\n    return f", space)
    assert entry(space["make"])(1) == 2


def test_an_edit_in_the_folder_leads_to_a_new_compilation(tmp_path):
    def run(sources: int) -> list[str]:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "caller.py", str(sources)], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    (tmp_path / "caller.py").write_text(CALLER)
    callee = "from humboldt.mdl.jit import inner\n@inner\ndef g(x):\n    return x + {}\n"
    (tmp_path / "callee.py").write_text(callee.format(1))
    assert run(1) == ["2", "0"]
    assert run(1) == ["2", "1"]  # kept on disk
    (tmp_path / "callee.py").write_text(callee.format(10))
    assert run(1) == ["2", "1"]  # the danger: the caller's file has not changed, so Numba runs the old code
    assert run(2) == ["11", "0"]  # the cure: SOURCES has


def test_the_digest_fits_a_machine_word():
    assert 0 < SOURCES < 2**63
