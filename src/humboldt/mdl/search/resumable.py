"""Runs a whole search, from the seed to the end: saved periodically, and resumable."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

from humboldt.errors import Interrupted, UsageError
from humboldt.mdl.search.islands import Islands, start
from humboldt.mdl.search.settings import SearchSettings
from humboldt.mdl.search.shortest_proved import NAMES, ShortestProved
from humboldt.mdl.search.state import Progress, SearchState
from humboldt.mdl.trie import Trie
from humboldt.storage.checkpoints import Checkpoints, Latest

STRIDE = 50  # generations between checks of the clock and of `should_stop`


def search(
    trie: Trie,
    settings: SearchSettings,
    seed: int,
    *,
    generations: int,
    patience: int,
    checkpoints: Checkpoints,
    processes: int = 1,
    proved: ShortestProved | None = None,
    tell: Callable[[Progress], None] = lambda progress: None,
    warn: Callable[[str], None] = lambda message: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> SearchState:
    """Runs a search; returns its last state, which is the same however often the search was stopped and resumed.

    **Arguments:**

    - `generations`, `patience`: the search ends after `generations`, or after `patience` without improvement.
    - `checkpoints`: where it is saved, periodically and at the end, and where it is resumed from.
    - `processes`: the number of processes for the islands; the result does not depend on it.
    - `proved`: inspects the search periodically, and keeps the shortest network that it can prove.
    - `tell`, `warn`: called with progress, and with warnings about damaged checkpoints.
    - `should_stop`: called periodically; if it returns true, the search is saved and `Interrupted` is raised.
    """
    about = _about(trie, settings, seed)
    state = _resume(checkpoints, about, proved, warn) or start(trie, settings, seed)
    with Islands(trie, settings, processes=processes) as islands:
        while True:
            now = state.progress()
            tell(now)
            if proved is not None:
                proved.look(state)
            if now.generation >= generations or now.generation - now.improved >= patience:
                break
            if should_stop():
                _save(checkpoints, state, proved, about)
                raise Interrupted("Interrupted by the user.")
            islands.advance(state, min(STRIDE, generations - now.generation))
            if checkpoints.due():
                _save(checkpoints, state, proved, about)
    _save(checkpoints, state, proved, about)
    return state


def _about(trie: Trie, settings: SearchSettings, seed: int) -> dict[str, Any]:
    """Returns the seed, corpus and settings that identify this search, as read back from JSON."""
    corpus = hashlib.sha256(b"".join(array.tobytes() for array in trie.arrays)).hexdigest()
    return json.loads(json.dumps({"seed": seed, "corpus": corpus, "settings": asdict(settings)}))


def _save(checkpoints: Checkpoints, state: SearchState, proved: ShortestProved | None, about: dict[str, Any]) -> None:
    more = {} if proved is None else proved.to_arrays()
    checkpoints.save(int(state.generation[0]), {**state.to_arrays(), **more}, about)


def _resume(
    checkpoints: Checkpoints, about: dict[str, Any], proved: ShortestProved | None, warn: Callable[[str], None]
) -> SearchState | None:
    latest = checkpoints.latest()
    for complaint in latest.complaints:
        warn(complaint)
    if not latest.arrays:
        earlier = checkpoints.folder.with_suffix(".npz")  # the file of searches before there were `Checkpoints`
        if earlier.exists():
            warn(f"`{earlier.name}` was saved by an earlier version and is not read. Starting from the beginning.")
        return None
    if _is_of_this_version(latest):
        if latest.about != about:
            different = ", ".join(key for key in about if latest.about[key] != about[key])
            raise UsageError(
                f"The checkpoints in `{checkpoints.folder}` belong to another search: they differ in {different}. Give "
                "each search a folder of its own, or delete this one."
            )
        if proved is not None and all(name in latest.arrays for name in NAMES):
            proved.restore(latest.arrays)
        return SearchState.from_arrays({key: latest.arrays[key] for key in latest.arrays if key not in NAMES})
    warn(f"The checkpoints in `{checkpoints.folder.name}` were saved by another version. Starting from the beginning.")
    return None


def _is_of_this_version(latest: Latest) -> bool:
    """Returns whether a checkpoint has the names of settings and arrays that a search has now."""
    return (
        latest.about.keys() == {"seed", "corpus", "settings"}
        and latest.about["settings"].keys() == {field.name for field in fields(SearchSettings)}
        and latest.arrays.keys() - set(NAMES) == {field.name for field in fields(SearchState)}
    )
