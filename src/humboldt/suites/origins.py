"""Finds the layer that decided the value of each setting, for `humboldt plan --settings`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from humboldt import settings
from humboldt.suites import catalogue
from humboldt.suites.experiments import Request, Resolved

if TYPE_CHECKING:
    from humboldt.suites.base import AbstractSuite


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The value of one setting of one training, and the layer that decided it.

    - `of`: `protocol`, `model` or `task`. `layer`: a key of `layers`. `source`: the place of the default in the paper.
    """

    name: str
    value: Any
    of: str
    layer: str
    source: str


def layers(suite: "AbstractSuite", resolved: Resolved, request: Request) -> dict[str, Mapping[str, Any]]:
    """Returns the settings that each layer changes, by the layer's name, strongest layer first."""
    task, model = resolved.training.task, resolved.training.model
    preset, contender = catalogue.preset(suite, request.preset), resolved.contender
    user = {**request.settings, **({} if request.seeds is None else {"seeds": request.seeds})}
    follows = {
        key: value
        for (name, wanted), then in contender.follows.items()
        if getattr(resolved.protocol, name) == wanted
        for key, value in then.items()
    }
    return {
        "matched to your model": request.of_models.get(model, {}),
        "command": user,
        f"preset {preset.name}, {task} with {model}": preset.of_cells.get((task, model), {}),
        f"preset {preset.name}, {model}": preset.of_models.get(model, {}),
        f"preset {preset.name}, {task}": preset.of_tasks.get(task, {}),
        f"preset {preset.name}": preset.changes,
        f"the paper's {contender.title}": contender.changes,
        "sweep": suite.sweep(task, contender) if preset.sweeps is None else preset.sweeps,
        "follows from another setting": follows,
    }


def origins(suite: "AbstractSuite", resolved: Resolved, request: Request) -> Iterator[Origin]:
    """Yields every setting of a training, with the layer that decided it."""
    decided = layers(suite, resolved, request)
    is_papers = resolved.training.model in suite.contenders
    for of, thing in (("protocol", resolved.protocol), ("model", resolved.model), ("task", resolved.task)):
        for field in settings.fields(type(thing)):
            changed_by = [name for name, changes in decided.items() if field.name in changes]
            if of == "model" and not is_papers:  # presets resize only the paper's models
                model = resolved.training.model
                changed_by = [
                    name for name in changed_by if not name.startswith("preset") or name.endswith(f", {model}")
                ]
            value = getattr(thing, field.name)
            yield Origin(
                name=field.name,
                value=settings.plain(value),
                of=of,
                layer=changed_by[0] if changed_by else "default",
                source=field.source,
            )
