"""Runs inside the environment of lm-evaluation-harness: its scores beside ours, on the same strings, as JSON.

`python benchmarks/lm_eval_agreement.py FOLDER`, with Humboldt on the path.
"""

# pyright: reportMissingImports=false
import json
import sys
from pathlib import Path
from typing import Any

import lm_eval
import numpy as np
import torch
from lm_eval.api.model import LM
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

import humboldt
from humboldt.languages import Alphabet, tasks
from humboldt.outside.language_models import causal_lm
from humboldt.outside.lm_eval import export_lm_eval
from humboldt.storage import files

TASK = "np_n_vp_n"
SYNTAX = {"terminals": 2, "train": 300, "validation": 4, "test": 60, "long": 40}
PCFG: dict[str, Any] = {"size": 1200, "letters": 60, "deepest": 2, "naturalised": False}
CHOMSKY = {"test_lengths": (41, 43), "strings_per_length": 6}


def run(model: LM, names: list[str], folder: Path) -> dict[str, Any]:
    return lm_eval.simple_evaluate(
        model=model,
        tasks=names,
        task_manager=TaskManager(include_path=str(folder)),
        log_samples=True,
        bootstrap_iters=0,
        verbosity="ERROR",
    )


def syntax(folder: Path) -> dict[str, list[float]]:
    """A tiny random GPT-2 whose tokens are the symbols, by the harness and by us."""
    options: Any = {"settings": SYNTAX, "tasks": [TASK]}
    names = [one.name for one in export_lm_eval("syntax", folder, count=None, shots=0, end=" #", **options)]
    symbols = humboldt.symbols("syntax", TASK, settings=SYNTAX).next_symbols
    assert symbols is not None
    ids = {symbol: i for i, symbol in enumerate(symbols)}
    words = Tokenizer(models.WordLevel(ids, unk_token="#"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, bos_token="#", eos_token="#", pad_token="#", unk_token="#"
    )
    torch.manual_seed(0)
    sizes = {"n_positions": 128, "n_embd": 32, "n_layer": 2, "n_head": 2, "initializer_range": 0.3}
    network = GPT2LMHeadModel(GPT2Config(vocab_size=len(symbols), bos_token_id=0, eos_token_id=0, **sizes)).eval()
    harness = run(HFLM(pretrained=network, tokenizer=tokenizer, device="cpu", batch_size=8), names, folder)
    model = causal_lm(network, ids, symbols)
    ours = humboldt.score("syntax", model, tasks=TASK, settings=SYNTAX).measures()
    found = {
        name: [harness["results"][name]["acc,none"], ours["in_dist" if name.endswith("_in") else "out_of_dist"]]
        for name in names
    }
    samples = [one for name in names for one in harness["samples"][name]]
    for place, kind in enumerate(("grammatical", "ungrammatical")):  # not the share alone: every string
        strings = [one["doc"][kind].split()[:-1] for one in samples]
        theirs = np.array([float(one["filtered_resps"][place][0]) for one in samples])
        apart = float(np.abs(theirs - model.log_probabilities(strings, Alphabet(symbols))).max())
        found[f"largest difference of log-probabilities, {kind}"] = [round(apart, 3), 0.0]
    return found


class Half(LM):
    """Right about every second prompt."""

    def __init__(self, oracle: Any) -> None:
        super().__init__()
        self.oracle = oracle

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        said = []
        for number, request in enumerate(requests):
            source = request.args[0].rsplit("Input: ", 1)[1].removesuffix("\nOutput:")
            said.append(f" {self.oracle(source)}" if number % 2 else " wrong")
        return said

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        raise NotImplementedError


def generated(results: dict[str, Any], name: str) -> list[dict[str, str]]:
    """What the harness took down: inputs and what was said."""
    samples = results["samples"][name]
    return [{"input": one["doc"]["input"], "prediction": one["filtered_resps"][0].strip()} for one in samples]


def pcfg_set(folder: Path) -> dict[str, list[float]]:
    from humboldt.languages.pcfg_set import interpret

    options: Any = {"settings": PCFG, "tasks": ["task_accuracy"]}
    (one,) = export_lm_eval("pcfg_set", folder, count=30, shots=3, **options)
    harness = run(Half(interpret), [one.name], folder)
    samples = folder / "samples.jsonl"
    files.write(samples, generated(harness, one.name))
    ours = humboldt.score("pcfg_set", samples, tasks="task_accuracy").measures()["sequence_accuracy"]
    return {one.name: [harness["results"][one.name]["exact_match,stripped"], ours]}


def chomsky(folder: Path) -> dict[str, list[float]]:
    options: Any = {"settings": CHOMSKY, "tasks": ["reverse_string"]}
    (one,) = export_lm_eval("chomsky", folder, count=None, shots=3, **options)
    task: Any = tasks.get("chomsky/reverse_string")()
    harness = run(Half(lambda source: " ".join(task.oracle(source.split()))), [one.name], folder)
    said = {row["input"]: row["prediction"] for row in generated(harness, one.name)}
    whole: list[bool] = []

    def predict(inputs: list[list[str]]) -> list[str]:
        answers = [said[" ".join(symbols)] for symbols in inputs]
        whole.extend(task.oracle(x) == answer.split() for x, answer in zip(inputs, answers, strict=True))
        return ["a" if answer == "wrong" else answer for answer in answers]

    humboldt.score("chomsky", predict, tasks="reverse_string", settings=CHOMSKY)  # exactly the same strings
    return {one.name: [harness["results"][one.name]["exact_match,stripped"], sum(whole) / len(whole)]}


if __name__ == "__main__":
    out = Path(sys.argv[1])
    found: dict[str, list[float]] = {}
    for part in (syntax, pcfg_set, chomsky):
        found |= part(out / part.__name__)
    versions = {"lm_eval": lm_eval.__version__, "torch": torch.__version__}
    print(json.dumps({"scores": found, "versions": versions}))
