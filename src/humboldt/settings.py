"""Typed settings: each field has a type, bounds, a meaning and a source in the paper, declared once.

Protocols, models and tasks with options are classes decorated with `settings`, whose fields are made by `setting`:

```python
@settings
class LengthGeneralisation:
    steps: int = setting(1_000_000, "training steps", "appendix A.4", least=1)
```

Error messages, `humboldt list settings` and the identities of trainings all read these fields. Only the
command line has text: `from_text` turns it into a typed value, or raises an error with the rule.
"""

import dataclasses
import enum
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, dataclass_transform

from humboldt.errors import UsageError, unknown_name

S = TypeVar("S")
SMALLEST, LARGEST = 1e-30, 1e30  # numbers other than 0 that networks can compute with


class Role(enum.Enum):
    """Kind of effect of a setting, which decides the identity that it belongs to."""

    TRAINING = "training"  # a weight
    EVALUATION = "evaluation"  # a score, but no weight
    MEMBERS = "members"  # the list of members, but no member itself
    EACH = "each"  # a tuple; every value is a separate training


@dataclass(frozen=True)
class Field:
    """Description of one setting.

    `least`, `most` and `above` bound every number in it. `added_later`: results stored before the setting existed were
    made with its default, so at that value it is not part of the identity. `each`: the name under which a training
    stores its one value of a setting with `Role.EACH`. `of_data`: it decides the strings, not how a model is trained on
    them, so it also applies to models from outside Humboldt.
    """

    name: str
    kind: Any
    default: Any
    about: str
    source: str
    role: Role
    least: float | None
    most: float | None
    above: float | None
    added_later: bool
    each: str | None
    of_data: bool

    @property
    def stored_name(self) -> str:
        """The key of this setting in the identity of a training or an evaluation."""
        return self.each or self.name

    def rule(self) -> str:
        """Returns the allowed values in words: `a whole number of at least 1`."""
        return _rule(self.kind, self)


def setting(
    default: Any,
    about: str,
    source: str = "",
    *,
    role: Role = Role.TRAINING,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    added_later: bool = False,
    each: str | None = None,
    of_data: bool | None = None,
) -> Any:
    """Declares one field of a class of settings; see `Field`. `source`: the place of the default in the paper.

    A setting with `Role.EACH` is `of_data` unless declared otherwise.
    """
    bounds = {"least": least, "most": most, "above": above}
    about_it = {"about": about, "source": source, "role": role, "added_later": added_later, "each": each, **bounds}
    about_it["of_data"] = role is Role.EACH if of_data is None else of_data
    return dataclasses.field(default=default, metadata=about_it)


# `setting` is not a field specifier: type checkers would look for `default` among its keywords, and not find it.
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(dataclasses.field,))
def settings(cls: type[S]) -> type[S]:
    """Makes a frozen class of settings whose values are checked: each by itself, then together by its `check`."""

    def check_all(self: Any) -> None:
        for field in fields(type(self)):
            object.__setattr__(self, field.name, checked(field, getattr(self, field.name)))
        if hasattr(type(self), "check"):
            self.check()

    cls.__post_init__ = check_all  # pyright: ignore[reportAttributeAccessIssue]
    return dataclass(frozen=True, kw_only=True)(cls)


@cache
def fields(cls: type) -> tuple[Field, ...]:
    """Returns the fields of a class of settings; empty for other classes."""
    if not dataclasses.is_dataclass(cls):
        return ()
    hints = typing.get_type_hints(cls)
    blank = {"about": "", "source": "", "role": Role.TRAINING, "added_later": False, "each": None}
    blank |= {"least": None, "most": None, "above": None, "of_data": False}
    return tuple(
        Field(field.name, hints[field.name], _default(field), **{**blank, **field.metadata})
        for field in dataclasses.fields(cls)
    )


def _default(field: "dataclasses.Field[Any]") -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


def names(cls: type) -> list[str]:
    """Returns the names of a class's settings."""
    return [field.name for field in fields(cls)]


def changed(values: S, changes: Mapping[str, Any]) -> S:
    """Returns a copy with these settings changed; text is read as on the command line.

    Unknown keys are ignored; see `check_known`.
    """
    known = {field.name: field for field in fields(type(values))}
    typed = {key: typed_value(known[key], value) for key, value in changes.items() if key in known}
    return dataclasses.replace(values, **typed)  # pyright: ignore[reportArgumentType]


