"""Public functions refuse wrong arguments with a sentence, before anything is written."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import humboldt
from humboldt.arguments import checked_arguments, optional, shown, text, whole
from humboldt.errors import RunError, UsageError


def answer(inputs: list[list[str]]) -> list[str]:
    return ["a" for _ in inputs]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: humboldt.plan(3), "suite=3 is not a name. Give a text, e.g. suite='chomsky'."),  # pyright: ignore
        (lambda: humboldt.plan("chomsky", tasks=3), "tasks=3 is not a list of names"),  # pyright: ignore
        (lambda: humboldt.plan("chomsky", preset=None), "preset=None is not a name"),  # pyright: ignore
        (lambda: humboldt.plan("chomsky", settings=[1]), "are not pairs of name and value"),  # pyright: ignore
        (lambda: humboldt.plan("chomsky", settings={"steps": 10**5000}), "steps must be a whole number"),
        (lambda: humboldt.plan("chomsky", out=3), "out=3 is not a folder"),  # pyright: ignore
        (lambda: humboldt.plan("chomsky", out="x" * 300), "File name too long"),
        (lambda: humboldt.plan("chomsky", seeds=True), "seeds=True: seeds must be a whole number of at least 1."),
        (lambda: humboldt.plan("chomsky", match_parameters="no"), "must be True or False"),  # pyright: ignore
        (lambda: humboldt.plan(), "missing a required argument: 'suite'"),  # pyright: ignore
        (lambda: humboldt.run("chomsky", seed=3), "No argument of plan named 'seed'. Did you mean 'seeds'?"),
        (lambda: humboldt.run("chomsky", keep="anything"), "Known: all, best, none"),  # pyright: ignore
        (lambda: humboldt.run("chomsky", save_every=float("inf")), "a finite number of seconds"),
        (lambda: humboldt.run("chomsky", executor=3), "executor=3 is not an executor"),  # pyright: ignore
        (lambda: humboldt.score("chomsky", answer, tasks="parity_check", seed=-1), "seed=-1: seed must be"),
        (lambda: humboldt.score("chomsky", answer, tasks="parity_check", seed=3.5), "seed=3.5"),  # pyright: ignore
        (lambda: humboldt.score("chomsky", answer, tasks="parity_check", evaluations=3), "evaluations=3"),  # pyright: ignore
        (lambda: humboldt.batches("chomsky", "parity_check", count=-1), "count=-1: count must be"),
        (lambda: humboldt.symbols("chomsky", None), "task=None is not a name"),  # pyright: ignore
        (lambda: humboldt.load(None), "folder=None is not a folder"),  # pyright: ignore
        (lambda: humboldt.register(3), "name=3 is not a name"),  # pyright: ignore
    ],
)
def test_wrong_arguments(call: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as error:
        call()
    assert message in str(error.value) and len(str(error.value)) < 500
    assert not list(tmp_path.iterdir())


def test_right_arguments_are_put_into_their_form():
    @checked_arguments(count=optional(whole(0)), name=text)
    def function(name: str, *, count: int | None = None) -> tuple[str, int | None]:
        return name, count

    assert function("a") == ("a", None) and function("a", count=None) == ("a", None)
    assert function("a", count=np.int64(3)) == ("a", 3)  # pyright: ignore[reportArgumentType]
    assert type(function("a", count=np.int64(3))[1]) is int  # pyright: ignore[reportArgumentType]
    assert function.__name__ == "function"


def test_code_that_exits_is_a_failure():
    @checked_arguments()
    def function() -> None:
        raise SystemExit(0)

    with pytest.raises(RunError, match="SystemExit\\(0\\), which would end the whole program"):
        function()


def test_values_that_cannot_be_written_are_shown_by_their_type():
    class Rude:
        def __repr__(self) -> str:
            raise SystemExit(0)

    assert shown(Rude()) == "<Rude>" and shown(10**5000) == "<int>" and len(shown("x" * 1000)) == 80
