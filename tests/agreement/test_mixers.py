"""Our mixers, given the weights of released layers, return the same vectors.

`frozen/mixers.npz` is made by `make_mixers.py` with the released code of flash-linear-attention, mamba, xlstm, S4,
minGRU and PD-SSM, in single precision. (For LRU, whose released code needs Flax, and for mamba with eigenvalues in
[-1, 1], the tests of the mixers have the equations as loops in NumPy.)
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.mixers.base import AbstractMixer
from humboldt.models.mixers.fast_weights import NAMED, FastWeights
from humboldt.models.mixers.mamba import Mamba
from humboldt.models.mixers.mamba2 import Mamba2
from humboldt.models.mixers.mingru import MinGRU
from humboldt.models.mixers.mlstm import MLSTM
from humboldt.models.mixers.pd_ssm import PDSSM
from humboldt.models.mixers.rwkv7 import RWKV7
from humboldt.models.mixers.s4d import S4D
from humboldt.models.mixers.slstm import SLSTM

WIDTH, HEADS = 8, 2
Arrays = dict[str, np.ndarray]


class Frozen:
    """One layer of the file: an array is used up when it is asked for."""

    def __init__(self, name: str) -> None:
        with np.load(Path(__file__).parent / "frozen" / "mixers.npz") as file:
            layout, values = json.loads(str(file["layout"])), file["values"]
        places = np.cumsum([0, *(int(np.prod(shape)) for _, shape in layout)])
        self.arrays: Arrays = {
            key.removeprefix(f"{name}/"): values[first:last].reshape(shape)
            for (key, shape), first, last in zip(layout, places[:-1], places[1:], strict=True)
            if key.startswith(f"{name}/")
        }

    def __call__(self, name: str) -> np.ndarray:
        return self.arrays.pop(name)

    def linear(self, ours: str, *theirs: str) -> Arrays:
        """A linear layer of ours that is several of theirs side by side."""
        arrays = {f"{ours}.weight": np.concatenate([self(f"{name}.weight").T for name in theirs], 1)}
        if f"{theirs[0]}.bias" in self.arrays:
            arrays[f"{ours}.bias"] = np.concatenate([self(f"{name}.bias") for name in theirs])
        return arrays

    def convolution(self, ours: str, *theirs: str) -> Arrays:
        arrays = {f"{ours}.weight": np.concatenate([self(f"{name}.weight")[:, 0].T for name in theirs], 1)}
        if f"{theirs[0]}.bias" in self.arrays:
            arrays[f"{ours}.bias"] = np.concatenate([self(f"{name}.bias") for name in theirs])
        return arrays


def fast_weights(frozen: Frozen) -> Arrays:
    keys = ("q_proj", "i_proj") if "i_proj.weight" in frozen.arrays else ("q_proj", "k_proj", "v_proj")
    arrays = frozen.linear(".input", *keys) | frozen.linear(".output", "o_proj")
    if "q_conv1d.weight" in frozen.arrays:
        arrays |= frozen.convolution(".convolution", "q_conv1d", "k_conv1d", "v_conv1d")
    if "o_norm.weight" in frozen.arrays:
        arrays[".norm.weight"] = frozen("o_norm.weight")[None]
    for ours, theirs in {
        ".strength": "b_proj",
        ".gate": "g_proj",
        ".decay.input": "a_proj",
        ".decay.inputs[0]": "f_proj",
    }.items():
        arrays |= frozen.linear(ours, theirs) if f"{theirs}.weight" in frozen.arrays else {}
    if "gk_proj.0.weight" in frozen.arrays:
        arrays |= frozen.linear(".decay.inputs[0]", "gk_proj.0") | frozen.linear(".decay.inputs[1]", "gk_proj.1")
    if "A_log" in frozen.arrays:
        arrays |= {".decay.bias": frozen("dt_bias"), ".decay.log_rate": frozen("A_log")}
    return arrays


def retnet(frozen: Frozen) -> Arrays:
    """Theirs turns the two halves of a head, ours neighbours."""
    size = WIDTH // HEADS
    order = np.concatenate([size * h + np.arange(size).reshape(2, -1).T.ravel() for h in range(HEADS)])
    for name in ("q_proj.weight", "k_proj.weight"):
        frozen.arrays[name] = frozen.arrays[name][order]
    return fast_weights(frozen)


def mamba(frozen: Frozen) -> Arrays:
    arrays = frozen.linear(".input", "in_proj") | frozen.convolution(".convolution", "conv1d")
    arrays |= frozen.linear(".select", "x_proj") | frozen.linear(".step_size", "dt_proj")
    arrays |= {".log_rate": frozen("A_log"), ".skip": frozen("D")}
    return arrays | frozen.linear(".output", "out_proj")


def mamba2(frozen: Frozen) -> Arrays:
    joint = frozen("in_proj.weight").T
    arrays = {".input.weight": joint[:, :-HEADS], ".decay.input.weight": joint[:, -HEADS:]}
    arrays |= {".decay.bias": frozen("dt_bias"), ".decay.log_rate": frozen("A_log"), ".skip": frozen("D")}
    arrays |= frozen.convolution(".convolution", "conv1d") | {".norm.weight": frozen("norm.weight")[None]}
    return arrays | frozen.linear(".output", "out_proj")


def s4d(frozen: Frozen) -> Arrays:
    names = {".log_step": "log_dt", ".log_rate": "log_A_real", ".frequency": "A_imag", ".reading": "C"}
    arrays = {ours: frozen(f"kernel.{theirs}") for ours, theirs in names.items()} | {".skip": frozen("D")}
    frozen.arrays["output_linear.0.weight"] = frozen.arrays["output_linear.0.weight"][..., 0]
    return arrays | frozen.linear(".output", "output_linear.0")


def mingru(frozen: Frozen) -> Arrays:
    return frozen.linear(".input", "to_hidden_and_gate") | frozen.linear(".output", "to_out")


def pd_ssm(frozen: Frozen) -> Arrays:
    arrays = frozen.linear(".select", "S") | frozen.linear(".reading", "readout") | {".skip": frozen("D")}
    for ours, theirs in {".sizes": "D_magnitude_generator", ".phases": "D_phase_generator"}.items():
        arrays |= frozen.linear(f"{ours}[0]", f"{theirs}.0") | frozen.linear(f"{ours}[1]", f"{theirs}.2")
    arrays[".matrices"] = frozen("A_dict").transpose(2, 0, 1)
    return arrays | {".writing.weight": np.concatenate([frozen("B_re"), frozen("B_im")]).T}


def slstm(frozen: Frozen) -> Arrays:
    arrays = frozen.convolution(".convolution", "conv1d.conv")
    # `fgate` of theirs is used for the input gate, and `igate` for the forget gate.
    for index, name in enumerate(("fgate", "igate", "zgate", "ogate")):
        arrays[f".gates[{index}].weight"] = frozen(f"{name}.weight").swapaxes(1, 2)
    size = WIDTH // HEADS
    # The vanilla cell keeps, for each head, rows of all gates: `head (gate out) in`.
    recurrent = frozen("slstm_cell._recurrent_kernel_").reshape(HEADS, 4, size, size)
    arrays[".recurrent"] = recurrent.transpose(0, 3, 1, 2)
    arrays[".bias"] = frozen("slstm_cell._bias_").reshape(4, HEADS, size)
    arrays[".norm.weight"] = 1 + frozen("group_norm.weight").reshape(HEADS, size)
    return arrays


def mlstm(frozen: Frozen) -> Arrays:
    arrays = frozen.linear(".input", "proj_up") | frozen.convolution(".convolution", "conv1d.conv")
    for index, name in enumerate(("q", "k", "v")):
        arrays[f".maps[{index}].weight"] = frozen(f"{name}_proj.weight").swapaxes(1, 2)
    arrays |= frozen.linear(".input_gate", "mlstm_cell.igate") | frozen.linear(".forget_gate", "mlstm_cell.fgate")
    arrays[".norm.weight"] = 1 + frozen("mlstm_cell.outnorm.weight").reshape(HEADS, -1)
    return arrays | {".skip": frozen("learnable_skip")} | frozen.linear(".output", "proj_down")


def rwkv7(frozen: Frozen) -> Arrays:
    arrays = {".mixtures": np.stack([frozen(f"x_{name}") for name in "rwkvag"])}
    for ours, theirs in {"query": "r", "key": "k", "value": "v", "output": "o"}.items():
        arrays |= frozen.linear(f".{ours}", f"{theirs}_proj")
    for ours, theirs in {"decay": "w", "strength": "a", "gate": "g", "first_share": "v"}.items():
        if f"{theirs}_lora.lora.0.weight" in frozen.arrays:
            arrays |= frozen.linear(f".{ours}.down", f"{theirs}_lora.lora.0")
            arrays |= frozen.linear(f".{ours}.up", f"{theirs}_lora.lora.2")
    arrays |= {".erased_scale": frozen("k_k"), ".key_scale": frozen("k_a"), ".bonus": frozen("r_k")}
    return arrays | {f".norm.{kind}": frozen(f"g_norm.{kind}").reshape(HEADS, -1) for kind in ("weight", "bias")}


def fast(name: str, **changes: Any) -> Callable[[Any], AbstractMixer]:
    return lambda key: FastWeights(WIDTH, HEADS, replace(NAMED[name], **changes), chunk=5, key=key)


CASES: dict[str, tuple[Callable[[Any], AbstractMixer], Callable[[Frozen], Arrays]]] = {
    **{name: (fast(name), fast_weights) for name in NAMED},
    "retnet": (fast("retnet"), retnet),
    "deltanet_negative": (fast("deltanet", eigenvalues="-1_1"), fast_weights),
    "gated_deltaproduct": (fast("gated_deltaproduct", householders=3), fast_weights),
    "mamba": (lambda key: Mamba(WIDTH, state_size=4, key=key), mamba),
    "mamba2": (lambda key: Mamba2(WIDTH, HEADS, state_size=4, chunk=5, key=key), mamba2),
    "s4d": (lambda key: S4D(WIDTH, state_size=6, key=key), s4d),
    "mingru": (lambda key: MinGRU(WIDTH, expansion=2, key=key), mingru),
    "pd_ssm": (lambda key: PDSSM(WIDTH, state_size=6, matrices=3, key=key), pd_ssm),
    "slstm": (lambda key: SLSTM(WIDTH, HEADS, key=key), slstm),
    "mlstm": (lambda key: MLSTM(WIDTH, HEADS, chunk=5, key=key), mlstm),
    "rwkv7": (lambda key: RWKV7(WIDTH, HEADS, key=key), rwkv7),
    "rwkv7_second": (lambda key: RWKV7(WIDTH, HEADS, layer=1, layers=2, key=key), rwkv7),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_the_released_layer(name: str):
    make, convert = CASES[name]
    frozen = Frozen(name)
    xs, expected = frozen("inputs"), frozen("outputs")
    first = jnp.asarray(frozen("v_first")[0]) if name == "rwkv7_second" else None
    arrays = convert(frozen)
    assert not frozen.arrays, f"not used: {sorted(frozen.arrays)}"

    def given(path: Any, leaf: Any) -> Any:
        array = arrays.pop(jax.tree_util.keystr(path))
        assert array.shape == leaf.shape, jax.tree_util.keystr(path)
        return jnp.asarray(array)

    mixer = jax.tree_util.tree_map_with_path(given, eqx.filter_eval_shape(make, jax.random.key(0)))
    assert not arrays, f"not in our mixer: {sorted(arrays)}"

    @eqx.filter_jit
    def run(mixer: AbstractMixer, xs: jax.Array) -> jax.Array:
        mask = jnp.ones(len(xs), bool)
        return mixer.mix(xs, mask, first)[0] if isinstance(mixer, RWKV7) else mixer(xs, mask)

    np.testing.assert_allclose(run(mixer, jnp.asarray(xs)), expected, rtol=1e-5, atol=2e-6 * np.abs(expected).max())
