"""Reads a network file; every error names the place in the file."""

import json
from typing import Any

from humboldt.errors import UsageError
from humboldt.mdl.network import Edge, Network, Unit, Weight


def read_network(text: str, where: str) -> Network:
    """Reads the network written as JSON in `text`."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also for a number of thousands of digits
        raise UsageError(f"{where}: not JSON ({error}). Give a network as JSON.") from error
    _keys(data, where, required={"symbols", "units", "forward", "recurrent"}, optional={"comment"})
    symbols = _list(data, "symbols", where)
    if not all(isinstance(symbol, str) for symbol in symbols):
        raise UsageError(f"{where}: symbols {symbols} must all be text.")
    units = tuple(_unit(record, n, f"{where}: units[{n}]") for n, record in enumerate(_list(data, "units", where)))
    edges = [
        _edge(record, kind == "recurrent", f"{where}: {kind}[{n}]")
        for kind in ("forward", "recurrent")
        for n, record in enumerate(_list(data, kind, where))
    ]
    try:
        return Network(tuple(symbols), units, tuple(edges))
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def _unit(record: Any, number: int, where: str) -> Unit:
    _keys(record, where, required={"activation"}, optional={"unit", "name", "type", "bias"})
    if record.get("unit", number) != number:
        raise UsageError(
            f"{where}: is numbered {record['unit']!r}, but is at place {number}. "
            "List the units in order and leave none out."
        )
    bias = record.get("bias")
    return Unit(record["activation"], record.get("type", "sum"), None if bias is None else _weight(bias, where))


def _edge(record: Any, recurrent: bool, where: str) -> Edge:
    _keys(record, where, required={"from", "to", "weight"}, optional=set())
    for key in ("from", "to"):
        if isinstance(record[key], bool) or not isinstance(record[key], int):
            raise UsageError(f"{where}: `{key}` is {record[key]!r}. It must be the number of a unit.")
    return Edge(record["from"], record["to"], _weight(record["weight"], where), recurrent)


def _weight(text: Any, where: str) -> Weight:
    try:
        return Weight.parse(text)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def _keys(record: Any, where: str, *, required: set[str], optional: set[str]) -> None:
    if not isinstance(record, dict):
        raise UsageError(f"{where}: expected an object with {', '.join(sorted(required))}, found {record!r}.")
    if missing := required - record.keys():
        raise UsageError(f"{where}: `{min(missing)}` is missing. Needed: {', '.join(sorted(required))}.")
    if extra := record.keys() - required - optional:
        raise UsageError(
            f"{where}: `{min(extra)}` is not a known key. Known: {', '.join(sorted(required | optional))}."
        )


def _list(data: dict[str, Any], key: str, where: str) -> list[Any]:
    if not isinstance(data[key], list):
        raise UsageError(f"{where}: `{key}` must be a list, found {data[key]!r}.")
    return data[key]
