"""A decoder-only Transformer in PyTorch, for every suite: `--model examples/pytorch_transformer.py:Transformer`."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Layer(nn.Module):
    """Attention and a feed-forward network."""

    def __init__(self, size, heads):
        super().__init__()
        self.heads, self.before, self.between = heads, nn.LayerNorm(size), nn.LayerNorm(size)
        self.project, self.join = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.feed = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size))

    def forward(self, x):
        parts = [y.unflatten(2, (self.heads, -1)).transpose(1, 2) for y in self.project(self.before(x)).chunk(3, 2)]
        seen = F.scaled_dot_product_attention(*parts, is_causal=True)  # of each step, and the steps before it
        x = x + self.join(seen.transpose(1, 2).flatten(2))
        return x + self.feed(self.between(x))


class Transformer(nn.Module):
    """Every step attends to itself and to the steps before it."""

    def __init__(self, input_size: int, output_size: int, hidden_size: int = 64, num_layers: int = 2, heads: int = 4):
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.layers = nn.Sequential(*(Layer(hidden_size, heads) for _ in range(num_layers)))
        self.readout = nn.Linear(hidden_size, output_size)

    def forward(self, tokens):
        x = self.embedding(tokens)
        rates = torch.arange(1, x.shape[2] // 2 + 1, device=x.device) * (-2 * math.log(10_000) / x.shape[2])
        angles = torch.arange(x.shape[1], device=x.device)[:, None] * rates.exp()
        return self.readout(self.layers(x + torch.cat([angles.sin(), angles.cos()], 1)))
