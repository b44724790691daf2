"""Networks of the same size: hidden sizes of our models that give them as many parameters as a user's own has."""

from collections.abc import Mapping, Sequence
from typing import Any

from humboldt import settings as settings_
from humboldt.errors import MissingExtra, UsageError, named_extras
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Request

SIZE = "hidden_size"
LARGEST = 2**14


def matched(suite: AbstractSuite, request: Request, own: str, others: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    """For each of the other models, the hidden size whose number of parameters is nearest to that of `own`.

    Sizes of alphabets differ between tasks; they are matched on the first one.
    """
    (task, _, *_), *_ = suite.pairs(Request(request.tasks, (own,), request.preset))
    goal = _parameters(suite, request, task, own, {})
    found = {}
    for model in others:
        if SIZE not in settings_.names(suite.model_entry(suite.contender(model)).value):
            raise UsageError(
                f"--match-parameters: the model {model} has no setting {SIZE} that could be changed. Leave it out, or "
                "set its sizes yourself."
            )
        found[model] = {SIZE: _nearest(suite, request, task, model, goal)}
    return found


def _nearest(suite: AbstractSuite, request: Request, task: str, model: str, goal: int) -> int:
    """By halving: the number of parameters grows with the hidden size."""
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
    """The first size from this one on that the model allows, and its number of parameters."""
    for allowed in range(size, size + 16):
        try:
            return allowed, _parameters(suite, request, task, model, {SIZE: allowed})
        except MissingExtra:
            raise
        except UsageError:  # an odd number of units for two directions, say
            continue
    raise UsageError(f"--match-parameters: no {SIZE} from {size} to {size + 15} will do for the model {model}.")


def _parameters(suite: AbstractSuite, request: Request, task: str, model: str, changes: Mapping[str, Any]) -> int:
    chosen = Request((task,), (model,), request.preset, 1, request.settings, {model: changes})
    experiment = suite.plan(chosen)[0]
    parts = suite.restore(experiment.training, experiment.evaluations[0])
    with named_extras():
        return suite.engine(parts.contender).parameters(suite.job(parts, experiment.members[:1]))
