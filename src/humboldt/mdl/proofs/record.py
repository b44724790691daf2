"""A verdict as plain data: what `humboldt prove --json` prints and what is stored with a result."""

from typing import Any

from humboldt.mdl.proofs.floating import float_size
from humboldt.mdl.proofs.network import Network
from humboldt.mdl.proofs.prove import Proved, Refuted, Verdict


def verdict_record(verdict: Verdict, network: Network) -> dict[str, Any]:
    """What a verdict says, but for the certificate, which is a file of its own.

    `float_size` is the size up to which 64-bit floats are guaranteed to agree with a proof.
    """
    name = {"verdict": type(verdict).__name__}
    if isinstance(verdict, Proved):
        return name | {"float_size": float_size(verdict.certificate, network)}
    if isinstance(verdict, Refuted):
        found = verdict.mistake
        return name | {
            "string": found.string,
            "prefix": found.prefix,
            "says": found.says,
            "follow": list(found.follow),
        }
    return name | {
        "reason": verdict.reason,
        "unit": verdict.unit,
        "block": verdict.block,
        "examined": verdict.examined,
    }
