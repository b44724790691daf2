"""Trains the members of one training in several processes, one core each.

The processes are copies of this one (`fork`), so that they need neither the user's file nor a pickled module. They have
no state: each task has the complete state of a member and the batches of a span, and its result has the new state. So a
checkpoint may be written at any time, and results are the same bits as those of members that are trained in turn.
"""

import multiprocessing
import os
import signal
import sys
import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from humboldt.errors import HumboldtError, RunError
from humboldt.training.pytorch.calling import Examples

if TYPE_CHECKING:
    from humboldt.training.pytorch.train import Training

TRIAL_STEPS = 3  # of each of the two parts of a trial
FEWEST_STEPS = 50  # of a training for which processes and their trial are worthwhile

Arrays = Mapping[str, np.ndarray]
Rows = tuple[np.ndarray, ...]
"""The arrays of a batch for one member, in the order of `Examples`."""


class Task(NamedTuple):
    """A span of one member: its state, its batches from step `first` on, and a factor on its learning rate."""

    member: int
    first: int
    state: Arrays
    batches: Sequence[Rows]
    rate: float


class Advanced(NamedTuple):
    """The result of a task: loss and accuracy of every step, and the new state. `error` is a failure of the module."""

    member: int
    losses: list[tuple[float, float]]
    state: Arrays
    error: HumboldtError | None = None


class WorkerLost(Exception):
    """A process ended before its task did: it was killed, or there was no memory left."""


def cores_of(cores: int | None) -> int:
    """Returns the number of cores that a job may use; `None` stands for all cores of this process."""
    if cores is not None:
        return cores
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def num_workers(training: "Training") -> int:
    """Returns the number of processes for a training; 1 where members are trained in turn.

    That is the case on an accelerator, with `compile`, if the user has chosen a number of threads, for one member or
    core, for trainings that take less time than to start processes, and if the user names such a road.
    """
    if training.road in ("in_turn", "threads") or training.threads > 1:
        return 1
    is_able = sys.platform == "linux" and training.caller.device.type == "cpu"
    is_able = is_able and not training.compiled and not training.is_compiled_by_trial
    if not is_able or os.environ.get("OMP_NUM_THREADS") or training.recipe.steps < FEWEST_STEPS:
        return 1
    return min(cores_of(training.cores), len(training.members))


class Workers:
    """Processes that run tasks, each one at a time. Close them after use."""

    def __init__(self, training: "Training", count: int) -> None:
        self._left: deque[Task] = deque()
        self._results: dict[int, Advanced] = {}
        self._busy: dict[Connection, int] = {}  # the member that each works on
        self._idle: list[Connection] = []
        self._processes: list[Any] = []
        context = multiprocessing.get_context("fork")
        for _ in range(count):
            pipe: Any = context.Pipe()
            ours, theirs = pipe
            process = context.Process(target=_work, args=(theirs, ours, training), daemon=True)
            with warnings.catch_warnings():  # JAX has threads; the copy does not use it
                warnings.simplefilter("ignore")
                process.start()
            theirs.close()
            self._processes.append(process)
            self._idle.append(ours)

    def submit(self, task: Task) -> None:
        """Begins a task as soon as a process is idle."""
        self._left.append(task)
        self._assign()

    def has(self, member: int) -> bool:
        """Returns whether a task of this member was submitted, and its result not yet taken."""
        is_left = any(task.member == member for task in self._left)
        return is_left or member in self._results or member in self._busy.values()

    def result(self, member: int) -> Advanced:
        """Waits for the result of a member's task and returns it; raises the error of its module."""
        while member not in self._results:
            if not self._busy:
                raise WorkerLost
            for connection in wait(list(self._busy)):
                assert isinstance(connection, Connection)
                try:
                    advanced = connection.recv()
                except (EOFError, OSError) as error:
                    raise WorkerLost from error
                self._results[self._busy.pop(connection)] = advanced
                self._idle.append(connection)
            self._assign()
        advanced = self._results.pop(member)
        if advanced.error is not None:
            raise advanced.error
        return advanced

    def close(self) -> None:
        """Ends all processes. Results that were not taken are lost, and nothing else."""
        for process in self._processes:
            process.terminate()
        for connection in (*self._idle, *self._busy):
            connection.close()
        for process in self._processes:
            process.join()

    def _assign(self) -> None:
        while self._idle and self._left:
            connection, task = self._idle.pop(), self._left.popleft()
            try:
                connection.send(task)
            except OSError as error:
                raise WorkerLost from error
            self._busy[connection] = task.member


def _work(connection: Connection, of_parent: Connection, training: "Training") -> None:
    """Runs tasks until the other end of the connection is closed."""
    of_parent.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process decides what an interruption means
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    torch.set_num_threads(1)
    while True:
        try:
            task: Task = connection.recv()
        except (EOFError, OSError):
            return
        connection.send(_advanced(training, task))


def _advanced(training: "Training", task: Task) -> Advanced:
    """Does one task with a module that is made for it, so that nothing is kept from one task to the next."""
    try:
        learner = training.fresh(training.members[task.member])
        learner.restore(task.state)
        batches = [Examples(*map(training.caller.tensor, rows)) for rows in task.batches]
        losses = training._span(learner, task.member, task.first, batches, task.rate)
        return Advanced(task.member, losses, learner.arrays())
    except HumboldtError as error:
        return Advanced(task.member, [], {}, error)
    except Exception as error:
        return Advanced(task.member, [], {}, RunError(f"{training.caller.name}: {type(error).__name__}: {error}"))


def differs(training: "Training", workers: Workers) -> str | None:
    """Compares steps by processes with the same steps in this one, and returns a sentence if the results differ.

    They do if a module keeps something between two calls that is not part of its `state_dict`, or has random numbers
    other than PyTorch's.
    """
    batches = training.batches(0, 2 * TRIAL_STEPS)
    rows = [training.rows_of(batch, 0) for batch in batches]
    plain, state = training.fresh(training.members[0]), training.fresh(training.members[0]).arrays()
    for first in (0, TRIAL_STEPS):
        part = rows[first : first + TRIAL_STEPS]
        examples = [Examples(*map(training.caller.tensor, arrays)) for arrays in part]
        expected = training._span(plain, 0, first, examples)
        workers.submit(Task(0, first, state, part, 1.0))
        advanced = workers.result(0)
        state = advanced.state
        if not np.array_equal(expected, advanced.losses, equal_nan=True):
            break
    else:
        arrays = plain.arrays()
        if arrays.keys() == state.keys() and all(np.array_equal(arrays[x], state[x], equal_nan=True) for x in arrays):
            return None
    return (
        f"{training.caller.name} keeps something between two calls that is not in its `state_dict`, or draws random "
        "numbers that are not PyTorch's. Its members are trained in turn, and a resumed training may differ."
    )
