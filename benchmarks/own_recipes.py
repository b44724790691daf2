"""Does the shared recipe of the bench cost a family anything? Two tasks under it, and under the family's own paper's.

    python benchmarks/own_recipes.py --out results > benchmarks/records/own_recipes.json

The recipe of the bench: the references that ship, found by identity. That of the paper (Delétang et al. 2023, for these
families): its optimiser, warm-up, clipping and learning rates, at the same sizes, batches and steps as in the bench. Of
several rates one is chosen as in the bench: by the last two seeds, which are not reported. Trains what is missing in
`--out`, and prints one JSON record with mean scores in percent.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from _record import report

import humboldt
from humboldt.running.bench import full_preset
from humboldt.running.budgets import size_for
from humboldt.suites import benched, catalogue, suites
from humboldt.suites.answers import SELECTION_SEEDS, TaskAnswer
from humboldt.suites.bench import BUDGETS

SUITE, TASKS = "chomsky", ("parity_check", "reverse_string")
FAMILIES = ("rnn", "lstm", "stack_rnn", "transformer")
RECIPE = ("optimiser", "gradient_clip", "warm_up", "learning_rates")
LOSS = 10.0  # points, above which a loss is marked


def main() -> None:
    """Trains the families under their paper's recipe, and prints the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="The folder of the results.")
    parser.add_argument("--preset", default="quick", help="The bench preset: quick or standard.")
    parser.add_argument("--seeds", type=int, default=5, help="Reported seeds; two more choose the learning rate.")
    parser.add_argument("--family", action="append", help="A family; may be repeated. Default: all four.")
    parser.add_argument("--set", action="append", default=[], help="A setting of the bench preset, to try the script.")
    arguments = parser.parse_args()
    preset = full_preset(arguments.preset)
    suite: Any = suites.get(SUITE)
    papers = suite.protocol()  # whose defaults are the paper's
    recipe = {name: getattr(papers, name) for name in RECIPE}
    changes = {**recipe, **dict(one.split("=", 1) for one in arguments.set)}
    rows = []
    for family in arguments.family or FAMILIES:
        model = f"{benched.FAMILY}{family}"
        study = humboldt.run(
            SUITE,
            tasks=TASKS,
            models=[model],
            preset=preset,
            seeds=arguments.seeds + SELECTION_SEEDS,
            settings={**changes, **size_for(model, BUDGETS[preset])},
            out=arguments.out,
        )
        own = _by_task(suite.presentation.answers(study.scores()))
        references = benched.answers_of(benched.reference_scores(), preset, models=[model], suite_names=[SUITE])
        shared = _by_task(references[0].tasks) if references else {}
        for task in TASKS:
            rows.append({"family": family, "task": task} | _compared(shared.get(task), own[task]))
    about = {name: getattr(papers, name) for name in RECIPE}
    of_bench = {name: catalogue.preset(suite, preset).changes.get(name, about[name]) for name in RECIPE}
    report("own_recipes", {"preset": preset, "bench": of_bench, "paper": about, "rows": rows})


def _by_task(answers: Any) -> dict[str, TaskAnswer]:
    return {answer.task: answer for answer in answers}


def _compared(shared: TaskAnswer | None, own: TaskAnswer) -> dict[str, Any]:
    """Returns both means, the learning rates, and whether the shared recipe loses more than `LOSS` points."""
    mine = round(100 * float(np.mean(own.values)), 1)
    found: dict[str, Any] = {"paper": mine, "paper_rate": own.learning_rate, "paper_members": len(own.values)}
    if shared is None:
        return {"bench": None, "bench_rate": None, "bench_members": 0, **found, "is_loss": None}
    theirs = round(100 * float(np.mean(shared.values)), 1)
    about = {"bench": theirs, "bench_rate": shared.learning_rate, "bench_members": len(shared.values)}
    return {**about, **found, "is_loss": mine - theirs > LOSS}


if __name__ == "__main__":
    main()
