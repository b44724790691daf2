"""The learners of fairseq 0.9 itself, trained as in the paper: a check of ours that shares no code with it.

    python reproductions/bias/fairseq_learners.py FAIRSEQ transformer hierarchical_or_linear 1 41
    python reproductions/bias/fairseq_learners.py FAIRSEQ lstm_s2s_no_att hierarchical_or_linear 1 4 --moments kept
    python reproductions/bias/fairseq_learners.py FAIRSEQ transformer composition_or_memorization 1 9 --set warm_up=4000

FAIRSEQ is the unpacked source distribution of fairseq 0.9.0, whose models and Adam are used as they are; needs PyTorch.
Trains seeds 1 to 40 one after the other on a CPU and prints a JSON record of each: how many training examples it gets
right, and how many hold-out inputs it answers by each rule. Tasks: hierarchical_or_linear (d = 4),
composition_or_memorization (M = 36), count_or_memorization (l = 40).

With `--moments` it trains on, as the description length wants it, and the record has the bits of each block. `fresh`
gives every training an Adam of its own. `kept` does what the released mdl.py does: it loads the initial weights again
with `reset_optimizer=True`, for which fairseq 0.9 leaves the optimiser as it is, with the moments and the number of
steps of the training before.

With `--set` the training is not the paper's: `CHANGES` has what can be changed. It shows what decides whether learners
fit their training set.
"""

import argparse
import copy
import json
import math
import random
import sys
from typing import Any

import numpy as np
import torch

np.float, np.int = float, int  # type: ignore[attr-defined] # names that NumPy had in the days of fairseq 0.9
Symbols = tuple[str, ...]
Pair = tuple[Symbols, Symbols]
FIRST_RATE, LONGEST = 1e-5, 200
# What `--set` can change: the values are the paper's, or what fairseq does unless it is told otherwise.
CHANGES: dict[str, float] = {
    **{"updates": 3000, "warm_up": 1000, "rate": 1e-3, "clip": 25.0, "dropout": 0.5, "embedding": 16},
    "normalise_first": 0,  # 1: a Transformer's blocks normalise before, not after, each part
    "smoothing": 0.0,  # of labels
}
TRANSFORMER = {"ffn_embed_dim": 512, "layers": 1, "attention_heads": 8, "layerdrop": 0}
LSTM = {"layers": 1}
BLOCKS = {"hierarchical_or_linear": 4}  # 1 in the others


def examples(task: str) -> tuple[list[Pair], dict[str, list[Pair]]]:
    """The training set, and hold-out pairs by rule."""
    if task == "hierarchical_or_linear":

        def source(depth: int, middle: str, around: str) -> Symbols:
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


