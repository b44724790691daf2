"""Every setting of everything registered is given nonsense. It must be refused in words, or mean a model that can be
built.

Text is what the command line gives, other values are what Python code gives. A refusal names the setting, the value and
the rule. What is accepted must lead to a plan whose network can be built abstractly (shapes only), within seconds;
sizes that do not fit into memory are refused later, by `run`. The extreme values that are accepted train one step.
"""

import inspect
import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import pytest

from humboldt.core.events import Silent
from humboldt.errors import UsageError
from humboldt.settings import LARGEST, SMALLEST, Field, fields, names, plain, words
from humboldt.storage.checkpoints import Checkpoints
from humboldt.suites import catalogue, plans, resolving, suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Experiment, Request
from humboldt.training.base import Job
from humboldt.training.engines.jax import build

SECONDS = 20  # for one value: a few milliseconds, but this machine may be busy
TEXTS = [
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "1e9",
    "1000000000",
    "",
    " ",
    ",",
    "５",
    "1,５",
    "none",
    "true",
    "1,1000000000",
]
LONG_TEXTS = ["9" * 90, "9" * 10_000, "a" * 10_000, "1," * 5_000]
VALUES: list[Any] = [
    *(math.nan, math.inf, -1, 0, 10**9, 1e9, 1e-300, 1e300, 10**18, 10**400, True, None, (), [], {}, b"1", object()),
    *((1, 1), (1, 10**9), (math.nan,), ("５",), [[1]]),
]
every_suite = pytest.mark.parametrize("suite", [suites.get(name) for name in suites.names()], ids=suites.names())


class TooSlow(Exception):
    pass


@contextmanager
def limited() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TooSlow(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS, 1.0)  # and again, should the first be swallowed
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def hostile(field: Field) -> list[Any]:
    default = plain(field.default)
    first = words(default[0] if isinstance(default, list) and default else default).replace(",", "")
    twice = [f"{first},{first}", f"{first},", f",{first}"]
    of_kind = [(default[0], default[0])] if isinstance(default, list) and default else []
    return [*TEXTS, *twice, *LONG_TEXTS, *VALUES, *of_kind]


def places(suite: AbstractSuite) -> Iterator[tuple[str, str, Field]]:
    """Every setting that the suite can be given, once, with a task and a model that have it.

    Settings of families are the same in all suites, and most are the same in many families: each is tried in one.
    """
    seen = set()
    for task in catalogue.tasks(suite):
        for model in catalogue.models(suite):
            is_family = model.startswith("family/")
            if is_family and suite.name != "chomsky":
                continue
            for cls in catalogue.settings_classes(suite, task, model):
                for field in fields(cls):
                    place = _definition(cls, field.name) if is_family else cls
                    if (place, field.name) not in seen:
                        seen.add((place, field.name))
                        yield task, model, field


def _definition(cls: type, name: str) -> type:
    return next(base for base in cls.__mro__ if name in inspect.get_annotations(base))


def is_named(message: str, field: Field, value: Any) -> bool:
    """Whether a refusal names the setting and the value. A number may be written in another way than it was given."""
    spellings = {words(value), str(value)[:57]}
    if isinstance(value, str):
        spellings |= {part.strip()[:57] for part in value.split(",") if part.strip()}
        spellings |= {value.strip()[:57], f"{field.name}="}  # nothing at all is written as nothing
    elif isinstance(value, tuple | list):
        spellings |= set(map(words, value)) | ({"nothing"} if not value else set())
    with suppress(TypeError, ValueError, OverflowError):
        number: Any = float(value)  # pyright: ignore[reportArgumentType]
        spellings |= {f"{number:g}", f"{int(number):,}", str(int(number))}
    return field.name in message and any(spelling in message for spelling in spellings if spelling.strip())


def job_of(suite: AbstractSuite, experiment: Experiment) -> Job:
    parts = resolving.resolved(experiment)
    return suite.job(parts, experiment.members[:1])


def shapes_of(job: Job) -> Any:
    return jax.eval_shape(lambda: build(job, jax.random.key(0)))


