import dataclasses
from pathlib import Path

import numpy as np
import pytest

from humboldt.errors import Interrupted, UsageError
from humboldt.mdl.search import Islands, Progress, SearchSettings, SearchState, search, start
from humboldt.storage.checkpoints import Checkpoints, read, write

from ..helpers import an_bn_grammar, sample, trie_of

TRIE = trie_of(sample(an_bn_grammar(), 30), ("#", "a", "b"))
SMALL = SearchSettings(population_size=20, pressures=(0.2, 1.0), migration_interval=5, restart_after=20)


def run(
    folder: Path, *, seed: int = 1, settings: SearchSettings = SMALL, trie=TRIE, save_seconds: float = 30.0, **options
) -> SearchState:
    options = {"generations": 220, "patience": 10_000, **options}
    return search(trie, settings, seed, checkpoints=Checkpoints(folder, save_seconds), **options)


def same(one: SearchState, other: SearchState) -> bool:
    a, b = one.to_arrays(), other.to_arrays()
    return all(np.array_equal(a[name], b[name]) for name in a)


@pytest.fixture(scope="module")
def uninterrupted() -> SearchState:
    """By the road without checkpoints."""
    state = start(TRIE, SMALL, 1)
    with Islands(TRIE, SMALL) as islands:
        islands.advance(state, 220)
    return state


def stop_after(count: int):
    asked = iter([False] * count)
    return lambda: next(asked, True)


def test_whole_or_in_parts_it_is_the_same_search(tmp_path: Path, uninterrupted: SearchState):
    assert same(run(tmp_path / "whole"), uninterrupted)
    for count in (0, 1, 2):
        with pytest.raises(Interrupted):
            run(tmp_path / "parts", should_stop=stop_after(count))
    told: list[Progress] = []
    assert same(run(tmp_path / "parts", tell=told.append), uninterrupted)
    assert [progress.generation for progress in told] == [150, 200, 220]
    assert same(run(tmp_path / "parts"), uninterrupted)  # finished: nothing is left to do


def test_it_saves_from_time_to_time(tmp_path: Path, uninterrupted: SearchState):
    class Killed(BaseException):
        pass

    def die(progress: Progress) -> None:
        if progress.generation >= 150:
            raise Killed

    with pytest.raises(Killed):
        run(tmp_path / "often", tell=die, save_seconds=0.0)
    assert Checkpoints(tmp_path / "often").latest().done == 150
    with pytest.raises(Killed):
        run(tmp_path / "never", tell=die, save_seconds=1e9)
    assert Checkpoints(tmp_path / "never").latest().done == 0
    assert same(run(tmp_path / "often"), uninterrupted)


def test_patience_ends_it(tmp_path: Path):
    state = run(tmp_path, patience=50, generations=100_000)
    assert state.generation[0] - state.progress().improved >= 50 and state.generation[0] < 100_000
    assert state.generation[0] % 50 == 0


def test_a_damaged_checkpoint_is_told_and_survived(tmp_path: Path, uninterrupted: SearchState):
    for count in (1, 1):
        with pytest.raises(Interrupted):
            run(tmp_path, should_stop=stop_after(count))
    newest = max(tmp_path.iterdir())
    newest.write_bytes(newest.read_bytes()[:-1])
    warnings: list[str] = []
    assert same(run(tmp_path, warn=warnings.append), uninterrupted)
    assert len(warnings) == 1 and "Going back to the one before" in warnings[0]


def test_checkpoints_of_another_search_are_refused(tmp_path: Path):
    run(tmp_path)
    other_corpus = trie_of(["ab"], ("#", "a", "b"))
    for again, named in (
        (lambda: run(tmp_path, seed=2), "seed"),
        (lambda: run(tmp_path, settings=dataclasses.replace(SMALL, extra_mutation=0.1)), "settings"),
        (lambda: run(tmp_path, trie=other_corpus), "corpus"),
    ):
        with pytest.raises(UsageError, match=f"belong to another search: they differ in {named}"):
            again()


def test_those_of_another_version_are_told_and_left(tmp_path: Path, uninterrupted: SearchState):
    run(tmp_path / "run", generations=50)
    (path,) = (tmp_path / "run").iterdir()
    arrays, header = read(path)
    for change in ("array", "setting"):
        fewer = {name: array for name, array in arrays.items() if (change, name) != ("array", "born")}
        about = {**header["about"], "settings": {**header["about"]["settings"]}}
        if change == "setting":
            del about["settings"]["clip"]
        write(path, fewer, {**header, "about": about})
        warnings: list[str] = []
        assert same(run(tmp_path / "run", warn=warnings.append), uninterrupted)
        assert len(warnings) == 1 and "saved by another version" in warnings[0]
        for newer in (tmp_path / "run").glob("*220*"):
            newer.unlink()


def test_a_file_of_the_format_before_is_told_and_left(tmp_path: Path, uninterrupted: SearchState):
    np.savez(tmp_path / "search-1.npz", **uninterrupted.to_arrays())  # pyright: ignore[reportArgumentType]
    warnings: list[str] = []
    assert same(run(tmp_path / "search-1", warn=warnings.append), uninterrupted)
    assert len(warnings) == 1 and "`search-1.npz` was saved by an earlier version" in warnings[0]
