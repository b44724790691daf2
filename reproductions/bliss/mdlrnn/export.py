"""The networks of finished searches as JSON and SVG, with their description lengths beside those of known ones.

    python reproductions/bliss/mdlrnn/export.py RESULTS

RESULTS is the folder given to `humboldt run bliss --model mdlrnn --out RESULTS`. Writes each network as
`<task>_<strings>_<activations>_seed_<seed>` .json and .svg and all measures as `results.json` beside this file, and
prints the README's table. Known networks: those of the authors' search are in the package, ours in `hand_built`.
"""

import json
import sys
from pathlib import Path
from typing import Any

from humboldt.mdl import Network, NetworkStepper, description_length, published_networks, to_svg
from humboldt.mdl.activations import PAPER_ACTIVATIONS
from humboldt.suites import resolving, suites
from humboldt.suites.bliss.problem import NextSymbol
from humboldt.suites.bliss.scoring import Scorer
from humboldt.suites.cells import heading_of
from humboldt.suites.reading import stored
from humboldt.training.engines.search import ROWS, corpus_trie

HERE = Path(__file__).parent
PUBLISHED = {"an_bn": "an_bn_figure_4", "dyck_1": "dyck_1"}


def known_network(task: str) -> Network | None:
    """A right network for `task`: one that the authors' search found, or one that we built by hand."""
    if task in PUBLISHED:
        return published_networks()[PUBLISHED[task]]
    path = HERE / "hand_built" / f"{task}.json"
    return Network.load(path) if path.exists() else None


def main(folder: str) -> None:
    """Reads the store, writes the files, prints the table."""
    suite = suites.get("bliss")
    rows: dict[str, dict[str, Any]] = {}
    for scores in stored(Path(folder), "bliss"):
        training, parts = scores.training, resolving.resolve(suite, scores.training, scores.evaluation)
        problem = NextSymbol(parts.task, parts.protocol)
        trie, known = corpus_trie(problem), known_network(training.task)
        beside = None
        if known is not None and parts.model.activations == "paper":
            length = description_length(known, trie, PAPER_ACTIVATIONS)
            measures, _ = Scorer(problem).score(lambda longest, known=known: (NetworkStepper(known), ROWS))
            beside = {
                "mdl": length.total,
                "grammar": length.grammar,
                "data": length.data,
                "met": measures["met_0"] == 1,
            }
        for result in scores.results:
            name = f"{training.task}_{problem.sizes.train}_{parts.model.activations}_seed_{result.member['seed']}"
            search = result.detail["search"]
            if name in rows and rows[name]["search"]["generations"] > search["generations"]:
                continue  # of two searches from the same seed the longer one went through the other
            network = Network.from_json(json.dumps(result.detail["network"]))
            (HERE / f"{name}.json").write_text(network.to_json(), encoding="utf-8")
            (HERE / f"{name}.svg").write_text(to_svg(network), encoding="utf-8")
            rows[name] = {
                "name": name,
                "label": str(heading_of(suite, scores)),
                "versions": training.versions,
                "factor": training.setting["factor"],
                "member": result.member,
                "measures": result.measures,
                "search": search,
                "seconds": result.seconds,
                "known": beside,
                "environment": result.environment,
            }
    ordered = [rows[name] for name in sorted(rows)]
    (HERE / "results.json").write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    for row in ordered:
        found, known = row["measures"], row["known"]
        length = f"{found['mdl']:.1f} = {found['grammar_bits']:.0f} + {found['data_bits']:.1f}"
        beside = f"{known['mdl']:.1f} = {known['grammar']} + {known['data']:.1f}" if known else "none"
        print(
            f"| {row['name']} | {length} | {beside} | {row['search']['found_at_generation']:,} of "
            f"{row['search']['generations']:,} | {row['factor']} | {'yes' if found['met_0'] else 'no'} |"
        )


if __name__ == "__main__":
    main(sys.argv[1])
