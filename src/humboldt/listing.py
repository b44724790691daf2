"""What there is: suites, tasks, models and settings, as records and as text that fits the terminal."""

import inspect
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from humboldt import settings
from humboldt.errors import UsageError, unknown_name
from humboldt.languages import tasks
from humboldt.settings import Field
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite

MEANINGS = {"evaluation": "changes scores only", "members": "says which members there are", "each": "a training each"}


def list_suites() -> list[dict[str, Any]]:
    """One record for each suite."""
    found = [suites.get(name) for name in suites.names()]
    return [
        {"name": suite.name, "question": suite.question, "measure": suite.measure, "paper": suite.paper}
        | {"presets": ", ".join(suite.presets)}
        for suite in found
    ]


def list_tasks() -> list[dict[str, Any]]:
    """One record for each task, with what it asks."""
    return [
        {"suite": name, "name": task, "about": _about(tasks.get(f"{name}/{task}"))}
        for name in suites.names()
        for task in suites.get(name).tasks()
    ]


def list_models() -> list[dict[str, Any]]:
    """One record for each model of each suite."""
    return [
        {
            "suite": name,
            "name": model,
            "title": suite.contender(model).title,
            "about": _about(_model_class(suite, model)),
        }
        for name in suites.names()
        for suite in [suites.get(name)]
        for model in suite.models()
    ]


def list_settings(suite_name: str, task: str | None = None, model: str | None = None) -> list[dict[str, Any]]:
    """One record for each setting of a suite, of these of its tasks and models (all of the paper's if none is named).

    The defaults are those of the preset `paper`. What a model changes of the suite's settings stands with the model.
    """
    suite = suites.get(suite_name)
    for kind, name, known in (("task", task, suite.tasks()), ("model", model, suite.models())):
        if name is not None and name not in known:
            raise unknown_name(kind, name, known)
    protocol = settings.fields(suite.protocol)
    changed = suite.contender(model).changes if model else {}
    found = _records(suite, "suite", [field for field in protocol if field.name not in changed])
    for one in [model] if model else list(suite.contenders):
        changes = suite.contender(one).changes
        fields = [*(field for field in protocol if field.name in changes), *settings.fields(_model_class(suite, one))]
        found += _records(suite, f"model {one}", fields, changes)
    for one in [task] if task else suite.tasks():
        found += _records(suite, f"task {one}", settings.fields(tasks.get(f"{suite_name}/{one}")))
    return found


def _records(
    suite: AbstractSuite, of: str, fields: Sequence[Field], changes: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    return [_record(suite.name, of, field, (changes or {}).get(field.name, field.default)) for field in fields]


def _record(suite: str, of: str, field: Field, default: Any) -> dict[str, Any]:
    about = {"suite": suite, "of": of, "name": field.name, "default": _typed(default), "rule": field.rule()}
    return about | {"about": field.about, "paper": field.source, "role": field.role.value}


def _typed(value: Any) -> str:
    """A value as `--set` takes it.

    >>> _typed((1, 40)), _typed(None), _typed(True)
    ('1,40', 'none', 'true')
    """
    if isinstance(value, tuple | list):
        return ",".join(map(_typed, value))
    return (
        {None: "none", True: "true", False: "false"}[value] if value is None or isinstance(value, bool) else str(value)
    )


def _model_class(suite: AbstractSuite, model: str) -> type:
    return suite.model_entry(suite.contender(model)).value


def _about(cls: type) -> str:
    """The first sentence of its documentation."""
    return " ".join((inspect.getdoc(cls) or "").partition("\n\n")[0].split())


def as_text(what: str, records: Sequence[Mapping[str, Any]]) -> str:
    """For people. Lines are folded at the width of the terminal; a pipe gets each whole."""
    if what == "settings":
        return _settings_text(records)
    lines = []
    if what == "suites":
        for one in records:
            lines.append(_line(f"{one['name']:10}", f"{one['question']} {_sentence(one['measure'])}"))
            lines.append(
                _line(" " * 10, f"{one['paper']}{'' if one['paper'].endswith('?') else '.'} Presets: {one['presets']}.")
            )
        return "\n".join(lines)
    width = max((len(one["name"]) for one in records), default=0)
    for suite in dict.fromkeys(one["suite"] for one in records):
        lines.append(f"{suite}:")
        lines += [_line(f"  {one['name']:{width}}", one["about"]) for one in records if one["suite"] == suite]
    return "\n".join(lines)


def _settings_text(records: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for of in dict.fromkeys(one["of"] for one in records):
        lines.append(f"{of}:")
        for one in records:
            if one["of"] != of:
                continue
            role = MEANINGS.get(one["role"], "")
            more = "; ".join(filter(None, [one["about"], one["rule"], role]))
            paper = f" [{one['paper']}]" if one["paper"] else ""
            lines.append(f"  {one['name']}={one['default']}")
            lines.append(_line("     ", f"{more}.{paper}"))
    return "\n".join(lines)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _line(head: str, text: str) -> str:
    whole = f"{head} {text}"
    if not sys.stdout.isatty():
        return whole
    width = max(40, shutil.get_terminal_size().columns)
    return textwrap.fill(whole, width, subsequent_indent=" " * (len(head) + 1) if len(head) < width // 2 else "    ")


def needed_suite(name: str | None) -> str:
    """The name, or an error where none was given."""
    if name is None:
        raise UsageError(f"list settings: say of which suite, e.g. `humboldt list settings {suites.names()[0]}`.")
    return name
