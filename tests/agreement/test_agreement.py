"""Our networks, given the weights of the released ones, say the same.

The frozen files are made by `make.py` with the released code of Delétang et al. (2023), in double precision. Where our
networks differ from that code on purpose (docs/chomsky.md), the setting that brings the code's behaviour back is on.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models import models

FROZEN = Path(__file__).parent / "frozen"
SYMBOLS, OUTPUTS = 3, 3
ENCODINGS = ("none", "sin_cos", "alibi", "relative", "rope")
EXACT = 1e-13  # but for sums taken in another order
SINGLE = 2e-5  # where we take sines and cosines in single precision: sin_cos, relative and rope
# The sizes of the frozen networks.
TAPE = {"hidden_size": 6, "cell_size": 3, "tape_size": 64}
CONTROLLER = ("input.weight", "input.bias", "recurrent.weight")  # in the order of `recurrence`
NDSTACK = {"hidden_size": 6, "num_states": 2, "num_stack_symbols": 2, "read_states": True}
SIZES = {"num_layers": 2, "width": 8, "num_heads": 2, "feed_forward_size": 16, "dropout": 0.0}
#: What is replaced where, in a network of ours.
Replace = list[tuple[Callable[[Any], Any], np.ndarray]]


@pytest.fixture(autouse=True)
def _double_precision() -> Iterator[None]:
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"):
        yield


class Frozen:
    """One file: weights by the names of the released code, inputs, outputs."""

    def __init__(self, name: str) -> None:
        with np.load(FROZEN / f"{name}.npz") as file:
            self.arrays = {key: file[key] for key in file.files}
        places = np.cumsum([0, *(int(np.prod(shape)) for _, shape in json.loads(str(self.arrays["layout"])))])
        self.weights = {
            name: self.arrays["weights"][first:last].reshape(shape)
            for (name, shape), first, last in zip(
                json.loads(str(self.arrays["layout"])), places[:-1], places[1:], strict=True
            )
        }

    def __getitem__(self, name: str) -> np.ndarray:
        """A weight, which is then used up."""
        return self.weights.pop(name)

    def model(self, setting: Any, replace: Callable[["Frozen"], Replace]) -> Any:
        """Our network with the weights of the file: all of them are used, and all of its own replaced."""
        built = eqx.filter_eval_shape(
            lambda key: setting.build(SYMBOLS + 1, OUTPUTS, num_symbols=SYMBOLS, key=key), jax.random.key(0)
        )
        found = [
            *replace(self),
            (lambda m: m.readout.weight, self["linear:w"]),
            (lambda m: m.readout.bias, self["linear:b"]),
        ]
        assert not self.weights, f"not used: {sorted(self.weights)}"
        for where, value in found:
            assert where(built).shape == value.shape
            built = eqx.tree_at(where, built, jnp.asarray(value))
        assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(built))
        return built


def run(model: Any, tokens: np.ndarray) -> np.ndarray:
    """The logits of each example of a batch."""
    found = eqx.filter_jit(eqx.filter_vmap(model))(jnp.asarray(tokens), jnp.ones(tokens.shape, bool))
    return np.asarray(found)


def recurrence(frozen: Frozen, core: str, *, reads: bool) -> Replace:
    """An RNN's weights. The released one sees input and reading as one vector, and has two biases."""
    path = "cell.controller" if reads else "cell"
    inputs = frozen[f"{core}vanilla_rnn/linear:w"]
    bias = frozen[f"{core}vanilla_rnn/linear:b"] + frozen[f"{core}vanilla_rnn/linear_1:b"]
    found: Replace = [
        (at(f"{path}.input.weight"), inputs[: SYMBOLS + 1]),
        (at(f"{path}.input.bias"), bias),
        (at(f"{path}.recurrent.weight"), frozen[f"{core}vanilla_rnn/linear_1:w"]),
    ]
    return [*found, (at("cell.reading.weight"), inputs[SYMBOLS + 1 :])] if reads else found