@every_suite
def test_nonsense_is_refused_in_words_or_means_something(suite: AbstractSuite, record_property: Any):
    built, wrong, counts = set(), [], {"refused": 0, "planned": 0}
    for task, model, field in places(suite):
        for value in hostile(field):
            about = f"{task}, {model}: {field.name}={str(value)[:30]!r}"
            try:
                with limited():
                    try:
                        experiments = plans.plan(suite, Request((task,), (model,), "quick", None, {field.name: value}))
                    except UsageError as error:
                        counts["refused"] += 1
                        message = str(error)
                        if (
                            not is_named(message, field, value)
                            or len(message) > 600
                            or not message.endswith((".", ".)"))
                        ):
                            wrong.append(f"{about} is refused with: {message[:200]}")
                        continue
                    counts["planned"] += 1
                    job = job_of(suite, experiments[0])
                    size = job.problem.input_size, job.problem.output_size, job.problem.num_symbols
                    if experiments[0].training.engine == "jax" and (job.model, size) not in built:
                        built.add((job.model, size))
                        shapes_of(job)
            except Exception as error:
                wrong.append(f"{about} gives {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)
    record_property(f"hostile values given to {suite.name}", counts)
    print(f"{suite.name}: {sum(counts.values()):,} hostile values, {counts}")
    assert counts["refused"] > 100 and counts["planned"] > 10


def lowest(field: Field) -> Any:
    """The smallest number that the bounds allow, or None where the setting is no number."""
    if field.kind is int or field.kind == (int | None):
        return int(field.least) if field.least is not None else None
    if field.kind is float or field.kind == (float | None):
        return SMALLEST if field.above == 0 else field.least
    return (lowest(replace(field, kind=float)),) if field.kind == tuple[float, ...] else None


def highest(field: Field) -> Any:
    """The largest number that the bounds allow, for settings that do not make anything larger."""
    if field.kind is int:
        return int(field.most) if field.most is not None and "seed" in field.name and field.name != "seeds" else None
    if field.kind is float or field.kind == (float | None):
        return field.most if field.most is not None else LARGEST
    return (highest(replace(field, kind=float)),) if field.kind == tuple[float, ...] else None


def planned(suite: AbstractSuite, task: str, model: str, changes: dict[str, Any]) -> Experiment | None:
    try:
        return plans.plan(suite, Request((task,), (model,), "quick", None, changes))[0]
    except UsageError:  # at odds with another setting
        return None


def extreme(suite: AbstractSuite, task: str, model: str, classes: list[type], value_of: Any) -> Experiment:
    """A plan in which as many settings as possible have their extreme values together."""
    changes: dict[str, Any] = {}
    for field in (field for cls in classes for field in fields(cls)):
        value = value_of(field)
        if value is not None and planned(suite, task, model, {**changes, field.name: value}):
            changes[field.name] = value
    experiment = planned(suite, task, model, changes)
    assert experiment is not None and changes
    return experiment


def train_one_step(suite: AbstractSuite, experiment: Experiment, folder: Path) -> None:
    job = job_of(suite, experiment)
    if job.problem.start is None:
        job.problem.buckets = (job.problem.longest,)  # one program to compile
    engine = catalogue.engine_of(resolving.resolve(suite, experiment.training).contender)
    trained = engine.train(replace(job, recipe=replace(job.recipe, steps=1)), Checkpoints(folder), Silent())
    assert len(trained.outcomes) == 1  # finished or diverged: both are an end


@every_suite
@pytest.mark.parametrize("value_of", [lowest, highest])
def test_extreme_settings_train_one_step(suite: AbstractSuite, value_of: Any, tmp_path: Path):
    task, contenders = suite.printed_tasks[0], [*suite.contenders]
    classes = {model: catalogue.settings_classes(suite, task, model)[:2] for model in contenders}
    is_small = {model: "hidden_size" in names(of_model) for model, (_, of_model) in classes.items()}  # quick to compile
    model = max(contenders, key=lambda name: is_small[name])
    train_one_step(suite, extreme(suite, task, model, classes[model], value_of), tmp_path)


def models_once() -> list[tuple[str, str]]:
    """Every model of every suite, once, however many suites have it."""
    found: dict[Any, tuple[str, str]] = {}
    for name in suites.names():
        suite = suites.get(name)
        for model in catalogue.models(suite):
            found.setdefault(catalogue.model_entry(catalogue.contender(suite, model)).value, (name, model))
    return list(found.values())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "model"), models_once())
def test_the_smallest_network_of_each_kind_trains_one_step(name: str, model: str, tmp_path: Path):
    suite = suites.get(name)
    entry = catalogue.model_entry(catalogue.contender(suite, model))
    train_one_step(suite, extreme(suite, suite.printed_tasks[0], model, [entry.value], lowest), tmp_path)
