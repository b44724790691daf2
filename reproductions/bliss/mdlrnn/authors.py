"""The networks that the authors released, measured as ours are: description length, and whether the criterion is met.

    git clone https://github.com/0xnurl/mdlrnn-torch
    git clone https://github.com/taucompling/mdlrnn
    python authors.py --reference mdlrnn-torch --statistics mdlrnn > authors.json

The released files are PyTorch modules. PyTorch is not needed: only their tensors are read, and no code in them is run.
Weights are stored as floats there; the nearest fraction with a denominator of at most 100 is taken.
Their a^n b^n c^n network has a sigmoid, which the paper of 2023 does not allow: its length is left out, and whether it
is right about every string is decided as of the others.

The second checkout is that of their search. It holds the statistics of the searches of 2022, which are copied as they
are: description lengths and the accuracy on deterministic steps of their test set.
"""

import argparse
import collections
import io
import json
import pickle
import subprocess
import sys
import time
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from humboldt.languages.bliss import get
from humboldt.mdl import Edge, Network, NetworkStepper, Unit, Weight, description_length
from humboldt.mdl.activations import PAPER_ACTIVATIONS
from humboldt.mdl.proofs import prove, verdict_record
from humboldt.suites.bliss.problem import NextSymbol
from humboldt.suites.bliss.protocol import Induction
from humboldt.suites.bliss.scoring import Scorer
from humboldt.training.engines.search import ROWS, corpus_trie

FILES = {"an_bn": "an_bn", "an_bm_cn_plus_m": "an_bm_c_n_plus_m", "dyck_1": "dyck1"}
PROVED_FILES = {**FILES, "an_bn_cn": "an_bn_cn"}
ACTIVATIONS = ("linear", "relu", "sigmoid", "tanh", "square")  # as the released module numbers them
SEARCHES_OF_2022 = {
    "an_bn": "a1n_b1n_c0n_d0n__p_0.3__batch_100",
    "an_bn_cn": "a1n_b1n_c1n_d0n__p_0.3__batch_100",
    "an_bn_cn_dn": "a1n_b1n_c1n_d1n__p_0.3__batch_100",
    "dyck_1": "dyck_1__batch_100__p_0.3",
}
STORAGES = {"FloatStorage": np.float32, "DoubleStorage": np.float64}


def tensor(storage: np.ndarray, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any) -> np.ndarray:
    """The part of a storage that is one tensor."""
    return np.lib.stride_tricks.as_strided(storage[offset:], size, [step * storage.itemsize for step in stride]).copy()


class Module:
    """Stands for any class of PyTorch: what was stored in it, and nothing it can do."""


