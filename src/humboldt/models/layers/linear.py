"""The linear layer that every model here is made of."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Int, PRNGKeyArray

SMALL_TABLE = 64  # rows


def fan_in_normal(key: PRNGKeyArray, shape: tuple[int, int], fan_in: int) -> Float[Array, "in out"]:
    """Draws from a normal of standard deviation `fan_in ** -0.5`, cut off at two of them, as Delétang et al.'s library.

    The cut makes the actual deviation 12% smaller, which that library does not correct for either.
    """
    return jax.random.truncated_normal(key, -2.0, 2.0, shape) / fan_in**0.5


def look_up(table: Float[Array, "row out"], rows: Int[Array, "*any"]) -> Float[Array, "*any out"]:
    """Returns `table[rows]`, computed for a small table as a product with one-hot vectors.

    Then the gradient is a product, too, whereas that of a lookup adds to the same few rows again and again, one after
    the other.
    """
    if len(table) <= SMALL_TABLE:
        # The zero makes the vectors differ between members where the table does. Only then does XLA compute the
        # gradients of all members as one product with the members side by side, without first sorting a large array.
        zero = 0 * jax.lax.stop_gradient(table[0, 0])
        return (jax.nn.one_hot(rows, len(table), dtype=table.dtype) + zero) @ table
    # In single precision, in which accelerators add faster (and more exactly) than in half precision.
    return jnp.asarray(table, jnp.float32).at[rows].get(mode="promise_in_bounds").astype(table.dtype)


class Linear(eqx.Module):
    """`x @ weight + bias`, with an initial bias of zero (or none).

    `fan_in` is the number of inputs that the initialisation counts: more than `in_size` where this layer is one part
    of a larger one, split so that a part can be applied to all time steps at once. `joins_drive` means that in a cell
    the output is added to the drive and used for nothing else, so that both have the same gradient.
    """

    weight: Float[Array, "in out"]  # in this order, batches of `x` need no transposition
    bias: Float[Array, " out"] | None
    joins_drive: bool = eqx.field(static=True)

    def __init__(
        self,
        in_size: int,
        out_size: int,
        *,
        use_bias: bool = True,
        fan_in: int | None = None,
        joins_drive: bool = False,
        key: PRNGKeyArray,
    ) -> None:
        self.weight = fan_in_normal(key, (in_size, out_size), fan_in or in_size)
        self.bias = jnp.zeros(out_size) if use_bias else None
        self.joins_drive = joins_drive

    def __call__(self, x: Float[Array, " in"]) -> Float[Array, " out"]:
        y = (x.astype(self.weight.dtype) @ self.weight).astype(x.dtype)  # see `with_products_in`
        return y if self.bias is None else y + self.bias


def with_products_in(layer: Linear, dtype: DTypeLike) -> Linear:
    """Returns the same layer with factors and products rounded to `dtype`: half as much to read from memory."""
    return eqx.tree_at(lambda layer: layer.weight, layer, layer.weight.astype(dtype))


def uniform_linear(
    in_size: int, out_size: int, *, fan_in: int | None = None, joins_drive: bool = False, key: PRNGKeyArray
) -> Linear:
    """Builds a linear layer initialised as in PyTorch: weight and bias uniform within ± `fan_in ** -0.5`."""
    layer = Linear(in_size, out_size, joins_drive=joins_drive, key=key)
    bound = (fan_in or in_size) ** -0.5
    return uniform_like(layer, bound, bias_bound=bound, key=key)


def uniform_like(layer: Linear, bound: float, *, bias_bound: float, key: PRNGKeyArray) -> Linear:
    """Returns the same layer (or, with leading axes, layers) with a weight drawn uniformly within ± `bound` and a bias
    within ± `bias_bound`."""
    k_weight, k_bias = jax.random.split(key)
    weight = jax.random.uniform(k_weight, layer.weight.shape, minval=-bound, maxval=bound)
    layer = eqx.tree_at(lambda layer: layer.weight, layer, weight)
    if layer.bias is None:
        return layer
    bias = jax.random.uniform(k_bias, layer.bias.shape, minval=-bias_bound, maxval=bias_bound)
    return eqx.tree_at(lambda layer: layer.bias, layer, bias)
