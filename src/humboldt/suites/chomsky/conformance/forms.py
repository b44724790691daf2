"""Alternative notations for the right answer that other implementations may use, for the conformance kit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from humboldt.languages.chomsky.parts.expressions import MODULUS

Symbols = list[str]


@dataclass(frozen=True)
class Form:
    """An alternative notation. `undo` maps a given target and its input to the target in our notation.

    A target that is not in this notation is returned unchanged, so a few errors can be distinguished from a rule.
    """

    says: str
    undo: Callable[[Symbols, Symbols], Symbols]


def _reduced(given: Symbols, _: Symbols) -> Symbols:
    try:
        return [str(int("".join(given)) % MODULUS)]
    except ValueError:  # not a number at all
        return given


def _upto_terminator(given: Symbols, _: Symbols) -> Symbols:
    return given[: given.index("#") + 1] if "#" in given else given


def _before_terminator(given: Symbols, _: Symbols) -> Symbols:
    return given[: given.index("#")] if "#" in given else given


def _stripped(zeros: Callable[[str], str], *, ended: bool) -> Callable[[Symbols, Symbols], Symbols]:
    """Returns the `undo` that strips superfluous zeros from numbers with (`ended`) or without a terminator."""

    def undo(given: Symbols, _: Symbols) -> Symbols:
        digits = given[:-1] if ended else given
        if "#" in digits or (ended and given[-1:] != ["#"]):
            return given
        return [*(zeros("".join(digits)) or "0"), "#"]

    return undo


def _translated(table: dict[str, str]) -> Callable[[Symbols, Symbols], Symbols]:
    return lambda given, _: [table.get(symbol, symbol) for symbol in given]


UNSPACED = Form("the symbols of the target are not separated by spaces", lambda given, _: list("".join(given)))
ENDED = Form("the target ends with a terminator '#' that the task does not have", _before_terminator)
UNENDED = Form("the terminator '#' is missing", lambda given, _: given if "#" in given else [*given, "#"])
PADDED = Form("the target is padded after the terminator '#'", _upto_terminator)
UNREDUCED = Form("the value is not reduced modulo 5", _reduced)
LABELS = (
    Form("the labels are written as 0 for 'a' and 1 for 'b'", _translated({"0": "a", "1": "b"})),
    Form("the labels are written as 1 for 'a' and 0 for 'b'", _translated({"1": "a", "0": "b"})),
    Form("the labels are written as True for 'b' and False for 'a'", _translated({"True": "b", "False": "a"})),
)
NUMBERS = (
    Form("leading zeros (here the last ones) are kept", _stripped(lambda digits: digits.rstrip("0"), ended=True)),
    Form("leading zeros are kept at the beginning", _stripped(lambda digits: digits.lstrip("0"), ended=True)),
    Form(
        "leading zeros (here the last ones) are kept and the terminator '#' is missing",
        _stripped(lambda digits: digits.rstrip("0"), ended=False),
    ),
    Form(
        "leading zeros are kept at the beginning and the terminator '#' is missing",
        _stripped(lambda digits: digits.lstrip("0"), ended=False),
    ),
)
SHORT_ROOTS = (
    Form(
        "leading zeros (here the last ones) are dropped",
        lambda given, symbols: [*given, *["0"] * ((len(symbols) + 1) // 2 - len(given))],
    ),
    Form(
        "leading zeros are dropped at the beginning",
        lambda given, symbols: [*["0"] * ((len(symbols) + 1) // 2 - len(given)), *given],
    ),
)

FORMS: dict[str, tuple[Form, ...]] = {
    "even_pairs": LABELS,
    "parity_check": LABELS,
    "modular_arithmetic_simple": (UNREDUCED,),
    "cycle_navigation": (UNREDUCED,),
    "stack_manipulation": (UNENDED, PADDED, UNSPACED),
    "reverse_string": (ENDED, UNSPACED),
    "modular_arithmetic": (UNREDUCED,),
    "solve_equation": (UNREDUCED,),
    "duplicate_string": (ENDED, UNSPACED),
    "missing_duplicate": (),
    "odds_first": (ENDED, UNSPACED),
    "binary_addition": (UNENDED, PADDED, UNSPACED, *NUMBERS),
    "binary_multiplication": (UNENDED, PADDED, UNSPACED, *NUMBERS),
    "compute_sqrt": (ENDED, UNSPACED, *SHORT_ROOTS),
    "bucket_sort": (ENDED, UNSPACED),
}

# Other spellings of our symbols. The error for a line with such a symbol has a hint.
SPELLINGS: dict[str, Sequence[str]] = {
    "a": ("0",),
    "b": ("1",),
    "0": ("a",),
    "1": ("b",),
    "_": ("2", "?"),
    "#": ("3",),
    "z": ("x",),
    "-": ("−", "–"),
    "*": ("·", "×", "∗"),
    "PUSH_a": ("PUSH",),
    "POP": ("pop", "2"),
}

# Reasons why a task does not have a symbol that other implementations use.
ABSENT: dict[str, dict[str, str]] = {
    "solve_equation": {"*": "Our equations have no product: many values of z could solve one."},
}
