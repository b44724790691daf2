"""Our networks with the weights of fairseq 0.9's say what these say, and have the same gradients.

`frozen/fairseq.npz` was made with fairseq 0.9.0 itself: seven small networks (parameters, gradients of the loss summed
over symbols and averaged over three sentences, logits without dropout). Parameters that start at zero were given small
random values, so that a mistake in them would show.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.cnn_s2s import CNNS2S
from humboldt.models.networks.sequence_to_sequence.lstm import LSTMSequenceToSequence
from humboldt.models.transformer_s2s import TransformerS2S

GOLDEN = np.load(Path(__file__).parent / "frozen" / "fairseq.npz")
PAD, END, SIZE = 1, 2, 8

Torch = Callable[[str], np.ndarray]
"""A parameter of fairseq, or its gradient, by name."""


def lstm_gates(array: np.ndarray) -> np.ndarray:
    """PyTorch has the gates in the order i, f, g, o, and outputs before inputs; we have i, g, f, o."""
    i, f, g, o = np.split(array, 4)
    return np.concatenate([i, g, f, o]).T


def lstm(torch: Torch, layers: int, attention: bool, wide: bool) -> dict[str, np.ndarray]:
    values = {
        ".source_embedding": torch("encoder.embed_tokens.weight"),
        ".target_embedding": torch("decoder.embed_tokens.weight"),
        ".readout.weight": torch("decoder.fc_out.weight").T,
        ".readout.bias": torch("decoder.fc_out.bias"),
    }
    size = values[".target_embedding"].shape[1]
    for i in range(layers):
        reading, writing = f".reading[{i}][0]", f".writing.layers[{i}]"
        values[f"{reading}.input.weight"] = lstm_gates(torch(f"encoder.lstm.weight_ih_l{i}"))
        values[f"{reading}.input.bias"] = lstm_gates(torch(f"encoder.lstm.bias_ih_l{i}"))
        values[f"{reading}.recurrent.weight"] = lstm_gates(torch(f"encoder.lstm.weight_hh_l{i}"))
        values[f"{reading}.recurrent.bias"] = lstm_gates(torch(f"encoder.lstm.bias_hh_l{i}"))
        inputs = lstm_gates(torch(f"decoder.layers.{i}.weight_ih"))
        values[f"{writing}.input.weight"] = inputs[:size] if i == 0 else inputs
        if i == 0:
            values[".writing.feeding.weight"] = inputs[size:]
        values[f"{writing}.input.bias"] = lstm_gates(torch(f"decoder.layers.{i}.bias_ih"))
        values[f"{writing}.recurrent.weight"] = lstm_gates(torch(f"decoder.layers.{i}.weight_hh"))
        values[f"{writing}.recurrent.bias"] = lstm_gates(torch(f"decoder.layers.{i}.bias_hh"))
    if attention:
        values[".writing.query.weight"] = torch("decoder.attention.input_proj.weight").T
        values[".writing.combine.weight"] = torch("decoder.attention.output_proj.weight").T
    if wide:
        values[".hidden_layer.weight"] = torch("decoder.additional_fc.weight").T
        values[".hidden_layer.bias"] = torch("decoder.additional_fc.bias")
    return values


def fconv(torch: Torch, layers: int) -> dict[str, np.ndarray]:
    def linear(ours: str, theirs: str) -> dict[str, np.ndarray]:
        return {
            f"{ours}.direction": torch(f"{theirs}.weight_v").T,
            f"{ours}.scale": torch(f"{theirs}.weight_g")[:, 0],
            f"{ours}.bias": torch(f"{theirs}.bias"),
        }

    def convolution(ours: str, theirs: str) -> dict[str, np.ndarray]:
        weight = torch(f"{theirs}.weight_v")
        return {
            f"{ours}.linear.direction": weight.reshape(-1, weight.shape[-1]),
            f"{ours}.linear.scale": torch(f"{theirs}.weight_g").reshape(-1),
            f"{ours}.linear.bias": torch(f"{theirs}.bias"),
        }

    values: dict[str, np.ndarray] = {}
    for ours, theirs in (("source", "encoder"), ("target", "decoder")):
        values[f".{ours}_embedding.tokens"] = torch(f"{theirs}.embed_tokens.weight")
        values[f".{ours}_embedding.places"] = torch(f"{theirs}.embed_positions.weight")[PAD + 1 :]
        values |= linear(f".{ours}_in", f"{theirs}.fc1") | linear(f".{ours}_out", f"{theirs}.fc2")
        for i in range(layers):
            values |= convolution(f".{theirs}[{i}]", f"{theirs}.convolutions.{i}")
    for i in range(layers):
        for ours, theirs in (("inwards", "in_projection"), ("outwards", "out_projection")):
            values |= linear(f".attention[{i}].{ours}", f"decoder.attention.{i}.{theirs}")
    return values | linear(".readout", "decoder.fc3")


def transformer(torch: Torch, layers: int) -> dict[str, np.ndarray]:
    def stacked(ours: str, theirs: str, *, transpose: bool = False) -> dict[str, np.ndarray]:
        arrays = [torch(theirs.format(i)) for i in range(layers)]
        return {ours: np.stack([array.T if transpose else array for array in arrays])}

    def linear(ours: str, theirs: str) -> dict[str, np.ndarray]:
        weight = stacked(f"{ours}.weight", f"{theirs}.weight", transpose=True)
        return weight | stacked(f"{ours}.bias", f"{theirs}.bias")

    def norm(ours: str, theirs: str) -> dict[str, np.ndarray]:
        return stacked(f"{ours}.norm.weight", f"{theirs}.weight") | stacked(f"{ours}.norm.bias", f"{theirs}.bias")

    values = {
        ".source_embedding.weight": torch("encoder.embed_tokens.weight"),
        ".target_embedding.weight": torch("decoder.embed_tokens.weight"),
        ".readout.weight": torch("decoder.embed_out").T,
    }
    for half in ("encoder", "decoder"):
        ours, theirs = f".{half}.blocks", f"{half}.layers.{{}}"
        attentions = {"attention": "self_attn"} | ({"cross": "encoder_attn"} if half == "decoder" else {})
        for mine, their in attentions.items():
            for name, letter in (("query", "q"), ("key", "k"), ("value", "v"), ("output", "out")):
                values |= linear(f"{ours}.{mine}.{name}", f"{theirs}.{their}.{letter}_proj")
            values |= norm(f"{ours}.after_{mine}", f"{theirs}.{their}_layer_norm")
        values |= linear(f"{ours}.feed_forward.up", f"{theirs}.fc1")
        values |= linear(f"{ours}.feed_forward.down", f"{theirs}.fc2")
        values |= norm(f"{ours}.after_feed_forward", f"{theirs}.final_layer_norm")
    return values


def lstm_network(layers: int, attention: bool, wide: bool) -> Any:
    return LSTMSequenceToSequence(
        SIZE,
        SIZE,
        embedding_size=4,
        hidden_size=6,
        num_layers=layers,
        directions=1,
        attention=attention,
        hidden_layer=10 if wide else None,
        dropout=0.5,
        drops_inputs=True,
        key=jax.random.key(0),
    )


def network_of(settings: Any) -> Any:
    return settings.build(SIZE, SIZE, num_symbols=SIZE, key=jax.random.key(0))


CONVOLUTION: dict[str, Any] = {"embedding_size": 4, "bottleneck": 5, "num_places": 38}
TRANSFORMER: dict[str, Any] = {"embedding_size": 8, "hidden_size": 10, "num_heads": 2}
CASES: Mapping[str, tuple[Callable[[], Any], Callable[[Torch], dict[str, np.ndarray]]]] = {
    "lstm_no_att": (lambda: lstm_network(1, False, False), lambda torch: lstm(torch, 1, False, False)),
    "lstm_att": (lambda: lstm_network(1, True, False), lambda torch: lstm(torch, 1, True, False)),
    "lstm_att_2_layers_wide_out": (lambda: lstm_network(2, True, True), lambda torch: lstm(torch, 2, True, True)),
    "fconv": (lambda: network_of(CNNS2S(hidden_size=6, **CONVOLUTION)), lambda torch: fconv(torch, 1)),
    "fconv_2_layers_width_4": (
        lambda: network_of(CNNS2S(hidden_size=6, num_layers=2, kernel_width=4, **CONVOLUTION)),
        lambda torch: fconv(torch, 2),
    ),
    "transformer": (lambda: network_of(TransformerS2S(**TRANSFORMER)), lambda torch: transformer(torch, 1)),
    "transformer_2_layers": (
        lambda: network_of(TransformerS2S(**TRANSFORMER, num_layers=2)),
        lambda torch: transformer(torch, 2),
    ),
}


def with_values(network: Any, values: Mapping[str, np.ndarray]) -> Any:
    """The same network with these weights; every weight must be given."""
    left = dict(values)

    def put(path: Any, leaf: Any) -> Any:
        if not eqx.is_inexact_array(leaf):
            return leaf
        array = left.pop(jax.tree_util.keystr(path))
        assert array.shape == leaf.shape, path
        return jnp.asarray(array)

    filled = jax.tree_util.tree_map_with_path(put, network)
    assert not left
    return filled


def right_padded(rows: np.ndarray) -> tuple[jnp.ndarray, jnp.ndarray]:
    """fairseq pads sources on the left, we do on the right."""
    lengths = (rows != PAD).sum(1)
    moved = np.stack([np.roll(row, -(rows.shape[1] - length)) for row, length in zip(rows, lengths, strict=True)])
    return jnp.asarray(moved.astype(np.int32)), jnp.arange(rows.shape[1])[None] < lengths[:, None]


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_fairseq(name: str) -> None:
    build, convert = CASES[name]
    network = with_values(build(), convert(lambda key: GOLDEN[f"{name}/parameter/{key}"]))
    source, source_mask = right_padded(GOLDEN[f"{name}/source"])
    told = jnp.asarray(GOLDEN[f"{name}/previous"].astype(np.int32))
    target = GOLDEN[f"{name}/target"]
    target_mask = jnp.asarray(target != PAD)
    target = jnp.asarray(target.astype(np.int32))

    def loss(network: Any) -> Any:
        logits = jax.vmap(lambda *row: network(*row))(source, source_mask, told, target_mask)
        nats = -jnp.take_along_axis(jax.nn.log_softmax(logits), target[..., None], -1)[..., 0]
        return jnp.where(target_mask, nats, 0).sum() / len(source), logits

    (value, logits), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(network)
    real = np.asarray(target_mask)
    assert np.allclose(np.asarray(logits)[real], GOLDEN[f"{name}/logits"][real], atol=2e-5)
    assert float(value) == pytest.approx(float(GOLDEN[f"{name}/loss"]), rel=1e-5)
    theirs = convert(lambda key: GOLDEN[f"{name}/gradient/{key}"])
    ours = {jax.tree_util.keystr(p): x for p, x in jax.tree_util.tree_flatten_with_path(gradient)[0]}
    assert set(ours) == set(theirs)
    for key, expected in theirs.items():
        if key.endswith("embedding") or key.endswith("tokens") or key.endswith("embedding.weight"):
            expected[PAD] = np.asarray(ours[key])[PAD]  # fairseq's padding symbol has no gradient, and we have none
        assert np.allclose(ours[key], expected, atol=2e-5), key
