"""Decides whether a network is right about every string of a language: proved, refuted or unknown."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from humboldt.errors import UsageError
from humboldt.mdl.proofs.cells import Loose, ProofCell, TooManyCells
from humboldt.mdl.proofs.checker import Rejected, check
from humboldt.mdl.proofs.described import Described, check_measure, described
from humboldt.mdl.proofs.geometry.affine import HEAD, Form
from humboldt.mdl.proofs.geometry.blocks import BlockProver
from humboldt.mdl.proofs.geometry.brackets import BracketProver
from humboldt.mdl.proofs.geometry.reals import Undecided
from humboldt.mdl.proofs.geometry.walk import BlockWalk
from humboldt.mdl.proofs.network import Network
from humboldt.mdl.proofs.refute import Bound, Mistake, Reader

# Before a proof is tried, and after it has failed; by the number of free blocks, which is 0 for brackets.
FIRST_BOUNDS = {0: Bound(16, 4_000), 1: Bound(30, 4_000), 2: Bound(24, 4_000)}
LAST_BOUNDS = {0: Bound(400, 8_000), 1: Bound(300, 8_000), 2: Bound(120, 8_000)}


@dataclass(frozen=True)
class Proved:
    """The network is right about every string of the language, in real arithmetic; `check` verifies the certificate."""

    certificate: dict[str, Any]

    def __str__(self) -> str:
        return "proved"


@dataclass(frozen=True)
class Refuted:
    """The network is wrong about a string, and right about all shorter strings."""

    mistake: Mistake

    def __str__(self) -> str:
        says = ", ".join(f"{symbol} {chance:.3g}" for symbol, chance in self.mistake.says.items())
        return f"wrong about {self.mistake.string or 'the empty string'}: after {self.mistake.prefix} it says {says}"


@dataclass(frozen=True)
class Unknown:
    """Neither proved nor refuted: the network is outside the decidable class, or its first mistake is far away.

    - `unit`, `block`: the unit that is not an affine form, and the letter after which; `None` if it was not one unit.
    - `examined`: all strings up to this size are right.
    """

    reason: str
    unit: str | None
    block: str | None
    examined: int

    def __str__(self) -> str:
        return f"unknown: {self.reason}; right up to size {self.examined}"


Verdict = Proved | Refuted | Unknown


def prove(
    network: Network,
    language: str,
    measure: str | None = None,
    epsilon: Fraction | str | float = 0,
    *,
    run_on: bool = True,
) -> Verdict:
    """Decides whether a network is right about every string of a language.

    **Arguments:**

    - `language`: `an_bn`, `an_bn_cn`, `an_bn_cn_dn`, `an_bm_cn_plus_m` or `dyck_1`.
    - `measure`: `M_det` or `M_cat`; if not given, the one by which the paper scores the language.
    - `epsilon`: the margin. M_det at a margin above 0 allows a share of the steps of each string to be wrong; it is
      proved only if none is.
    - `run_on`: whether longer strings are run, too, if no proof is found; it takes longer, and may find a mistake.
    """
    strings = described(language)
    network.require_symbols(strings.symbols)
    measure = strings.measure if measure is None else measure
    check_measure(strings, measure)
    allowed = margin(epsilon)
    reader = Reader(network, strings, measure, allowed)
    kind = 0 if strings.is_brackets else strings.free
    if mistake := _first_mistake(reader, FIRST_BOUNDS[kind]):
        return Refuted(mistake)
    failure = Unknown("its values cannot be distinguished from 0", None, None, 0)
    try:
        for attempt in _attempts(network, strings):
            certificate = make_certificate(network, strings, measure, allowed, attempt.cells)
            try:
                check(certificate, network)
                return Proved(certificate)
            except Rejected as rejected:
                failure = _failure(network, strings, attempt, rejected)
    except TooManyCells as endless:
        unit = None if endless.unit is None else network.name(endless.unit)
        reason = f"values keep changing their form after {strings.symbols[endless.place]}"
        failure = Unknown(reason, unit, strings.symbols[endless.place], 0)
    if run_on and (mistake := _first_mistake(reader, LAST_BOUNDS[kind])):
        return Refuted(mistake)
    return Unknown(failure.reason, failure.unit, failure.block, reader.examined)


def margin(epsilon: Fraction | str | float) -> Fraction:
    """Returns a margin as a fraction. Floats such as 0.005 are read as the decimals they are written as.

    >>> margin("0.005"), margin(0.1), margin("1/3")
    (Fraction(1, 200), Fraction(1, 10), Fraction(1, 3))
    """
    text = str(epsilon)
    try:
        fraction = Fraction(text) if "/" in text else Fraction(str(float(text)))
    except (ValueError, ArithmeticError):
        raise UsageError(f"epsilon = {epsilon!r} is not a number. Write it like 0.005 or 1/200.") from None
    if not 0 <= fraction < 1:
        raise UsageError(f"epsilon = {epsilon} is not in [0, 1). The paper uses 0.005 and 0.")
    return fraction


@dataclass(frozen=True)
class _Attempt:
    cells: list[ProofCell]
    loose: list[Loose]


def _attempts(network: Network, strings: Described) -> Iterator[_Attempt]:
    if strings.is_brackets:
        brackets = BracketProver(network)
        yield from (_Attempt(cells, brackets.loose) for cells in brackets.proposals())
    else:
        blocks = BlockProver(network, BlockWalk(strings.free, strings.needs))
        yield _Attempt(blocks.find(), blocks.loose)


def _failure(network: Network, strings: Described, attempt: _Attempt, rejected: Rejected) -> Unknown:
    """Builds the verdict for a rejected certificate: names the first unit that is not an affine form, if any."""
    if attempt.loose:
        loose = attempt.loose[0]
        unit, block = network.name(loose.unit), strings.symbols[loose.place]
        return Unknown(f"{unit} is not an affine form after {block}", unit, block, 0)
    block = None if rejected.place is None else strings.symbols[rejected.place]
    return Unknown(rejected.reason, None, block, 0)


def make_certificate(
    network: Network, strings: Described, measure: str, epsilon: Fraction, cells: list[ProofCell]
) -> dict[str, Any]:
    """Returns cells and claim as JSON data."""
    certificate: dict[str, Any] = {
        "claim": {
            "network": digest(json.loads(network.to_json())),
            "language": strings.name,
            "definition": digest(strings.definition()),
            "measure": measure,
            "epsilon": str(epsilon),
        },
        "cells": [
            {
                "place": cell.place,
                "where": [list(row) for row in cell.rows],
                "values": {
                    str(unit): [_written(value.low), _written(value.high)] for unit, value in cell.state.items()
                },
            }
            for cell in cells
        ],
    }
    return {**certificate, "sha256": digest(certificate)}


def digest(data: Any) -> str:
    """Returns the hash of JSON data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _written(form: Form | None) -> list[str] | None:
    return None if form is None else [str(x) for x in (form[0], *form[HEAD:])]


def _first_mistake(reader: Reader, bound: Bound) -> Mistake | None:
    try:
        return reader.shortest_mistake(bound)
    except Undecided:
        return None  # numbers too close to distinguish: not a mistake that can be shown