def at(path: str) -> Callable[[Any], Any]:
    """The part of a model at a path such as `cell.memory.value.0.weight`."""

    def where(model: Any) -> Any:
        for name in path.split("."):
            model = model[int(name)] if name.isdigit() else getattr(model, name)
        return model

    return where


def linear(frozen: Frozen, name: str, path: str) -> Replace:
    return [(at(f"{path}.weight"), frozen[f"{name}:w"]), (at(f"{path}.bias"), frozen[f"{name}:b"])]


def test_rnn():
    frozen = Frozen("rnn")
    model = frozen.model(models.get("rnn")(hidden_size=6), lambda f: recurrence(f, "", reads=False))
    np.testing.assert_allclose(run(model, frozen.arrays["tokens"]), frozen.arrays["outputs"], rtol=0, atol=EXACT)


def test_stack_rnn():
    frozen = Frozen("stack_rnn")
    model = frozen.model(
        models.get("stack_rnn")(hidden_size=6, cell_size=3),
        lambda f: [
            *recurrence(f, "stack_rnn_core/~/", reads=True),
            *linear(f, "stack_rnn_core/linear", "cell.memory.value"),
            *linear(f, "stack_rnn_core/linear_1", "cell.memory.action"),
        ],
    )
    np.testing.assert_allclose(run(model, frozen.arrays["tokens"]), frozen.arrays["outputs"], rtol=0, atol=EXACT)


def gated(frozen: Frozen, core: str, *, read_size: int) -> Replace:
    """An LSTM's weights. The released one sees input, reading and state as one vector."""
    path = "cell.controller" if read_size else "cell"
    inputs, reading, recurrent = np.split(frozen[f"{core}lstm/linear:w"], (SYMBOLS + 1, SYMBOLS + 1 + read_size))
    found: Replace = [
        (at(f"{path}.input.weight"), inputs),
        (at(f"{path}.input.bias"), frozen[f"{core}lstm/linear:b"]),
        (at(f"{path}.recurrent.weight"), recurrent),
    ]
    return [*found, (at("cell.reading.weight"), reading)] if read_size else found


def test_lstm():
    frozen = Frozen("lstm")
    setting = models.get("lstm")(hidden_size=5, relu_readout=True)
    model = frozen.model(setting, lambda f: gated(f, "", read_size=0))
    np.testing.assert_allclose(run(model, frozen.arrays["tokens"]), frozen.arrays["outputs"], rtol=0, atol=EXACT)


def test_stack_lstm():
    frozen = Frozen("stack_lstm")
    model = frozen.model(
        models.get("stack_lstm")(hidden_size=5, cell_size=3, relu_readout=True),
        lambda f: [
            *gated(f, "stack_rnn_core/~/", read_size=3),
            *linear(f, "stack_rnn_core/linear", "cell.memory.value"),
            *linear(f, "stack_rnn_core/linear_1", "cell.memory.action"),
        ],
    )
    np.testing.assert_allclose(run(model, frozen.arrays["tokens"]), frozen.arrays["outputs"], rtol=0, atol=EXACT)


def tape(frozen: Frozen) -> Replace:
    core = "tape_input_length_jump_core"
    return [
        *recurrence(frozen, f"{core}/~/", reads=True),
        *(part for i in range(3) for part in linear(frozen, f"{core}/mlp/~/linear_{i}", f"cell.memory.value.{i}")),
        *linear(frozen, f"{core}/linear", "cell.memory.action"),
    ]


def test_tape_rnn():
    frozen = Frozen("tape_rnn")
    model = frozen.model(models.get("tape_rnn")(**TAPE, jumps_write=True), tape)
    np.testing.assert_allclose(run(model, frozen.arrays["tokens"]), frozen.arrays["outputs"], rtol=0, atol=EXACT)


def by_node(actions: np.ndarray) -> np.ndarray:
    """From the released order of actions (all pushes, all pops, all replacements) to ours, node by node."""
    *lead, _ = actions.shape
    push, pop, replace = np.split(actions, (16, 24), -1)  # of 2 states and 2 symbols
    parts = [part.reshape(*lead, 4, -1) for part in (push, replace, pop)]
    return np.concatenate(parts, -1).reshape(*lead, -1)


