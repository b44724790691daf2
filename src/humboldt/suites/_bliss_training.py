"""The half of the BLISS suite that trains by gradients: it needs JAX."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from humboldt.languages import Batch
from humboldt.languages.bliss import Measure
from humboldt.measures.bliss import Stepper, evaluate
from humboldt.store import Result
from humboldt.suites._base import Watcher
from humboldt.suites._bliss_scoring import Scorer
from humboldt.suites._bliss_steppers_training import make_stepper
from humboldt.suites._ensemble_training import results_of, train
from humboldt.training import Ensemble, MemberKnobs, Recipe, Trained

if TYPE_CHECKING:
    from humboldt.suites._bliss_protocol import Cell

ROUND = 8  # rows and time steps are filled up to a multiple of this: corpora of similar size share a program
SAMPLE_STRINGS = 200  # test strings that an estimate reads


def corpus_batch(cell: "Cell") -> Batch:
    """The corpus as one batch: every distinct string once, weighted so that every symbol of the corpus counts once.

    The loss of a batch is a weighted mean over rows of each row's mean over symbols, so the weight of a row is how
    often the string occurs times its symbols. Rows that fill up have weight 0.
    """
    pairs, counts = cell.corpus.pairs()
    rows, width = -(-len(pairs) // ROUND) * ROUND, -(-pairs.inputs.shape[1] // ROUND) * ROUND

    def filled(array: np.ndarray) -> np.ndarray:
        return np.pad(array, [(0, size - have) for size, have in zip((rows, width), array.shape, strict=False)])

    mask = np.arange(width) < filled(pairs.input_lengths)[:, None]
    weight = filled(counts * pairs.input_lengths).astype(np.float32)
    return Batch(filled(pairs.inputs), mask, filled(pairs.targets), mask, weight)


class StringByString:
    """Batches of `batch_size` strings, repetitions and all, in the corpus's order or in a random one, drawn once."""

    def __init__(self, cell: "Cell", batch_size: int) -> None:
        self.whole = corpus_batch(cell)
        self.batch_size = batch_size
        places = {string: row for row, string in enumerate(cell.corpus.counts)}
        self.rows = np.array([places[string] for string in cell.corpus.strings])
        if cell.protocol.string_order == "shuffled":
            self.rows = np.random.default_rng(cell.protocol.corpus_seed).permutation(self.rows)
        self.steps_per_epoch = -(-len(self.rows) // batch_size)

    def __call__(self, step: int) -> Batch:
        place = step % self.steps_per_epoch
        rows = self.rows[place * self.batch_size : (place + 1) * self.batch_size]
        filling = self.batch_size - len(rows)  # the last batch of an epoch may be smaller
        weight = np.pad(self.whole.weight[rows] > 0, (0, filling)) * self.whole.mask[np.pad(rows, (0, filling))].sum(1)
        rows = np.pad(rows, (0, filling))
        time = int(self.whole.mask[rows].sum(1).max())
        whole = self.whole
        return Batch(
            whole.tokens[rows, :time],
            whole.mask[rows, :time],
            whole.targets[rows, :time],
            whole.target_mask[rows, :time],
            weight.astype(np.float32),
        )


def make_ensemble(cell: "Cell", members: Sequence[Mapping[str, Any]]) -> Ensemble:
    """The members of one experiment, ready to train."""
    protocol = cell.protocol
    vocabulary = len(cell.language.input_alphabet)
    whole = corpus_batch(cell)
    stream = None if protocol.batch_size is None else StringByString(cell, protocol.batch_size)
    ensemble = Ensemble(
        build=lambda key: cell.model.build(vocabulary, vocabulary, num_symbols=vocabulary, key=key),
        members=[
            MemberKnobs(
                member["seed"],
                protocol.learning_rate,
                l1=member["strength"] if member["penalty"] == "l1" else 0.0,
                l2=member["strength"] if member["penalty"] == "l2" else 0.0,
            )
            for member in members
        ],
        recipe=Recipe(steps=protocol.epochs * (stream.steps_per_epoch if stream else 1), gradient_clip=None),
        stream=stream or (lambda step: whole),
        longest=whole.time,
    )
    # A whole corpus always has the same time. The lengths of single strings are spread geometrically.
    buckets = [8 * 2**i for i in range(8) if 8 * 2**i < whole.time] if stream else []
    ensemble.buckets = (*buckets, whole.time)
    return ensemble


def execute(cell: "Cell", members: Sequence[Mapping[str, Any]], checkpoints: Path, watcher: Watcher) -> list[Result]:
    """Trains and scores."""
    begin = time.monotonic()
    trained = train(make_ensemble(cell, members), checkpoints, watcher)
    scorer = Scorer(cell)
    final = np.where(trained.diverged_at < 0, corpus_losses(cell, trained), np.inf)
    scores: dict[int, tuple[dict[str, float], dict[str, Any]]] = {}
    # The best learner of the corpus first: once it has met a criterion, the others need not be asked.
    for done, index in enumerate(np.argsort(final, kind="stable").tolist(), 1):
        if trained.diverged_at[index] < 0:
            measures, detail = scorer.score(lambda longest, index=index: _stepper(cell, trained, index, longest))
            scores[index] = {**measures, "training_loss": float(final[index])}, detail
        watcher.scored(done, len(members))
    return results_of(trained, members, scores.__getitem__, seconds=time.monotonic() - begin)


def corpus_losses(cell: "Cell", trained: Trained) -> np.ndarray:
    """Cross-entropy of each member on the corpus, in nats per symbol, shape `(member,)`."""
    batch = corpus_batch(cell)

    @eqx.filter_jit
    def logits_of(weights: Any, tokens: Any, mask: Any) -> Any:
        model = eqx.combine(weights, trained.static)
        return jax.nn.log_softmax(jax.vmap(lambda tokens, mask: model(tokens, mask))(tokens, mask))

    losses = []
    weights_of_symbols = batch.weight / np.maximum(batch.mask.sum(1), 1)  # how often each string occurs
    for index in range(len(trained.loss)):
        weights = jax.tree.map(lambda x, index=index: x[index], trained.weights)
        logarithms = np.asarray(logits_of(weights, jnp.asarray(batch.tokens), jnp.asarray(batch.mask)), np.float64)
        said = np.take_along_axis(logarithms, batch.targets[..., None], 2)[..., 0]
        losses.append(-(weights_of_symbols @ np.where(batch.mask, said, 0).sum(1)) / batch.weight.sum())
    return np.array(losses)


def _stepper(cell: "Cell", trained: Trained, index: int, longest: int) -> tuple[Stepper, int]:
    weights = jax.tree.map(lambda x: np.asarray(x[index]), trained.weights)
    return make_stepper(eqx.combine(weights, trained.static), longest, cell.protocol.test_memory)


def estimate(cells: Sequence[tuple["Cell", Sequence[Mapping[str, Any]]]]) -> list[float]:
    """Seconds for each, from timing one experiment of each model and scaling by the symbols read.

    Of evaluations, one whole pass is counted where errors have a budget: the best member may well keep within it.
    """
    rates: dict[Any, tuple[float, float]] = {}
    seconds = []
    for cell, members in cells:
        ensemble = make_ensemble(cell, members)
        batch = ensemble.stream(ensemble.recipe.steps // 2)
        work = batch.tokens.size * len(members)
        key = (cell.model, cell.protocol.batch_size)
        if key not in rates:
            train_rate = ensemble.seconds_per_step(3) / work
            model = eqx.combine(jax.tree.map(lambda x: np.asarray(x[0]), ensemble.fresh()[0].weights), ensemble.static)
            test_set = cell.language.test_set(after=cell.corpus, count=min(SAMPLE_STRINGS, cell.sizes.test))
            stepper, rows = make_stepper(model, int(test_set.lengths.max()), cell.protocol.test_memory)
            for _ in range(2):  # the first compiles
                begin = time.monotonic()
                found = evaluate(test_set, stepper, exhaustive=True, most_rows=rows)
            rates[key] = train_rate, (time.monotonic() - begin) / found.prefixes  # pyright: ignore
        train_rate, test_rate = rates[key]
        prefixes = 0
        if cell.language.measure is Measure.DETERMINISTIC:
            prefixes = int(cell.language.test_set(after=cell.corpus, count=cell.sizes.test).deterministic_steps.sum())
        seconds.append(ensemble.recipe.steps * work * train_rate + prefixes * test_rate)
    return seconds
