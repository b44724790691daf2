"""The engine that searches for networks by description length. It needs no JAX; no member has a gradient."""

import json
import os
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from humboldt.checkpoints import Checkpoints
from humboldt.environment import environment
from humboldt.events import AbstractSink, Progress, Warned
from humboldt.mdl import Network, NetworkStepper, Trie, build_trie, description_length
from humboldt.mdl.reading import ReadableNetwork
from humboldt.mdl.search import Islands, search, searches, start
from humboldt.mdl.search import Progress as SearchProgress
from humboldt.training.base import (
    AbstractEngine,
    AbstractPredictor,
    AbstractProblem,
    AbstractTrained,
    Arrays,
    Job,
    Outcome,
    engines,
)

ROWS = 16384  # states that a test steps at once


class SearchEngine(AbstractEngine):
    """One search for each member, one after the other; each uses all cores."""

    models = searches

    def train(self, job: Job, checkpoints: Checkpoints, sink: AbstractSink) -> "SearchTrained":
        trie = corpus_trie(job.problem)
        networks, outcomes = [], []
        for index, member in enumerate(job.members):
            phase = f"search {index + 1}/{len(job.members)}"
            state = search(
                trie,
                job.model.search_settings(),
                member.seed,
                generations=job.model.generations,
                patience=job.model.patience,
                checkpoints=Checkpoints(checkpoints.folder / f"search-{member.seed}", checkpoints.save_seconds),
                processes=os.cpu_count() or 1,
                tell=partial(_tell, sink, phase, job.model.generations),
                warn=lambda message: sink.send(Warned(message)),
                should_stop=sink.should_stop,
            )
            networks.append(state.best_network(job.problem.symbols))
            now = state.progress()
            found = {"generations": now.generation, "networks": now.networks_tried, "found_at_generation": now.improved}
            outcomes.append(Outcome(None, {"search": found}))
        return SearchTrained(SearchPredictor(networks, trie, job), tuple(outcomes))

    def restore(self, job: Job, weights: Sequence[Arrays]) -> AbstractPredictor:
        networks = [Network.from_json(arrays["network"].tobytes().decode()) for arrays in weights]
        return SearchPredictor(networks, corpus_trie(job.problem), job)

    def sample(self, job: Job) -> tuple[AbstractPredictor, float]:
        """Seconds at most: all generations of all seeds. A search that stops improving ends sooner."""
        settings, trie = job.model.search_settings(), corpus_trie(job.problem)
        state, islands = start(trie, settings, job.members[0].seed), Islands(trie, settings)
        islands.advance(state, 1)  # compiles, or loads what was compiled
        begin = time.monotonic()
        islands.advance(state, 10)
        one = (time.monotonic() - begin) / 10 / min(os.cpu_count() or 1, settings.num_islands)
        network = state.best_network(job.problem.symbols)
        return SearchPredictor([network], trie, job), one * job.model.generations * len(job.members)

    def environment(self) -> dict[str, str]:
        return environment(uses_jax=False)


def _tell(sink: AbstractSink, phase: str, generations: int, now: SearchProgress) -> None:
    sink.send(Progress(phase, now.generation, generations, str(now)))


class SearchTrained(AbstractTrained):
    """The networks that were found."""

    def __init__(self, predictor: "SearchPredictor", outcomes: tuple[Outcome, ...]) -> None:
        self.predictor, self.outcomes = predictor, outcomes
        self._networks = predictor.networks

    def weights(self, member: int) -> dict[str, np.ndarray]:
        return {"network": np.frombuffer(self._networks[member].to_json().encode(), np.uint8)}


class SearchPredictor(AbstractPredictor):
    """Networks with their description lengths."""

    def __init__(self, networks: Sequence[Network], trie: Trie, job: Job) -> None:
        self.networks, self.trie, self.job = list(networks), trie, job
        self.num_members = len(networks)

    def take(self, members: Sequence[int]) -> "SearchPredictor":
        return SearchPredictor([self.networks[i] for i in members], self.trie, self.job)

    def stepper(self, member: int, *, longest: int, most_memory: int) -> tuple[Any, int]:
        del longest, most_memory
        return NetworkStepper(self.networks[member]), ROWS

    def model(self, member: int) -> ReadableNetwork:
        return ReadableNetwork(self.networks[member])

    def about(self, member: int) -> tuple[dict[str, float], dict[str, Any]]:
        network = self.networks[member]
        length = description_length(network, self.trie, self.job.model.search_settings().activations)
        measures = {"grammar_bits": float(length.grammar)}
        if np.isfinite(length.data):
            measures |= {"mdl": length.total, "data_bits": length.data}
        return measures, {"network": json.loads(network.to_json())}


def corpus_trie(problem: AbstractProblem) -> Trie:
    """The corpus as the search reads it: every prefix once."""
    batch = problem.training_set()
    strings = []
    for tokens, mask, weight in zip(batch.tokens, batch.mask, batch.weight, strict=True):
        symbols = tokens[mask].tolist()[1:]  # the first one is the boundary
        strings += [symbols] * round(float(weight) / max(1, int(mask.sum())))
    return build_trie(strings, problem.num_symbols)


engines.register("search", version=1)(SearchEngine())
