"""A whole search, from the seed to the end: saved from time to time, and resumed where it was."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

from humboldt.checkpoints import Checkpoints, Latest
from humboldt.errors import Interrupted, UsageError
from humboldt.mdl.search.islands import Islands, start
from humboldt.mdl.search.settings import SearchSettings
from humboldt.mdl.search.shortest_proved import NAMES, ShortestProved
from humboldt.mdl.search.state import Progress, SearchState
from humboldt.mdl.trie import Trie

STRIDE = 50  # generations between looks at the clock and the user's wishes


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
    """The state of a search at its end. It is the same however often the search was stopped and resumed.

    **Arguments:**

    - `generations`, `patience`: it ends after so many, or after so many without improvement.
    - `checkpoints`: where it is saved, now and then and at the end, and where it is resumed from.
    - `processes`: over how many the islands are divided; the result does not depend on it.
    - `proved`: looks at the search from time to time, and keeps the shortest network that it can prove.
    - `tell`, `warn`: are given progress, and complaints about damaged checkpoints.
    - `should_stop`: asked now and then; if it says yes the search is saved and `Interrupted` is raised.
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
                raise Interrupted("Stopped as asked.")
            islands.advance(state, min(STRIDE, generations - now.generation))
            if checkpoints.due():
                _save(checkpoints, state, proved, about)
    _save(checkpoints, state, proved, about)
    return state


def _about(trie: Trie, settings: SearchSettings, seed: int) -> dict[str, Any]:
    """What tells this search from another, as JSON gives it back."""
    corpus = hashlib.sha256(b"".join(array.tobytes() for array in trie.arrays)).hexdigest()
    return json.loads(json.dumps({"seed": seed, "corpus": corpus, "settings": asdict(settings)}))


def _save(checkpoints: Checkpoints, state: SearchState, proved: ShortestProved | None, about: dict[str, Any]) -> None:
    more = {} if proved is None else proved.to_arrays()
    checkpoints.save(int(state.generation[0]), {**state.to_arrays(), **more}, about)


def _resume(
    checkpoints: Checkpoints, about: dict[str, Any], proved: ShortestProved | None, warn: Callable[[str], None]
) -> SearchState | None:
    found = checkpoints.latest()
    for complaint in found.complaints:
        warn(complaint)
    if not found.arrays:
        earlier = checkpoints.folder.with_suffix(".npz")  # what searches were kept in before `Checkpoints`
        if earlier.exists():
            warn(f"`{earlier.name}` was saved by an earlier version and is not read. Starting from the beginning.")
        return None
    if _is_of_this_version(found):
        if found.about != about:
            different = ", ".join(key for key in about if found.about[key] != about[key])
            raise UsageError(
                f"The checkpoints in `{checkpoints.folder}` belong to another search: they differ in {different}. Give "
                "each search a folder of its own, or delete this one."
            )
        if proved is not None and all(name in found.arrays for name in NAMES):
            proved.restore(found.arrays)
        return SearchState.from_arrays({key: found.arrays[key] for key in found.arrays if key not in NAMES})
    warn(f"The checkpoints in `{checkpoints.folder.name}` were saved by another version. Starting from the beginning.")
    return None


def _is_of_this_version(found: Latest) -> bool:
    """Whether a checkpoint has the settings and the arrays that a search has now, whatever their values."""
    return (
        found.about.keys() == {"seed", "corpus", "settings"}
        and found.about["settings"].keys() == {field.name for field in fields(SearchSettings)}
        and found.arrays.keys() - set(NAMES) == {field.name for field in fields(SearchState)}
    )
