"""The half of the BLISS suite that searches for networks by description length. It needs no JAX."""

import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

import humboldt
from humboldt.errors import Interrupted, RunError
from humboldt.mdl import Network, StateGraph, Stepper, Trie, build_trie, description_length
from humboldt.mdl.search import Islands, SearchState, start
from humboldt.store import Result, State
from humboldt.suites._base import Watcher
from humboldt.suites._bliss_scoring import Scorer

if TYPE_CHECKING:
    from humboldt.suites._bliss_protocol import Cell

STRIDE = 50  # generations between looks at the clock and the user's wishes
ROWS = 16384  # states that a test steps at once


class GraphStepper:
    """A network as the tests want it: a state is a number, since equal states are computed once."""

    def __init__(self, network: Network) -> None:
        self.graph = StateGraph(network)

    def init(self, count: int) -> np.ndarray:
        """The state before the first symbol, `count` times."""
        return np.zeros(count, np.int64)

    def step(self, state: np.ndarray, symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """New states and distributions over the next symbol."""
        states, steps = self.graph.step_batch(state, symbols)
        return states, self.graph.distributions_of(steps)

    def take(self, state: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Some of the states."""
        return state[rows]


class PlainStepper:
    """The same for a network whose states do not recur: a state is the values it carries over, and none is kept."""

    def __init__(self, network: Network) -> None:
        self.stepper = Stepper(network)

    def init(self, count: int) -> np.ndarray:
        """The state before the first symbol, `count` times."""
        return np.tile(self.stepper.init_state(), (count, 1))

    def step(self, state: np.ndarray, symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """New states and distributions over the next symbol."""
        return self.stepper.step_batch(state, symbols)

    def take(self, state: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Some of the states."""
        return state[rows]


def score(scorer: Scorer, network: Network) -> tuple[dict[str, float], dict[str, Any]]:
    """Measures and details of a network."""
    try:
        return scorer.score(lambda longest: (GraphStepper(network), ROWS))
    except RunError:  # too many different states to number them
        return scorer.score(lambda longest: (PlainStepper(network), ROWS))


def execute(cell: "Cell", members: Sequence[Mapping[str, Any]], checkpoints: Path, watcher: Watcher) -> list[Result]:
    """Searches with each seed and scores what was found."""
    trie = corpus_trie(cell)
    symbols = cell.language.input_alphabet.symbols
    scorer = Scorer(cell)
    results = []
    for index, member in enumerate(members):
        begin = time.monotonic()
        network, found = _search(
            cell, trie, symbols, member["seed"], checkpoints, watcher, f"{index + 1}/{len(members)}"
        )
        length = description_length(network, trie, cell.model.search_settings().activations)
        measures, detail = score(scorer, network)
        measures["grammar_bits"] = float(length.grammar)
        if np.isfinite(length.data):
            measures |= {"mdl": length.total, "data_bits": length.data}
        detail |= {"network": json.loads(network.to_json()), "search": found}
        seconds = time.monotonic() - begin
        results.append(Result(member, State.FINISHED, measures, seconds, detail, _environment()))
    return results


def estimate(cells: Sequence[tuple["Cell", Sequence[Mapping[str, Any]]]]) -> list[float]:
    """Seconds at most: all generations of all seeds, from timing a few. A search that stops improving ends sooner."""
    seconds = []
    for cell, members in cells:
        settings = cell.model.search_settings()
        trie = corpus_trie(cell)
        state, islands = start(trie, settings, members[0]["seed"]), Islands(trie, settings)
        islands.advance(state, 1)  # compiles, or loads what was compiled
        begin = time.monotonic()
        islands.advance(state, 10)
        one = (time.monotonic() - begin) / 10 / min(_processes(), settings.num_islands)
        seconds.append(one * cell.model.generations * len(members))
    return seconds


def corpus_trie(cell: "Cell") -> Trie:
    """The corpus as the search reads it: every prefix once."""
    alphabet = cell.language.input_alphabet
    return build_trie([alphabet.encode(string).tolist() for string in cell.corpus.strings], len(alphabet))


def _search(
    cell: "Cell", trie: Trie, symbols: tuple[str, ...], seed: int, folder: Path, watcher: Watcher, name: str
) -> tuple[Network, dict[str, Any]]:
    settings, spec = cell.model.search_settings(), cell.model
    path = folder / f"search-{seed}.npz"
    state = _load(path, watcher) or start(trie, settings, seed)
    saved = time.monotonic()
    with Islands(trie, settings, processes=_processes()) as islands:
        while True:
            now = state.progress()
            watcher.progress(f"search {name}", now.generation, spec.generations, str(now))
            if now.generation >= spec.generations or now.generation - now.improved >= spec.patience:
                break
            if watcher.should_stop():
                _save(path, state)
                raise Interrupted("Stopped as asked.")
            islands.advance(state, min(STRIDE, spec.generations - now.generation))
            if time.monotonic() - saved >= watcher.save_seconds:
                _save(path, state)
                saved = time.monotonic()
    _save(path, state)
    now = state.progress()
    return state.best_network(symbols), {
        "generations": now.generation,
        "networks": now.evaluations,
        "found_at_generation": now.improved,
    }


def _save(path: Path, state: SearchState) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        np.savez(file, allow_pickle=False, **state.to_arrays())
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        path.replace(path.with_suffix(".before"))
    temporary.replace(path)


def _load(path: Path, watcher: Watcher) -> SearchState | None:
    for candidate in (path, path.with_suffix(".before")):
        if not candidate.exists():
            continue
        try:
            with candidate.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return SearchState.from_arrays(dict(arrays))
        except Exception as error:  # zipfile and NumPy raise many kinds for a file cut short
            watcher.warn(
                f"Damaged checkpoint: `{candidate.name}` cannot be read: {error}. Going back to the one before."
            )
    return None


def _processes() -> int:
    return os.cpu_count() or 1


def _environment() -> dict[str, str]:
    return {
        "humboldt": humboldt.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "device": f"cpu: {platform.processor() or platform.machine()}",
    }
