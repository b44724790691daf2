"""Holds verdicts on random changes of right networks to simulation in exact fractions, string by string.

    cd tests && nice -n 15 python -m mdl.proofs.examination

examines thousands of them and writes `reproductions/bliss/mdlrnn/mutants.json`; any disagreement is an error.
"""

import json
import time
from fractions import Fraction
from typing import Any

import numpy as np

from humboldt.languages.bliss import Measure, get
from humboldt.mdl.proofs import Proved, Refuted, Unknown, prove
from humboldt.mdl.proofs.described import described
from humboldt.mdl.proofs.geometry.reals import Undecided
from humboldt.mdl.proofs.refute import Bound, Reader

from .mutants import FOLDER, RIGHT, load, mutant

COUNT, SEED = 800, 11  # of each language
SIZES = {"an_bn": 300, "an_bn_cn": 60, "an_bn_cn_dn": 60, "an_bm_cn_plus_m": 40, "dyck_1": 16}  # all strings
SAMPLES = {  # single strings beyond, by the lengths of their free blocks
    "an_bn_cn": [(75,), (100,), (150,), (211,), (300,)],
    "an_bn_cn_dn": [(75,), (100,), (150,), (211,), (300,)],
    "an_bm_cn_plus_m": [(1, 119), (119, 1), (60, 60), (40, 5), (5, 60), (30, 80)],
}
QUICK_SIZES = {"an_bn": 40, "an_bn_cn": 20, "an_bn_cn_dn": 15, "an_bm_cn_plus_m": 16, "dyck_1": 16}


def examine(
    language: str, count: int, seed: int, sizes: dict[str, int], samples: list[tuple[int, ...]]
) -> dict[str, int]:
    """Counts mutants: wrong or right as far as simulated, undecided there; and of the right ones those unknown.

    Where simulation finds a mistake, the verdict must be that mistake, or, beyond the sizes, at least no proof.
    """
    rng = np.random.default_rng(seed)
    counts = {"mutants": count, "wrong": 0, "undecided": 0, "right": 0, "unknown": 0}
    for index in range(count):
        network = mutant(load(RIGHT[language][index % len(RIGHT[language])]), rng)
        measure = Measure.CATEGORICAL.value if language == "dyck_1" or index % 3 == 0 else Measure.DETERMINISTIC.value
        epsilon = ("0", "0.005")[index % 2]
        verdict = prove(network, language, measure, epsilon)
        reader = Reader(network, described(language), measure, Fraction(epsilon))
        try:
            mistake = reader.shortest_mistake(Bound(sizes[language], 10**9))
            if mistake is not None:  # then it is the verdict too, down to the string and what is said there
                assert isinstance(verdict, Refuted), network.to_json()
                assert verdict.mistake == mistake, network.to_json()
                counts["wrong"] += 1
                continue
            assert not isinstance(verdict, Refuted) or get(language).size(verdict.mistake.string) > sizes[language]
            if any(reader.read(free) for free in samples):
                assert not isinstance(verdict, Proved), network.to_json()
                counts["wrong"] += 1
                continue
        except Undecided:  # numbers too close to tell apart, or too long
            counts["undecided"] += 1
            continue
        counts["right"] += 1
        counts["unknown"] += isinstance(verdict, Unknown)
    return counts


def main() -> None:
    """Examines all languages and writes the record."""
    record: dict[str, Any] = {
        "command": "cd tests && nice -n 15 python -m mdl.proofs.examination",
        "seed": SEED,
        "sizes": SIZES,
        "samples": SAMPLES,
        "counts": {},
        "cpu_seconds": {},
    }
    for language in RIGHT:
        begun = time.process_time()
        record["counts"][language] = examine(language, COUNT, SEED, SIZES, SAMPLES.get(language, []))
        record["cpu_seconds"][language] = round(time.process_time() - begun)
        print(language, record["counts"][language], record["cpu_seconds"][language], flush=True)
    (FOLDER / "mutants.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
