"""The MDLRNN column of Table 2 at all four corpus sizes, and whether what is found is right for every n.

    PYTHONPATH=src python reproductions/bliss/mdlrnn/table_2.py --out /tmp/table_2 --processes 16 --minutes 9

Searches for five languages (Dyck-2 has no proofs), 1000, 500, 250 and 100 strings, three seeds: 60 runs of

    humboldt run bliss --preset paper --model mdlrnn --task TASK --seeds 1 --set first_seed=SEED --set factors=B
                       --set generations=G --set patience=G --set keep_proved=true

each on one core and in a folder of its own below --out. After --minutes those that run are asked to save and stop; the
same command goes on with what is missing. Writes what is finished to `table_2.json` beside this file (or --record) and
prints the table. A small try: `--task an_bn --seeds 1 --generations 100 --processes 1`. With --page it runs nothing,
and prints the record as the table of README.md.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from humboldt.core.results import State
from humboldt.report.tables import as_text
from humboldt.suites import suites
from humboldt.suites.reading import stored, tables

HERE = Path(__file__).parent
GENERATIONS = {"an_bn_cn_dn": 1500, "an_bm_cn_plus_m": 1000, "an_bn_cn": 1500, "dyck_1": 1500, "an_bn": 1500}
FACTORS = (1, 2, 4, 10)  # the largest corpus takes longest and begins first
FIRST_SEED = 100
GRACE_SECONDS = 60  # a search looks every 50 generations whether it should stop
MEASURES = ("mdl", "grammar_bits", "data_bits", "proved_mdl", "met_0", "met_0.005", "largest_n")


class Search(NamedTuple):
    """One run."""

    task: str
    factor: int
    seed: int

    @property
    def name(self) -> str:
        """Its folder."""
        return f"{self.task}_{1000 // self.factor}_seed_{self.seed}"


def command(search: Search, generations: int, out: Path) -> list[str]:
    """What is run."""
    changes = {"first_seed": search.seed, "factors": search.factor, "generations": generations, "patience": generations}
    settings = [text for key, value in changes.items() for text in ("--set", f"{key}={value}")]
    return [
        *(sys.executable, "-m", "humboldt", "run", "bliss", "--preset", "paper", "--model", "mdlrnn"),
        *("--task", search.task, "--seeds", "1", *settings, "--set", "keep_proved=true", "--no-estimate"),
        *("--out", str(out)),
    ]


def begin(search: Search, generations: int, out: Path, core: int | None) -> subprocess.Popen[bytes]:
    """Starts a run on a core, with what it says in a file."""
    (out / search.name).mkdir(parents=True, exist_ok=True)
    with (out / search.name / "said.txt").open("ab") as said:
        process = subprocess.Popen(command(search, generations, out / search.name), stdout=said, stderr=said)
    if core is not None:
        os.sched_setaffinity(process.pid, {core})
    return process


def run_all(searches: list[Search], options: argparse.Namespace) -> None:
    """Runs searches, as many at once as there are processes, until all are done or the time is over."""
    deadline = time.monotonic() + 60 * options.minutes
    cores = sorted(os.sched_getaffinity(0))[: options.processes]
    # What is compiled is kept on disk: one process compiles it, not all of them at once.
    begin(Search("an_bn", 10, 99), 1, options.out / "warm_up", None).wait()
    waiting, running = list(reversed(searches)), dict[int, tuple[Search, subprocess.Popen[bytes]]]()
    while (waiting or running) and time.monotonic() < deadline:
        for core in cores:
            if core in running and running[core][1].poll() is not None:
                search, process = running.pop(core)
                print(f"{search.name}: exit {process.returncode}", file=sys.stderr, flush=True)
            if core not in running and waiting:
                search = waiting.pop()
                generations = options.generations or GENERATIONS[search.task]
                running[core] = search, begin(search, generations, options.out, core)
        time.sleep(0.2)
    for _, process in running.values():
        process.terminate()
    for _, process in running.values():
        process.wait(GRACE_SECONDS)


def row(search: Search, result: Any, training: Any) -> dict[str, Any]:
    """One finished search as plain data."""
    return {
        "task": search.task,
        "train_size": 1000 // search.factor,
        "factor": search.factor,
        "seed": search.seed,
        "versions": dict(training.versions),
        "search": result.detail["search"],
        "measures": {name: result.measures[name] for name in MEASURES if name in result.measures},
        "proofs": result.detail["proofs"],
        "network": result.detail["network"],
        "proved_network": result.detail.get("proved_network"),
        "seconds": round(result.seconds, 1),
        "environment": result.environment,
    }


def first_wrong(task: str, proofs: dict[str, Any]) -> str:
    """The verdict at a margin of 0: infinity if proved, else the size of the first string that is wrong."""
    verdict = proofs["0"]
    if verdict["verdict"] != "Refuted":
        return "∞" if verdict["verdict"] == "Proved" else "?"
    string = verdict["string"]
    if task == "dyck_1":
        return f"wrong at {string}"
    counts = f"n = {string.count('a')}"
    return f"wrong at {counts}, m = {string.count('b')}" if task == "an_bm_cn_plus_m" else f"wrong at {counts}"


def page_rows(searches: list[dict[str, Any]]) -> list[list[str]]:
    """A row for each language and corpus size."""
    cells: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for search in searches:
        cells.setdefault((search["task"], search["train_size"]), []).append(search)
    rows = []
    for task in ("an_bn", "an_bn_cn", "an_bn_cn_dn", "an_bm_cn_plus_m", "dyck_1"):
        for factor in FACTORS:
            own = cells[task, 1000 // factor]
            shortest = min(own, key=lambda search: search["measures"]["mdl"])
            proved = [s["measures"]["proved_mdl"] for s in own if "proved_mdl" in s["measures"]]
            rows.append(
                [
                    *(task, str(1000 // factor), str(factor)),
                    f"{sum(bool(search['measures']['met_0']) for search in own)} of {len(own)}",
                    ", ".join(first_wrong(task, search["proofs"]) for search in own),
                    f"{shortest['measures']['mdl']:.1f}",
                    first_wrong(task, shortest["proofs"]),
                    f"{min(proved):.1f}" if proved else "none",
                ]
            )
    return rows


def main() -> None:
    """Runs, writes, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for results and checkpoints")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--task", action="append", choices=GENERATIONS)
    parser.add_argument("--generations", type=int, help="of all searches; default: by task")
    parser.add_argument("--record", type=Path, default=HERE / "table_2.json")
    parser.add_argument("--page", action="store_true", help="only print the record as a table")
    options = parser.parse_args()
    if options.page:
        for cells in page_rows(json.loads(options.record.read_text(encoding="utf-8"))["searches"]):
            print(f"| {' | '.join(cells)} |")
        return
    if options.out is None:
        parser.error("--out is missing: a folder for results and checkpoints.")
    searches = [
        Search(task, factor, FIRST_SEED + i)
        for i in range(options.seeds)
        for factor in FACTORS
        for task in options.task or GENERATIONS
    ]
    begun = time.monotonic()
    run_all(searches, options)
    rows, found = [], []
    for search in searches:
        folder = options.out / search.name
        own = stored(folder, "bliss") if (folder / "results.db").exists() else []
        finished = [(s.training, r) for s in own for r in s.results if r.state is State.FINISHED]
        rows += [row(search, result, training) for training, result in finished]
        found += own
    record = {
        "command": " ".join(["python", "reproductions/bliss/mdlrnn/table_2.py", *sys.argv[1:]]),
        "wall_seconds": round(time.monotonic() - begun),
        "processes": options.processes,
        "unfinished": len(searches) - len(rows),
        "searches": rows,
    }
    options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(as_text(tables(suites.get("bliss"), found)) if found else "No results yet.")
    print(f"{len(rows)} of {len(searches)} searches are finished.", file=sys.stderr)


if __name__ == "__main__":
    main()
