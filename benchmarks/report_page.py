"""How long the page of a large study takes, and how large it is.

python benchmarks/report_page.py [--members 20000]

The study is made up: every task of the Chomsky suite with three networks, the members of each in several settings of
which each is a cell of its own, with scores drawn at random and a curve each, as real members have. Prints one JSON
record. Processor time is told beside wall time: other work may be running.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from _record import report

from humboldt.commands.report import write_report
from humboldt.core.results import ScoredMember, State, TrainedMember
from humboldt.storage.store import Store
from humboldt.suites import catalogue, plans, suites
from humboldt.suites.reading import upgrade

MODELS, EACH = ("rnn", "stack_rnn", "lstm"), 30
LENGTHS = list(range(41, 501, 10))


def fill(folder: Path, members: int) -> int:
    """A study with about so many members; how many there are."""
    suite, store, rng = suites.get("chomsky"), Store(folder, upgrade), np.random.default_rng(0)
    headings = -(-members // (EACH * len(MODELS) * len(suite.printed_tasks)))
    environment = {"device": "cpu: made up", "humboldt": "0", "python": "3"}
    total = 0
    for number in range(headings):
        changes = {"steps": 1000 + number, "seeds": 10}
        for task in suite.printed_tasks:
            for model in MODELS:
                (resolved,) = plans.trainings(suite, task, model, catalogue.preset(suite, "paper"), changes)
                (evaluation,) = suite.evaluations(resolved.protocol, task)
                rates = resolved.protocol.learning_rates
                own = [{"seed": seed, "learning_rate": rate} for rate in rates for seed in range(10)]
                trained = [TrainedMember(member, State.FINISHED, 1.0, {}, environment) for member in own]
                scored = []
                for member in own:
                    curve = np.clip(rng.normal(rng.random(), 0.1, len(LENGTHS)), 0, 1).round(4).tolist()
                    detail = {"accuracy_per_length": {"lengths": LENGTHS, "accuracy": curve}}
                    measures = {"score": float(np.mean(curve))}
                    scored.append(ScoredMember(member, State.FINISHED, measures, 1.0, detail))
                store.add(resolved.training, trained, [(evaluation, scored)], format=suite.format)
                total += len(own)
    return total


def main() -> None:
    """Makes the study, then the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=20_000)
    wanted = parser.parse_args().members
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        total = fill(folder, wanted)
        begin, processor = time.monotonic(), time.process_time()
        path = write_report(folder)
        seconds, of_processor = time.monotonic() - begin, time.process_time() - processor
        report(
            "report_page",
            {
                "members": total,
                "wall_seconds": round(seconds, 1),
                "processor_seconds": round(of_processor, 1),
                "page_megabytes": round(path.stat().st_size / 1e6, 2),
            },
        )


if __name__ == "__main__":
    main()
