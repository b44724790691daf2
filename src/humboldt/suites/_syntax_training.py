"""The half of the syntax suite that trains: it needs JAX."""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import jax
import numpy as np

from humboldt.languages import Batch
from humboldt.languages.syntax import Split, draw_split
from humboldt.measures.accuracy import accuracy_per_length
from humboldt.measures.shortcuts import shortcut_audit
from humboldt.models._classifier import count_parameters
from humboldt.store import Result
from humboldt.suites._base import Watcher
from humboldt.suites._ensemble_training import results_of, train
from humboldt.suites._syntax_protocol import OF_DATA, Cell, PseudoLanguages
from humboldt.training import Ensemble, MemberKnobs, Recipe, evaluate

EVALUATION_ROWS = 250  # strings per evaluation batch: the paper's splits are multiples of it
SCORED = {"validation": "validation", "test": "in_dist", "long": "out_of_dist"}  # split -> measure
SHUFFLING = 1  # tells the seed of an epoch's order from the seed of a split


@lru_cache(maxsize=8)
def _split(task: str, name: str, protocol: PseudoLanguages) -> Split:
    """A split, kept while the models of one language take turns."""
    return draw_split(protocol.language(task), name, protocol.data_seed, protocol.splits)


def _data_only(protocol: PseudoLanguages) -> PseudoLanguages:
    """The protocol with the paper's values for all that does not concern the strings: one key for the caches."""
    return PseudoLanguages(**{name: getattr(protocol, name) for name in (*OF_DATA, "data_seed")})


def split_of(cell: Cell, name: str) -> Split:
    """The strings of one split."""
    return _split(cell.task, name, _data_only(cell.protocol))


@lru_cache(maxsize=2)
def _shortcuts(task: str, protocol: PseudoLanguages) -> dict[str, dict[str, float]]:
    scored = {SCORED[name]: _split(task, name, protocol) for name in ("test", "long")}
    categories = protocol.language(task).symbol_categories
    found: dict[str, dict[str, float]] = {measure: {} for measure in scored}
    for one in shortcut_audit(_split(task, "train", protocol), scored, categories=categories):
        found[one.split][one.classifier] = round(one.accuracy, 6)
    return found


def shortcuts_of(cell: Cell) -> dict[str, dict[str, float]]:
    """What each classifier of the shortcut audit reaches, by measure."""
    return _shortcuts(cell.task, _data_only(cell.protocol))


def batch_of(split: Split, rows: np.ndarray, size: int) -> Batch:
    """These strings as a batch of `size` rows, each with its label at the last real symbol.

    What is missing is filled with the first string, which then does not count.
    """
    filled = np.concatenate([rows, np.repeat(rows[:1], size - len(rows))])
    position = np.arange(split.tokens.shape[1])[None, :]
    lengths = split.lengths[filled, None]
    is_last = position == lengths - 1
    targets = np.where(is_last, split.labels[filled, None], 0).astype(np.int32)
    weight = (np.arange(size) < len(rows)).astype(np.float32)
    return Batch(split.tokens[filled], position < lengths, targets, is_last, weight)


def make_ensemble(cell: Cell, members: Sequence[Mapping[str, Any]]) -> Ensemble:
    """The members of one experiment, ready to train."""
    protocol, train = cell.protocol, split_of(cell, "train")
    size = protocol.batch_size
    per_epoch = -(-len(train) // size)

    @lru_cache(maxsize=2)
    def order(epoch: int) -> np.ndarray:
        return np.random.default_rng((protocol.data_seed, epoch, SHUFFLING)).permutation(len(train))

    def stream(step: int) -> Batch:
        epoch, place = divmod(step, per_epoch)
        return batch_of(train, order(epoch)[place * size : (place + 1) * size], size)

    symbols = len(cell.language.input_alphabet)
    ensemble = Ensemble(
        build=lambda key: cell.model.build(symbols, 2, num_symbols=symbols, key=key),
        members=[MemberKnobs(member["seed"], member["learning_rate"]) for member in members],
        recipe=Recipe(
            steps=protocol.steps,
            optimiser=cell.optimiser,
            gradient_clip=protocol.gradient_clip,
            precision=protocol.precision,
        ),
        stream=stream,
        longest=train.tokens.shape[1],
    )
    ensemble.buckets = (ensemble.longest,)  # a batch of mixed lengths is never short: one shape, one quick compilation
    return ensemble


def evaluation_batches(split: Split) -> Iterator[tuple[int, Batch]]:
    """All strings of a split in batches of one size, with the number of rows that count."""
    for first in range(0, len(split), EVALUATION_ROWS):
        rows = np.arange(first, min(first + EVALUATION_ROWS, len(split)))
        yield len(rows), batch_of(split, rows, EVALUATION_ROWS)


def execute(cell: Cell, members: Sequence[Mapping[str, Any]], checkpoints: Path, watcher: Watcher) -> list[Result]:
    """Trains and scores."""
    begin = time.monotonic()
    ensemble = make_ensemble(cell, members)
    trained = train(ensemble, checkpoints, watcher)
    training_seconds = time.monotonic() - begin

    splits = {name: split_of(cell, name) for name in SCORED}
    total, done = sum(map(len, splits.values())), 0
    correct: dict[str, np.ndarray] = {}
    for name, split in splits.items():
        parts = []
        for count, batch in evaluation_batches(split):
            (result,) = evaluate(trained.weights, trained.static, iter([batch]))
            parts.append(result[:, :count])
            done += count
            watcher.scored(done, total)
        correct[name] = np.concatenate(parts, 1)

    lengths = np.concatenate([splits[name].lengths for name in ("test", "long")])

    def scored(member: int) -> tuple[dict[str, float], dict[str, Any]]:
        measures = {measure: float(correct[name][member].mean()) for name, measure in SCORED.items()}
        both = np.concatenate([correct[name][member] for name in ("test", "long")])
        curve = accuracy_per_length(both, np.ones(len(both)), lengths)
        shares = [round(share, 6) for share in curve.accuracy]
        return measures, {"accuracy_per_length": {"lengths": list(curve.lengths), "accuracy": shares}}

    shared = {
        "shortcuts": shortcuts_of(cell),
        "parameters": count_parameters(ensemble.build(jax.random.key(0))),
        "training_seconds": round(training_seconds, 3),  # of all members together, compilation included
    }
    return results_of(trained, members, scored, seconds=time.monotonic() - begin, shared=shared)


def estimate(cells: Sequence[tuple[Cell, Sequence[Mapping[str, Any]]]]) -> list[float]:
    """Seconds for each, from timing one experiment of each model and size of alphabet."""
    rates: dict[Any, tuple[float, float]] = {}
    seconds = []
    for cell, members in cells:
        key = (cell.model, cell.optimiser, len(cell.language.input_alphabet), cell.protocol, len(members))
        if key not in rates:
            ensemble = make_ensemble(cell, members)
            _, batch = next(evaluation_batches(split_of(cell, "long")))
            weights = ensemble.fresh()[0].weights
            list(evaluate(weights, ensemble.static, iter([batch])))  # compiles
            begin = time.monotonic()
            list(evaluate(weights, ensemble.static, iter([batch])))
            per_string = (time.monotonic() - begin) / EVALUATION_ROWS
            rates[key] = ensemble.seconds_per_step(), per_string
        step, string = rates[key]
        strings = 2 * sum(getattr(cell.protocol, name) for name in SCORED)
        seconds.append(cell.protocol.steps * step + strings * string)
    return seconds
