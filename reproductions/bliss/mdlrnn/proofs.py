"""A verdict for every network of this folder, with a certificate for each one that is proved.

    python reproductions/bliss/mdlrnn/proofs.py

Writes `proofs/<network>.<measure>_<epsilon>.json` (certificates) and `proofs/verdicts.json`: for each network, measure
and margin the verdict, the first string that is wrong and what is said there, and the size up to which 64-bit floats
are guaranteed to agree. Dyck-2 needs a stack and has no proofs.
"""

import json
import time
from pathlib import Path
from typing import Any

from humboldt.mdl.proofs import Proved, prove, verdict_record, write_certificate
from humboldt.mdl.proofs.network import Network, published_networks

HERE = Path(__file__).parent
TASKS = ("an_bm_cn_plus_m", "an_bn_cn_dn", "an_bn_cn", "an_bn", "dyck_1")  # the longer name first
CLAIMS = (("M_det", "0"), ("M_cat", "0"), ("M_cat", "0.005"))


def networks() -> dict[str, Network]:
    """All networks of this folder, those built by hand, and the published ones."""
    paths = [*HERE.glob("*_seed_*.json"), *HERE.glob("hand_built/*.json")]
    found = {str(path.relative_to(HERE).with_suffix("")): Network.load(path) for path in sorted(paths)}
    found |= {f"published/{name}": network for name, network in published_networks().items()}
    return {name: network for name, network in found.items() if "dyck_2" not in name}


def verdict_row(name: str, network: Network, measure: str, epsilon: str) -> dict[str, Any]:
    """What is known of one network; writes the certificate if there is one."""
    task = next(task for task in TASKS if name.split("/")[-1].startswith(task))
    begun = time.process_time()
    verdict = prove(network, task, measure, epsilon)
    row: dict[str, Any] = {"network": name, "task": task, "measure": measure, "epsilon": epsilon}
    row["cpu_seconds"] = round(time.process_time() - begun, 2)
    if isinstance(verdict, Proved):
        row["certificate"] = f"{name.replace('/', '_')}.{measure}_{epsilon}.json"
        write_certificate(HERE / "proofs" / row["certificate"], verdict.certificate)
    return row | verdict_record(verdict, network)


def main() -> None:
    """Proves, writes, prints."""
    (HERE / "proofs").mkdir(exist_ok=True)
    rows = []
    for name, network in networks().items():
        for measure, epsilon in CLAIMS:
            if measure == "M_cat" or "dyck_1" not in name:
                rows.append(verdict_row(name, network, measure, epsilon))
                print(*list(rows[-1].values())[:6], flush=True)
    (HERE / "proofs" / "verdicts.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
