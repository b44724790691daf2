"""Our networks with the weights of OpenNMT-py 0.6's say what these say, and have the same gradients.

`frozen/opennmt.npz` was made with OpenNMT-py 0.6.0 itself, the toolkit of LSTMS2S and Transformer in Hupkes et al.
(2020): an encoder in both directions with general attention and input feeding, and a Transformer. Each has one layer or
two, and no dropout. All parameters are random, so that a mistake in any would show. (One line was changed for today's
PyTorch, which turns a mask round with `~mask` instead of `1 - mask`.)
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toolkits_support import (
    Arrays,
    StackedLayers,
    Torch,
    assert_agrees,
    lstm_decoder,
    lstm_layer,
    network_of,
    of_network,
)

from humboldt.models.zoo.lstm_s2s import LSTMS2S
from humboldt.models.zoo.transformer_s2s import TransformerS2S

FROZEN = np.load(Path(__file__).parent / "frozen" / "opennmt.npz")
EMBEDDING = "{}.embeddings.make_embedding.emb_luts.0.weight"
SINES_FIRST = [0, 2, 4, 6, 1, 3, 5, 7]
READ_BY = ("linear_query", "linear_keys", "linear_values", "w_1", "generator")  # maps from features of a token
WRITTEN_BY = ("final_linear", "w_2")  # maps to them


def readout(torch: Torch) -> Arrays:
    return {".readout.weight": torch("generator.0.weight").T, ".readout.bias": torch("generator.0.bias")}


def lstm(torch: Torch, layers: int) -> Arrays:
    source, target = (torch(EMBEDDING.format(half)) for half in ("encoder", "decoder"))
    values = {".source_embedding": source, ".target_embedding": target} | readout(torch)
    for i in range(layers):
        for direction, ending in enumerate((f"_l{i}", f"_l{i}_reverse")):
            values |= lstm_layer(torch, f".reading[{i}][{direction}]", "encoder.rnn", ending)
    values |= lstm_decoder(torch, "decoder.rnn.layers.{}", layers, target.shape[1])
    values[".writing.query.weight"] = torch("decoder.attn.linear_in.weight").T
    values[".writing.combine.weight"] = torch("decoder.attn.linear_out.weight").T
    return values


def in_our_order(name: str, array: np.ndarray) -> np.ndarray:
    """Sines and cosines of a place take turns in OpenNMT-py; ours are one after the other. So all features of a token
    stand in another order, which no layer can notice."""
    if any(part in name for part in READ_BY):
        return array[:, SINES_FIRST] if array.ndim == 2 else array
    if any(part in name for part in WRITTEN_BY) or "layer_norm" in name:
        return array[SINES_FIRST]
    assert "embeddings" in name
    return array[:, SINES_FIRST]


def transformer(opennmt: Torch, layers: int) -> Arrays:
    def torch(name: str) -> np.ndarray:
        return in_our_order(name, opennmt(name))

    stack = StackedLayers(torch, layers)
    values = readout(torch)
    reads = {"attention": ("self_attn", "layer_norm")}
    writes = {"attention": ("self_attn", "layer_norm_1"), "cross": ("context_attn", "layer_norm_2")}
    for half, side, name, kinds in (
        ("encoder", "source", "transformer", reads),
        ("decoder", "target", "transformer_layers", writes),
    ):
        ours, theirs = f".{half}.blocks", f"{half}.{name}.{{}}"
        values[f".{side}_embedding.weight"] = torch(EMBEDDING.format(half))
        for mine, (attention, norm) in kinds.items():
            for part, their in (("query", "query"), ("key", "keys"), ("value", "values")):
                values |= stack.linear(f"{ours}.{mine}.{part}", f"{theirs}.{attention}.linear_{their}")
            values |= stack.linear(f"{ours}.{mine}.output", f"{theirs}.{attention}.final_linear")
            values |= stack.norm(f"{ours}.after_{mine}", f"{theirs}.{norm}")
        values |= stack.linear(f"{ours}.feed_forward.up", f"{theirs}.feed_forward.w_1")
        values |= stack.linear(f"{ours}.feed_forward.down", f"{theirs}.feed_forward.w_2")
        values |= stack.norm(f"{ours}.after_feed_forward", f"{theirs}.feed_forward.layer_norm")
        for kind in ("weight", "bias"):
            values[f".{half}_norm.{kind}"] = torch(f"{half}.layer_norm.{kind}")
    return values


def lstm_settings(layers: int) -> Any:
    return LSTMS2S(embedding_size=4, hidden_size=6, num_layers=layers, bidirectional=True, toolkit="opennmt")


def transformer_settings(layers: int) -> Any:
    return TransformerS2S(embedding_size=8, hidden_size=10, num_layers=layers, num_heads=2, toolkit="opennmt")


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(("name", "settings", "convert"), [
    ("lstm", lstm_settings, lstm),
    ("transformer", transformer_settings, transformer),
])  # fmt: skip
def test_agrees_with_opennmt(
    name: str, settings: Callable[[int], Any], convert: Callable[[Torch, int], Arrays], layers: int
) -> None:
    frozen = of_network(FROZEN, name if layers == 1 else f"{name}_{layers}_layers")
    assert_agrees(lambda: network_of(settings(layers)), lambda torch: convert(torch, layers), frozen, frozen["source"])