def nondeterministic(frozen: Frozen) -> Replace:
    core = "nd_stack_rnn_core"
    *controller, (reading, weight) = recurrence(frozen, f"{core}/~/", reads=True)
    return [
        *controller,
        (reading, weight.reshape(2, 2, -1).swapaxes(0, 1).reshape(weight.shape)),  # ours reads by symbol, then state
        (at("cell.memory.action.weight"), by_node(frozen[f"{core}/linear:w"])),
        (at("cell.memory.action.bias"), by_node(frozen[f"{core}/linear:b"])),
    ]


def test_ndstack_rnn():
    frozen = Frozen("ndstack_rnn")
    model = frozen.model(models.get("ndstack_rnn")(**NDSTACK, fading=True), nondeterministic)
    np.testing.assert_allclose(run(model, frozen.arrays["tokens"]), frozen.arrays["outputs"], rtol=0, atol=EXACT)


def test_ndstack_rnn_whose_stack_is_used_up():
    frozen = Frozen("ndstack_rnn-5_places")
    settings = {**NDSTACK, "fading": True}
    model = frozen.model(models.get("ndstack_rnn")(**settings, stack_size=5), nondeterministic)
    tokens, outputs = frozen.arrays["tokens"], frozen.arrays["outputs"]
    np.testing.assert_allclose(run(model, tokens), outputs, rtol=0, atol=EXACT)
    endless = Frozen("ndstack_rnn-5_places").model(models.get("ndstack_rnn")(**settings), nondeterministic)
    longer = run(endless, tokens)
    np.testing.assert_allclose(longer[:, :5], outputs[:, :5], rtol=0, atol=EXACT)
    assert np.abs(longer - outputs)[:, 5:].max() > 0.001


def test_ndstack_rnn_with_one_place_is_a_plain_rnn():
    """Appendix B.6: its stack never holds anything, so that the released network has the outputs of an RNN."""
    frozen = Frozen("ndstack_rnn-1_places")
    model = frozen.model(models.get("ndstack_rnn")(**NDSTACK, fading=True, stack_size=1), nondeterministic)
    tokens, outputs = frozen.arrays["tokens"], frozen.arrays["outputs"]
    np.testing.assert_allclose(run(model, tokens), outputs, rtol=0, atol=EXACT)

    def without_stack(frozen: Frozen) -> Replace:
        weights = nondeterministic(frozen)
        return [(at(f"cell.{name}"), value) for name, (_, value) in zip(CONTROLLER, weights[:3], strict=True)]

    rnn = Frozen("ndstack_rnn-1_places").model(models.get("rnn")(hidden_size=6), without_stack)
    np.testing.assert_allclose(run(rnn, tokens), outputs, rtol=0, atol=EXACT)


def numbered(name: str, number: int) -> str:
    """The name that the released code's library gives to the layer of this number."""
    return f"{name}_{number}" if number else name


