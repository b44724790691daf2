"""Checks the arguments of public functions, as strictly as the command line checks its options.

A function is decorated with `checked_arguments`, which has a check for each parameter. A check returns the value in the
form that the function uses, or raises a `UsageError` with the value, the rule and an example.
"""

import functools
import inspect
import math
import numbers
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from humboldt.errors import HumboldtError, NotAnException, RunError, UsageError, contained, named_paths, unknown_name

P = ParamSpec("P")
R = TypeVar("R")
Check = Callable[[str, Any], Any]
LONGEST = 200  # characters of a name
LARGEST = 2**63  # whole numbers below this fit into arrays


def checked_arguments(**checks: Check) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Returns a decorator that checks arguments by name before a function is called.

    A wrong call (a missing argument, an unknown name) raises a `UsageError`, too. If users' code in the function calls
    `sys.exit`, it raises a `RunError`.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        takes_all = any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values())

        @functools.wraps(function)
        def checked(*arguments: P.args, **options: P.kwargs) -> R:
            given = _bound(function, signature, arguments, options)
            for name, check in checks.items():
                if name in given.arguments:
                    given.arguments[name] = check(name, given.arguments[name])
            try:
                with contained(), named_paths():
                    return function(*given.args, **given.kwargs)
            except NotAnException as error:
                raise RunError(f"A model or plugin raised {error}. Correct it, and try again.") from error

        missing = set(checks) - set(signature.parameters)
        assert takes_all or not missing, f"{function.__qualname__} has no parameters {missing}"
        return checked

    return decorate


def _bound(
    function: Callable[..., Any], signature: inspect.Signature, arguments: tuple[Any, ...], options: dict[str, Any]
) -> inspect.BoundArguments:
    try:
        return signature.bind(*arguments, **options)
    except TypeError as error:
        known = [name for name, each in signature.parameters.items() if each.kind is not each.VAR_KEYWORD]
        known = [name for name in known if name != "self"]
        for name in options:
            if name not in known:
                raise unknown_name(f"argument of {function.__name__}", name, known) from None
        raise UsageError(f"{function.__name__}: {error}. Its arguments are: {', '.join(known)}.") from None


def text(name: str, value: Any) -> str:
    """Checks a name, such as that of a suite."""
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{name}={shown(value)} is not a name. Give a text, e.g. {name}={EXAMPLES.get(name, 'x')!r}.")
    if len(value) > LONGEST and ":" not in value:  # a model may be named by the path of its file
        raise UsageError(f"{name}={shown(value)}: a name has at most {LONGEST} characters, and this has {len(value)}.")
    return value


def texts(name: str, value: Any) -> tuple[str, ...]:
    """Checks several names; a single one becomes a tuple."""
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, Sequence | set | frozenset) or isinstance(names, bytes | bytearray):
        raise _no_names(name, value)
    if not all(isinstance(each, str) for each in names):
        raise _no_names(name, value)
    return tuple(text(name, each) for each in names)


def _no_names(name: str, value: Any) -> UsageError:
    example = EXAMPLES.get(name.removesuffix("s"), "x")
    return UsageError(f"{name}={shown(value)} is not a list of names. Write e.g. {name}=[{example!r}].")


