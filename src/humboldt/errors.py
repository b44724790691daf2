"""Exceptions. Every message has the given value, the rule that it breaks, and the way out."""

import difflib
import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class HumboldtError(Exception):
    """Base class of errors that Humboldt raises. `exit_code`: that of the command line."""

    exit_code = 1


class UsageError(HumboldtError):
    """The request was wrong; nothing has been run or written."""

    exit_code = 2


class OtherStrings(UsageError):
    """A file of predictions is not about the strings that are scored."""


class RunError(HumboldtError):
    """The request was right, but the run failed."""


class NotAnException(Exception):
    """Code from outside Humboldt raised something that is not an `Exception`, such as `SystemExit`."""

    def __init__(self, error: BaseException) -> None:
        text = str(error).strip()
        super().__init__(f"{type(error).__name__}{f'({text})' if text else ''}, which would end the whole program")


class Interrupted(HumboldtError):
    """Stopped by the user with everything saved. 130 is the exit code of shells after Ctrl-C."""

    exit_code = 130


class Abandoned(Interrupted):
    """Stopped by the user before everything was saved."""


EXTRAS = {
    **dict.fromkeys(("jax", "jaxlib", "ml_dtypes", "equinox", "optax", "jaxtyping"), "zoo"),
    "torch": "torch",
    "ray": "ray",
    "pyarrow": "parquet",
    "inspect_ai": "inspect",
    **dict.fromkeys(("altair", "vl_convert", "jinja2", "markupsafe"), "report"),
}


class MissingExtra(UsageError):
    """An optional dependency is needed and not installed. `EXTRAS` maps modules to extras."""

    def __init__(self, module: str) -> None:
        extra = EXTRAS[module]
        super().__init__(
            f"This needs `{module}`, which is not installed. It comes with an extra: pip install 'humboldt[{extra}]'"
        )


@contextmanager
def named_extras() -> Iterator[None]:
    """Turns the failed import of an optional dependency into an error with the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name in EXTRAS:
            raise MissingExtra(error.name) from error
        raise


@contextmanager
def contained() -> Iterator[None]:
    """Turns what users' code raises and is not an `Exception` into `NotAnException`.

    `sys.exit(0)` in a model would otherwise end a command with exit code 0. Ctrl-C passes.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise NotAnException(error) from error


@contextmanager
def named_paths() -> Iterator[None]:
    """Turns the error about a path that no file system accepts into a usage error."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        path = str(error.filename)
        raise UsageError(
            f"`{path[:60]}...` cannot be a path: a name in it has too many characters ({len(path):,} in all). "
            "Choose a shorter one."
        ) from error


def is_out_of_memory(error: BaseException) -> bool:
    """Returns whether an error means that memory was short. JAX has a status in the text, PyTorch a sentence.

    >>> is_out_of_memory(RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 8847360 bytes."))
    True
    """
    text = str(error)
    return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in text or "out of memory" in text.lower()


#: Commands that list all names of a kind.
LISTS = {"task": "humboldt list tasks", "model": "humboldt list models", "setting": "humboldt list settings SUITE"}


def unknown_name(kind: str, name: str, known: Iterable[str], *, hint: str = "") -> UsageError:
    """Returns the error for an unknown name, with the nearest known names.

    >>> print(unknown_name("task", "paritycheck", ["even_pairs", "parity_check"]))
    No task named 'paritycheck'. Did you mean 'parity_check'? Known: even_pairs, parity_check.
    """
    known = sorted(known)
    nearest = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    guess = f" Did you mean {' or '.join(repr(n) for n in nearest)}?" if nearest else ""
    listing = hint or f"Known: {', '.join(known)}."
    if not hint and len(known) > 20:
        command = f"; `{LISTS[kind]}` lists them" if kind in LISTS else ""
        listing = f"There are {len(known)}{command}."
    return UsageError(f"No {kind} named {name!r}.{guess} {listing}")
