"""Anyone's predictions or nats, as records of a file, to the scores of this suite."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from humboldt.errors import UsageError, unknown_name
from humboldt.languages.bias import AbstractBiasTask, Symbols
from humboldt.measures.bias._agreement import (
    PerfectAgreement,
    SequenceAccuracy,
    perfect_agreement,
    sequence_accuracy,
)
from humboldt.measures.bias._description_length import (
    LengthReport,
    Measured,
    Seed,
    description_lengths,
    summarise,
)

Record = Mapping[str, Any]
UNKNOWN = "<unk>"  # stands for whatever a learner wrote that is not in the output alphabet
ROUNDING = 1e-6  # nats below 0 by no more than this are a rounding error of a probability of 1


@dataclass(frozen=True)
class PredictionScore:
    """What hold-out predictions say.

    - `agreement`: FPA.
    - `agreement_without_empty`: FPA over the inputs for which no rule has the empty output; none where there is no
      other input. The released code cannot generate the empty output.
    - `accuracy`: accuracy per sequence.
    """

    agreement: PerfectAgreement
    agreement_without_empty: PerfectAgreement | None
    accuracy: tuple[SequenceAccuracy, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        without = self.agreement_without_empty
        return {
            "agreement": self.agreement.to_dict(),
            "agreement_without_empty": None if without is None else without.to_dict(),
            "accuracy": [asdict(each) for each in self.accuracy],
        }


def score_predictions(
    task: AbstractBiasTask, records: Sequence[Record], places: Sequence[str] | None = None
) -> PredictionScore:
    """Scores greedy outputs, e.g. `{"input": "a a a", "prediction": "b b b", "seed": 1}`.

    **Arguments:**

    - `records`: one for each input and seed. All hold-out inputs are needed. With the training inputs too, FPA is
      counted over the members that fit them. Without `seed` all records are of one member.
    - `places`: what errors call the records; by default `line 1`, `line 2` and so on.
    """
    reader = _Reader(task, records, places, example='{"input": "a a a", "prediction": "b b b", "seed": 1}')
    predictions: dict[Seed, dict[Symbols, Symbols]] = {}
    lines: dict[tuple[Seed, Symbols], str] = {}
    expected = {*task.holdout_inputs, *task.training_targets}
    known = {*task.output_alphabet.symbols, UNKNOWN}
    for number, record in enumerate(records):
        seed = reader.seed(number, record)
        source = reader.input(number, record, expected, "neither a hold-out input nor a training input of this task")
        outputs = reader.symbols(number, record, "prediction")
        for symbol in outputs:
            if symbol not in known:
                raise reader.wrong(
                    number,
                    f"the prediction has the symbol {symbol!r}, which is not in the output alphabet "
                    f"{' '.join(task.output_alphabet.symbols)}. Put single spaces between symbols and leave the end "
                    f"out; write {UNKNOWN} for a symbol that the task does not have.",
                )
        if (seed, source) in lines:
            raise reader.twice(number, lines[seed, source], source, f"seed {seed}")
        lines[seed, source] = reader.place(number)
        predictions.setdefault(seed, {})[source] = outputs
    agreement = perfect_agreement(task, predictions)
    without = perfect_agreement(task, predictions, empty_outputs=False)
    return PredictionScore(
        agreement, without if without.inputs < agreement.inputs else None, sequence_accuracy(task, predictions)
    )


def score_nats(
    task: AbstractBiasTask,
    records: Sequence[Record],
    places: Sequence[str] | None = None,
    *,
    fits: Mapping[Any, bool] | None = None,
) -> LengthReport:
    """Description length from nats per example, e.g. `{"input": "a a a", "rule": "mem", "nats": 0.25, "seed": 1}`.

    The nats of an example are those under the model that is to code it: see `retrainings`.

    **Arguments:**

    - `records`: one for each hold-out input, rule and seed. Without `seed` all records are of one seed.
    - `places`: what errors call the records; by default `line 1`, `line 2` and so on.
    - `fits`: for every seed, whether its first model fits the training set; gives a second mean without misfits.
    """
    reader = _Reader(task, records, places, example='{"input": "a a a", "rule": "mem", "nats": 0.25, "seed": 1}')
    measured: list[Measured] = []
    lines: dict[tuple[Seed, str, Symbols], str] = {}
    expected = set(task.holdout_inputs)
    for number, record in enumerate(records):
        seed = reader.seed(number, record)
        rule = reader.field(number, record, "rule")
        if rule not in task.rules:
            raise reader.wrong(number, str(unknown_name("rule", str(rule), task.rules)))
        source = reader.input(number, record, expected, "not a hold-out input of this task")
        if (seed, rule, source) in lines:
            raise reader.twice(number, lines[seed, rule, source], source, f"seed {seed} and rule {rule!r}")
        lines[seed, rule, source] = reader.place(number)
        measured.append(Measured(seed, rule, source, reader.nats(number, record)))
    return summarise(description_lengths(task, measured), fits)


class _Reader:
    """Reads fields of records, with errors that name the place."""

    def __init__(
        self, task: AbstractBiasTask, records: Sequence[Record], places: Sequence[str] | None, *, example: str
    ) -> None:
        if not records:
            raise UsageError(f"There is no record. Give one for each input and seed, like {example}.")
        if places is not None and len(places) != len(records):
            raise ValueError(f"{len(places)} places for {len(records)} records.")
        self.task = task
        self.places = places
        self.example = example
        self.has_seed = "seed" in records[0]

    def place(self, number: int) -> str:
        return f"line {number + 1}" if self.places is None else self.places[number]

    def wrong(self, number: int, text: str) -> UsageError:
        place = self.place(number)
        return UsageError(f"{place[:1].upper()}{place[1:]}: {text}" if self.places is None else f"{place}: {text}")

    def twice(self, number: int, earlier: str, source: Symbols, what: str) -> UsageError:
        return self.wrong(
            number, f"the input {' '.join(source)!r} of {what} is there already, in {earlier}. Give it once."
        )

    def field(self, number: int, record: Record, name: str) -> Any:
        if name not in record:
            raise self.wrong(number, f"there is no field `{name}`. A record looks like {self.example}.")
        return record[name]

    def symbols(self, number: int, record: Record, name: str) -> Symbols:
        value = self.field(number, record, name)
        if not isinstance(value, str):
            raise self.wrong(number, f"`{name}` is {value!r}. Give text with single spaces between symbols.")
        return tuple(value.split())

    def input(self, number: int, record: Record, expected: set[Symbols], otherwise: str) -> Symbols:
        source = self.symbols(number, record, "input")
        if source not in expected:
            raise self.wrong(
                number,
                f"the input {' '.join(source)[:80]!r} is {otherwise}. Check the task's settings, and put single spaces "
                f"between symbols: the first hold-out input is {' '.join(self.task.holdout_inputs[0])[:80]!r}.",
            )
        return source

    def seed(self, number: int, record: Record) -> Seed:
        if ("seed" in record) != self.has_seed:
            raise self.wrong(number, "some records have a field `seed` and some have none. Give it to all or to none.")
        value = record.get("seed", 0)
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise self.wrong(number, f"`seed` is {value!r}. Give a whole number or a name.")
        return value

    def nats(self, number: int, record: Record) -> float:
        value = self.field(number, record, "nats")
        try:  # a table of text has numbers as text
            nats = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            nats = math.nan
        if not math.isfinite(nats):
            raise self.wrong(
                number,
                f"`nats` is {value!r}, which is not a finite number. Sum the logarithms of the probabilities of the "
                "symbols and the end (a log-softmax does not underflow), and give it with the sign changed.",
            )
        if nats < -ROUNDING:
            raise self.wrong(number, f"`nats` is {value!r}. Minus the logarithm of a probability is 0 or more.")
        return max(nats, 0.0)
