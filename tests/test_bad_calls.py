"""A sample of the generated wrong calls: each is refused with a sentence, soon, and leaves nothing behind."""

import inspect
from pathlib import Path
from typing import Any

import typer.main
from pages import script

import humboldt
from humboldt import cli

EVERY = 167  # of about 6,900 calls


def test_a_sample_of_wrong_calls_is_refused(tmp_path: Path):
    bad_calls: Any = script("benchmarks/bad_calls.py")
    bad_calls.prepare(tmp_path, trains=False)
    calls = bad_calls.all_calls()
    assert len(calls) >= 2_500
    made = [(call.place, call.value, bad_calls.outcome(call, tmp_path)) for call in calls[::EVERY]]
    assert not [(place, value, one) for place, value, one in made if one.result != "refused"]


def test_calls_that_are_right_are_accepted_and_one_that_writes_is_noticed(tmp_path: Path):
    bad_calls: Any = script("benchmarks/bad_calls.py")
    bad_calls.prepare(tmp_path, trains=False)
    cheap = ("list", "describe", "merge", "check", "prove", "plot store list", "reproduced")
    for call in bad_calls.right_calls():
        if call.place.startswith(cheap):
            made = bad_calls.outcome(call, tmp_path)
            assert made.result == "accepted", (call.place, made)

    def refuses_after_writing() -> None:
        Path("examples.jsonl").write_text("")
        raise SystemExit(2)

    assert bad_calls.outcome(bad_calls.Call("", "", refuses_after_writing), tmp_path).result == "half-written"


def test_wrong_calls_are_made_of_every_command_and_every_public_function():
    bad_calls: Any = script("benchmarks/bad_calls.py")
    group: Any = typer.main.get_command(cli.app)
    assert set(bad_calls.COMMANDS) == set(group.commands)
    assert {name for name, value in vars(humboldt).items() if inspect.isfunction(value)} <= set(bad_calls.FUNCTIONS)
