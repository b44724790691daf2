"""Examples of the tasks, as `humboldt data` prints them."""

from collections.abc import Iterator, Mapping
from typing import Any

from humboldt import settings as settings_
from humboldt.errors import UsageError, unknown_name
from humboldt.languages import tasks
from humboldt.suites import catalogue, suites
from humboldt.suites.capabilities import ExampleRequest

SPLITS = ("train", "test")


def examples(request: ExampleRequest) -> Iterator[tuple[list[str], list[str]]]:
    """Returns the training set, or the outputs of one rule for the hold-out inputs."""
    split, settings = request.split or "train", request.settings
    if request.length is not None:
        raise UsageError(f"--length {request.length}: inputs of these tasks have fixed lengths. Leave --length out.")
    if split not in SPLITS:
        raise unknown_name("split", split, SPLITS)
    task = make_task(request.task, {key: value for key, value in settings.items() if key != "rule"})
    rule = settings.get("rule")
    if split == "train" and rule is not None:
        raise UsageError(f"--set rule={rule}: all rules agree on the training set. Use it with --split test.")
    if split == "test" and rule is None:
        raise UsageError(
            "--split test: hold-out inputs have an output for each rule. Choose one, for example "
            f"--set rule={next(iter(task.rules))} (rules: {', '.join(task.rules)})."
        )
    pairs = task.training_pairs if rule is None else task.holdout_pairs(rule)
    yield from ((list(source), list(target)) for source, target in pairs[: request.count])


def make_task(name: str, changes: Mapping[str, Any]) -> Any:
    """Returns a task with these settings."""
    catalogue.check_task(suites.get("bias"), name)
    cls = tasks.get(f"bias/{name}")
    settings_.check_known(changes, [cls])
    fields = {field.name: field for field in settings_.fields(cls)}
    return cls(**{key: settings_.typed_value(fields[key], value) for key, value in changes.items()})
