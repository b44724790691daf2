"""Models from users' own files, where the file is not at hand."""

from typing import Any

import pytest

from humboldt.core.identity import Training
from humboldt.core.problems import ProblemKind
from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.models.own import modules, register_model, remember
from humboldt.settings import as_json

NAME = "somebodys_file.py:Net"


def training(engine: str, **model: Any) -> Training:
    return Training("chomsky", "parity_check", NAME, engine, {"model": model}, {"task": 1, "model": "sha256:abc"})


@pytest.mark.usefixtures("registrations_undone")
def test_a_model_is_known_by_what_a_store_says_of_it():
    kinds = (ProblemKind.TRANSDUCTION, ProblemKind.NEXT_SYMBOL)
    remember((training("jax", width=8, rate=0.5, sizes=[1, 2], clip=None), kind) for kind in kinds)
    entry = models.entry(NAME)
    assert entry.version == "sha256:abc" and set(entry.value.problems) == set(kinds)
    assert (entry.value().width, entry.value(rate=0.25).rate) == (8, 0.25)
    assert as_json(entry.value()) == {"width": 8, "rate": 0.5, "sizes": [1, 2], "clip": None}
    with pytest.raises(UsageError, match=r"Name the model with its path: path/to/somebodys_file\.py:Net"):
        entry.value().build(3, 2, num_symbols=2, key=None)


@pytest.mark.usefixtures("registrations_undone")
def test_the_file_itself_takes_the_place_of_what_a_store_says():
    remember([(training("jax", width=8), ProblemKind.TRANSDUCTION)])

    def make(input_size: int, output_size: int, depth: int = 1, *, key: Any) -> None:
        raise NotImplementedError

    register_model(NAME, make, version=3)
    assert models.entry(NAME).version == 3 and models.get(NAME)().depth == 1
    remember([(training("jax", width=8), ProblemKind.TRANSDUCTION)])  # what is known stays
    assert models.entry(NAME).version == 3


def test_modules_are_remembered_with_the_settings_that_all_modules_have():
    try:
        remember([(training("torch", hidden_size=8, device="cpu", compile=False), ProblemKind.TRANSDUCTION)])
        made = modules.get(NAME)(device="cuda")
        assert (made.hidden_size, made.device, made.compile) == (8, "cuda", False)
    finally:
        modules.forget(NAME)


def test_our_own_models_are_not_remembered():
    ours = Training("chomsky", "parity_check", "rnn", "jax", {"model": {"hidden_size": 3}}, {"task": 1, "model": 99})
    remember([(ours, ProblemKind.TRANSDUCTION)])
    assert models.entry("rnn").version != 99
