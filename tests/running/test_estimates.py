"""How long experiments take: measured once, remembered, honest about compilation and scoring."""

import time
from pathlib import Path

import numpy as np
import pytest
from engine_support import Clockwork, ClockworkPredictor
from suite_support import TINY

import humboldt
from humboldt.core.events import Silent
from humboldt.languages import Batch
from humboldt.running import estimates
from humboldt.running.study import Study
from humboldt.suites.chomsky.scoring import PROBED_ROWS


def plan(out: Path, tasks=("parity_check", "even_pairs"), seeds: int = 2, **settings) -> Study:
    changes = {**TINY, "strings_per_length": 10, **settings}
    return humboldt.plan("chomsky", tasks=tasks, models="rnn", preset="paper", seeds=seeds, settings=changes, out=out)


def test_what_was_measured_is_remembered(clockwork: Clockwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    study = plan(tmp_path)
    first = list(study.estimate(study.pending()))
    asked = len(clockwork.scored)
    monkeypatch.setattr(clockwork, "sample", None)  # would raise
    assert list(plan(tmp_path).estimate(plan(tmp_path).pending())) == first and len(clockwork.scored) == asked
    with pytest.raises(TypeError):
        list(plan(tmp_path, steps=21).estimate(plan(tmp_path, steps=21).pending()))


def test_another_machine_measures_for_itself(clockwork: Clockwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    list(plan(tmp_path).estimate(plan(tmp_path).pending()))
    asked = len(clockwork.scored)
    monkeypatch.setattr("platform.node", lambda: "elsewhere")
    list(plan(tmp_path).estimate(plan(tmp_path).pending()))
    assert len(clockwork.scored) == 2 * asked


def test_a_few_rows_are_asked(clockwork: Clockwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[int] = []
    correct = ClockworkPredictor.correct

    def noting(self: ClockworkPredictor, batch: Batch, *, number: int = 0) -> np.ndarray:
        asked.append(len(batch.tokens))
        return correct(self, batch, number=number)

    monkeypatch.setattr(ClockworkPredictor, "correct", noting)
    study = plan(tmp_path, tasks=("parity_check",))
    assert next(study.estimate(study.pending())).seconds >= 1.0
    assert asked == [PROBED_ROWS, PROBED_ROWS]  # to compile, and for the time


def test_a_run_is_remembered_and_scaled(clockwork: Clockwork, tmp_path: Path):
    study = plan(tmp_path / "first", tasks=("parity_check",))
    assert estimates.rough(study.pending()) == [None]
    clockwork.on_train = lambda job: time.sleep(0.2)
    study.run(lambda experiment: Silent())
    again = plan(tmp_path / "second", tasks=("parity_check",))
    (seconds,) = estimates.rough(again.pending())
    assert seconds is not None and seconds >= 0.2
    longer = plan(tmp_path / "second", tasks=("parity_check",), steps=200, seeds=4)
    assert estimates.rough(longer.pending()) == [
        pytest.approx(seconds * 10 * 2)
    ]  # ten times the steps, twice the members
    assert estimates.rough(plan(tmp_path, tasks=("even_pairs",)).pending()) == [None]


def test_of_members_that_take_turns_a_few_are_measured(
    clockwork: Clockwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    study = plan(tmp_path, tasks=("parity_check",), seeds=100)
    together = list(study.estimate(study.pending()))
    assert set(clockwork.scored) == {100} and together[0].seconds == pytest.approx(1.0, abs=0.5)
    clockwork.scored.clear()
    monkeypatch.setattr(clockwork, "takes_turns", lambda: True)
    study = plan(tmp_path, tasks=("parity_check",), seeds=100, steps=21)
    (in_turn,) = study.estimate(study.pending())
    assert set(clockwork.scored) == {estimates.MOST_MEASURED}
    assert in_turn.seconds == pytest.approx(100 / estimates.MOST_MEASURED, abs=0.5)


def test_measured_members_are_spread_over_all():
    members = [{"seed": seed} for seed in range(100)]
    assert estimates._spread(members[:3], 12) == tuple(members[:3])
    chosen = estimates._spread(members, 12)
    assert len(chosen) == 12 and chosen[0] == members[0] and chosen[-1] == members[-1]


@pytest.mark.parametrize("content", ["", "[1]", '{"a": "b"}', "{"])
def test_a_damaged_memory_is_ignored(content: str, clockwork: Clockwork, tmp_path: Path, nothing_remembered: Path):
    nothing_remembered.parent.mkdir(parents=True)
    nothing_remembered.write_text(content)
    study = plan(tmp_path)
    assert len(list(study.estimate(study.pending()))) == 2
    assert len(estimates._CACHE.read()) == 2


def test_a_home_that_cannot_be_written_is_no_obstacle(
    clockwork: Clockwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/cache")
    study = plan(tmp_path)
    assert len(list(study.estimate(study.pending()))) == 2


def test_after_some_seconds_nothing_more_is_measured(clockwork: Clockwork, tmp_path: Path):
    study = plan(tmp_path, tasks=("parity_check", "even_pairs", "cycle_navigation"), seeds=2)
    found = list(estimates.measured(study.suite, study.pending(), limit=0.0))
    assert [each.is_measured for each in found] == [True, False, False]
    assert found[1].seconds == pytest.approx(found[0].seconds)  # as many steps and members
    asked = len(clockwork.scored)
    assert next(estimates.measured(study.suite, study.pending(), limit=0.0)).is_measured
    assert len(clockwork.scored) == asked  # it is remembered