def typed_value(field: Field, value: Any) -> Any:
    """Returns a checked value, given as such or as text. With `Role.EACH`, a single number becomes a tuple."""
    if field.role is Role.EACH and isinstance(value, int | float):
        value = (value,)
    return from_text(field, value) if isinstance(value, str) else checked(field, value)


def check_known(keys: Iterable[str], classes: Iterable[type]) -> None:
    """Raises a usage error for the first key that none of the classes has."""
    known = {name for cls in classes for name in names(cls)}
    for key in keys:
        if key not in known:
            raise unknown_name("setting", key, known)


def as_json(values: Any, roles: Sequence[Role] | None = None) -> dict[str, Any]:
    """Returns settings of these roles as plain values, without defaults of settings that were added later."""
    return {
        field.stored_name: plain(getattr(values, field.name))
        for field in fields(type(values))
        if (roles is None or field.role in roles)
        and not (field.added_later and getattr(values, field.name) == field.default)
    }


def from_json(cls: type[S], values: Mapping[str, Any]) -> S:
    """Makes settings from the values of `as_json`. Raises on unknown keys."""
    by_name = {field.stored_name: field for field in fields(cls)}
    for key in values:
        if key not in by_name:
            raise unknown_name("setting", key, by_name)
    typed = {}
    for key, value in values.items():
        field = by_name[key]
        typed[field.name] = (value,) if field.each and not isinstance(value, list) else value
    return cls(**typed)


def plain(value: Any) -> Any:
    """Returns a value with lists in place of tuples, as in JSON."""
    return [plain(part) for part in value] if isinstance(value, tuple | list) else value


def checked(field: Field, value: Any) -> Any:
    """Returns the value in its field's type (a list becomes a tuple); raises with the setting, value and rule."""
    try:
        return _checked(field.kind, value, field)
    except _Wrong as wrong:
        shown = _short(words(value))
        raise UsageError(f"{field.name}={shown}: {field.name} must be {wrong.rule or field.rule()}.") from None


def from_text(field: Field, text: str) -> Any:
    """Parses a value given as text on the command line.

    >>> @settings
    ... class Example:
    ...     rates: tuple[float, ...] = setting((0.1,), "learning rates", above=0)
    >>> from_text(fields(Example)[0], "1e-3,3e-3")
    (0.001, 0.003)
    """
    try:
        return checked(field, _parsed(field.kind, text))
    except _Wrong as wrong:
        raise UsageError(f"{field.name}={_short(text)}: {field.name} must be {wrong.rule or field.rule()}.") from None


def parse_assignments(assignments: Sequence[str], option: str = "--set") -> dict[str, str]:
    """Parses assignments, `["steps=100"]`, into a dictionary.

    >>> parse_assignments(["steps=100", "train_lengths=1,20"])
    {'steps': '100', 'train_lengths': '1,20'}
    """
    parsed: dict[str, str] = {}
    example = f"{option} {'steps=100' if option == '--set' else 'seed=0'}"
    for assignment in assignments:
        key, equals, value = (part.strip() for part in assignment.partition("="))
        if not equals or not key:
            raise UsageError(f"{option} got {assignment!r}, which is not of the form key=value. Write e.g. {example}.")
        if parsed.get(key, value) != value:
            raise UsageError(f"{option} {key} was given twice, as {parsed[key]!r} and as {value!r}. Give it once.")
        parsed[key] = value
    return parsed


def words(value: Any) -> str:
    """Returns a value as text for people.

    >>> words(1000000), words((1, 40)), words((1e-4, 3e-4, 5e-4)), words(None), words(True)
    ('1,000,000', '1..40', '0.0001, 0.0003, 0.0005', 'none', 'true')
    """
    if isinstance(value, tuple | list):
        is_range = len(value) == 2 and all(isinstance(part, int) and not isinstance(part, bool) for part in value)
        return f"{words(value[0])}..{words(value[1])}" if is_range else ", ".join(map(words, value)) or "nothing"
    if value is None or isinstance(value, bool):
        return "none" if value is None else str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, int):
        # Python does not write numbers of more than 4,300 digits.
        return _short(f"{value:,}") if abs(value) < 10**60 else f"{'-' * (value < 0)}{abs(value).bit_length():,} bits"
    return _short(str(value))


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


