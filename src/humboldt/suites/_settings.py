"""Settings are frozen dataclasses; this turns `key=value` from a command line into changed ones."""

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar, Union

from humboldt.errors import UsageError, unknown_name

S = TypeVar("S")


def parse_assignments(assignments: Sequence[str]) -> dict[str, str]:
    """`["steps=100"]` to `{"steps": "100"}`.

    >>> parse_assignments(["steps=100", "train_lengths=1,20"])
    {'steps': '100', 'train_lengths': '1,20'}
    """
    parsed = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals or not key.strip():
            raise UsageError(
                f"--set got {assignment!r}, which is not of the form key=value. Write e.g. --set steps=100."
            )
        parsed[key.strip()] = value.strip()
    return parsed


def names(settings: Any) -> list[str]:
    """The names of a settings class or object."""
    return [field.name for field in dataclasses.fields(settings)]


def changed(settings: S, changes: Mapping[str, str]) -> S:
    """A copy with these settings changed. Keys that it does not have are left out: see `check_known`."""
    hints = typing.get_type_hints(type(settings))
    own = {key: _convert(key, value, hints[key]) for key, value in changes.items() if key in names(settings)}
    try:
        return dataclasses.replace(settings, **own)  # pyright: ignore[reportArgumentType]
    except ValueError as error:
        raise UsageError(str(error)) from error


def check_known(changes: Mapping[str, str], *settings: Any) -> None:
    """An error for the first key that none of the settings has."""
    known = {name for one in settings for name in names(one)}
    for key in changes:
        if key not in known:
            raise unknown_name("setting", key, known)


def as_json(settings: Any) -> dict[str, Any]:
    """All settings as plain values."""
    return {key: list(v) if isinstance(v, tuple) else v for key, v in dataclasses.asdict(settings).items()}


def from_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that `as_json` was made from."""
    return {key: tuple(v) if isinstance(v, list) else v for key, v in values.items()}


def differences(setting: Mapping[str, Any], reference: Mapping[str, Any]) -> list[str]:
    """What differs between two settings in JSON form, in words.

    >>> differences({"steps": 2000, "model": {"hidden_size": 64}}, {"steps": 1000000, "model": {"hidden_size": 256}})
    ['steps 2,000 instead of 1,000,000', 'hidden_size 64 instead of 256']
    """
    found = []
    for key, value in setting.items():
        if isinstance(value, Mapping):
            found.extend(differences(value, reference[key]))
        elif value != reference[key]:
            found.append(f"{key} {_words(value)} instead of {_words(reference[key])}")
    return found


def _words(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value)) if len(value) != 2 else f"{_words(value[0])}..{_words(value[1])}"
    if value is None:
        return "none"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _convert(key: str, text: str, kind: Any) -> Any:
    origin = typing.get_origin(kind)
    arguments = typing.get_args(kind)
    if origin is Literal:
        if text not in arguments:
            raise UsageError(f"--set {key}={text}: {key} is one of {', '.join(map(str, arguments))}.")
        return text
    if origin is tuple:
        parts = [part for part in text.split(",") if part]
        if Ellipsis not in arguments and len(parts) != len(arguments):
            raise UsageError(f"--set {key}={text}: {key} takes {len(arguments)} values separated by commas.")
        return tuple(_convert(key, part, arguments[0]) for part in parts)
    if origin in (Union, types.UnionType):
        if text.lower() == "none" and type(None) in arguments:
            return None
        return _convert(key, text, next(a for a in arguments if a is not type(None)))
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise UsageError(f"--set {key}={text}: {key} is true or false.")
        return text.lower() == "true"
    try:
        return kind(text.replace("_", "")) if kind in (int, float) else kind(text)
    except ValueError:
        article = "a whole number" if kind is int else "a number"
        raise UsageError(f"--set {key}={text}: {key} must be {article}.") from None
