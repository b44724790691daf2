import numba
import pytest
from numba.core import caching

from humboldt.languages.chomsky._compiled import compiled


def double(x: int) -> int:
    return 2 * x


def test_where_no_folder_can_be_written(monkeypatch: pytest.MonkeyPatch):
    """Numba itself refuses to compile there."""
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError, match="no locator available"):
        numba.njit(cache=True)(double)
    assert compiled(double)(21) == 42
