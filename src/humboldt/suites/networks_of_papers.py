"""Networks of papers as settings of our models: a paper's number is shown only beside a network with exactly these."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from humboldt import settings
from humboldt.core.identity import Training
from humboldt.models import models


@dataclass(frozen=True)
class NetworkOfPaper:
    """The network of a row: the model, and the settings by which it comes nearest to the paper's.

    All other settings of the model have their defaults. `tasks`: those for which the paper has this network; empty:
    all. `departures`: the remaining differences, printed below every table with the paper's number.
    """

    model: str
    settings: Mapping[str, Any]
    tasks: tuple[str, ...] = ()
    departures: tuple[str, ...] = ()

    def is_that_of(self, training: Training) -> bool:
        """Returns whether a training's network has exactly these settings."""
        if self.model != training.model or (self.tasks and training.task not in self.tasks):
            return False
        defaults = _defaults(self.model)
        return {**defaults, **training.setting["model"]} == {**defaults, **self.settings}


@cache
def _defaults(model: str) -> Mapping[str, Any]:
    return settings.as_json(models.get(model)())
