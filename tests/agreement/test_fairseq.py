"""Our networks with the weights of fairseq 0.9's say what these say, and have the same gradients.

`frozen/fairseq.npz` was made with fairseq 0.9.0 itself: seven small networks (parameters, gradients of the loss summed
over symbols and averaged over three sentences, logits without dropout). Parameters that start at zero were given small
random values, so that a mistake in them would show.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from toolkits_support import (
    PAD,
    SIZE,
    Arrays,
    StackedLayers,
    Torch,
    assert_agrees,
    lstm_decoder,
    lstm_layer,
    network_of,
    of_network,
)

from humboldt.models.networks.sequence_to_sequence.lstm import LSTMSequenceToSequence
from humboldt.models.zoo.cnn_s2s import CNNS2S
from humboldt.models.zoo.transformer_s2s import TransformerS2S

FROZEN = np.load(Path(__file__).parent / "frozen" / "fairseq.npz")


def lstm(torch: Torch, layers: int, attention: bool, wide: bool) -> Arrays:
    values = {
        ".source_embedding": torch("encoder.embed_tokens.weight"),
        ".target_embedding": torch("decoder.embed_tokens.weight"),
        ".readout.weight": torch("decoder.fc_out.weight").T,
        ".readout.bias": torch("decoder.fc_out.bias"),
    }
    for i in range(layers):
        values |= lstm_layer(torch, f".reading[{i}][0]", "encoder.lstm", f"_l{i}")
    values |= lstm_decoder(torch, "decoder.layers.{}", layers, values[".target_embedding"].shape[1])
    if attention:
        values[".writing.query.weight"] = torch("decoder.attention.input_proj.weight").T
        values[".writing.combine.weight"] = torch("decoder.attention.output_proj.weight").T
    if wide:
        values[".hidden_layer.weight"] = torch("decoder.additional_fc.weight").T
        values[".hidden_layer.bias"] = torch("decoder.additional_fc.bias")
    return values


def fconv(torch: Torch, layers: int) -> Arrays:
    def linear(ours: str, theirs: str) -> Arrays:
        return {
            f"{ours}.direction": torch(f"{theirs}.weight_v").T,
            f"{ours}.scale": torch(f"{theirs}.weight_g")[:, 0],
            f"{ours}.bias": torch(f"{theirs}.bias"),
        }

    def convolution(ours: str, theirs: str) -> Arrays:
        weight = torch(f"{theirs}.weight_v")
        return {
            f"{ours}.linear.direction": weight.reshape(-1, weight.shape[-1]),
            f"{ours}.linear.scale": torch(f"{theirs}.weight_g").reshape(-1),
            f"{ours}.linear.bias": torch(f"{theirs}.bias"),
        }

    values: Arrays = {}
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


def transformer(torch: Torch, layers: int) -> Arrays:
    stack = StackedLayers(torch, layers)
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
                values |= stack.linear(f"{ours}.{mine}.{name}", f"{theirs}.{their}.{letter}_proj")
            values |= stack.norm(f"{ours}.after_{mine}", f"{theirs}.{their}_layer_norm")
        values |= stack.linear(f"{ours}.feed_forward.up", f"{theirs}.fc1")
        values |= stack.linear(f"{ours}.feed_forward.down", f"{theirs}.fc2")
        values |= stack.norm(f"{ours}.after_feed_forward", f"{theirs}.final_layer_norm")
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


CONVOLUTION: dict[str, Any] = {"embedding_size": 4, "bottleneck": 5, "num_places": 38}
TRANSFORMER: dict[str, Any] = {"embedding_size": 8, "hidden_size": 10, "num_heads": 2}
CASES: Mapping[str, tuple[Callable[[], Any], Callable[[Torch], Arrays]]] = {
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


def right_padded(rows: np.ndarray) -> np.ndarray:
    """fairseq pads sources on the left, we do on the right."""
    lengths = (rows != PAD).sum(1)
    return np.stack([np.roll(row, -(rows.shape[1] - length)) for row, length in zip(rows, lengths, strict=True)])


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_fairseq(name: str) -> None:
    build, convert = CASES[name]
    frozen = of_network(FROZEN, name)
    assert_agrees(build, convert, frozen, right_padded(frozen["source"]))