def layers(frozen: Frozen, core: str, path: str, *, attentions: tuple[str, ...], relative: bool) -> Replace:
    """The weights of all blocks of an encoder (one attention) or decoder (two), with a leading axis of layers."""
    count, found = 2, []

    def stacked(place: str, names: list[str]) -> None:
        found.append((at(f"{path}.blocks.{place}"), np.stack([frozen[name] for name in names])))

    for i, attention in enumerate(attentions):
        modules = [
            f"{core}/{numbered('multi_head_dot_product_attention', len(attentions) * layer + i)}"
            for layer in range(count)
        ]
        parts = ["query", "key", "value", *(["relative.key"] if relative else []), "output"]
        for number, part in enumerate(parts):
            stacked(f"{attention}.{part}.weight", [f"{module}/{numbered('linear', number)}:w" for module in modules])
        if relative:
            stacked(f"{attention}.relative.content_bias", [f"{module}:relpos_contentbias" for module in modules])
            stacked(f"{attention}.relative.distance_bias", [f"{module}:relpos_relativebias" for module in modules])
    norms = [*(f"after_{attention}" for attention in attentions), "after_feed_forward"]
    for i, norm in enumerate(norms):
        names = [f"{core}/{numbered('layer_norm', len(norms) * layer + i)}" for layer in range(count)]
        stacked(f"{norm}.norm.weight", [f"{name}:scale" for name in names])
        stacked(f"{norm}.norm.bias", [f"{name}:offset" for name in names])
    for i, part in enumerate(("up", "down"), 1):  # the first linear layer is the embedding
        names = [f"{core}/{numbered('linear', 2 * layer + i)}" for layer in range(count)]
        stacked(f"feed_forward.{part}.weight", [f"{name}:w" for name in names])
        stacked(f"feed_forward.{part}.bias", [f"{name}:b" for name in names])
    return found


def encoder_alone(frozen: Frozen) -> Replace:
    core = "transformer_encoder"
    relative = f"{core}/multi_head_dot_product_attention:relpos_contentbias" in frozen.weights
    return [
        (at("embedding.weight"), frozen[f"{core}/linear:w"]),
        *layers(frozen, core, "blocks", attentions=("attention",), relative=relative),
    ]


@pytest.mark.parametrize("positions", ENCODINGS)
def test_transformer_encoder(positions: str):
    frozen = Frozen(f"transformer_encoder-{positions}")
    setting = models.get("transformer_encoder")(positions=positions, sin_cos_from="end", **SIZES)
    model = frozen.model(setting, encoder_alone)
    tolerance = EXACT if positions in ("none", "alibi") else SINGLE
    np.testing.assert_allclose(run(model, frozen.arrays["tokens"]), frozen.arrays["outputs"], rtol=0, atol=tolerance)


@pytest.mark.parametrize("positions", ["none", "alibi", "rope"])
def test_transformer(positions: str):
    frozen = Frozen(f"transformer-{positions}")
    encoder, decoder = (f"transformer/~/transformer_{half}" for half in ("encoder", "decoder"))
    model = frozen.model(
        models.get("transformer")(positions=positions, **SIZES),
        lambda f: [
            # Our two halves have one alphabet, and the released encoder does not know the mark that begins an answer.
            (at("source_embedding.weight"), np.pad(f[f"{encoder}/linear:w"], ((0, 1), (0, 0)))),
            (at("target_embedding.weight"), f[f"{decoder}/linear:w"]),
            *layers(f, encoder, "encoder", attentions=("attention",), relative=False),
            *layers(f, decoder, "decoder", attentions=("attention", "cross"), relative=False),
        ],
    )
    source, target = frozen.arrays["source"], frozen.arrays["target"]
    mark = np.full((len(source), 1), SYMBOLS)
    found = run(model, np.concatenate([source, mark, target[:, :-1]], 1))[:, source.shape[1] :]
    tolerance = SINGLE if positions == "rope" else EXACT
    np.testing.assert_allclose(found, frozen.arrays["outputs"], rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    ("name", "setting", "replace"),
    [
        ("lstm", {"hidden_size": 5, "relu_readout": False}, lambda f: gated(f, "", read_size=0)),
        ("tape_rnn", {**TAPE, "jumps_write": False}, tape),
        ("ndstack_rnn", {**NDSTACK, "fading": False}, nondeterministic),
        ("transformer_encoder-sin_cos", {**SIZES, "positions": "sin_cos", "sin_cos_from": "start"}, encoder_alone),
    ],
)
def test_without_their_settings_the_departures_show(name: str, setting: Any, replace: Callable[[Frozen], Replace]):
    """So that the tests above could not pass with the settings off."""
    frozen = Frozen(name)
    model = frozen.model(models.get(name.partition("-")[0])(**setting), replace)
    assert np.abs(run(model, frozen.arrays["tokens"]) - frozen.arrays["outputs"]).max() > 1e-3
