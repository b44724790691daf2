"""`humboldt prove`: proves or refutes that a network is right about every string of a language. See docs/proofs.md."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from humboldt.commands.options import AsRecords
from humboldt.errors import UsageError, unknown_name
from humboldt.report.words import wrapped
from humboldt.storage.output import check_output

if TYPE_CHECKING:  # imported on use: Numba takes a while to load
    from humboldt.mdl import Network


def prove(
    suite: Annotated[str, typer.Argument(help="The suite: bliss.")],
    task: Annotated[str, typer.Argument(help="The language, e.g. an_bn.")],
    network: Annotated[Path, typer.Argument(help="A network as JSON.", metavar="NETWORK.json")],
    measure: Annotated[str | None, typer.Option(help="M_det or M_cat. Default: the language's own.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="The margin, e.g. 0.005. Default: 0.")] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Where to write the certificate of a proof.", metavar="FILE")
    ] = None,
    check: Annotated[
        Path | None, typer.Option(help="Prove nothing; check this certificate.", metavar="CERTIFICATE")
    ] = None,
    as_record: AsRecords = False,
) -> None:
    """Prove or refute that a network is right about every string.

    Proved: right about all strings, in real arithmetic; the certificate has been checked. Refuted: the shortest string
    that it gets wrong. Unknown: which unit, after which letter, the method does not cover. Exit 1 if it is not proved.
    """
    if check is not None and certificate is not None:
        raise UsageError("--check and --certificate were both given: one reads a certificate, one writes it. Give one.")
    language = _language(suite, task)
    from humboldt.mdl import Network

    read = Network.load(network)
    if check is not None:
        record = _checked(read, language, measure, epsilon, check)
    else:
        record = _proved(read, language, measure, epsilon, certificate)
    record = {"suite": suite, "task": task, "network": str(network), **record}
    text = wrapped("\n".join(_in_words(record)), sys.stdout)
    print(json.dumps(record, ensure_ascii=False) if as_record else text)
    if record["verdict"] != "Proved":
        raise typer.Exit(1)


def _language(suite: str, task: str) -> str:
    """Returns the full name of a language; raises a usage error if it has no proofs."""
    from humboldt.mdl.proofs.described import DESCRIBED, described

    known = {name.split("/")[0] for name in DESCRIBED}
    if suite not in known:
        raise unknown_name("suite with proofs", suite, known)
    return described(task).name


def _proved(
    network: "Network", language: str, measure: str | None, epsilon: str | None, certificate: Path | None
) -> dict[str, Any]:
    from humboldt.mdl.proofs import Proved, prove, verdict_record, write_certificate
    from humboldt.mdl.proofs.described import described

    if certificate is not None:
        check_output(certificate, "--certificate")
    measure = described(language).measure if measure is None else measure
    epsilon = "0" if epsilon is None else epsilon
    verdict = prove(network, language, measure, epsilon)
    record = {"measure": measure, "epsilon": epsilon, **verdict_record(verdict, network)}
    if certificate is not None and isinstance(verdict, Proved):
        write_certificate(certificate, verdict.certificate)
        record["certificate"] = str(certificate)
    return record


def _checked(network: "Network", language: str, measure: str | None, epsilon: str | None, file: Path) -> dict[str, Any]:
    """Returns the record of what a certificate proves; raises if that is not the requested claim."""
    from humboldt.mdl.proofs import check, float_size, read_certificate
    from humboldt.mdl.proofs.prove import margin

    content = read_certificate(file)
    claim = check(content, network)
    requested = {"language": language, "measure": measure, "epsilon": None if epsilon is None else str(margin(epsilon))}
    for key, wanted in requested.items():
        if wanted is not None and claim[key] != wanted:
            raise UsageError(
                f"{file} is valid, but it is about {key} {claim[key]}, and {wanted} was asked for. Ask for the "
                f"former, or give another certificate."
            )
    parts = {key: claim[key] for key in ("measure", "epsilon")}
    return {**parts, "verdict": "Proved", "float_size": float_size(content, network), "certificate": str(file)}


def _in_words(record: dict[str, Any]) -> list[str]:
    """Returns a record in words, as lines."""
    about = f"{record['network']}, {record['task']}, {record['measure']} at ε = {record['epsilon']}"
    if record["verdict"] == "Proved":
        lines = [f"{about}: proved. It is right about every string, in real arithmetic."]
        lines.append(f"64-bit floats are guaranteed to agree up to size {record['float_size']:,}.")
        return lines + [f"Certificate: {record[key]}" for key in ("certificate",) if key in record]
    if record["verdict"] == "Refuted":
        says = ", ".join(f"{symbol} {chance:.3g}" for symbol, chance in record["says"].items())
        return [
            f"{about}: refuted. It is right about all shorter strings.",
            f"Wrong about: {record['string'] or 'the empty string'}",
            f"After {record['prefix']} it says {says}; what can follow: {' '.join(record['follow'])}",
        ]
    return [
        f"{about}: unknown. {record['reason'][:1].upper()}{record['reason'][1:]}.",
        f"It is right about every string up to size {record['examined']:,}.",
    ]
