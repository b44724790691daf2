"""Times that one test has remembered are not known to the next."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def nothing_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which times are remembered, in a folder of this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "humboldt" / "estimates.json"
