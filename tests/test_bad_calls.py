"""A sample of the generated wrong calls: each is refused with a sentence, soon, and leaves nothing behind."""

from pathlib import Path
from typing import Any

from pages import script

EVERY = 97  # of about 4,000 calls


def test_a_sample_of_wrong_calls_is_refused(tmp_path: Path):
    bad_calls: Any = script("benchmarks/bad_calls.py")
    bad_calls.prepare(tmp_path, trains=False)
    calls = bad_calls.all_calls()
    assert len(calls) >= 2_500
    wrong = []
    for call in calls[::EVERY]:
        result, _, said = bad_calls.outcome(call, tmp_path)
        if result != "refused":
            wrong.append((call.place, call.value, result, said))
    assert not wrong


def test_a_call_that_is_right_is_accepted(tmp_path: Path):
    bad_calls: Any = script("benchmarks/bad_calls.py")
    bad_calls.prepare(tmp_path, trains=False)
    result, _, said = bad_calls.outcome(bad_calls.right_calls()[0], tmp_path)
    assert result == "accepted", said
