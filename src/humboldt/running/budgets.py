"""Sizes of families: the size with a number of parameters, and the parameters and state of a network.

Parameters are those of the body, between embedding and readout, which do not depend on alphabets. So one size holds in
every suite.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from humboldt import settings as settings_
from humboldt.errors import UsageError, named_extras
from humboldt.models import models

LARGEST = 2**14
STEPS_TRIED = 64  # sizes tried after one that is not allowed, e.g. not a multiple of the number of heads
NEAR, FINE = 0.05, "feed_forward_size"  # further off than this share, units of this layer change, too
LENGTH = 40  # tokens, for states that grow with them
LENGTHS = (LENGTH, 500)  # tokens, for multiply-adds


@dataclass(frozen=True)
class Size:
    """Parameters of a network's body, the numbers that it remembers of a string of 40 tokens, and the multiply-adds of
    its matrix products for strings of 40 and of 500 tokens. `None`: not known."""

    body: int
    state_floats: int | None
    multiply_adds: Mapping[int, int | None]


def size_of(model: str, changes: Mapping[str, Any] | None = None) -> Size:
    """Returns the size of a registered JAX model, e.g. `family/lstm`, with these settings changed, without
    multiply-adds."""
    return size_of_settings(settings_.changed(models.get(model)(), changes or {}))


@cache
def size_of_settings(values: Any, *, with_products: bool = False) -> Size:
    """Returns the size of the network of a model's settings. To count multiply-adds, the network is traced: some take a
    second."""
    with named_extras():
        import equinox as eqx
        import jax

        from humboldt.models.networks.multiply_adds import multiply_adds
        from humboldt.models.networks.parameters import count_parameters, state_floats

    network = eqx.filter_eval_shape(lambda key: values.build(4, 4, num_symbols=3, key=key), jax.random.key(0))
    products = {length: multiply_adds(network, length) for length in LENGTHS} if with_products else {}
    return Size(count_parameters(network)["body"], state_floats(network, LENGTH), products)


def size_for(model: str, body: int, changes: Mapping[str, Any] | None = None) -> dict[str, int]:
    """Returns the size of a family whose number of body parameters is nearest to `body`, the smaller if two are.

    Widths that the heads allow may be far apart; then the units of the feed-forward layer make up the difference.

    ```
    size_for("family/lstm", 33_280)  # {"hidden_size": 64}
    ```
    """
    family = models.get(model)
    if not hasattr(family, "size"):
        raise UsageError(f"The model {model!r} is not a family: no setting of it is declared as its size.")
    if body < 1:
        raise UsageError(f"A body of {body} parameters is empty. Ask for 1 or more.")
    name = family.size

    def at_least(size: int) -> tuple[int, int]:
        for allowed in range(size, size + STEPS_TRIED):
            try:
                return allowed, size_of(model, {**(changes or {}), name: allowed}).body
            except UsageError:  # e.g. not a multiple of the heads
                continue
        raise UsageError(f"No {name} from {size} to {size + STEPS_TRIED - 1} is allowed for {model}.")

    low, high = 1, 2
    while high < LARGEST and at_least(high)[1] < body:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if at_least(middle)[1] < body else (low, middle)
    reached = at_least(low)
    below = next((at_least(size) for size in range(low - 1, 0, -1) if at_least(size)[0] < reached[0]), reached)
    size, nearest = min((below, reached), key=lambda option: abs(option[1] - body))
    if abs(nearest - body) <= NEAR * body or FINE not in settings_.names(family):
        return {name: size}
    one, two = (size_of(model, {**(changes or {}), name: size, FINE: units}).body for units in (1, 2))
    units = round(1 + (body - one) / (two - one)) if two > one else 0
    return {name: size, FINE: units} if units >= 1 else {name: size}
