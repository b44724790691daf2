"""A suite that needs no JAX and trains in a moment, for real processes with real faults: `--plugin fault_plugin.py`.

Training adds up numbers, a checkpoint after every step. `FAULTS_LOG` names a file that gets a line for each step taken,
so that a test can count them, and kill who wrote it; `FAULTS_DIE` is the step after which the process kills itself. If
a file of the same name with the ending `.together` says how many processes there are to be, a step waits for them.
"""

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

import humboldt
from humboldt.core.events import Progress, Warned
from humboldt.errors import Interrupted
from humboldt.languages import AbstractTask, Alphabet, Batch, ProblemKind
from humboldt.registry import Registry
from humboldt.report.tables import Record, Table
from humboldt.settings import Role, setting, settings
from humboldt.suites.base import AbstractSuite
from humboldt.suites.cells import Cell, SettingGroup
from humboldt.suites.experiments import Contender, MemberScore, Preset
from humboldt.suites.presentation import Presentation
from humboldt.training.base import (
    AbstractEngine,
    AbstractPredictor,
    AbstractProblem,
    AbstractTrained,
    Job,
    MemberRecipe,
    Recipe,
    TrainingEnd,
    engines,
)

adders: Registry = Registry("model")


@adders.register("adder", version=1)
@settings
class Adder:
    """Adds up."""

    width: int = setting(3, "numbers", least=1)
    pause: float = setting(0.0, "seconds that a step takes", least=0)
    dies: bool = setting(False, "whether its process dies before the first checkpoint")


def _wait_for_others() -> None:
    """A minute at most. Otherwise who is there first may do all the work before the others have started."""
    log = Path(os.environ.get("FAULTS_LOG", os.devnull))
    wanted = log.with_suffix(".together")
    end = time.monotonic() + 60
    while wanted.is_file() and time.monotonic() < end:
        if len({line.split()[1] for line in log.read_text().splitlines()}) >= int(wanted.read_text()):
            return
        time.sleep(0.05)
    wanted.unlink(missing_ok=True)  # they will not come


class Numbers(AbstractProblem):
    """Numbers to add up."""

    kind = ProblemKind.CLASSIFICATION
    symbols, input_size, output_size, num_symbols, batch_size, longest = ("a",), 10**6, 1, 1, 1, 1

    def batch(self, step: int) -> Batch:
        ones = np.ones((1, 1), bool)
        return Batch(np.full((1, 1), step), ones, np.zeros((1, 1)), ones, np.ones(1))


class AdderEngine(AbstractEngine):
    """A step halves what there is and adds numbers that depend on the step and the seed."""

    models = adders
    abilities = frozenset()

    def train(self, job: Job, checkpoints, sink) -> "AdderTrained":
        latest = checkpoints.latest()
        for complaint in latest.complaints:
            sink.send(Warned(complaint))
        sums = latest.arrays["sums"] if latest.done else np.zeros((len(job.members), job.model.width))
        if job.model.dies:
            os.kill(os.getpid(), signal.SIGKILL)
        for step in range(latest.done, job.recipe.steps):
            for row, member in zip(sums, job.members, strict=True):
                row[:] = row / 2 + np.random.default_rng((member.seed, step)).random(len(row))
            with Path(os.environ.get("FAULTS_LOG", os.devnull)).open("a") as log:
                log.write(f"{step} {os.getpid()} {job.cores}\n")
            time.sleep(job.model.pause)
            _wait_for_others()
            checkpoints.save(step + 1, {"sums": sums})
            sink.send(Progress("adding", step + 1, job.recipe.steps))
            if sink.should_stop():
                raise Interrupted("Interrupted by the user.")
            if os.environ.get("FAULTS_DIE") == str(step + 1):
                os.kill(os.getpid(), signal.SIGKILL)
        return AdderTrained(sums)

    def restore(self, job: Job, weights: Sequence) -> "AdderPredictor":
        del job
        return AdderPredictor(np.stack([arrays["sums"] for arrays in weights]))

    def sample(self, job: Job) -> tuple[AbstractPredictor, float]:
        return AdderPredictor(np.zeros((len(job.members), job.model.width))), 1.0

    def environment(self) -> dict[str, str]:
        return {"device": "fingers"}


