"""Reads outputs and nats from files: one file for each seed, or a field `seed`."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from humboldt.core.identity import Member
from humboldt.errors import UsageError, unknown_name
from humboldt.languages import Batch
from humboldt.languages.bias import AbstractBiasTask, Pair, Symbols
from humboldt.measures.bias import Measured, check_complete, description_lengths, fits_training, retraining_of
from humboldt.storage import files
from humboldt.suites.base import AbstractSuite
from humboldt.suites.bias.problem import RuleLearning, members_of
from humboldt.suites.files import FileRequest, OutsideInput, RecordedOutputs, trained_elsewhere
from humboldt.training.abilities import GivesProbabilities
from humboldt.training.base import AbstractPredictor

Seed = int | str
UNKNOWN = "<unk>"  # replaces every output symbol that is not in the alphabet
ROUNDING = 1e-6  # nats below 0 by no more than this are a rounding error of a probability of 1
TRAIN, TEST = "train", "test"  # what a file of outputs may cover
OUTPUTS_ROW = '{"input": "a a a", "prediction": "b b b", "seed": 1}'
NATS_ROW = '{"input": "a a a", "rule": "mem", "nats": 0.25, "seed": 1}'


class RecordedNats(AbstractPredictor, GivesProbabilities):
    """Members with the nats of a file: for each member, those of the pairs that it codes.

    Two rules may have the same output for an input, with different nats: they are in the order of the rules. `covers`
    names the rules that have nats.
    """

    def __init__(self, problem: RuleLearning, nats: Sequence[Mapping[Pair, Sequence[float]]], covers: Sequence[str]):
        self.problem, self.nats_of, self.covers = problem, nats, tuple(covers)
        self.num_members = len(nats)
        self._next = [{pair: itertools.cycle(values) for pair, values in of_member.items()} for of_member in nats]

    def take(self, members: Sequence[int]) -> "RecordedNats":
        assert self.covers is not None
        return RecordedNats(self.problem, [self.nats_of[member] for member in members], self.covers)

    def nats(self, batch: Batch) -> np.ndarray:
        result = np.zeros(batch.weight.shape)
        for member, row in zip(*np.nonzero(batch.weight > 0), strict=True):
            source, target = (
                tuple(names[i] for i in ids[member, row][mask[member, row]].tolist() if i < len(names))
                for names, ids, mask in (
                    (self.problem.symbols, batch.tokens, batch.mask),
                    (self.problem.task.output_alphabet.symbols, batch.targets, batch.target_mask),
                )
            )
            if (source, target) in self._next[member]:  # a member that codes nothing in this batch has another's row
                result[member, row] = next(self._next[member][source, target])
        return result


def file_input(suite: AbstractSuite, request: FileRequest) -> OutsideInput:
    """Reads outputs for the hold-out inputs, or nats of the hold-out examples where rows have them."""
    request.check_no_twin(suite)
    request.check_no_split(suite)
    resolved, evaluations = trained_elsewhere(suite, request.task, request.name, request.preset, request.settings)
    task, protocol, rows = resolved.task, resolved.protocol, list(_rows(request))
    if not rows:
        names = " and ".join(path.name for path in request.paths)
        raise UsageError(f"{names}: there is no row. Give one for each input.")
    has_nats = "nats" in rows[0].fields
    reader = _Reader(task, has_seed="seed" in rows[0].fields, example=NATS_ROW if has_nats else OUTPUTS_ROW)
    if has_nats:
        coded = reader.nats(rows)
        seeds, rules = coded.seeds, coded.rules
        members = [
            {"seed": request.seed + i, "rule": member["rule"], "block": member["block"]}
            for i in range(len(seeds))
            for member in members_of(task, replace(protocol, seeds=1, description_length=True))
            if member["rule"] in ("", *rules)
        ]
        problem = RuleLearning(task, protocol, members)
        costs = [coded.of_member(task, seeds[member["seed"] - request.seed], member) for member in members]
        predictor = RecordedNats(problem, costs, rules)
        has_table = rules == tuple(task.rules)
    else:
        outputs = reader.outputs(rows)
        seeds, has_table = tuple(outputs), True
        members = [suite.outside_member(request.seed + i) for i in range(len(seeds))]
        problem = RuleLearning(task, protocol, members)
        answers = [{" ".join(x): " ".join(y) for x, y in of_seed.items()} for of_seed in outputs.values()]
        covers = (TEST,) if fits_training(task, outputs) is None else (TEST, TRAIN)
        letters, name = task.output_alphabet.symbols, " and ".join(path.name for path in request.paths)
        predictor = RecordedOutputs(problem, letters, answers, name=name, covers=covers)
    return OutsideInput(
        resolved=resolved,
        evaluations=tuple(evaluations),
        problem=problem,
        predictor=predictor,
        members=tuple(members),
        details={"seeds": list(seeds)},
        has_table=has_table,
    )


def _rows(request: FileRequest) -> Iterator[files.Row]:
    several = len(request.paths) > 1
    for seed, path in enumerate(request.paths):
        for row in files.read(path, ("input",)):
            if several and "seed" in row.fields:
                raise UsageError(
                    f"{row.place}: a field `seed`, and {len(request.paths)} files. Give one file for each seed, or one "
                    "file with a field `seed`."
                )
            yield row._replace(fields={**row.fields, "seed": seed}) if several else row


@dataclass(frozen=True)
class _Coded:
    """The nats of every hold-out example, by seed, rule and input."""

    seeds: tuple[Seed, ...]
    rules: tuple[str, ...]
    nats: Mapping[tuple[Seed, str, Symbols], float]

    def of_member(self, task: AbstractBiasTask, seed: Seed, member: Member) -> dict[Pair, list[float]]:
        """Returns the nats of the pairs that one member codes, in the order of the rules."""
        nats: dict[Pair, list[float]] = {}
        for example in retraining_of(task, **member, rules=self.rules).coded:
            nats.setdefault(example.pair, []).append(self.nats[seed, example.rule, example.pair[0]])
        return nats


@dataclass(frozen=True)
class _Reader:
    """Reads rows, with errors that name the place."""

    task: AbstractBiasTask
    has_seed: bool
    example: str

    def outputs(self, rows: Iterable[files.Row]) -> dict[Seed, dict[Symbols, Symbols]]:
        """Returns the output for each input, by seed."""
        predictions: dict[Seed, dict[Symbols, Symbols]] = {}
        places: dict[tuple[Seed, Symbols], str] = {}
        expected = {*self.task.holdout_inputs, *self.task.training_targets}
        known = {*self.task.output_alphabet.symbols, UNKNOWN}
        for row in rows:
            seed = self._seed(row)
            source = self._input(row, expected, "neither a hold-out input nor a training input of this task")
            outputs = self._symbols(row, "prediction")
            for symbol in outputs:
                if symbol not in known:
                    raise UsageError(
                        f"{row.place}: the prediction has the symbol {symbol!r}, which is not in the output alphabet "
                        f"{' '.join(self.task.output_alphabet.symbols)}. Put single spaces between symbols and leave "
                        f"the end out; write {UNKNOWN} for a symbol that the task does not have."
                    )
            if (seed, source) in places:
                raise self._twice(row, places[seed, source], source, f"seed {seed}")
            places[seed, source] = row.place
            predictions.setdefault(seed, {})[source] = outputs
        check_complete(self.task, predictions)
        return predictions

    def nats(self, rows: Iterable[files.Row]) -> _Coded:
        """Returns the nats of each hold-out example, by seed and rule. The nats of an example are those under the model
        that codes it: see `humboldt.measures.bias.retrainings`.
        """
        nats: dict[tuple[Seed, str, Symbols], float] = {}
        places: dict[tuple[Seed, str, Symbols], str] = {}
        expected = set(self.task.holdout_inputs)
        for row in rows:
            seed, rule = self._seed(row), self._field(row, "rule")
            if rule not in self.task.rules:
                raise UsageError(f"{row.place}: {unknown_name('rule', str(rule), self.task.rules)}")
            source = self._input(row, expected, "not a hold-out input of this task")
            key = (seed, rule, source)
            if key in places:
                raise self._twice(row, places[key], source, f"seed {seed} and rule {rule!r}")
            places[key], nats[key] = row.place, self._nats(row)
        lengths = description_lengths(self.task, [Measured(*key, value) for key, value in nats.items()])
        return _Coded(lengths.seeds, lengths.rules, nats)

    def _twice(self, row: files.Row, earlier: str, source: Symbols, what: str) -> UsageError:
        return UsageError(
            f"{row.place}: the input {' '.join(source)!r} of {what} is there already, in {earlier}. Give it once."
        )

    def _field(self, row: files.Row, name: str) -> Any:
        if name not in row.fields:
            raise UsageError(f"{row.place}: there is no field `{name}`. A record looks like {self.example}.")
        return row.fields[name]

    def _symbols(self, row: files.Row, name: str) -> Symbols:
        value = self._field(row, name)
        if not isinstance(value, str):
            raise UsageError(f"{row.place}: `{name}` is {value!r}. Give text with single spaces between symbols.")
        return tuple(value.split())

    def _input(self, row: files.Row, expected: set[Symbols], otherwise: str) -> Symbols:
        source = self._symbols(row, "input")
        if source not in expected:
            raise UsageError(
                f"{row.place}: the input {' '.join(source)[:80]!r} is {otherwise}. Check the task's settings, and put "
                f"single spaces between symbols: the first hold-out input is "
                f"{' '.join(self.task.holdout_inputs[0])[:80]!r}."
            )
        return source

    def _seed(self, row: files.Row) -> Seed:
        if ("seed" in row.fields) != self.has_seed:
            raise UsageError(
                f"{row.place}: some records have a field `seed` and some have none. Give it to all or to none."
            )
        value = row.fields.get("seed", 0)
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise UsageError(f"{row.place}: `seed` is {value!r}. Give a whole number or a name.")
        return value

    def _nats(self, row: files.Row) -> float:
        value = self._field(row, "nats")
        try:  # a table of text has numbers as text
            nats = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            nats = math.nan
        if not math.isfinite(nats):
            raise UsageError(
                f"{row.place}: `nats` is {value!r}, which is not a finite number. Sum the logarithms of the "
                "probabilities of the symbols and the end (a log-softmax does not underflow), and give it with the "
                "sign changed."
            )
        if nats < -ROUNDING:
            raise UsageError(f"{row.place}: `nats` is {value!r}. Minus the logarithm of a probability is 0 or more.")
        return max(nats, 0.0)
