"""The code length of a network in bits: |G| of the description length.

The code is that of Lan, Geyer, Chemla and Katzir (2022). Only its length is ever needed:

- a whole number: as many ones as its binary form has digits, a 0, the binary form; 0 is a single bit;
- a weight: a sign bit, then numerator and denominator as whole numbers;
- a network: the number of units, then for each unit
    - the number of its outgoing edges; per edge one bit (forward or recurrent), the target's number in
      ceil(log2(units)) bits, and the weight;
    - one bit for its type; its activation's number in ceil(log2(allowed activations)) bits, then the activation's
      cost in ones and a 0;
    - its bias as a weight, or 2 bits for none.
"""

from humboldt.errors import UsageError
from humboldt.mdl.activations import ACTIVATION_COST, PAPER_ACTIVATIONS, activation_ids
from humboldt.mdl.network import Network, Weight

EDGE_KIND_BITS = 1
UNIT_TYPE_BITS = 1
NO_BIAS_BITS = 2


def integer_bits(n: int) -> int:
    """Returns the length of the self-delimiting code of a whole number.

    >>> [integer_bits(n) for n in (0, 1, 2, 3, 4, 255)]
    [1, 3, 5, 5, 7, 17]
    """
    if n < 0:
        raise UsageError(f"{n} has no code: only whole numbers from 0 can be written.")
    return 1 if n == 0 else 2 * n.bit_length() + 1


def choice_bits(n: int) -> int:
    """Returns the number of bits that identify one of `n` things: ceil(log2(n)).

    >>> [choice_bits(n) for n in (1, 2, 3, 7, 8, 9)]
    [0, 1, 2, 3, 3, 4]
    """
    if n < 1:
        raise UsageError(f"There is nothing to choose from {n} things.")
    return (n - 1).bit_length()


def weight_bits(weight: Weight) -> int:
    """Returns the code length of a weight: sign, numerator, denominator.

    >>> weight_bits(Weight.parse("1")), weight_bits(Weight.parse("-3/2"))
    (7, 11)
    """
    return 1 + integer_bits(weight.numerator) + integer_bits(weight.denominator)


def unit_bits(network: Network, unit: int, num_activations: int) -> int:
    """Returns the code length of one unit with its outgoing edges."""
    outgoing = [edge for edge in network.edges if edge.source == unit]
    target_bits = choice_bits(len(network.units))
    bits = integer_bits(len(outgoing))
    bits += sum(EDGE_KIND_BITS + target_bits + weight_bits(edge.weight) for edge in outgoing)
    described = network.units[unit]
    bits += UNIT_TYPE_BITS + choice_bits(num_activations) + ACTIVATION_COST[described.activation] + 1
    return bits + (weight_bits(described.bias) if described.bias else NO_BIAS_BITS)


def encoding_length(network: Network, activations: tuple[str, ...] = PAPER_ACTIVATIONS) -> int:
    """Returns |G|: the code length of `network` in bits if its units may use `activations`."""
    activation_ids(activations)
    for number, unit in enumerate(network.units):
        if unit.activation not in activations:
            raise UsageError(
                f"{network.name(number)} uses the activation {unit.activation}, which is not among the allowed ones "
                f"({', '.join(activations)}). Add it to `activations`."
            )
    return integer_bits(len(network.units)) + sum(
        unit_bits(network, unit, len(activations)) for unit in range(len(network.units))
    )