def whole(least: int, *, most: int = LARGEST - 1) -> Check:
    """Returns a check that a value is a whole number; truth values and numbers with a fraction are refused."""

    def check(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise UsageError(f"{name}={shown(value)}: {name} must be a whole number of at least {least}.")
        number = operator.index(value)  # NumPy's integers, too
        if not least <= number <= most:
            limit = f"at least {least}" if number < least else f"at most {most}"
            raise UsageError(f"{name}={shown(value)}: {name} must be a whole number of {limit}.")
        return number

    return check


def seconds(name: str, value: Any) -> float:
    """Checks a number of seconds: finite, and at least 0."""
    return _finite(name, value, "a finite number of seconds of at least 0")


def amount(name: str, value: Any) -> float:
    """Checks a finite number of at least 0."""
    return _finite(name, value, "a finite number of at least 0")


def _finite(name: str, value: Any, rule: str) -> float:
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            given = float(value)
        except OverflowError:  # an integer of more than 308 digits
            given = math.inf
        if math.isfinite(given) and given >= 0:
            return given
    raise UsageError(f"{name}={shown(value)}: {name} must be {rule}.")


def mapping(name: str, value: Any) -> dict[str, Any]:
    """Checks pairs of name and value."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        example = EXAMPLES.get(name, {"steps": 100})
        raise UsageError(f"{name}={shown(value)} are not pairs of name and value. Write {name}={example!r}.")
    return dict(value)


def folder(name: str, value: Any) -> Path:
    """Checks the path of a folder, which need not exist."""
    path = _path(name, value, f"is not a folder. Give a path, e.g. {name}='results'")
    try:
        nearest = next((place for place in (path, *path.parents) if place.exists()), path)
        is_other = nearest.exists() and not nearest.is_dir()
    except OSError as error:
        raise UsageError(f"{name}={shown(value)} cannot be a folder: {error.strerror}. Choose another path.") from error
    if is_other:
        fault = "is a file" if nearest == path else f"cannot be a folder, because `{nearest}` is a file"
        raise UsageError(f"{name}={shown(value)} {fault}. Give the path of a folder.")
    return path


def file(name: str, value: Any) -> Path:
    """Checks the path of a file; whether it exists is for the function to check."""
    return _path(name, value, f"is not a file. Give a path, e.g. {name}='file.jsonl'")


def _path(name: str, value: Any, wrong: str) -> Path:
    if not isinstance(value, str | os.PathLike) or not str(value).strip():
        raise UsageError(f"{name}={shown(value)} {wrong}.")
    path = os.fspath(value)
    if not isinstance(path, str) or "\0" in path:
        raise UsageError(f"{name}={shown(value)} {wrong}.")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise UsageError(f"{name}={shown(value)} {wrong}.") from None
    return Path(path)


def flag(name: str, value: Any) -> bool:
    """Checks a truth value."""
    if not isinstance(value, bool):
        raise UsageError(f"{name}={shown(value)}: {name} must be True or False.")
    return value


def choice(*known: str) -> Check:
    """Returns a check that a value is one of these names."""

    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            raise unknown_name(f"choice for {name}", value if isinstance(value, str) else shown(value), known)
        return value

    return check


def function(name: str, value: Any) -> Any:
    """Checks a function."""
    if not callable(value):
        raise UsageError(f"{name}={shown(value)} is not a function. Give one, or leave {name} out.")
    return value


def either(first: Check, *others: Check) -> Check:
    """Returns a check that passes if one of several checks does; otherwise it raises the error of the first."""

    def check(name: str, value: Any) -> Any:
        for other in others:
            try:
                return other(name, value)
            except HumboldtError:
                continue
        return first(name, value)

    return check


def instance(kind: type, words: str) -> Check:
    """Returns a check that a value is an instance of a class, which messages call `words`."""

    def check(name: str, value: Any) -> Any:
        if not isinstance(value, kind):
            raise UsageError(f"{name}={shown(value)} is not {words}. Give one, or leave {name} out.")
        return value

    return check


def optional(check: Check) -> Check:
    """Returns the check for an argument that may be `None`."""
    return lambda name, value: None if value is None else check(name, value)


def shown(value: Any) -> str:
    """Returns a value as Python writes it, shortened; a huge number or a failing `repr` is shown by its type."""
    try:
        with contained():
            written = repr(str(value) if isinstance(value, os.PathLike) else value)
    except Exception:
        return f"<{type(value).__name__}>"
    return written if len(written) <= 80 else f"{written[:77]}..."


EXAMPLES: dict[str, Any] = {
    "suite": "chomsky",
    "task": "parity_check",
    "model": "rnn",
    "preset": "quick",
    "experiment": "3f0c1a9e2b77",
    "evaluation": "accuracy",
    "split": "scored",
    "name": "my_model",
    "settings": {"steps": 100},
    "predict": {"parity_check": "predictions.jsonl"},
    "member": {"seed": 0},
}
