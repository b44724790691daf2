"""LSTM-s2s of Kharitonov and Chaabouni (2021) once more, in plain PyTorch: a check of our own that shares no code.

    python reproductions/bias/plain_lstm.py --seeds 0 8 --l 40 [--attention] [--hidden 512] [--device cuda]

It follows fairseq 0.9's `lstm`: weights, biases and embeddings uniform within ± 0.1, dropout of 0.5 on embeddings, on
what is attended to and on the decoder's outputs, which are fed back; Adam with warm-up, gradients cut at a norm of 25.
One line of JSON for each seed: how many symbols too many it writes for each hold-out length.
"""

import argparse
import json
import math
import time

import torch  # pyright: ignore[reportMissingImports]
from torch import nn  # pyright: ignore[reportMissingImports]

END, SYMBOL, EMBEDDING, WIDE = 0, 1, 16, 512


class LSTM(nn.Module):
    """One layer in each half."""

    def __init__(self, hidden: int, attention: bool, size: int) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(size, EMBEDDING), nn.Embedding(size, EMBEDDING)
        self.encoder = nn.LSTM(EMBEDDING, hidden, batch_first=True)
        self.cell = nn.LSTMCell(EMBEDDING + hidden, hidden)
        self.query = nn.Linear(hidden, hidden, bias=False) if attention else None
        self.combine = nn.Linear(2 * hidden, hidden, bias=False) if attention else None
        self.wide = nn.Linear(hidden, WIDE) if hidden != WIDE else None
        self.readout = nn.Linear(WIDE, size)
        self.dropout = nn.Dropout(0.5)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1)

    def encode(self, source):
        outputs, (h, c) = self.encoder(self.dropout(self.source(source)))
        return self.dropout(outputs), (h[0], c[0], torch.zeros_like(h[0]))

    def step(self, outputs, state, embedded):
        h, c, fed = state
        h, c = self.cell(torch.cat([embedded, fed], -1), (h, c))
        out = h
        if self.query is not None and self.combine is not None:
            weights = torch.softmax((outputs @ self.query(h)[..., None])[..., 0], -1)
            found = (weights[:, None] @ outputs)[:, 0]
            out = torch.tanh(self.combine(torch.cat([found, h], -1)))
        out = self.dropout(out)
        return (h, c, out), out

    def logits(self, out):
        return self.readout(out if self.wide is None else self.dropout(self.wide(out)))

    def forward(self, source, told):
        outputs, state = self.encode(source)
        embedded = self.dropout(self.target(told))
        said = []
        for t in range(told.shape[1]):
            state, out = self.step(outputs, state, embedded[:, t])
            said.append(out)
        return self.logits(torch.stack(said, 1))

    @torch.no_grad()
    def write(self, source, longest):
        outputs, state = self.encode(source)
        token, count = torch.full((1,), END, device=source.device), 0
        while count < longest:
            state, out = self.step(outputs, state, self.target(token))
            token = self.logits(out).argmax(-1)
            if token.item() == END:
                break
            count += 1
        return count


def train(seed, arguments):
    """Trains one network and prints what it does."""
    torch.manual_seed(seed)
    device, length = arguments.device, arguments.l
    model = LSTM(arguments.hidden, arguments.attention, arguments.vocabulary).to(device)
    source = torch.tensor([[SYMBOL] * length + [END]], device=device)
    told = torch.tensor([[END] + [SYMBOL] * length], device=device)
    optimiser = torch.optim.Adam(model.parameters(), lr=1.0)
    begin, losses = time.time(), []
    for k in range(arguments.updates):
        rate = 1e-5 + k * (1e-3 - 1e-5) / 1000 if k < 1000 else 1e-3 * math.sqrt(1000 / k)
        for group in optimiser.param_groups:
            group["lr"] = rate
        model.train()
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(model(source, told)[0], source[0], reduction="sum")
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 25.0)
        optimiser.step()
        losses.append(loss.detach())
    model.eval()
    surplus = {}
    for m in range(length - arguments.span, length + arguments.span + 1):
        surplus[m] = model.write(torch.tensor([[SYMBOL] * m + [END]], device=device), 200) - m
    curve = torch.stack(losses).view(-1, max(1, len(losses) // 10)).mean(1).tolist()
    found = {
        "seed": seed,
        "l": length,
        "hidden": arguments.hidden,
        "vocabulary": arguments.vocabulary,
        "attention": arguments.attention,
        "surplus": surplus,
    }
    others = [value for m, value in surplus.items() if m != length]
    found |= {"fits": surplus[length] == 0, "counts": not any(others), "seconds": round(time.time() - begin)}
    print(json.dumps({**found, "loss": [round(x, 3) for x in curve]}), flush=True)


def main():
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 1), help="first, and the one after the last")
    parser.add_argument("--l", type=int, default=40)
    parser.add_argument("--span", type=int, default=10)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--vocabulary", type=int, default=2, help="output symbols; fairseq fills them up to 8")
    parser.add_argument("--updates", type=int, default=3000)
    parser.add_argument("--attention", action="store_true")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for seed in range(*arguments.seeds):
        train(seed, arguments)


if __name__ == "__main__":
    main()
