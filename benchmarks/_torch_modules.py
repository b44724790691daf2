"""The modules of `torch_members.py`, as users write them."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class LSTM(nn.Module):
    """`nn.LSTM`, which runs on cuDNN on a GPU."""

    layer: type[nn.LSTM | nn.GRU] = nn.LSTM

    def __init__(self, input_size: int, output_size: int, hidden_size: int = 256) -> None:
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.recurrence = self.layer(hidden_size, hidden_size, batch_first=True)
        self.readout = nn.Linear(hidden_size, output_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Returns logits at every step."""
        return self.readout(self.recurrence(self.embedding(tokens))[0])


class GRU(LSTM):
    """`nn.GRU`."""

    layer = nn.GRU


class GatedRecurrence(nn.Module):
    """A gated linear recurrence, written as a loop over time."""

    def __init__(self, input_size: int, output_size: int, hidden_size: int = 256) -> None:
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gate, self.new = nn.Linear(hidden_size, hidden_size), nn.Linear(hidden_size, hidden_size)
        self.readout = nn.Linear(hidden_size, output_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Returns logits at every step."""
        x = self.embedding(tokens)
        gate, new = self.gate(x).sigmoid(), self.new(x).tanh()
        state, states = torch.zeros_like(x[:, 0]), []
        for step in range(x.shape[1]):
            state = gate[:, step] * state + (1 - gate[:, step]) * new[:, step]
            states.append(state)
        return self.readout(torch.stack(states, 1))


class EncoderDecoder(nn.Module):
    """The encoder-decoder of docs/pytorch.md."""

    def __init__(self, input_size: int, output_size: int, hidden_size: int = 64) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(input_size, hidden_size), nn.Embedding(output_size, hidden_size)
        self.reader = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.writer = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.readout = nn.Linear(hidden_size, output_size)

    def forward(self, source: torch.Tensor, told: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Returns logits at every step of the target."""
        packed = pack_padded_sequence(self.source(source), lengths.cpu(), batch_first=True, enforce_sorted=False)
        return self.readout(self.writer(self.target(told), self.reader(packed)[1])[0])


class Dropping(nn.Module):
    """Has dropout, whose masks every member draws itself."""

    def __init__(self, input_size: int, output_size: int, hidden_size: int = 64) -> None:
        super().__init__()
        self.embedding, self.dropout = nn.Embedding(input_size, hidden_size), nn.Dropout(0.2)
        self.mix, self.readout = nn.Linear(hidden_size, hidden_size), nn.Linear(hidden_size, output_size)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Returns logits at every step."""
        x = self.dropout(self.embedding(tokens))
        return self.readout(self.dropout(self.mix(x.cumsum(1)).tanh()))
