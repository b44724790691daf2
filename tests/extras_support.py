"""Environments of their own, for tests that need an installation."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TORCH = ("torch==2.13.0", "transformers==5.22.2")
LM_EVAL = ("lm_eval==0.4.13", "accelerate")


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done


def install(python: Path | str, *what: str | Path, **environment: str) -> None:
    quiet = "--quiet", "--disable-pip-version-check"
    known = {"PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "PYTHONPATH": "", **environment}
    run(python, "-m", "pip", "install", *quiet, *what, **known)


def environment_upon(folder: Path, *others: Path) -> Path:
    """The Python of a new environment that also has what others have."""
    run(sys.executable, "-m", "venv", folder)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    paths = [next((python.parents[1] / "lib").glob("python*/site-packages")) for python in others]
    (packages / "others.pth").write_text("".join(f"{path}\n" for path in paths))
    return folder / "bin" / "python"
