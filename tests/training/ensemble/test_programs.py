"""Compiled programs are dropped before memory maps run out."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from humboldt.training.ensemble import programs


def test_programs_are_dropped_near_the_limit_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    maps, most = tmp_path / "maps", tmp_path / "max_map_count"
    monkeypatch.setattr(programs, "MAPS", maps)
    monkeypatch.setattr(programs, "MOST_MAPS", most)
    double: Any = jax.jit(lambda x: 2 * x)
    double(jnp.ones(3))
    assert not programs.forget_programs()  # not Linux: there are no such files
    maps.write_text("a map\n" * 50)
    most.write_text("100\n")
    assert not programs.forget_programs() and double._cache_size() == 1
    most.write_text("99\n")
    assert programs.forget_programs() and double._cache_size() == 0
    assert double(jnp.ones(3)).tolist() == [2, 2, 2]


@pytest.mark.skipif(not programs.MAPS.exists(), reason="only Linux counts memory maps")
def test_the_limit_of_this_system_can_be_read():
    assert int(programs.MOST_MAPS.read_text()) > 1000
