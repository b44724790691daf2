"""How long data of PCFG SET take: a corpus, the data of each test, and the meanings of expressions.

    python benchmarks/pcfg_set_data.py --size 100000

The baseline draws trees with new probabilities for each by plain recursion, keeps those whose length and depth the
histogram still wants, and interprets them one by one: the authors' procedure, done literally. It makes a hundredth of
the corpus; its time is given as if it made all of it. All times are seconds of CPU time on one core.
"""

import argparse
import random
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

from _record import report

from humboldt.languages.pcfg_set import (
    PCFG_SET,
    CorpusSettings,
    corpus,
    depth,
    equally_distributed,
    function_difficulty,
    interpret,
    length,
    overgeneralisation_splits,
    primitive,
    productivity_splits,
    released_histogram,
    systematicity_splits,
)
from humboldt.languages.pcfg_set.parts.naturalise import proportional


def timed(work: Callable[[], Any], repeats: int, times: int = 1) -> dict[str, float]:
    """Minimum and median in seconds of CPU time, as if the work were done so many times. All of it is one thread."""
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        seconds.append(times * (time.process_time() - begin))
    return {"min": round(min(seconds), 3), "median": round(statistics.median(seconds), 3)}


def plain_loop(count: int) -> int:
    """Literal generation. Cells that take too long to fill are given up: returns how many items were made."""
    rng = random.Random(0)
    missing = proportional(released_histogram(), count).counts
    longest, deepest = (max(sizes) for sizes in zip(*missing, strict=True))
    names = {arity: [function.name for function in PCFG_SET.of_arity(arity)] for arity in (1, 2)}
    used: set[str] = set()

    def application(unary: float, function: float, level: int) -> list[str]:
        if level > deepest:
            raise RecursionError  # as in the authors' generator, which sets a low limit: some trees have no end
        if rng.random() < unary:
            return [rng.choice(names[1]), *argument(unary, function, level)]
        return [rng.choice(names[2]), *argument(unary, function, level), ",", *argument(unary, function, level)]

    def argument(unary: float, function: float, level: int) -> list[str]:
        if rng.random() < function:
            return application(unary, function, level + 1)
        size = rng.randint(2, 5)
        while True:
            string = [rng.choice(PCFG_SET.letters) for _ in range(size)]
            if " ".join(string) not in used:
                used.add(" ".join(string))
                return string

    made = 0
    for _ in range(20 * count):
        try:
            text = " ".join(application(rng.random(), rng.random(), 1))
        except RecursionError:
            continue
        if length(text) <= longest and missing[length(text), depth(text)] > 0:
            missing[length(text), depth(text)] -= 1
            interpret(text)
            made += 1
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()

    settings = CorpusSettings(size=given.size)
    corpus(0, CorpusSettings(size=200))  # warm-up: compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    made = corpus(0, settings)
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    drawing = timed(lambda: corpus(0, settings), given.repeats)
    assert made.string_arguments  # some tests need them, and they are kept
    tests = {
        "systematicity": lambda: systematicity_splits(made),
        "productivity": lambda: productivity_splits(made),
        "equally_distributed": lambda: equally_distributed(made),
        "primitive": lambda: primitive(made),
        "overgeneralisation": lambda: overgeneralisation_splits(made),
        "function_difficulty": lambda: function_difficulty(made),
    }
    small = given.size // 100
    report(
        "pcfg_set_data",
        {
            "pairs": given.size,
            "repeats": given.repeats,
            "corpus_s": drawing,
            "corpus_peak_mb": round(memory),
            "tests_s": {name: timed(work, 3) for name, work in tests.items()},
            "interpret_s_per_10000": timed(lambda: [interpret(source) for source in made.test.sources[:1_000]], 3, 10),
            "baseline_s": timed(lambda: plain_loop(small), 3, times=100),
            "baseline_made": f"{plain_loop(small)} of {small}",
        },
    )


if __name__ == "__main__":
    main()
