import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core import caching, config

import humboldt
from humboldt.compiled import compiled

PACKAGE = Path(humboldt.__file__).parent
USERS = sorted(
    ".".join(("humboldt", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in PACKAGE.rglob("*.py")
    if "@compiled" in path.read_text() or "@entry" in path.read_text()
)
PROBE = """
import importlib, sys
import numba, numpy as np
from humboldt import compiled
from humboldt import errors

assert compiled.__file__.startswith(sys.argv[1]), compiled.__file__
try:
    numba.njit(cache=True)(errors.unknown_name)
except RuntimeError as error:
    assert "no locator available" in str(error)
else:
    sys.exit("Numba found a folder that can be written, so this shows nothing.")
for name in sys.argv[2:]:
    importlib.import_module(name)
from humboldt.languages.bliss.parts.test_set import _block_symbols
print(_block_symbols(np.array([[2], [4]]), np.array([0]), 3))
"""


def double(x: int) -> int:
    return 2 * x


def test_where_no_folder_can_be_written(monkeypatch: pytest.MonkeyPatch):
    """Numba itself refuses to compile there."""
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError, match="no locator available"):
        numba.njit(cache=True)(double)
    assert compiled(double)(21) == 42


def test_a_copy_of_the_package_in_folders_that_cannot_be_written(tmp_path: Path):
    """As in a read-only installation of a user without a home. Root may write everywhere, but makes no folder where
    a file is: `__pycache__` is a file in every folder of the copy, and so is the home."""
    assert len(USERS) >= 8
    copy = tmp_path / "humboldt"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("no folder")
    (tmp_path / "home").write_text("no folder")
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    environment |= {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home"), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-B", "-c", PROBE, str(tmp_path), *USERS],
        env=environment | {"PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["[2]"]


def test_options_are_numbas():
    assert compiled(fastmath=True)(double).targetoptions["fastmath"]
    assert not compiled(double).targetoptions.get("fastmath")
    with pytest.raises(Exception, match="fastmoth"):
        compiled(fastmoth=True)(double)(1)


def test_what_is_not_to_be_kept_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    assert compiled(cache=False)(double)(3) == 6
    assert not list(tmp_path.rglob("*.nbi"))
    assert compiled(double)(3) == 6
    assert list(tmp_path.rglob("*.nbi"))


def test_nobody_else_uses_numbas_decorator():
    for path in PACKAGE.rglob("*.py"):
        assert path.name == "compiled.py" or "njit" not in path.read_text(), path
