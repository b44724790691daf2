"""The half of the BLISS suite that searches for networks by description length. It needs no JAX."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from humboldt.checkpoints import Checkpoints
from humboldt.environment import environment
from humboldt.errors import RunError
from humboldt.mdl import Network, StateGraph, Stepper, Trie, build_trie, description_length
from humboldt.mdl.search import Islands, Progress, search, start
from humboldt.store import Result, State
from humboldt.suites._base import Watcher
from humboldt.suites._bliss_scoring import Scorer

if TYPE_CHECKING:
    from humboldt.suites._bliss_protocol import Cell

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
    scorer, spec = Scorer(cell), cell.model
    results = []
    for index, member in enumerate(members):
        begin = time.monotonic()
        name = f"search {index + 1}/{len(members)}"
        state = search(
            trie,
            spec.search_settings(),
            member["seed"],
            generations=spec.generations,
            patience=spec.patience,
            checkpoints=Checkpoints(checkpoints / f"search-{member['seed']}"),
            processes=_processes(),
            tell=lambda now, name=name: watcher.progress(name, now.generation, spec.generations, str(now)),
            warn=watcher.warn,
            should_stop=watcher.should_stop,
            save_seconds=watcher.save_seconds,
        )
        network, found = state.best_network(symbols), state.progress()
        length = description_length(network, trie, spec.search_settings().activations)
        measures, detail = score(scorer, network)
        measures["grammar_bits"] = float(length.grammar)
        if np.isfinite(length.data):
            measures |= {"mdl": length.total, "data_bits": length.data}
        detail |= {"network": json.loads(network.to_json()), "search": _described(found)}
        seconds = time.monotonic() - begin
        results.append(Result(member, State.FINISHED, measures, seconds, detail, environment(uses_jax=False)))
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


def _described(progress: Progress) -> dict[str, int]:
    return {
        "generations": progress.generation,
        "networks": progress.networks_tried,
        "found_at_generation": progress.improved,
    }


def _processes() -> int:
    return os.cpu_count() or 1
