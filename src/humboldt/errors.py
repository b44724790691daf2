"""What can go wrong, said so that the reader knows what to do next.

Every message holds three things: the value that was given, the rule it breaks, and the way out.
"""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class HumboldtError(Exception):
    """Anything Humboldt raises on purpose. `exit_code` is what the command line returns."""

    exit_code = 1


class UsageError(HumboldtError):
    """The request was wrong; nothing has been run or written."""

    exit_code = 2


class RunError(HumboldtError):
    """The request was right, but the run failed."""


class Interrupted(HumboldtError):
    """Stopped by the user with everything saved. 130 is what a shell reports for Ctrl-C."""

    exit_code = 130


EXTRAS = {
    **dict.fromkeys(("jax", "jaxlib", "ml_dtypes", "equinox", "optax", "jaxtyping"), "zoo"),
    "torch": "torch",
    "ray": "ray",
    "pyarrow": "parquet",
    **dict.fromkeys(("altair", "vl_convert", "jinja2", "markupsafe"), "report"),
}


class MissingExtra(UsageError):
    """An optional dependency is needed and not installed. `EXTRAS` says which extra brings it."""

    def __init__(self, module: str) -> None:
        extra = EXTRAS[module]
        super().__init__(
            f"This needs `{module}`, which is not installed. It comes with an extra: pip install 'humboldt[{extra}]'"
        )


@contextmanager
def named_extras() -> Iterator[None]:
    """Turns the failed import of an optional dependency into an error that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name in EXTRAS:
            raise MissingExtra(error.name) from error
        raise


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory was short. JAX says so with a status in the text, PyTorch with a sentence.

    >>> is_out_of_memory(RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 8847360 bytes."))
    True
    """
    text = str(error)
    return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in text or "out of memory" in text.lower()


def unknown_name(kind: str, name: str, known: Iterable[str], *, hint: str = "") -> UsageError:
    """The error for a name that is not in a list, with the nearest ones that are.

    >>> print(unknown_name("task", "paritycheck", ["even_pairs", "parity_check"]))
    No task named 'paritycheck'. Did you mean 'parity_check'? Known: even_pairs, parity_check.
    """
    known = sorted(known)
    nearest = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    guess = f" Did you mean {' or '.join(repr(n) for n in nearest)}?" if nearest else ""
    listing = hint or (f"Known: {', '.join(known)}." if len(known) <= 20 else f"There are {len(known)} of them.")
    return UsageError(f"No {kind} named {name!r}.{guess} {listing}")
