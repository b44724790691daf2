import pytest

from humboldt.errors import UsageError
from humboldt.mdl.activations import EXTENDED_ACTIVATIONS, WIDE_ACTIVATIONS
from humboldt.mdl.network import Edge, Network, Unit, Weight, published_networks
from humboldt.mdl.network_bits import choice_bits, encoding_length, integer_bits, unit_bits, weight_bits


def integer_code(n: int) -> str:
    """The code itself, written out: ones for the length of the binary form, a 0, the binary form."""
    return "0" if n == 0 else "1" * len(f"{n:b}") + "0" + f"{n:b}"


def test_integer_bits():
    assert integer_code(5) == "1110101"
    assert [integer_bits(n) for n in range(300)] == [len(integer_code(n)) for n in range(300)]
    with pytest.raises(UsageError, match="-1 has no code"):
        integer_bits(-1)


def test_choice_bits():
    assert [choice_bits(n) for n in (1, 2, 3, 4, 5, 6, 8, 9, 16, 17)] == [0, 1, 2, 2, 3, 3, 3, 4, 4, 5]
    with pytest.raises(UsageError, match="nothing to choose"):
        choice_bits(0)


def test_weight_bits():
    # sign 1; E(1) = 10 1 = 3 bits; E(2) = 110 10 = 5; E(3) = 110 11 = 5; E(4) = 1110 100 = 7
    assert weight_bits(Weight.parse("1")) == 1 + 3 + 3
    assert weight_bits(Weight.parse("-1/2")) == 1 + 3 + 5
    assert weight_bits(Weight.parse("3/4")) == 1 + 5 + 7
    assert weight_bits(Weight.parse("2/2")) == 1 + 5 + 5


def test_smallest_network():
    # Two symbols, four units, no edges, one allowed activation. E(4) = 7.
    # Each unit: E(0 edges) 1, type 1, activation id 0 bits, its cost 0 and a 0, no bias 2: 5.
    network = Network(("#", "a"), (Unit(),) * 4, ())
    assert encoding_length(network, ("linear",)) == 7 + 4 * 5
    # With two allowed activations each id takes a bit; with three, two.
    assert encoding_length(network, ("linear", "relu")) == 7 + 4 * 6
    assert encoding_length(network) == 7 + 4 * 7


@pytest.mark.parametrize(
    ("activation", "cost"),
    [
        ("linear", 0), ("relu", 2), ("square", 2), ("sigmoid", 4), ("floor", 4),
        ("tanh", 8), ("modulo_2", 8), ("modulo_3", 8), ("step", 8),
    ],
)  # fmt: skip
def test_activation_costs(activation, cost):
    network = Network(("#", "a"), (Unit(), Unit(), Unit(activation), Unit()), ())
    allowed = ("linear", "relu", "square", "sigmoid", "floor", "tanh", "modulo_2", "modulo_3", "step")
    # Nine allowed activations: ids of 4 bits.
    assert unit_bits(network, 2, len(allowed)) == 1 + 1 + 4 + cost + 1 + 2
    assert encoding_length(network, allowed) == 7 + 4 * 9 + cost


def test_edges_and_biases():
    units = (Unit(), Unit(), Unit(bias=Weight.parse("-2")), Unit(), Unit(type="product"))
    # Five units: E(5) = 7, targets of 3 bits. Unit 1 has 2 edges out: E(2) = 5.
    edges = (Edge(1, 4), Edge(1, 4, Weight.parse("1/3"), recurrent=True), Edge(4, 3))
    network = Network(("#", "a"), units, edges)
    plain = 1 + 1 + 0 + 1 + 2
    assert unit_bits(network, 0, 1) == plain
    assert unit_bits(network, 1, 1) == (plain - 1 + 5) + (1 + 3 + 7) + (1 + 3 + 1 + 3 + 5)
    assert unit_bits(network, 2, 1) == plain - 2 + (1 + 5 + 3)
    assert unit_bits(network, 3, 1) == plain
    assert unit_bits(network, 4, 1) == (plain - 1 + 3) + (1 + 3 + 7)
    assert encoding_length(network, ("linear",)) == 7 + 5 + 33 + 12 + 5 + 18


def test_an_bn_figure_4():
    # Seven units: E(7) = 111 0 111 = 7; targets take 3 bits; three activations, ids of 2 bits.
    # A unit without edges or bias: E(0) 1 + type 1 + id 2 + cost c + 1 + no bias 2 = 7 + c.
    # Weight 1: 1 + 3 + 3 = 7, so an edge of weight 1 or -1 is 1 + 3 + 7 = 11; 1/2 or -1/2: 1 + 3 + 9 = 13;
    # 3 or -3 (E(3) = 5): 1 + 3 + (1 + 5 + 3) = 13. E(1) = 3, E(3) = 5 edges: 2 and 4 bits more than E(0).
    bits = [
        7,  # input #: nothing
        7 + 2 + 13,  # input a: 1/2 to the hidden unit
        7 + 4 + 11 + 13 + 13,  # input b: 1 to output #, -3 to output a, -1/2 to the hidden unit
        7 + 8,  # output #: tanh
        7 + 2 - 2 + 9,  # output a: ReLU, bias 3 (1 + 5 + 3) in place of 2 bits
        7 + 8,  # output b: tanh
        7 + 2 + 4 + 11 + 11 + 13,  # hidden: ReLU; 1 to itself and -1 to output # (recurrent), 3 to output b
    ]
    network = published_networks()["an_bn_figure_4"]
    assert [unit_bits(network, unit, 3) for unit in range(7)] == bits
    assert encoding_length(network) == 7 + sum(bits) == 178


def test_dyck_1():
    # As above; weight 2 is 1 + E(2) 5 + 3 = 9, an edge of weight 2 is 13; bias 1 or -1 is 7; bias 1/2 is 9.
    bits = [
        7,  # input #
        7 + 2 + 13,  # input (: 2 to the hidden unit
        7,  # input )
        7 - 2 + 7,  # output #: linear, bias 1
        7 + 8 - 2 + 9,  # output (: tanh, bias 1/2
        7 + 8,  # output ): tanh
        7 + 2 - 2 + 7 + 4 + 11 + 11 + 13,  # hidden: ReLU, bias -1; 1 to itself, -1 to output #, 3 to output )
    ]
    network = published_networks()["dyck_1"]
    assert [unit_bits(network, unit, 3) for unit in range(7)] == bits
    assert encoding_length(network) == 7 + sum(bits) == 145


def test_activations_that_are_not_allowed_are_refused():
    network = published_networks()["dyck_1"]
    with pytest.raises(UsageError, match=r"output \( uses the activation tanh, which is not among the allowed"):
        encoding_length(network, WIDE_ACTIVATIONS)
    with pytest.raises(UsageError, match="Did you mean 'tanh'"):
        encoding_length(network, ("linear", "tanhh"))
    with pytest.raises(UsageError, match="repeat"):
        encoding_length(network, ("linear", "linear"))
    with pytest.raises(UsageError, match="at least one"):
        encoding_length(network, ())
    assert len(EXTENDED_ACTIVATIONS) == 8
