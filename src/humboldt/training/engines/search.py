"""The engine that searches for networks by description length. It needs neither JAX nor gradients."""

import json
import os
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from humboldt.core.environment import environment
from humboldt.core.events import AbstractSink, Progress, Warned
from humboldt.mdl import Network, NetworkStepper, Trie, build_trie, description_length
from humboldt.mdl.proofs import prove, verdict_record
from humboldt.mdl.proofs.described import DESCRIBED
from humboldt.mdl.reading import ReadableNetwork
from humboldt.mdl.search import Islands, ShortestProved, search, searches, start
from humboldt.mdl.search import Progress as SearchProgress
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.abilities import CanBeProved, HasNetwork, ReadsSymbols
from humboldt.training.base import (
    AbstractEngine,
    AbstractPredictor,
    AbstractProblem,
    AbstractTrained,
    Arrays,
    Job,
    TrainingEnd,
    engines,
)

ROWS = 16384  # states that a test steps at once


class SearchEngine(AbstractEngine):
    """Runs one search for each member, one after the other; each uses all cores of the job."""

    models = searches
    abilities = frozenset({ReadsSymbols, CanBeProved, HasNetwork})
    uses_accelerator = False

    def train(self, job: Job, checkpoints: Checkpoints, sink: AbstractSink) -> "SearchTrained":
        trie = corpus_trie(job.problem)
        networks, outcomes, kept = [], [], []
        for index, member in enumerate(job.members):
            phase = f"search {index + 1}/{len(job.members)}"
            settings, language = job.model.search_settings(), job.problem.task_name
            proved = None
            if job.model.keep_proved and language in DESCRIBED:
                proved = ShortestProved(language, job.problem.symbols, trie, settings.activations)
            state = search(
                trie,
                settings,
                member.seed,
                generations=job.model.generations,
                patience=job.model.patience,
                checkpoints=checkpoints.part(f"search-{member.seed}"),
                processes=_cores(job),
                proved=proved,
                tell=partial(_tell, sink, phase, job.model.generations),
                warn=lambda message: sink.send(Warned(message)),
                should_stop=sink.should_stop,
            )
            best = state.best_network(job.problem.symbols)
            if proved is not None and proved.network is not None and proved.bits < state.progress().mdl:
                best = proved.network  # from an island that does not charge the full cost: not in the record
            networks.append(best)
            kept.append(proved and proved.network)
            now = state.progress()
            found = {"generations": now.generation, "networks": now.networks_tried, "found_at_generation": now.improved}
            outcomes.append(TrainingEnd(None, {"search": found}))
        return SearchTrained(SearchPredictor(networks, trie, job, kept), tuple(outcomes))

    def restore(self, job: Job, weights: Sequence[Arrays]) -> AbstractPredictor:
        networks = [_from_bytes(arrays["network"]) for arrays in weights]
        proved = [_from_bytes(arrays["proved"]) if "proved" in arrays else None for arrays in weights]
        return SearchPredictor(networks, corpus_trie(job.problem), job, proved)

    def sample(self, job: Job) -> tuple[AbstractPredictor, float]:
        """Returns the largest number of seconds: all generations of all seeds. A search that stops improving ends
        sooner."""
        settings, trie = job.model.search_settings(), corpus_trie(job.problem)
        state, islands = start(trie, settings, job.members[0].seed), Islands(trie, settings)
        begin = time.monotonic()
        islands.advance(state, 1)  # compiles, or loads what was compiled
        compiling, begin = time.monotonic() - begin, time.monotonic()
        islands.advance(state, 10)
        generation = (time.monotonic() - begin) / 10 / min(_cores(job), settings.num_islands)
        network = state.best_network(job.problem.symbols)
        return SearchPredictor([network], trie, job), compiling + generation * job.model.generations * len(job.members)

    def environment(self) -> dict[str, str]:
        return environment(uses_jax=False)


def _cores(job: Job) -> int:
    """Returns the number of cores of a job, or of this process, which may be limited (`taskset`, a queue)."""
    if job.cores is not None:
        return job.cores
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _tell(sink: AbstractSink, phase: str, generations: int, now: SearchProgress) -> None:
    sink.send(Progress(phase, now.generation, generations, str(now)))


class SearchTrained(AbstractTrained):
    """The networks that the searches found."""

    def __init__(self, predictor: "SearchPredictor", outcomes: tuple[TrainingEnd, ...]) -> None:
        self.predictor, self.outcomes = predictor, outcomes
        self._found = predictor

    def weights(self, member: int) -> dict[str, np.ndarray]:
        proved = self._found.proved[member]
        more = {} if proved is None else {"proved": _to_bytes(proved)}
        return {"network": _to_bytes(self._found.networks[member]), **more}


def _to_bytes(network: Network) -> np.ndarray:
    return np.frombuffer(network.to_json().encode(), np.uint8)


def _from_bytes(array: np.ndarray) -> Network:
    return Network.from_json(array.tobytes().decode())


class SearchPredictor(AbstractPredictor, ReadsSymbols, CanBeProved, HasNetwork):
    """Networks with their description lengths; `proved` are the shortest proved networks, if searches kept them."""

    def __init__(
        self, networks: Sequence[Network], trie: Trie, job: Job, proved: Sequence[Network | None] | None = None
    ) -> None:
        self.networks, self.trie, self.job = list(networks), trie, job
        self.proved = [None] * len(self.networks) if proved is None else list(proved)
        self.num_members = len(networks)

    def take(self, members: Sequence[int]) -> "SearchPredictor":
        networks, proved = [self.networks[i] for i in members], [self.proved[i] for i in members]
        return SearchPredictor(networks, self.trie, self.job, proved)

    def stepper(self, member: int, *, longest: int, most_memory: int) -> tuple[Any, int]:
        del longest, most_memory
        return NetworkStepper(self.networks[member]), ROWS

    def model(self, member: int) -> ReadableNetwork:
        return ReadableNetwork(self.networks[member])

    def verdict(self, member: int, *, language: str, measure: str, epsilon: float) -> dict[str, Any] | None:
        if language not in DESCRIBED:
            return None
        network = self.networks[member]
        return verdict_record(prove(network, language, measure, epsilon), network)

    def about(self, member: int) -> tuple[dict[str, float], dict[str, Any]]:
        network, proved = self.networks[member], self.proved[member]
        activations = self.job.model.search_settings().activations
        length = description_length(network, self.trie, activations)
        measures, detail = {"grammar_bits": float(length.grammar)}, {"network": json.loads(network.to_json())}
        if np.isfinite(length.data):
            measures |= {"mdl": length.total, "data_bits": length.data}
        if proved is not None:
            measures["proved_mdl"] = description_length(proved, self.trie, activations).total
            detail["proved_network"] = json.loads(proved.to_json())
        return measures, detail


def corpus_trie(problem: AbstractProblem) -> Trie:
    """Returns the corpus as a trie: every prefix once."""
    batch = problem.training_set()
    strings = []
    for tokens, mask, weight in zip(batch.tokens, batch.mask, batch.weight, strict=True):
        symbols = tokens[mask].tolist()[1:]  # the first one is the boundary
        strings += [symbols] * round(float(weight) / max(1, int(mask.sum())))
    return build_trie(strings, problem.num_symbols)


engines.register("search", version=1)(SearchEngine())
