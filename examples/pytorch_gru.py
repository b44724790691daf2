"""A GRU in PyTorch, for every suite: `humboldt run chomsky --model examples/pytorch_gru.py:GRU`."""

from torch import nn


class GRU(nn.Module):
    """Reads tokens, and answers at every step."""

    def __init__(self, input_size: int, output_size: int, hidden_size: int = 64):
        super().__init__()
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.readout = nn.Linear(hidden_size, output_size)

    def forward(self, tokens):
        return self.readout(self.gru(self.embedding(tokens))[0])

    def step(self, tokens, state):  # bliss reads very long strings, one symbol at a time
        outputs, state = self.gru(self.embedding(tokens[:, None]), state)
        return self.readout(outputs[:, 0]), state
