"""A verdict as plain data, which `humboldt prove --json` prints and which is stored with a result."""

from typing import Any

from humboldt.mdl.proofs.floating import float_size
from humboldt.mdl.proofs.network import Network
from humboldt.mdl.proofs.prove import Proved, Refuted, Verdict


def verdict_record(verdict: Verdict, network: Network) -> dict[str, Any]:
    """Returns a verdict as JSON data, except for the certificate, which is a separate file.

    `float_size` is the size up to which 64-bit floats are guaranteed to agree with a proof.
    """
    name = {"verdict": type(verdict).__name__}
    if isinstance(verdict, Proved):
        return name | {"float_size": float_size(verdict.certificate, network)}
    if isinstance(verdict, Refuted):
        mistake = verdict.mistake
        return name | {
            "string": mistake.string,
            "prefix": mistake.prefix,
            "says": mistake.says,
            "follow": list(mistake.follow),
        }
    return name | {
        "reason": verdict.reason,
        "unit": verdict.unit,
        "block": verdict.block,
        "examined": verdict.examined,
    }
