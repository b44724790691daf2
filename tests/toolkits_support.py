"""Networks of the toolkits that the papers were made with (fairseq, OpenNMT-py), frozen in files, held to ours.

For each network a file has its parameters, the gradients of the loss (summed over symbols, averaged over sentences),
the batch and what the network says. Names are `NETWORK/parameter/NAME`, `NETWORK/gradient/NAME` and `NETWORK/...`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

PAD, SIZE = 1, 8  # the padding symbol, and the size of both vocabularies

Torch = Callable[[str], np.ndarray]
"""A parameter of the toolkit's network, or its gradient, by name."""
Arrays = dict[str, np.ndarray]
"""Weights of ours, or their gradients, by their place in the network."""


def lstm_gates(array: np.ndarray) -> np.ndarray:
    """PyTorch has the gates in the order i, f, g, o, and outputs before inputs; we have i, g, f, o."""
    i, f, g, o = np.split(array, 4)
    return np.concatenate([i, g, f, o]).T


def lstm_layer(torch: Torch, ours: str, theirs: str, ending: str = "") -> Arrays:
    """The weights of one LSTM layer in one direction."""
    return {
        f"{ours}.{mine}.{kind}": lstm_gates(torch(f"{theirs}.{kind}_{their}{ending}"))
        for mine, their in (("input", "ih"), ("recurrent", "hh"))
        for kind in ("weight", "bias")
    }


def lstm_decoder(torch: Torch, theirs: str, layers: int, embedding_size: int) -> Arrays:
    """The layers that write. The first reads an embedding and what was put out before: these we have apart."""
    values: Arrays = {}
    for i in range(layers):
        values |= lstm_layer(torch, f".writing.layers[{i}]", theirs.format(i))
    inputs = values[".writing.layers[0].input.weight"]
    values[".writing.layers[0].input.weight"] = inputs[:embedding_size]
    values[".writing.feeding.weight"] = inputs[embedding_size:]
    return values


class StackedLayers:
    """The weights of all layers of a Transformer, one above the other; `{}` in a name is the number of the layer."""

    def __init__(self, torch: Torch, layers: int) -> None:
        self.torch, self.layers = torch, layers

    def stacked(self, ours: str, theirs: str, *, transpose: bool = False) -> Arrays:
        """One array of each layer."""
        arrays = [self.torch(theirs.format(i)) for i in range(self.layers)]
        return {ours: np.stack([array.T if transpose else array for array in arrays])}

    def linear(self, ours: str, theirs: str) -> Arrays:
        """Weight and bias of a linear map in each layer."""
        weight = self.stacked(f"{ours}.weight", f"{theirs}.weight", transpose=True)
        return weight | self.stacked(f"{ours}.bias", f"{theirs}.bias")

    def norm(self, ours: str, theirs: str) -> Arrays:
        """Weight and bias of a normalisation in each layer."""
        weight = self.stacked(f"{ours}.norm.weight", f"{theirs}.weight")
        return weight | self.stacked(f"{ours}.norm.bias", f"{theirs}.bias")


def network_of(settings: Any) -> Any:
    """The network of these settings, for the vocabularies of the frozen ones."""
    return settings.build(SIZE, SIZE, num_symbols=SIZE, key=jax.random.key(0))


def with_values(build: Callable[[], Any], values: Mapping[str, np.ndarray]) -> Any:
    """The network with these weights; every weight must be given. None is drawn, which would take seconds."""
    left = dict(values)

    def put(path: Any, leaf: Any) -> Any:
        if not (isinstance(leaf, jax.ShapeDtypeStruct) and jnp.issubdtype(leaf.dtype, jnp.inexact)):
            return leaf
        array = left.pop(jax.tree_util.keystr(path))
        assert array.shape == leaf.shape, path
        return jnp.asarray(array)

    filled = jax.tree_util.tree_map_with_path(put, eqx.filter_eval_shape(build))
    assert not left
    return filled


def assert_agrees(
    build: Callable[[], Any], convert: Callable[[Torch], Arrays], frozen: Mapping[str, np.ndarray], source: np.ndarray
) -> None:
    """With the frozen weights our network has the frozen probabilities, loss and gradients.

    **Arguments:** `source`: padded on the right. `frozen` may have logits or logarithms of probabilities.
    """
    network = with_values(build, convert(lambda name: frozen[f"parameter/{name}"]))
    source_mask = jnp.asarray(source != PAD)
    target_mask = jnp.asarray(frozen["target"] != PAD)
    told, target = (jnp.asarray(frozen[name].astype(np.int32)) for name in ("previous", "target"))

    def loss(network: Any) -> Any:
        rows = jnp.asarray(source.astype(np.int32)), source_mask, told, target_mask
        logits = jax.vmap(lambda *row: network(*row))(*rows)
        nats = -jnp.take_along_axis(jax.nn.log_softmax(logits), target[..., None], -1)[..., 0]
        return jnp.where(target_mask, nats, 0).sum() / len(source), logits

    (value, logits), gradient = eqx.filter_jit(eqx.filter_value_and_grad(loss, has_aux=True))(network)
    real = np.asarray(target_mask)
    said, expected = (logits, "logits") if "logits" in frozen else (jax.nn.log_softmax(logits), "log_probabilities")
    assert np.allclose(np.asarray(said)[real], frozen[expected][real], atol=2e-5)
    assert float(value) == pytest.approx(float(frozen["loss"]), rel=1e-5)
    theirs = convert(lambda name: frozen[f"gradient/{name}"])
    ours = {jax.tree_util.keystr(p): x for p, x in jax.tree_util.tree_flatten_with_path(gradient)[0]}
    assert set(ours) == set(theirs)
    for key, expected in theirs.items():
        if "embedding" in key and not key.endswith("places"):
            expected[PAD] = np.asarray(ours[key])[PAD]  # the toolkits' padding symbol has no gradient, and we have none
        assert np.allclose(ours[key], expected, atol=2e-5), key


def of_network(frozen: Mapping[str, np.ndarray], name: str) -> Arrays:
    """What a file has of one network."""
    return {key.removeprefix(f"{name}/"): frozen[key] for key in frozen if key.startswith(f"{name}/")}
