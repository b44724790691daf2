"""Tasks for inspect_ai, which finds them by an entry point: `inspect eval humboldt/transduce -T task=reverse_string`.

Only inspect_ai imports this file. The questions and the judgement of answers are in
`humboldt.outside.prompts`; `humboldt score` reads the logs (`humboldt.outside.inspect_logs`).
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, grouped, mean, scorer
from inspect_ai.solver import TaskState, generate

from humboldt.errors import UsageError
from humboldt.outside.prompts import Form, Subject

LENGTHS = (5, 10, 20, 40)
VERSION = 1  # of the prompts and of the way in which answers are read

Lengths = int | str | Sequence[int | str]  # the command line gives texts


@task
def transduce(
    task: str = "reverse_string",
    suite: str = "chomsky",
    lengths: Lengths = LENGTHS,
    count: int = 25,
    shots: int = 8,
    longest_shown: int | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> Task:
    """Asks for the output of a rule that examples show.

    **Arguments:**

    - `task`, `suite`: a task of chomsky or tracking, or the file of a language. `settings`: of the task.
    - `lengths`: symbols of the inputs. `count`: inputs of each length.
    - `shots`: examples in a prompt. `longest_shown`: the longest of them; by default the first of `lengths`.
    - `seed`: of all strings.
    """
    return _task(Form.TRANSDUCE, task, suite, lengths, count, shots, longest_shown, seed, settings)


@task
def recognise(
    task: str = "parity",
    suite: str = "recognition",
    lengths: Lengths = LENGTHS,
    count: int = 24,
    shots: int = 8,
    longest_shown: int | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> Task:
    """Asks whether a string is in the language that labelled examples show.

    Strings are grouped by length: the groups of 5, 10, 20 have 1 to 5, 6 to 10, 11 to 20 symbols. Half of each group
    are in the language. Other arguments as in `transduce`; suites: recognition and syntax.
    """
    return _task(Form.RECOGNISE, task, suite, lengths, count, shots, longest_shown, seed, settings)


@task
def minimal_pairs(
    task: str = "nested_dependency",
    suite: str = "syntax",
    lengths: Lengths = LENGTHS,
    count: int = 25,
    shots: int = 8,
    longest_shown: int | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> Task:
    """Asks which of two strings is in the language, where one was made from the other. Arguments as in `recognise`."""
    return _task(Form.MINIMAL_PAIRS, task, suite, lengths, count, shots, longest_shown, seed, settings)


def _task(
    form: Form,
    task: str,
    suite: str,
    lengths: Lengths,
    count: int,
    shots: int,
    longest_shown: int | None,
    seed: int,
    settings: Mapping[str, Any] | None,
) -> Task:
    try:
        subject = Subject(form, suite, task, dict(settings or {}))
        questions = subject.questions(
            _numbers(lengths), count=count, shots=shots, longest_shown=longest_shown, seed=seed
        )
    except UsageError as error:
        from inspect_ai._util.error import PrerequisiteError  # which inspect_ai shows without a traceback

        raise PrerequisiteError(str(error)) from error
    about = {"form": str(form), "suite": suite, "task": subject.task, "settings": dict(subject.settings)}
    samples = [
        Sample(
            input=question.prompt,
            target=question.target,
            id=number,
            metadata={**about, "length": question.length, "strings": list(question.strings), "seed": seed},
        )
        for number, question in enumerate(questions, 1)
    ]
    dataset = MemoryDataset(samples, name=f"{suite}/{subject.task}")
    return Task(dataset=dataset, solver=generate(), scorer=oracle(), version=VERSION, metadata=about)


def _numbers(lengths: Lengths) -> list[int]:
    listed = [lengths] if isinstance(lengths, int | str) else lengths
    try:
        return [int(length) for length in listed]
    except ValueError as error:
        raise UsageError(f"lengths={lengths!r}: give whole numbers, e.g. -T lengths=5,10,20,40.") from error


@scorer(metrics={"symbols": [grouped(mean(), "length")], "strings": [grouped(mean(), "length")]})
def oracle() -> Scorer:
    """Compares an answer with that of the task's oracle: the share of right symbols, and whether all are right."""

    async def score(state: TaskState, target: Target) -> Score:
        del target  # the oracle gives it again
        about = state.metadata
        subject = _subject(about["form"], about["suite"], about["task"], json.dumps(about["settings"]))
        judged = subject.judge(about["strings"], state.output.completion)
        return Score(value={"symbols": judged.symbols, "strings": float(judged.is_right)}, answer=judged.answer)

    return score


@lru_cache(maxsize=64)
def _subject(form: str, suite: str, task: str, settings: str) -> Subject:
    return Subject(Form(form), suite, task, json.loads(settings))
