"""Finds hidden sizes that give Humboldt's models about as many parameters as a user's model has."""

from collections.abc import Mapping, Sequence
from typing import Any

from humboldt import settings as settings_
from humboldt.errors import MissingExtra, UsageError, named_extras
from humboldt.suites import catalogue, plans, resolving
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Request

SIZE = "hidden_size"
LARGEST = 2**14


def matched(suite: AbstractSuite, request: Request, own: str, others: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    """Returns settings for each of the other models: the hidden size with the number of parameters nearest to `own`.

    Sizes of alphabets differ between tasks; models are matched on the first task.
    """
    (task, _, *_), *_ = plans.pairs(suite, Request(request.tasks, (own,), request.preset))
    goal = _parameters(suite, request, task, own, {})
    sizes = {}
    for model in others:
        if SIZE not in settings_.names(catalogue.model_entry(catalogue.contender(suite, model)).value):
            raise UsageError(
                f"--match-parameters: the model {model} has no setting {SIZE} that could be changed. Leave it out, or "
                "set its sizes yourself."
            )
        sizes[model] = {SIZE: _nearest(suite, request, task, model, goal)}
    return sizes


def _nearest(suite: AbstractSuite, request: Request, task: str, model: str, goal: int) -> int:
    """Finds the nearest size by bisection: the number of parameters grows with the hidden size."""
    low, high = 1, LARGEST
    while low < high:
        middle = (low + high) // 2
        if _at_least(suite, request, task, model, middle)[1] < goal:
            low = middle + 1
        else:
            high = middle
    options = [_at_least(suite, request, task, model, size) for size in {max(1, low - 2), max(1, low - 1), low}]
    return min(options, key=lambda option: abs(option[1] - goal))[0]


def _at_least(suite: AbstractSuite, request: Request, task: str, model: str, size: int) -> tuple[int, int]:
    """Returns the smallest allowed size that is at least `size`, and its number of parameters."""
    for allowed in range(size, size + 16):
        try:
            return allowed, _parameters(suite, request, task, model, {SIZE: allowed})
        except MissingExtra:
            raise
        except UsageError:  # e.g. an odd number of units for two directions
            continue
    raise UsageError(f"--match-parameters: no {SIZE} from {size} to {size + 15} is allowed for the model {model}.")


def _parameters(suite: AbstractSuite, request: Request, task: str, model: str, changes: Mapping[str, Any]) -> int:
    request_of_model = Request((task,), (model,), request.preset, 1, request.settings, {model: changes})
    experiment = plans.plan(suite, request_of_model)[0]
    objects = resolving.resolved(experiment)
    with named_extras():
        return catalogue.engine_of(objects.contender).parameters(suite.job(objects, experiment.members[:1]))