class Learner:
    """A network of fairseq with its optimiser."""

    def __init__(self, name: str, train: list[Pair], seed: int, hidden: int, changes: dict[str, float]) -> None:
        from fairseq.data import Dictionary  # pyright: ignore[reportMissingImports]
        from fairseq.models import lstm, transformer  # pyright: ignore[reportMissingImports]

        self.setting = CHANGES | changes
        self.read, self.written = Dictionary(), Dictionary()
        for source, target in train:
            for symbols, dictionary in ((source, self.read), (target, self.written)):
                for symbol in symbols:
                    dictionary.add_symbol(symbol)
        for dictionary in (self.read, self.written):
            dictionary.finalize(padding_factor=8)
        self.padding, self.end = self.read.pad(), self.written.eos()
        for module in (random, np.random):
            module.seed(seed)
        torch.manual_seed(seed)
        options = argparse.Namespace(
            dropout=self.setting["dropout"], encoder_layers_to_keep=None, decoder_layers_to_keep=None, criterion=""
        )
        sizes = {"embed_dim": int(self.setting["embedding"]), "normalize_before": bool(self.setting["normalise_first"])}
        sizes |= TRANSFORMER if name == "transformer" else LSTM | {"hidden_size": hidden}
        for key, value in sizes.items():
            setattr(options, f"encoder_{key}", value)
            setattr(options, f"decoder_{key}", value)
        options.decoder_attention = "0" if name == "lstm_s2s_no_att" else "1"
        kind = (transformer, transformer.TransformerModel) if name == "transformer" else (lstm, lstm.LSTMModel)
        kind[0].base_architecture(options)
        known = argparse.Namespace(source_dictionary=self.read, target_dictionary=self.written)
        self.model = kind[1].build_model(options, known)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Another Adam, which has seen nothing."""
        from fairseq.optim.adam import Adam  # pyright: ignore[reportMissingImports]

        self.optimiser = Adam(self.model.parameters(), lr=FIRST_RATE, betas=(0.9, 0.999), eps=1e-8)

    def ids(self, dictionary: Any, symbols: Symbols) -> list[int]:
        """Symbols and the end, as numbers."""
        return [*(dictionary.index(symbol) for symbol in symbols), dictionary.eos()]

    def loss(self, pairs: list[Pair], smoothing: float = 0.0) -> torch.Tensor:
        """Nats of the targets, with their ends, added up."""
        pairs = sorted(pairs, key=lambda pair: -len(pair[0]))  # as fairseq's LSTM wants them
        sources = [self.ids(self.read, source) for source, _ in pairs]
        targets = [self.ids(self.written, target) for _, target in pairs]
        longest, longest_target = max(map(len, sources)), max(map(len, targets))
        pad = self.padding
        tokens = torch.tensor([[pad] * (longest - len(x)) + x for x in sources])  # fairseq pads sources on the left
        wanted = torch.tensor([x + [pad] * (longest_target - len(x)) for x in targets])
        told = torch.tensor([[self.end, *x[:-1]] + [pad] * (longest_target - len(x)) for x in targets])
        logits, _ = self.model(tokens, torch.tensor([len(x) for x in sources]), told)
        flat = logits.flatten(0, 1), wanted.flatten()
        return torch.nn.functional.cross_entropy(*flat, ignore_index=pad, reduction="sum", label_smoothing=smoothing)

    def train(self, pairs: list[Pair]) -> None:
        """3,000 updates."""
        self.model.train()
        rate, warm_up = self.setting["rate"], self.setting["warm_up"]
        for step in range(int(self.setting["updates"])):
            rising = FIRST_RATE + step * (rate - FIRST_RATE) / warm_up
            for group in self.optimiser.param_groups:
                group["lr"] = rising if step < warm_up else rate * (warm_up / step) ** 0.5
            self.optimiser.zero_grad()
            (self.loss(pairs, self.setting["smoothing"]) / len(pairs)).backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.setting["clip"])
            self.optimiser.step()
        self.model.eval()

    @torch.no_grad()
    def bits(self, pairs: list[Pair]) -> float:
        """Of the targets."""
        return float(self.loss(pairs)) / math.log(2)

    @torch.no_grad()
    def output(self, source: Symbols) -> Symbols:
        """Greedily."""
        ids = self.ids(self.read, source)
        encoded = self.model.encoder(torch.tensor([ids]), torch.tensor([len(ids)]))
        said: list[int] = []
        while len(said) < LONGEST:
            scores = self.model.decoder(torch.tensor([[self.end, *said]]), encoded)[0][0, -1]
            scores[self.padding] = -torch.inf
            if not said:
                scores[self.end] = -torch.inf  # fairseq generates no empty outputs
            if (symbol := int(scores.argmax())) == self.end:
                break
            said.append(symbol)
        return tuple(self.written[symbol] for symbol in said)

    def right(self, pairs: list[Pair]) -> int:
        """How many outputs are."""
        return sum(self.output(source) == target for source, target in pairs)


def run(name: str, task: str, seed: int, hidden: int, moments: str | None, changes: dict[str, float]) -> dict[str, Any]:
    """One seed."""
    train, rules = examples(task)
    learner = Learner(name, train, seed, hidden, changes)
    initial = copy.deepcopy(learner.model.state_dict())
    learner.train(train)
    found: dict[str, Any] = {"model": name, "task": task, "seed": seed, "hidden": hidden}
    found |= {"right": learner.right(train), "examples": len(train), "inputs": len(next(iter(rules.values())))}
    found |= {rule: learner.right(pairs) for rule, pairs in rules.items()}
    found |= {"nats": learner.bits(train) * math.log(2), "changes": changes}
    if moments is None:
        return found
    after_first = copy.deepcopy((learner.model.state_dict(), learner.optimiser.state_dict()))
    size = BLOCKS.get(task, 1)
    for rule, pairs in rules.items():
        order = random.Random(seed).sample(pairs, len(pairs))
        blocks = [order[start : start + size] for start in range(0, len(order), size)]
        learner.model.load_state_dict(after_first[0])
        learner.begin_anew()
        learner.optimiser.load_state_dict(copy.deepcopy(after_first[1]))
        bits = [learner.bits(blocks[0])]
        for number in range(1, len(blocks)):
            learner.model.load_state_dict(initial)
            if moments == "fresh":
                learner.begin_anew()
            learner.train([*train, *(pair for block in blocks[:number] for pair in block)])
            bits.append(learner.bits(blocks[number]))
        found[f"bits_{rule}"] = bits
    return found | {"moments": moments}


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fairseq", help="folder of its source distribution, version 0.9.0")
    parser.add_argument("model", choices=("transformer", "lstm_s2s_no_att", "lstm_s2s_att"))
    parser.add_argument("task")
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int, help="the seed after the last")
    parser.add_argument("--hidden", type=int, default=512, help="units of an LSTM")
    parser.add_argument("--moments", choices=("fresh", "kept"), help="description lengths, with such moments of Adam")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=f"one of {', '.join(CHANGES)}")
    given = parser.parse_args()
    changes = {name: float(value) for name, _, value in (one.partition("=") for one in given.set)}
    if unknown := changes.keys() - CHANGES.keys():
        parser.error(f"--set knows no {', '.join(sorted(unknown))}; choose from {', '.join(CHANGES)}.")
    sys.path.insert(0, given.fairseq)
    torch.set_num_threads(1)
    for seed in range(given.first, given.end):
        print(json.dumps(run(given.model, given.task, seed, given.hidden, given.moments, changes)), flush=True)


if __name__ == "__main__":
    main()
