"""Small PyTorch modules, each awkward in one way, for the tests of roads by which members are trained."""

import random
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.checkpoint import checkpoint


class Plain(nn.Module):
    """A small recurrent network; others differ from it in one thing."""

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.embedding, self.gru, self.readout = nn.Embedding(input_size, 6), nn.GRU(6, 6), nn.Linear(6, output_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.readout(self.between(self.gru(self.embedding(tokens).transpose(0, 1))[0].transpose(0, 1)))

    def between(self, x: torch.Tensor) -> torch.Tensor:
        return x


class Dropping(Plain):
    def between(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(x, 0.3, self.training)


class BatchNorm(Plain):
    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__(input_size, output_size)
        self.norm = nn.BatchNorm1d(6)

    def between(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x.transpose(1, 2)).transpose(1, 2)


class Buffers(Plain):
    """Keeps a mean of what it has seen, as part of its state."""

    mean: torch.Tensor

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__(input_size, output_size)
        self.register_buffer("mean", torch.zeros(6))

    def between(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * x.detach().mean((0, 1))
        return x - self.mean


class TiedWeights(Plain):
    """Reads and writes with the same vectors."""

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__(input_size, input_size)
        self.readout.weight = self.embedding.weight
        self.output_size = output_size

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return super().forward(tokens)[..., : self.output_size]


class Checkpointed(Plain):
    def between(self, x: torch.Tensor) -> torch.Tensor:
        dropped: Any = checkpoint(lambda y: nn.functional.dropout(y.tanh(), 0.2, self.training), x, use_reentrant=False)
        return dropped


class InPlace(Plain):
    def between(self, x: torch.Tensor) -> torch.Tensor:
        return (2 * x).clamp_(-0.5, 0.5).add_(0.1)


class DataDependent(Plain):
    def between(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.sum() > 0 else x.tanh()


class Straight(torch.autograd.Function):
    """Rounds; the gradient passes unchanged."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        del ctx
        return (8 * x).round() / 8

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        del ctx
        return gradients[0]


class CustomGradient(Plain):
    def between(self, x: torch.Tensor) -> torch.Tensor:
        rounded: Any = Straight.apply(x)
        return rounded


class OwnRandom(Plain):
    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__(input_size, output_size)
        self.generator = torch.Generator().manual_seed(0)

    def between(self, x: torch.Tensor) -> torch.Tensor:
        return x + 0.1 * torch.randn(x.shape, generator=self.generator) if self.training else x


class PythonRandom(Plain):
    def between(self, x: torch.Tensor) -> torch.Tensor:
        return x * random.random() if self.training else x


class Half(Plain):
    """Parameters of the readout in half precision."""

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__(input_size, output_size)
        self.readout.bfloat16()

    def between(self, x: torch.Tensor) -> torch.Tensor:
        return x.bfloat16()


class CountsCalls(Plain):
    """Changes with every call, and does not tell."""

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__(input_size, output_size)
        self.calls = 0

    def between(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += self.training
        return x * (1 + 0.1 * (self.calls % 5))


class Lazy(Plain):
    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__(input_size, output_size)
        self.readout = nn.LazyLinear(output_size)


class KeepsTensor(Plain):
    """Adds what it computed in the call before."""

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__(input_size, output_size)
        self.last: torch.Tensor | float = 0.0

    def between(self, x: torch.Tensor) -> torch.Tensor:
        before, self.last = self.last, x.detach().mean()
        return x + 0.1 * before


class BatchedGradient(Plain):
    """With a custom autograd function that can be batched."""

    def between(self, x: torch.Tensor) -> torch.Tensor:
        rounded: Any = BatchedStraight.apply(x)
        return rounded


class BatchedStraight(torch.autograd.Function):
    """Rounds; the gradient passes unchanged."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return (8 * x).round() / 8

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        del ctx, inputs, output

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        del ctx
        return gradients[0]


class TwoLayers(nn.Module):
    """A recurrent module with dropout between its layers, of its own."""

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.embedding, self.readout = nn.Embedding(input_size, 5), nn.Linear(8, output_size)
        self.lstm = nn.LSTM(5, 4, num_layers=2, dropout=0.3, bidirectional=True, batch_first=True)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.readout(self.lstm(self.embedding(tokens))[0])


class EncoderDecoder(nn.Module):
    """Reads a packed source, and writes from its last state."""

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(input_size, 6), nn.Embedding(output_size, 6)
        self.reader, self.writer = nn.GRU(6, 6, batch_first=True), nn.GRU(6, 6, batch_first=True)
        self.readout = nn.Linear(6, output_size)

    def forward(self, source: torch.Tensor, told: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = pack_padded_sequence(self.source(source), lengths.cpu(), batch_first=True, enforce_sorted=False)
        return self.readout(self.writer(self.target(told), self.reader(packed)[1])[0])


class PackedBothWays(EncoderDecoder):
    """Reads a packed source in both directions with two layers, and sees all of it when it writes."""

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__(input_size, output_size)
        del self.reader
        self.both, self.join = nn.LSTM(6, 3, num_layers=2, bidirectional=True), nn.Linear(6, 6)

    def forward(self, source: torch.Tensor, told: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        embedded = self.source(source).transpose(0, 1)
        packed = pack_padded_sequence(embedded, lengths.to("cpu"), enforce_sorted=False)
        outputs, (h, _) = self.both(packed)
        read = pad_packed_sequence(outputs, padding_value=-1.0)[0].max(0).values
        state = self.join(read + torch.cat([h[0], h[3]], -1))
        return self.readout(self.writer(self.target(told), state[None])[0])
