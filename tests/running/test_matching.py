"""Networks of the same size; tests/extras/test_torch.py matches real ones."""

from typing import Any

import pytest

from humboldt.errors import MissingExtra
from humboldt.running import matching
from humboldt.suites import suites
from humboldt.suites.experiments import Request


def test_who_lacks_jax_is_told_so(monkeypatch: pytest.MonkeyPatch):
    def parameters(suite: Any, request: Any, task: str, model: str, changes: Any) -> int:
        if model == "rnn":
            raise MissingExtra("jax")
        return 1000

    monkeypatch.setattr(matching, "_parameters", parameters)
    request = Request(("parity_check",), ("lstm", "rnn"))
    with pytest.raises(MissingExtra, match=r"pip install 'humboldt\[zoo\]'"):
        matching.matched(suites.get("chomsky"), request, "lstm", ["rnn"])
