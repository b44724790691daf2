"""Converts a network to an Equinox model with the same outputs."""

from typing import TYPE_CHECKING

from humboldt.errors import MissingExtra
from humboldt.mdl.network import Network

if TYPE_CHECKING:
    from humboldt.mdl._equinox import MDLNetwork


def to_equinox(network: Network) -> "MDLNetwork":
    """Returns the network as a recurrent Equinox model with its weights and biases as parameters.

    In 64-bit floats (`jax_enable_x64`) its distributions equal the network's to rounding; in 32-bit floats, JAX's
    default, a counter is exact up to 2^24 times its step.
    """
    try:
        from humboldt.mdl._equinox import MDLNetwork
    except ImportError as error:
        raise MissingExtra("jax") from error
    return MDLNetwork(network)