class _Wrong(Exception):
    """A value that its field does not allow; `rule` replaces the field's rule in the message."""

    def __init__(self, rule: str = "") -> None:
        super().__init__(rule)
        self.rule = rule


def _checked(kind: Any, value: Any, field: Field) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        return _checked(next(a for a in arguments if a is not type(None)), value, field)
    if origin is Literal:
        if value not in arguments or isinstance(value, bool) != any(isinstance(a, bool) for a in arguments):
            raise _Wrong
        return value
    if origin is tuple:
        return _checked_tuple(arguments, value, field)
    if kind is bool:
        if not isinstance(value, bool):
            raise _Wrong
        return value
    if kind in (int, float):
        return _checked_number(kind, value, field)
    if kind is not Any and not isinstance(value, kind):
        raise _Wrong
    return value


def _checked_tuple(arguments: tuple[Any, ...], value: Any, field: Field) -> tuple[Any, ...]:
    if not isinstance(value, tuple | list):
        raise _Wrong
    if Ellipsis not in arguments:
        if len(value) != len(arguments):
            raise _Wrong
        return tuple(_checked(kind, part, field) for kind, part in zip(arguments, value, strict=True))
    if not value:
        raise _Wrong(f"{field.rule()}: at least one")
    parts = tuple(_checked(arguments[0], part, field) for part in value)
    if len(set(parts)) < len(parts):
        raise _Wrong(f"{field.rule()}, each at most once")
    return parts


def _checked_number(kind: type, value: Any, field: Field) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Wrong
    if kind is int and not isinstance(value, int):
        raise _Wrong
    if isinstance(value, int) and abs(value) >= 2**63:  # too large for arrays
        raise _Wrong(f"{field.rule()}, and below 2^63")
    if not math.isfinite(value):
        raise _Wrong
    if value and kind is float and not SMALLEST <= abs(value) <= LARGEST:
        raise _Wrong(f"{field.rule()}, and 0 or from {SMALLEST:g} to {LARGEST:g} in size, as in single precision")
    too_small = (field.least is not None and value < field.least) or (field.above is not None and value <= field.above)
    if too_small or (field.most is not None and value > field.most):
        raise _Wrong
    return kind(value)


def _parsed(kind: Any, text: str) -> Any:
    """Parses text into a value of roughly the right type; `checked` does the rest."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    text = text.strip()
    if origin in (Union, types.UnionType):
        if text.lower() == "none" and type(None) in arguments:
            return None
        return _parsed(next(a for a in arguments if a is not type(None)), text)
    if origin is tuple:
        inner = arguments[0]
        return tuple(_parsed(inner, part) for part in text.split(","))
    if origin is Literal:
        return next((a for a in arguments if str(a) == text), text)
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise _Wrong
        return text.lower() == "true"
    if kind in (int, float):
        return _parsed_number(kind, text)
    return text


def _parsed_number(kind: Callable[[str], float], text: str) -> float:
    if not text.isascii() or len(text) > 100:  # `int` accepts digits of every script, and is slow for very many
        raise _Wrong
    try:
        return kind(text.replace("_", ""))
    except (ValueError, OverflowError):
        raise _Wrong from None


def _rule(kind: Any, field: Field) -> str:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return f"{_rule(next(a for a in arguments if a is not type(None)), field)}, or none"
    if origin is Literal:
        return f"one of {', '.join(map(str, arguments))}"
    if origin is tuple:
        inner = _rule(arguments[0], field)
        if Ellipsis in arguments:
            return f"one value or several separated by commas, each {inner}"
        return f"{len(arguments)} values separated by commas, each {inner}"
    if kind is bool:
        return "true or false"
    if kind not in (int, float):
        return "text"
    bounds = [
        f"of at least {field.least:,.10g}" if field.least is not None else "",
        f"above {field.above:,.10g}" if field.above is not None else "",
        f"at most {field.most:,.10g}" if field.most is not None else "",
    ]
    return " ".join(filter(None, ["a whole number" if kind is int else "a number", " and ".join(filter(None, bounds))]))