class Reader(pickle.Unpickler):
    """Reads a saved module as plain data. A name that is not a tensor's becomes an empty class."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.root = archive.namelist()[0].split("/")[0]
        super().__init__(io.BytesIO(archive.read(f"{self.root}/data.pkl")))

    def find_class(self, module: str, name: str) -> Any:
        """Only what tensors are made of."""
        known = {
            "_rebuild_tensor_v2": tensor,
            "_rebuild_parameter": lambda data, *_: data,
            "OrderedDict": collections.OrderedDict,
            "set": set,
        }
        return known.get(name) or type(name, (Module,), {"__module__": module})

    def persistent_load(self, pid: Any) -> np.ndarray:
        """The numbers of one tensor."""
        return np.frombuffer(self.archive.read(f"{self.root}/data/{pid[2]}"), STORAGES[pid[1].__name__])


def as_weight(value: float) -> Weight | None:
    """The fraction that is meant; none for 0."""
    fraction = Fraction(float(value)).limit_denominator(100)
    if abs(float(fraction) - value) > 1e-6:
        raise ValueError(f"{value} is not a fraction with a denominator of at most 100.")
    return Weight(1 if fraction > 0 else -1, abs(fraction.numerator), fraction.denominator) if fraction else None


def weighted(linear: Any) -> np.ndarray:
    """The matrix of a linear layer, targets x sources."""
    return linear._parameters["weight"]


def network(path: Path, symbols: tuple[str, ...]) -> Network:
    """A released module as a network."""
    with zipfile.ZipFile(path) as archive:
        module: Any = Reader(archive).load()
    units: dict[int, dict[int, int]] = {}  # of each layer, and each place in it: the unit's number
    layers = sorted(module._layer_to_activation_to_units)
    number = 2 * len(symbols)
    for layer in layers:
        places = sorted(place for p in module._layer_to_activation_to_units[layer].values() for place in p)
        if layer in (layers[0], layers[-1]):
            first = 0 if layer == layers[0] else len(symbols)
            units[layer] = {place: first + place for place in places}
        else:
            units[layer] = {place: number + i for i, place in enumerate(places)}
            number += len(places)
    activations = {
        units[layer][place]: ACTIVATIONS[which]
        for layer, by_activation in module._layer_to_activation_to_units.items()
        for which, places in by_activation.items()
        for place in places
    }
    biases: dict[int, float] = collections.defaultdict(float)
    edges = []
    for layer, targets in module._computation_graph.items():
        for target_layer, linear in targets:
            for place, bias in enumerate(linear._parameters["bias"]):
                biases[units[target_layer][place]] += float(bias)
            edges += [(units[layer], units[target_layer], weighted(linear), False)]
    for target_layer, reading in module._memory_to_layer_weights.items():
        for layer, writing in module.layer_to_memory_weights.items():  # through cells that only carry a value over
            edges += [(units[layer], units[target_layer], weighted(reading) @ weighted(writing), True)]
    return Network(
        symbols,
        tuple(Unit(activation=activations[unit], bias=as_weight(biases[unit])) for unit in range(number)),
        tuple(
            Edge(sources[column], targets[row], weight, recurrent)
            for sources, targets, matrix, recurrent in edges
            for (row, column), value in np.ndenumerate(matrix)
            if (weight := as_weight(value)) is not None
        ),
    )


def verdicts(folder: Path) -> list[dict[str, Any]]:
    """Whether each released network is right about every string, by its language's measure at ε = 0."""
    rows = []
    for task, file in PROVED_FILES.items():
        released = network(folder / "models" / f"{file}.pt", get(task).input_alphabet.symbols)
        begun = time.process_time()
        verdict = prove(released, task)
        row: dict[str, Any] = {"task": task, "measure": get(task).measure.value, "epsilon": "0"}
        row["cpu_seconds"] = round(time.process_time() - begun, 2)
        rows.append(row | verdict_record(verdict, released))
    return rows


def searches(folder: Path) -> list[dict[str, Any]]:
    """What the authors wrote down of their searches of 2022, 100 strings each."""
    statistics = json.loads((folder / "stats" / "tacl_stats.json").read_text())
    names = {"mdl": "MDL", "grammar_bits": "|G|", "data_bits": "|D:G|", "accuracy": "Test deterministic accuracy"}
    return [
        {"task": task} | {ours: search[theirs] and float(search[theirs]) for ours, theirs in names.items()}
        for task, corpus in SEARCHES_OF_2022.items()
        for search in statistics[corpus]["mdl"]
    ]


def commit(folder: Path) -> str:
    """Which version of a checkout this is."""
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Prints one JSON record: every network at every training size, and the searches."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", type=Path, required=True, help="a checkout of 0xnurl/mdlrnn-torch")
    parser.add_argument("--statistics", type=Path, required=True, help="a checkout of taucompling/mdlrnn")
    options = parser.parse_args()
    folder = options.reference
    rows = []
    for task, file in FILES.items():
        language = get(task)
        released = network(folder / "models" / f"{file}.pt", language.input_alphabet.symbols)
        for factor in (1, 2, 4, 10):
            problem = NextSymbol(language, Induction(factors=(factor,)))
            trie = corpus_trie(problem)
            lengths = description_length(released, trie, PAPER_ACTIVATIONS)
            measures, _ = Scorer(problem).score(lambda longest, released=released: (NetworkStepper(released), ROWS))
            rows.append(
                {
                    "task": task,
                    "train_size": problem.sizes.train,
                    "factor": factor,
                    "mdl": lengths.total if np.isfinite(lengths.total) else None,
                    "grammar_bits": lengths.grammar,
                    "data_bits": lengths.data if np.isfinite(lengths.data) else None,
                    "met_0": measures["met_0"] == 1,
                    "largest_n": measures["largest_n"],
                }
            )
            print(rows[-1], file=sys.stderr, flush=True)
    record = {
        "command": "python authors.py --reference mdlrnn-torch --statistics mdlrnn",
        "released": {
            "0xnurl/mdlrnn-torch": commit(folder),
            "taucompling/mdlrnn": commit(options.statistics),
        },
        "networks": rows,
        "verdicts": verdicts(folder),
        "searches_of_2022": searches(options.statistics),
    }
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
