"""The contract tests that Humboldt ships, inherited: `pytest examples/plugin/tests`."""

from humboldt_example import LastSymbol

from humboldt.testing import ModelContract, TaskContract


class TestLastSymbol(TaskContract):
    """Checks the sampler against the oracle, the examples, the alphabets, the lengths and the seed."""

    task = LastSymbol


class TestLeakyRNN(ModelContract):
    """Tries the network on a few strings, without training it."""

    model = "leaky_rnn"
    on = "chomsky/last_symbol"
