"""The Transformer of fairseq 0.9 itself, trained as in the paper: a check of ours that shares no code with it.

    python reproductions/bias/fairseq_transformer.py FAIRSEQ hierarchical_or_linear 1 41

FAIRSEQ is the unpacked source distribution of fairseq 0.9.0, whose models and Adam are used as they are; needs PyTorch.
Trains seeds 1 to 40 one after the other on a CPU and prints a JSON record of each: how many training examples it gets
right, and how many hold-out inputs it answers by each rule. Tasks: hierarchical_or_linear (d = 4),
composition_or_memorization (M = 36), count_or_memorization (l = 40).
"""

import argparse
import json
import random
import sys
from typing import Any

import numpy as np
import torch

np.float, np.int = float, int  # type: ignore[attr-defined] # names that NumPy had in the days of fairseq 0.9
Pair = tuple[tuple[str, ...], tuple[str, ...]]
UPDATES, WARM_UP, FIRST_RATE, RATE, CLIP, LONGEST = 3000, 1000, 1e-5, 1e-3, 25.0, 200
SIZES = {"embed_dim": 16, "ffn_embed_dim": 512, "layers": 1, "attention_heads": 8, "layerdrop": 0}


def examples(task: str) -> tuple[list[Pair], dict[str, list[Pair]]]:
    """The training set, and hold-out pairs by rule."""
    if task == "hierarchical_or_linear":

        def source(depth: int, middle: str, around: str) -> tuple[str, ...]:
            return (around,) * depth + (middle,) + (around,) * depth

        inputs = {d: [source(d, m, a) for m in "ab" for a in "ab"] for d in range(2, 7)}
        train = [(x, (x[4].upper(),)) for x in inputs[4]]
        others = [x for d, same in inputs.items() if d != 4 for x in same]
        return train, {
            "hierar": [(x, (x[len(x) // 2].upper(),)) for x in others],
            "linear": [(x, (x[4].upper(),)) for x in others],
        }
    if task == "composition_or_memorization":
        train = [((f"a{i}",), (f"b{i}",)) for i in range(40)]
        train += [(("thrice", f"a{i}"), (f"b{i}",) * 3) for i in range(36)]
        return train, {
            rule: [(("thrice", f"a{i}"), (f"b{i}",) * times) for i in range(36, 40)]
            for rule, times in (("comp", 3), ("mem", 1))
        }
    sizes = [m for m in range(30, 51) if m != 40]
    rules = {"count": [(("a",) * m, ("b",) * m) for m in sizes], "mem": [(("a",) * m, ("b",) * 40) for m in sizes]}
    return [(("a",) * 40, ("b",) * 40)], rules


def run(task: str, seed: int) -> dict[str, Any]:
    """One training."""
    from fairseq.data import Dictionary  # pyright: ignore[reportMissingImports]
    from fairseq.models.transformer import TransformerModel, base_architecture  # pyright: ignore[reportMissingImports]
    from fairseq.optim.adam import Adam  # pyright: ignore[reportMissingImports]

    train, rules = examples(task)
    read, written = Dictionary(), Dictionary()
    for source, target in train:
        for symbols, dictionary in ((source, read), (target, written)):
            for symbol in symbols:
                dictionary.add_symbol(symbol)
    for dictionary in (read, written):
        dictionary.finalize(padding_factor=8)
    for module in (random, np.random):
        module.seed(seed)
    torch.manual_seed(seed)
    options = argparse.Namespace(dropout=0.5, encoder_layers_to_keep=None, decoder_layers_to_keep=None)
    for name, value in SIZES.items():
        setattr(options, f"encoder_{name}", value)
        setattr(options, f"decoder_{name}", value)
    base_architecture(options)
    model = TransformerModel.build_model(options, argparse.Namespace(source_dictionary=read, target_dictionary=written))

    def ids(dictionary: Any, symbols: tuple[str, ...]) -> list[int]:
        return [*(dictionary.index(symbol) for symbol in symbols), dictionary.eos()]

    padding, end = read.pad(), written.eos()
    sources = [ids(read, source) for source, _ in train]
    targets = [ids(written, target) for _, target in train]
    longest, longest_target = max(map(len, sources)), max(map(len, targets))
    tokens = torch.tensor([[padding] * (longest - len(x)) + x for x in sources])  # fairseq pads sources on the left
    wanted = torch.tensor([x + [padding] * (longest_target - len(x)) for x in targets])
    told = torch.tensor([[end, *x[:-1]] + [padding] * (longest_target - len(x)) for x in targets])
    optimiser = Adam(model.parameters(), lr=FIRST_RATE, betas=(0.9, 0.999), eps=1e-8)
    model.train()
    for step in range(UPDATES):
        rising = FIRST_RATE + step * (RATE - FIRST_RATE) / WARM_UP
        for group in optimiser.param_groups:
            group["lr"] = rising if step < WARM_UP else RATE * (WARM_UP / step) ** 0.5
        optimiser.zero_grad()
        logits, _ = model(tokens, torch.tensor([len(x) for x in sources]), told)
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), wanted.flatten(), ignore_index=padding, reduction="sum"
        )
        (loss / len(train)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
    model.eval()

    @torch.no_grad()
    def output(source: tuple[str, ...]) -> tuple[str, ...]:
        encoded = model.encoder(torch.tensor([ids(read, source)]), None)
        said: list[int] = []
        while len(said) < LONGEST:
            scores = model.decoder(torch.tensor([[end, *said]]), encoded)[0][0, -1]
            scores[padding] = -torch.inf
            if not said:
                scores[end] = -torch.inf  # fairseq generates no empty outputs
            if (symbol := int(scores.argmax())) == end:
                break
            said.append(symbol)
        return tuple(written[symbol] for symbol in said)

    def right(pairs: list[Pair]) -> int:
        return sum(output(source) == target for source, target in pairs)

    found: dict[str, Any] = {"task": task, "seed": seed, "right": right(train), "examples": len(train)}
    return found | {"inputs": len(next(iter(rules.values())))} | {rule: right(pairs) for rule, pairs in rules.items()}


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    torch.set_num_threads(1)
    for number in range(int(sys.argv[3]), int(sys.argv[4])):
        print(json.dumps(run(sys.argv[2], number)), flush=True)
