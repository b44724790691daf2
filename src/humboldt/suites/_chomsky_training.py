"""The half of the Chomsky suite that trains: it needs JAX."""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from humboldt.errors import UsageError
from humboldt.languages import Batch, Pairs, frame_transduction
from humboldt.measures.accuracy import accuracy_per_length, score
from humboldt.store import Result
from humboldt.suites._base import Watcher
from humboldt.suites._chomsky_protocol import Cell
from humboldt.suites._ensemble_training import results_of, train
from humboldt.training import Ensemble, MemberKnobs, Recipe, evaluate

EVALUATION_ROWS = (
    512  # strings per evaluation batch at most: enough to fill a CPU, few enough to waste little on padding
)


def frame(cell: Cell, pairs: Pairs, *, count_padding: bool = False) -> Batch:
    """Strings as the cell's model reads them."""
    protocol = cell.protocol
    return frame_transduction(
        pairs,
        cell.num_symbols,
        computation_tokens=protocol.computation_tokens,
        autoregressive=protocol.autoregressive,
        count_padding=count_padding,
    )


def build(cell: Cell, key: Any) -> Any:
    """One model. Its ids are the symbols, `∅`, and the computation token where there is one."""
    input_size = cell.num_symbols + 1 + (cell.protocol.computation_tokens > 0)
    return cell.model.build(input_size, len(cell.task.output_alphabet), num_symbols=cell.num_symbols, key=key)


def answers_from(cell: Cell) -> int | None:
    """The token after which a model is told its own answers, if it is."""
    return cell.num_symbols if cell.protocol.autoregressive else None


def dropout_key(cell: Cell, batch: int) -> PRNGKeyArray | None:
    """For the dropout of a test batch, if it stays on in tests."""
    return jax.random.fold_in(jax.random.key(cell.protocol.test_seed), batch) if cell.protocol.test_dropout else None


def make_ensemble(cell: Cell, members: Sequence[Mapping[str, Any]]) -> Ensemble:
    """The members of one experiment, ready to train."""
    task, protocol = cell.task, cell.protocol
    first, last = protocol.train_lengths
    first = max(first, task.shortest)
    if first > last:
        raise UsageError(
            f"train_lengths {protocol.train_lengths}: this task needs lengths of at least {task.shortest}."
        )

    def batch(rng: np.random.Generator, length: int, size: int) -> Batch:
        return frame(cell, task.sample(rng, size, length), count_padding=protocol.train_padding)

    def stream(step: int) -> Batch:
        rng = np.random.default_rng((protocol.data_seed, step))
        return batch(rng, int(rng.integers(first, last + 1)), protocol.batch_size)

    return Ensemble(
        build=lambda key: build(cell, key),
        members=[MemberKnobs(member["seed"], member["learning_rate"]) for member in members],
        recipe=Recipe(
            steps=protocol.steps,
            gradient_clip=protocol.gradient_clip,
            precision=protocol.precision,
        ),
        stream=stream,
        longest=max(batch(np.random.default_rng(0), length, 1).time for length in range(first, last + 1)),
    )


def evaluation_batches(cell: Cell) -> Iterator[tuple[np.ndarray, np.ndarray, Batch]]:
    """Batches of the test strings, with the length and the number of target symbols of each row.

    Every batch has the same number of rows; the last is filled with copies, whose length is given as 0.
    """
    task, protocol = cell.task, cell.protocol
    num_rows = min(EVALUATION_ROWS, len(protocol.scored_lengths()) * protocol.strings_per_length)
    rows: list[tuple[int, Pairs]] = []

    def emit() -> tuple[np.ndarray, np.ndarray, Batch]:
        lengths = np.concatenate([np.full(len(pairs), length) for length, pairs in rows])
        filling = -len(lengths) % num_rows
        parts = [pairs for _, pairs in rows]
        while filling > 0:
            parts.append(parts[-1].head(filling))
            filling -= len(parts[-1])
        pairs = Pairs.concatenate(parts)
        lengths = np.pad(lengths, (0, len(pairs) - len(lengths)))
        return lengths, pairs.target_lengths, frame(cell, pairs)

    for length in protocol.scored_lengths():
        pairs = task.sample(np.random.default_rng((protocol.test_seed, length)), protocol.strings_per_length, length)
        rows.append((length, pairs))
        if sum(len(pairs) for _, pairs in rows) >= num_rows:
            yield emit()
            rows = []
    if rows:
        yield emit()


def execute(cell: Cell, members: Sequence[Mapping[str, Any]], checkpoints: Path, watcher: Watcher) -> list[Result]:
    """Trains and scores."""
    begin = time.monotonic()
    trained = train(make_ensemble(cell, members), checkpoints, watcher)

    total = len(cell.protocol.scored_lengths()) * cell.protocol.strings_per_length
    correct, counted, lengths = [], [], []
    for index, (row_lengths, row_counts, batch) in enumerate(evaluation_batches(cell)):
        real = row_lengths > 0
        (result,) = evaluate(
            trained.weights,
            trained.static,
            iter([batch]),
            own_answers_from=answers_from(cell),
            dropout_key=dropout_key(cell, index),
        )
        correct.append(result[:, real])
        counted.append(row_counts[real])
        lengths.append(row_lengths[real])
        watcher.scored(sum(map(len, lengths)), total)
    all_correct, all_counted, all_lengths = np.concatenate(correct, 1), np.concatenate(counted), np.concatenate(lengths)

    def scored(member: int) -> tuple[dict[str, float], dict[str, Any]]:
        curve = accuracy_per_length(all_correct[member], all_counted, all_lengths, pooled=cell.protocol.pooled_accuracy)
        detail = {"lengths": list(curve.lengths), "accuracy": list(curve.accuracy)}
        return {"score": score(curve, *cell.protocol.test_lengths)}, {"accuracy_per_length": detail}

    return results_of(trained, members, scored, seconds=time.monotonic() - begin)


def estimate(cells: Sequence[tuple[Cell, Sequence[Mapping[str, Any]]]]) -> list[float]:
    """Seconds for each, from timing one experiment of each model and scaling by the number of time steps."""
    rates: dict[Any, tuple[float, float]] = {}
    seconds = []
    for cell, members in cells:
        key = (cell.model, cell.protocol, len(members))
        longest = cell.protocol.train_lengths[1]
        time_steps = frame(cell, cell.task.sample(np.random.default_rng(0), 1, longest)).time
        train_time = time_steps / 2  # of a batch of average length
        if key not in rates:
            ensemble = make_ensemble(cell, members)
            train_rate = ensemble.seconds_per_step() / train_time
            _, _, batch = next(evaluation_batches(cell))
            weights = ensemble.fresh()[0].weights
            for _ in range(2):  # the first call compiles
                begin = time.monotonic()
                list(evaluate(weights, ensemble.static, iter([batch]), own_answers_from=answers_from(cell)))
            rates[key] = train_rate, (time.monotonic() - begin) / (batch.time * len(batch.tokens))  # pyright: ignore
        train_rate, test_rate = rates[key]
        test_steps = time_steps / longest * sum(cell.protocol.scored_lengths()) * cell.protocol.strings_per_length
        seconds.append(cell.protocol.steps * train_time * train_rate + test_steps * test_rate)
    return seconds
