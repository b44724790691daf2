"""LSTMS2S of Hupkes et al. (2020) once more, in plain PyTorch: a check of our own that shares no code.

    for split in train validation test; do
        humboldt data pcfg_set task_accuracy --split $split --output FOLDER/$split.jsonl
    done
    python reproductions/pcfg_set/plain_lstm.py FOLDER [--rate 1.0] [--hidden 500] [--longest 50] [--epochs 25]

It follows OpenNMT-py 0.6: an encoder in both directions, input feeding, general attention, all weights uniform within
± 0.1, dropout of 0.3 between layers and on the decoder's outputs, SGD on a loss that is summed over symbols and divided
by the items of the batch, gradients cut at a norm of 5. Batches are sorted by length within pools of 100 of them, as
there (but by that of the target first, so that little is computed on padding). With `--bfloat16` products are rounded,
which a CPU that knows the format does in less time.

A line of JSON for each epoch: share of right symbols of the validation set, told the symbols before (which is how the
authors chose the epoch), and share of right outputs of its first 1,000 items; a last line for the best epoch's outputs
on the whole test set, greedy ones.
"""

import argparse
import copy
import json
import random
import time
from pathlib import Path

import torch  # pyright: ignore[reportMissingImports]
from torch import nn  # pyright: ignore[reportMissingImports]

PAD, START, END, SPECIALS = 0, 1, 2, 3
EMBEDDING, DROPOUT, BATCH, POOL, LONGEST_OUTPUT = 512, 0.3, 64, 100, 256


class LSTM(nn.Module):
    """Two layers in each half. A hidden size of 500 is 250 in each direction of the encoder."""

    def __init__(self, sources: int, targets: int, hidden: int) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(sources, EMBEDDING), nn.Embedding(targets, EMBEDDING)
        self.encoder = nn.LSTM(EMBEDDING, hidden // 2, 2, batch_first=True, dropout=DROPOUT, bidirectional=True)
        self.cells = nn.ModuleList([nn.LSTMCell(EMBEDDING + hidden, hidden), nn.LSTMCell(hidden, hidden)])
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.combine = nn.Linear(2 * hidden, hidden, bias=False)
        self.readout = nn.Linear(hidden, targets)
        self.dropout = nn.Dropout(DROPOUT)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1)

    def encode(self, source):
        lengths = (source != PAD).sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(
            self.source(source), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        packed, last = self.encoder(packed)
        outputs, _ = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        # Of each layer forwards and backwards, side by side.
        h, c = (torch.cat([x[0::2], x[1::2]], -1).float() for x in last)
        return outputs.float(), source != PAD, ((h[0], c[0]), (h[1], c[1]), torch.zeros_like(h[0]))

    def step(self, outputs, mask, state, embedded):
        *layers, fed = state
        x, after = torch.cat([embedded, fed], -1), []
        for i, (cell, before) in enumerate(zip(self.cells, layers, strict=True)):
            h, c = cell(x if i == 0 else self.dropout(x), before)
            after.append((h.float(), c.float()))
            x = h
        scores = (outputs @ self.query(x)[..., None].to(outputs.dtype))[..., 0]
        weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)
        found = (weights[:, None] @ outputs)[:, 0]
        out = self.dropout(torch.tanh(self.combine(torch.cat([found, x.to(found.dtype)], -1))).float())
        return (*after, out), out

    def forward(self, source, told):
        outputs, mask, state = self.encode(source)
        embedded, said = self.target(told), []
        for t in range(told.shape[1]):
            state, out = self.step(outputs, mask, state, embedded[:, t])
            said.append(out)
        return self.readout(torch.stack(said, 1)).float()

    @torch.no_grad()
    def write(self, source):
        """Greedy outputs, a list of symbols for each row."""
        outputs, mask, state = self.encode(source)
        token = torch.full((len(source),), START, device=source.device)
        said, ended = [], torch.zeros(len(source), dtype=torch.bool, device=source.device)
        while len(said) < LONGEST_OUTPUT and not ended.all():
            state, out = self.step(outputs, mask, state, self.target(token))
            token = self.readout(out).argmax(-1)
            ended |= token == END
            said.append(token)
        rows = torch.stack(said, 1).tolist()
        return [row[: row.index(END)] if END in row else row for row in rows]


def read(folder, split):
    """Pairs of lists of symbols."""
    lines = map(json.loads, (folder / f"{split}.jsonl").read_text(encoding="utf-8").splitlines())
    return [(line["input"].split(), line["target"].split()) for line in lines]


