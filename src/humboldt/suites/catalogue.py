"""Looks up a suite's tasks, models, presets and engines by name. Suites do not override these functions."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from humboldt.core.identity import Version
from humboldt.errors import UsageError, unknown_name
from humboldt.languages import tasks as registered_tasks
from humboldt.registry import Entry
from humboldt.settings import fields
from humboldt.suites import suites
from humboldt.suites.experiments import Contender, Departure, Preset
from humboldt.training.base import AbstractEngine, engines

if TYPE_CHECKING:
    from humboldt.suites.base import AbstractSuite

PAPER = "paper"  # the preset that every suite has
OPEN_ENGINES = ("jax", "torch")  # users can register models with these
PARTS = ("model", "task")  # names in stored settings under which those of the model and the task are
OUTSIDE = "outside"  # the engine of models from outside Humboldt; `outside/NAME` is the user's model NAME


def check_facts(suite: "AbstractSuite", facts: Sequence[str]) -> None:
    """Raises a usage error if a suite from outside lacks one of these class variables, or has one of the wrong form."""
    place = f"The suite {type(suite).__name__}"
    for fact in facts:
        if not hasattr(suite, fact):
            raise UsageError(f"{place} has no class variable `{fact}`. Add it; docs/own_task.md has an example.")
    for fact, kind in (("contenders", Contender), ("presets", Preset)):
        value = getattr(suite, fact)
        if not isinstance(value, Mapping) or not all(isinstance(entry, kind) for entry in value.values()):
            raise UsageError(
                f"{place}: `{fact}` is {value!r:.80}, and must map names to objects of {kind.__name__}. Write e.g. "
                f"{fact} = {{'{PAPER if kind is Preset else 'lstm'}': {kind.__name__}(...)}}."
            )
    if PAPER not in suite.presets:
        raise UsageError(
            f"{place} has the presets {', '.join(suite.presets) or 'none'}, and needs one named '{PAPER}': plans list "
            f"the differences from it. Add presets['{PAPER}'] = Preset('{PAPER}', ...)."
        )
    for option in fields(suite.protocol):
        if option.stored_name in PARTS:
            raise UsageError(
                f"{place}: the protocol's setting `{option.name}` would be stored as '{option.stored_name}', where the "
                f"settings of the {option.stored_name} are. Give it another name."
            )


def tasks(suite: "AbstractSuite") -> list[str]:
    """Returns task names: the paper's in the order of its table, then others."""
    known = [name.partition("/")[2] for name in registered_tasks.names(f"{suite.name}/")]
    return [*suite.printed_tasks, *(name for name in known if name not in suite.printed_tasks)]


def check_task(suite: "AbstractSuite", task: str) -> None:
    """Raises a usage error if a suite has no task of this name."""
    if task not in tasks(suite):
        raise unknown_name("task", task, tasks(suite))


def models(suite: "AbstractSuite") -> list[str]:
    """Returns model names: the paper's in the order of its table, then all others that fit its problem.

    A model that a contender uses is not listed twice, but a family (`family/mamba`) has its name in every suite.
    """
    used = {contender.model for contender in suite.contenders.values()}
    taken = {*suite.contenders, *(name for name in used if "/" not in name)}
    others = [
        entry.name
        for name in OPEN_ENGINES
        for entry in engines.get(name).models.entries()
        if entry.name not in taken and suite.kind in getattr(entry.value, "problems", ())
    ]
    return [*suite.contenders, *others]


def suite_names() -> list[str]:
    """Returns the names of all suites in the order in which pages show them: that of the README, then by name."""
    return sorted(suites.names(), key=lambda name: (suites.get(name).position, name))


def contender(suite: "AbstractSuite", model: str) -> Contender:
    """Returns the contender of this name: a model of the paper, another that fits, or one from outside Humboldt."""
    if model in suite.contenders:
        return suite.contenders[model]
    if model.startswith(f"{OUTSIDE}/"):
        outside = Departure("training", text="trained outside Humboldt")
        return Contender(OUTSIDE, f"{model.partition('/')[2]} (outside)", engine=OUTSIDE, departures=(outside,))
    if model not in models(suite):
        for name in OPEN_ENGINES:
            if model in engines.get(name).models:
                kinds = ", ".join(kind.value for kind in engines.get(name).models.get(model).problems)
                raise UsageError(
                    f"The model {model!r} is for {kinds}, and the suite {suite.name} has problems of "
                    f"{suite.kind.value}. Its attribute `problems` lists what it can be given."
                )
        raise unknown_name("model", model, models(suite))
    engine = next(name for name in OPEN_ENGINES if model in engines.get(name).models)
    title = getattr(engines.get(engine).models.get(model), "title", model)
    if title in [of_paper.title for of_paper in suite.contenders.values()]:
        title = f"{title} ({model.partition('/')[0]})"  # no title means two networks in one table
    return Contender(model, title, suite.others, engine=engine)


def preset(suite: "AbstractSuite", name: str) -> Preset:
    """Returns the preset of this name; raises a usage error if there is none."""
    if name not in suite.presets:
        raise unknown_name("preset", name, suite.presets)
    return suite.presets[name]


def engine_of(contender: Contender) -> AbstractEngine:
    """Returns the engine that trains a contender."""
    return engines.get(contender.engine)


def model_entry(contender: Contender) -> Entry[Any]:
    """Returns the settings class of a contender's model, with its version."""
    return engine_of(contender).models.entry(contender.model)


def settings_classes(suite: "AbstractSuite", task: str, model: str) -> list[type]:
    """Returns the classes whose settings apply to a cell: protocol, model and task."""
    return [
        suite.protocol,
        model_entry(contender(suite, model)).value,
        registered_tasks.get(f"{suite.name}/{task}"),
    ]


def family(suite: "AbstractSuite", model: str) -> str:
    """Returns the architecture of a model; a model from outside is a family of its own."""
    return getattr(model_entry(contender(suite, model)).value, "family", model.removeprefix(f"{OUTSIDE}/"))


def versions(suite: "AbstractSuite", task: str, model: str) -> dict[str, Version]:
    """Returns the current versions of a task and a model."""
    return {
        "task": registered_tasks.entry(f"{suite.name}/{task}").version,
        "model": model_entry(contender(suite, model)).version,
    }


def in_order(kind: str, names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Returns `names` in the order of `known`, without repetition; raises on unknown names."""
    for name in names:
        if name not in known:
            raise unknown_name(kind, name, known)
    return [name for name in known if name in names]
