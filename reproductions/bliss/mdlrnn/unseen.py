"""Ten new searches, and whether what they find is right about every string.

    nice -n 15 python reproductions/bliss/mdlrnn/unseen.py

Five searches each for a^n b^n and a^n b^n c^n (100 strings, corpus seed 100, activations of the paper) from seeds that
no other search here had. Writes the networks and certificates to `unseen/`, beside them `searches.json` and
`verdicts.json`; the latter also says what the network does in 64-bit floats. A search that is in `searches.json` is not
run again.
"""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from humboldt.languages.bliss import get
from humboldt.mdl import Network, PlainStepper, build_trie
from humboldt.mdl.proofs import Proved, Refuted, prove, write_certificate
from humboldt.mdl.search import Islands, SearchSettings, start

HERE = Path(__file__).parent / "unseen"
GENERATIONS = {"an_bn": 1500, "an_bn_cn": 2500}
SEEDS = range(200, 205)
FLOAT_SIZE = 1000  # strings up to this n are also read in floats


def search(task: str, seed: int) -> tuple[Network, dict[str, Any]]:
    """The best network of one search."""
    language, settings = get(task), SearchSettings(population_size=1000)  # as `mdlrnn`
    symbols = language.input_alphabet.symbols
    strings = [language.input_alphabet.encode(string).tolist() for string in language.corpus(100, seed=100).strings]
    trie = build_trie(strings, len(symbols))
    state = start(trie, settings, seed)
    begun = time.process_time()
    with Islands(trie, settings) as islands:
        while state.generation[0] < GENERATIONS[task]:
            islands.advance(state, 50)
    progress = {
        "generations": GENERATIONS[task],
        "mdl": state.progress().mdl,
        "cpu_seconds": time.process_time() - begun,
    }
    return state.best_network(symbols), progress


def first_float_mistake(network: Network, letters: int) -> int | None:
    """The first n up to `FLOAT_SIZE` at which a deterministic step is wrong in 64-bit floats."""
    stepper = PlainStepper(network)
    for n in range(1, FLOAT_SIZE + 1):
        string = [0, *(letter for letter in range(1, letters + 1) for _ in range(n))]
        _, chances = stepper.feed(string)
        deterministic, targets = chances[n + 1 :], [*string[n + 2 :], 0]
        preferred = deterministic[np.arange(len(targets)), targets]
        if ((deterministic >= preferred[:, None]).sum(1) > 1).any():  # the target itself is one
            return n
    return None


def verdict_of(name: str, task: str, network: Network) -> dict[str, Any]:
    """What can be said of one network; writes the certificate if there is one."""
    begun = time.process_time()
    verdict = prove(network, task)
    row = {"verdict": type(verdict).__name__, "says": str(verdict), "prove_cpu_seconds": time.process_time() - begun}
    if isinstance(verdict, Proved):
        write_certificate(HERE / f"{name}.certificate.json", verdict.certificate)
    elif isinstance(verdict, Refuted):
        row["first_wrong_n"] = verdict.mistake.string.count("a")
    return row | {"first_float_mistake_n": first_float_mistake(network, len(network.symbols) - 1)}


def main() -> None:
    """Searches, proves, writes."""
    HERE.mkdir(exist_ok=True)
    record = HERE / "searches.json"
    searches = json.loads(record.read_text()) if record.exists() else {}
    for task, seed in [(task, seed) for task in GENERATIONS for seed in SEEDS]:
        name = f"{task}_100_paper_seed_{seed}"
        if name not in searches:
            network, progress = search(task, seed)
            (HERE / f"{name}.json").write_text(network.to_json(), encoding="utf-8")
            searches[name] = {"task": task, "seed": seed, **progress}
            record.write_text(json.dumps(searches, indent=1) + "\n", encoding="utf-8")
    verdicts = {
        name: verdict_of(name, row["task"], Network.load(HERE / f"{name}.json")) for name, row in searches.items()
    }
    (HERE / "verdicts.json").write_text(json.dumps(verdicts, indent=1) + "\n", encoding="utf-8")
    for name, row in verdicts.items():
        print(f"{name}: {searches[name]['mdl']:.1f} bits; {row['says']}")


if __name__ == "__main__":
    main()
