"""Gradients of weights after the loop, from factors of half precision that the kernels have written.

A gradient of a weight is the sum over all steps of (input of its layer) x (gradient of its output). JAX would derive a
product of such factors whose result is rounded to half precision, too; here sums are in single precision.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array, Float

_recorded = Primitive("recorded")
_recorded.multiple_results = True


def recorded(
    weight: Float[Array, "in out"], inputs: Float[Array, "time in"]
) -> tuple[Float[Array, "time out"], Float[Array, ""]]:
    """Returns stand-ins for the outputs of a layer at all steps, and for a scale.

    The values have no meaning. The cotangent of the first is the gradient of the layer's outputs times a scale, that of
    the second is this scale, which must be the same for all examples of a member. The gradient of the weight is then
    one product for all steps of all examples. None goes to `inputs`.
    """
    outputs, scale = _recorded.bind(weight[None], inputs[None, None])
    return outputs[0, 0], scale[0, 0]


def product(
    inputs: Float[Array, "member example time in"], d_outputs: Float[Array, "member example time out"]
) -> Float[Array, "member in out"]:
    """Returns the sums over all steps of all examples, in single precision."""
    if inputs.shape[3] > 1:
        # Without a barrier, XLA may join products that share a factor: it then copies their other factors, which may be
        # large, into one array.
        inputs, d_outputs = jax.lax.optimization_barrier((inputs, d_outputs))
    return jnp.einsum("mbti,mbto->mio", inputs, d_outputs, preferred_element_type=jnp.float32)


# As in `batching`, weights have an axis of members, inputs and outputs have axes of members and examples.


def _shapes(weight: Any, inputs: Any) -> list[Any]:
    shape = *inputs.shape[:3], weight.shape[2]
    return [ShapedArray(shape, inputs.dtype), ShapedArray(inputs.shape[:2], jnp.dtype("float32"))]


def _values(weight: Array, inputs: Array) -> list[Array]:
    """Returns zeros; programs that are compiled never compute them."""
    shape = *inputs.shape[:3], weight.shape[2]
    return [jnp.zeros(shape, inputs.dtype), jnp.zeros(inputs.shape[:2], jnp.float32)]


def _tangents(primals: Any, tangents: Any) -> tuple[Any, Any]:
    weight, inputs = primals
    values = _recorded.bind(weight, inputs)
    if type(tangents[0]) is ad.Zero:
        return values, [jnp.zeros_like(value) for value in values]
    return values, _recorded.bind(tangents[0], inputs)


def _gradient(cotangents: Any, weight: Any, inputs: Array) -> list[Any]:
    d_outputs, scale = cotangents
    if type(d_outputs) is ad.Zero:
        return [ad.Zero(weight.aval), None]
    return [product(inputs, d_outputs) / scale[:, 0][:, None, None], None]


def _batched(arguments: Any, axes: Any) -> tuple[Any, Any]:
    (weight, inputs), (of_weight, of_inputs) = arguments, axes
    size = (weight.shape if of_weight is not None else inputs.shape)[of_weight if of_weight is not None else of_inputs]

    def first(x: Array, axis: int | None) -> Array:
        return jnp.broadcast_to(x, (size, *x.shape)) if axis is None else jnp.moveaxis(x, axis, 0)

    inputs = first(inputs, of_inputs)
    if of_weight is None:  # more examples
        folded = jnp.moveaxis(inputs, 0, 1)
        folded = folded.reshape(folded.shape[0], -1, *folded.shape[3:])
        results = _recorded.bind(weight, folded)
        return [jnp.moveaxis(x.reshape(x.shape[0], size, -1, *x.shape[2:]), 1, 0) for x in results], [0, 0]
    weight = first(weight, of_weight)  # more members
    results = _recorded.bind(*(x.reshape(-1, *x.shape[2:]) for x in (weight, inputs)))
    return [x.reshape(size, -1, *x.shape[1:]) for x in results], [0, 0]


_recorded.def_impl(_values)
_recorded.def_abstract_eval(_shapes)
ad.primitive_jvps[_recorded] = _tangents
ad.primitive_transposes[_recorded] = _gradient
batching.primitive_batchers[_recorded] = _batched
mlir.register_lowering(_recorded, mlir.lower_fun(_values, multiple_results=True))
