import subprocess
import sys

import pytest

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.models import models
from humboldt.registry import Registry


def test_names_are_files():
    assert "chomsky/parity_check" in tasks.names()
    assert not any("_base" in name for name in tasks.names())
    assert {"rnn", "lstm"} <= set(models.names())


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="Did you mean 'chomsky/parity_check'"):
        tasks.get("chomsky/paritycheck")


def test_a_name_is_bound_once():
    registry: Registry[object] = Registry("thing", "humboldt.models")
    registry.register("mine", version=1)(object())
    with pytest.raises(ValueError, match="registered already"):
        registry.register("mine", version=2)(object())
    assert "mine" in registry.names() and registry.entry("mine").version == 1


def test_listing_imports_nothing_heavy():
    code = (
        "import sys; from humboldt.models import models; from humboldt.suites import suites; import humboldt.cli;"
        "models.names(); [suites.get(n).tasks() for n in suites.names()];"
        "print(sorted({'jax', 'torch', 'equinox'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
