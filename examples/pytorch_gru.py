"""A GRU in PyTorch, for every suite: `humboldt run chomsky --model examples/pytorch_gru.py:GRU`."""

from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class GRU(nn.Module):
    """Reads tokens, answers at every step: chomsky, bliss and syntax."""

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


class EncoderDecoder(nn.Module):
    """Reads a source, writes a target: pcfg_set and bias."""

    def __init__(self, input_size: int, output_size: int, hidden_size: int = 64):
        super().__init__()
        self.source, self.target = nn.Embedding(input_size, hidden_size), nn.Embedding(output_size, hidden_size)
        self.reader = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.writer = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.readout = nn.Linear(hidden_size, output_size)

    def forward(self, source, told, lengths):
        packed = pack_padded_sequence(self.source(source), lengths.cpu(), batch_first=True, enforce_sorted=False)
        return self.readout(self.writer(self.target(told), self.reader(packed)[1])[0])