class AdderPredictor(AbstractPredictor):
    """Knows its sums."""

    def __init__(self, sums: np.ndarray) -> None:
        self.sums, self.num_members = sums, len(sums)

    def take(self, members: Sequence[int]) -> "AdderPredictor":
        return AdderPredictor(self.sums[list(members)])


class AdderTrained(AbstractTrained):
    """The sums."""

    def __init__(self, sums: np.ndarray) -> None:
        self.predictor, self.outcomes, self._sums = AdderPredictor(sums), tuple(TrainingEnd() for _ in sums), sums

    def weights(self, member: int) -> dict[str, np.ndarray]:
        return {"sums": self._sums[member]}


engines.register("adding", version=1)(AdderEngine())


@settings
class Adding:
    """How long."""

    steps: int = setting(6, "steps", least=0)
    variants: tuple[int, ...] = setting((0,), "a training for each", role=Role.EACH, each="variant")
    seeds: int = setting(2, "seeds", role=Role.MEMBERS, least=1)
    digits: int = setting(6, "digits of a score", role=Role.EVALUATION, least=1)


def records(cell: Cell) -> list[Record]:
    """The largest sum."""
    values = [value for value, _, _ in cell.finished("sum")]
    return [
        Record(
            suite="faults",
            task=cell.task,
            model=cell.model,
            setting=str(cell.heading),
            measure="sum",
            statistic="max",
            value=max(values),
            members=len(values),
            published=None,
        )
    ]


def layout(suite: AbstractSuite, heading: SettingGroup, cells: Sequence[Cell]) -> list[Table]:
    """All sums."""
    del suite
    rows = tuple((c.task, *(f"{value:.6f}" for value, _, _ in c.finished("sum"))) for c in cells)
    width = max(map(len, rows))
    rows = tuple((*row, *[""] * (width - len(row))) for row in rows)
    return [Table(f"faults, {heading}", ("Task", *(f"seed {i}" for i in range(width - 1))), rows)]


class Faults(AbstractSuite):
    """One table of sums."""

    name, paper, question, measure = "faults", "nobody, never", "Does it last?", "sum"
    kind, protocol, printed_tasks = ProblemKind.CLASSIFICATION, Adding, ("sums", "more_sums")
    contenders: ClassVar = {"adder": Contender("adder", "Adder", engine="adding")}
    presets: ClassVar = {name: Preset(name, "all") for name in ("paper", "quick")}
    headline, evaluation = "sum", ("sum", 1)
    presentation = Presentation(records=records, layout=layout)

    def job(self, resolved, members):
        recipes = tuple(MemberRecipe(member["seed"], 0.1) for member in members)
        return Job(resolved.model, Numbers(), Recipe(steps=resolved.protocol.steps), recipes)

    def score(self, scoring_input):
        assert isinstance(scoring_input.predictor, AdderPredictor)
        digits = scoring_input.resolved.protocol.digits
        return [MemberScore({"sum": round(float(row.sum()), digits)}) for row in scoring_input.predictor.sums]


class Sums(AbstractTask):
    """No strings to speak of."""

    problem = ProblemKind.CLASSIFICATION
    input_alphabet = output_alphabet = Alphabet(("a",))
    chance, examples = 0.5, (("a", "a"),)

    def oracle(self, symbols):
        return list(symbols)


class MoreSums(Sums):
    """The same once more."""


humboldt.register("faults", version=1)(Faults())
humboldt.register("faults/sums", version=1)(Sums)
humboldt.register("faults/more_sums", version=1)(MoreSums)
