"""Searches with the activations and corpora of Lan et al. (2022), whose networks are in the README's last table.

    python reproductions/bliss/mdlrnn/wide.py an_bn_cn --seed 11 --generations 1700

Writes `<language>_100_wide_seed_<seed>.json` and `.svg` beside this file, and prints how the search went.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from humboldt.mdl import WIDE_ACTIVATIONS, Trie, build_trie, to_svg
from humboldt.mdl.search import Islands, SearchSettings, start

LETTERS = {"an_bn": "ab", "an_bn_cn": "abc", "an_bn_cn_dn": "abcd"}


def corpus(letters: str) -> Trie:
    """100 strings whose counts n are drawn as in the authors' searches of 2022."""
    counts = np.random.RandomState(100).geometric(0.3, 100)
    strings = [[symbol + 1 for symbol in range(len(letters)) for _ in range(n)] for n in counts]
    return build_trie(strings, len(letters) + 1)


def main() -> None:
    """One search."""
    parser = argparse.ArgumentParser()
    parser.add_argument("language", choices=LETTERS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generations", type=int, default=10_000)
    options = parser.parse_args()
    letters = LETTERS[options.language]
    trie, settings = corpus(letters), SearchSettings(activations=WIDE_ACTIVATIONS)
    state = start(trie, settings, options.seed)
    best = np.inf
    with Islands(trie, settings) as islands:
        while state.generation[0] < options.generations:
            islands.advance(state, min(50, options.generations - int(state.generation[0])))
            if state.progress().mdl < best:
                best = state.progress().mdl
                print(f"{time.process_time():.0f} CPU s: {state.progress()}", flush=True)
    network = state.best_network(("#", *letters))
    path = Path(__file__).parent / f"{options.language}_100_wide_seed_{options.seed}"
    path.with_suffix(".json").write_text(network.to_json(), encoding="utf-8")
    path.with_suffix(".svg").write_text(to_svg(network), encoding="utf-8")


if __name__ == "__main__":
    main()