def padded(rows, device):
    """One array, filled up with PAD."""
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows], device=device)


def in_batches(items, size, device):
    """Sources, and targets with their end."""
    for first in range(0, len(items), size):
        part = items[first : first + size]
        yield padded([s for s, _ in part], device), padded([[*t, END] for _, t in part], device)


def shuffled(items):
    """An epoch: the batches of pools that are sorted by length, in random order."""
    items = random.sample(items, len(items))
    pools = [
        sorted(items[i : i + BATCH * POOL], key=lambda item: (len(item[1]), len(item[0])))
        for i in range(0, len(items), BATCH * POOL)
    ]
    whole = [pool[i : i + BATCH] for pool in pools for i in range(0, len(pool), BATCH)]
    return random.sample(whole, len(whole))


def told_before(targets):
    """What the network is told when it is asked for each of the targets."""
    return torch.cat([torch.full_like(targets[:, :1], START), targets[:, :-1]], 1)


def main() -> None:
    """Trains one network and prints how it does."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rate", type=float, default=1.0)
    parser.add_argument("--hidden", type=int, default=500)
    parser.add_argument("--longest", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--bfloat16", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    random.seed(arguments.seed)
    device = arguments.device
    data = {split: read(arguments.folder, split) for split in ("train", "validation", "test")}
    symbols = [sorted({x for pairs in data.values() for pair in pairs for x in pair[half]}) for half in (0, 1)]
    ids = [{symbol: SPECIALS + i for i, symbol in enumerate(names)} for names in symbols]
    data = {
        split: [([ids[0][x] for x in source], [ids[1][x] for x in target]) for source, target in pairs]
        for split, pairs in data.items()
    }
    train = [pair for pair in data["train"] if max(map(len, pair)) <= arguments.longest]
    network = LSTM(SPECIALS + len(symbols[0]), SPECIALS + len(symbols[1]), arguments.hidden).to(device)
    optimiser = torch.optim.SGD(network.parameters(), lr=arguments.rate)
    loss_of = nn.CrossEntropyLoss(ignore_index=PAD, reduction="sum")
    rounding = torch.autocast(device, torch.bfloat16, enabled=arguments.bfloat16)

    def right_outputs(pairs):
        pairs = sorted(pairs, key=lambda pair: len(pair[0]))
        with rounding:
            said = [row for source, _ in in_batches(pairs, 256, device) for row in network.eval().write(source)]
        return sum(row == target for row, (_, target) in zip(said, pairs, strict=True)) / len(pairs)

    def right_symbols(pairs):
        right = count = 0
        for source, targets in in_batches(sorted(pairs, key=lambda pair: len(pair[0])), 256, device):
            with torch.no_grad(), rounding:
                said = network.eval()(source, told_before(targets)).argmax(-1)
            right += ((said == targets) & (targets != PAD)).sum().item()
            count += (targets != PAD).sum().item()
        return right / count

    best, begun = (-1.0, 0, network.state_dict()), time.time()
    for epoch in range(1, arguments.epochs + 1):
        total, batches = 0.0, shuffled(train)
        for step, batch in enumerate(batches, 1):
            source, targets = next(in_batches(batch, BATCH, device))
            network.train()
            with rounding:
                logits = network(source, told_before(targets))
            loss = loss_of(logits.flatten(0, 1), targets.flatten()) / len(batch)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 5.0)
            optimiser.step()
            total += loss.item()
            if step % 100 == 0:
                print(json.dumps({"epoch": epoch, "step": step, "loss": round(total / step, 3)}), flush=True)
        told = right_symbols(data["validation"])
        if told > best[0]:
            best = told, epoch, copy.deepcopy(network.state_dict())
        record = {"epoch": epoch, "loss": round(total / len(batches), 3), "right_symbols": round(told, 4)}
        record["right_outputs_of_1000"] = right_outputs(data["validation"][:1000])
        print(json.dumps({**record, "seconds": round(time.time() - begun)}), flush=True)
    network.load_state_dict(best[2])
    setting = {name: getattr(arguments, name) for name in ("rate", "hidden", "longest", "epochs", "seed", "bfloat16")}
    accuracy = right_outputs(data["test"])
    print(json.dumps({**setting, "best_epoch": best[1], "sequence_accuracy": round(accuracy, 4)}), flush=True)


if __name__ == "__main__":
    main()
