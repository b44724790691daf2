"""Lists suites, tasks, models and settings, as records and as text that fits the terminal."""

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
from humboldt.suites import catalogue, suites
from humboldt.suites.base import AbstractSuite

MEANINGS = {"evaluation": "changes scores only", "members": "decides the members", "each": "one training for each"}


def list_suites() -> list[dict[str, Any]]:
    """Returns one record for each suite."""
    all_suites = [suites.get(name) for name in suites.names()]
    return [
        {"name": suite.name, "question": suite.question, "measure": suite.measure, "paper": suite.paper}
        | {"presets": ", ".join(suite.presets)}
        for suite in all_suites
    ]


def list_tasks() -> list[dict[str, Any]]:
    """Returns one record for each task, with its description."""
    return [
        {"suite": name, "name": task, "about": _about(tasks.get(f"{name}/{task}"))}
        for name in suites.names()
        for task in catalogue.tasks(suites.get(name))
    ]


def list_models() -> list[dict[str, Any]]:
    """Returns one record for each model of each suite."""
    return [
        {
            "suite": name,
            "name": model,
            "title": catalogue.contender(suite, model).title,
            "about": _about_model(_model_class(suite, model)),
        }
        for name in suites.names()
        for suite in [suites.get(name)]
        for model in catalogue.models(suite)
    ]


def list_settings(suite_name: str, task: str | None = None, model: str | None = None) -> list[dict[str, Any]]:
    """Returns one record for each setting of a suite and of a task and a model (all of the paper's if none is named).

    The defaults are those of the preset `paper`. Settings of the suite that a model changes are listed with the model.
    """
    suite = suites.get(suite_name)
    for kind, name, known in (("task", task, catalogue.tasks(suite)), ("model", model, catalogue.models(suite))):
        if name is not None and name not in known:
            raise unknown_name(kind, name, known)
    protocol = settings.fields(suite.protocol)
    changed = catalogue.contender(suite, model).changes if model else {}
    records = _records(suite, "suite", [field for field in protocol if field.name not in changed])
    for name in [model] if model else list(suite.contenders):
        changes = catalogue.contender(suite, name).changes
        fields = [*(field for field in protocol if field.name in changes), *settings.fields(_model_class(suite, name))]
        records += _records(suite, f"model {name}", fields, changes)
    for name in [task] if task else catalogue.tasks(suite):
        records += _records(suite, f"task {name}", settings.fields(tasks.get(f"{suite_name}/{name}")))
    return records


def _records(
    suite: AbstractSuite, of: str, fields: Sequence[Field], changes: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    return [_record(suite.name, of, field, (changes or {}).get(field.name, field.default)) for field in fields]


def _record(suite: str, of: str, field: Field, default: Any) -> dict[str, Any]:
    about = {"suite": suite, "of": of, "name": field.name, "default": _typed(default), "rule": field.rule()}
    return about | {"about": field.about, "paper": field.source, "role": field.role.value}


def _typed(value: Any) -> str:
    """Returns a value as `--set` takes it.

    >>> _typed((1, 40)), _typed(None), _typed(True)
    ('1,40', 'none', 'true')
    """
    if isinstance(value, tuple | list):
        return ",".join(map(_typed, value))
    return (
        {None: "none", True: "true", False: "false"}[value] if value is None or isinstance(value, bool) else str(value)
    )


def _model_class(suite: AbstractSuite, model: str) -> type:
    return catalogue.model_entry(catalogue.contender(suite, model)).value


def _about_model(cls: type) -> str:
    """Returns the line about a family, or the description of another model."""
    about = getattr(cls, "about", "")
    return f"{about[0].upper()}{about[1:]}." if about else _about(cls)


def _about(cls: type) -> str:
    """Returns the first paragraph of a class's documentation."""
    return " ".join((inspect.getdoc(cls) or "").partition("\n\n")[0].split())


def as_text(what: str, records: Sequence[Mapping[str, Any]]) -> str:
    """Returns records as text for people. Lines are folded at the width of the terminal, but not in a pipe."""
    if what == "settings":
        return _settings_text(records)
    lines = []
    width = max((len(record["name"]) for record in records), default=0)
    if what == "suites":
        for record in records:
            lines.append(_line(f"{record['name']:{width}}", f"{record['question']} {_sentence(record['measure'])}"))
            lines.append(
                _line(
                    " " * width,
                    f"{record['paper']}{'' if record['paper'].endswith('?') else '.'} Presets: {record['presets']}.",
                )
            )
        return "\n".join(lines)
    for suite in dict.fromkeys(record["suite"] for record in records):
        lines.append(f"{suite}:")
        lines += [
            _line(f"  {record['name']:{width}}", record["about"]) for record in records if record["suite"] == suite
        ]
    return "\n".join(lines)


def _settings_text(records: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for of in dict.fromkeys(record["of"] for record in records):
        lines.append(f"{of}:")
        for record in records:
            if record["of"] != of:
                continue
            role = MEANINGS.get(record["role"], "")
            role = "" if role and role in record["about"] else role
            more = "; ".join(filter(None, [record["about"], record["rule"], role]))
            paper = f" [{record['paper']}]" if record["paper"] else ""
            lines.append(f"  {record['name']}={record['default']}")
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
    """Returns the name; raises a usage error if there is none."""
    if name is None:
        raise UsageError(f"list settings: name a suite, e.g. `humboldt list settings {suites.names()[0]}`.")
    return name
