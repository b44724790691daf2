"""Scans in the place of the kernels, with the same arguments and results: no machine of the tests has a GPU."""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from humboldt.models.loop.fused import batching, choice, kernels, self_test


def _one(kind: str, activation: str, weights: dict[str, Any], drives: Any, taps: Any) -> tuple[Any, Any]:
    """One example of one member: outputs and readings. `taps` are added to what the layers on the hidden state give."""
    hidden_size, has_stack = weights["recurrent"].shape[0], "stack" in kind
    num_steps = len(drives)

    def step(state: Any, inputs: Any) -> Any:
        hidden, memory, stack = state
        drive, tap = inputs
        drive = drive + hidden @ weights["recurrent"]
        read = stack[0]
        if has_stack:
            drive = drive + read @ weights["reading"]
        if "lstm" in kind:
            i, g, f, o = jnp.split(drive, 4)
            memory = jax.nn.sigmoid(f) * memory + jax.nn.sigmoid(i) * jnp.tanh(g)
            hidden = jax.nn.sigmoid(o) * jnp.tanh(memory)
        elif kind == "gru":
            reset, keep, heard, new = jnp.split(drive, 4)
            reset, keep = jax.nn.sigmoid(reset), jax.nn.sigmoid(keep)
            hidden = (1 - keep) * jnp.tanh(new + reset * heard) + keep * hidden
        else:
            hidden = (jax.nn.relu if activation == "relu" else jnp.tanh)(drive)
        if has_stack:
            push, pop, stay = jax.nn.softmax(hidden @ weights["action"] + weights["action_bias"] + tap["action"])
            value = hidden @ weights["value"] + weights["value_bias"] + tap["value"]
            above = jnp.concatenate([value[None], stack[:-1]])
            below = jnp.concatenate([stack[1:], jnp.zeros_like(stack[:1])])
            stack = push * above + pop * below + stay * stack
        return (hidden, memory, stack), (hidden, read)

    cell = weights["reading"].shape[0] if has_stack else 1
    start = jnp.zeros(hidden_size), jnp.zeros(hidden_size), jnp.zeros((num_steps + 1, cell))
    return jax.lax.scan(step, start, (drives, taps))[1]


class Scans:
    """`fits`, `forward` and `backward` as scans, with a list of the calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.reads_out: set[bool] = set()  # whether kernels were given a readout
        self.factor = 1.0  # on the gradients, to be wrong

    def fits(self, kind: str, sizes: Any) -> str | None:
        del kind
        return "it has too many steps" if sizes.steps > 40 else None

    def forward(
        self, kind: str, weights: Any, table: Any, symbols: Any, *, activation: str = "relu", keeps: bool = True
    ) -> Any:
        members = len(table)
        own = symbols if symbols.ndim == 3 else jnp.broadcast_to(symbols, (members, *symbols.shape))
        self.calls.append(("forward", kind, members, symbols.shape, keeps))
        self.reads_out.add("readout" in weights)
        drives = jax.vmap(lambda table, symbols: table[symbols])(table, own)
        outputs, read = self._run(kind, activation, weights, drives, self._taps(kind, weights, drives))
        results = outputs @ weights["readout"][:, None] if "readout" in weights else outputs
        if not keeps:
            return results, {}, ()
        notes = {"before": _one_later(outputs), **({"read": read} if "stack" in kind else {})}
        if kind in kernels.GATED:
            notes = {"inputs": jnp.concatenate([notes["before"], _one_hot(own, table.shape[1])], 3)}
        if "readout" in weights:
            notes["last"] = outputs[:, :, -1:]
        return results, notes, (drives, own)

    def backward(
        self, kind: str, weights: Any, residuals: Any, outputs: Any, d_outputs: Any, *, activation: str = "relu"
    ) -> Any:
        drives, symbols = residuals
        assert outputs.shape == d_outputs.shape and outputs.shape[:3] == symbols.shape
        self.calls.append(("backward", kind, *outputs.shape[:3]))
        taps = self._taps(kind, weights, outputs)
        _, pull = jax.vjp(lambda *inputs: self._run(kind, activation, weights, *inputs)[0], drives, taps)
        read_out = "readout" in weights
        d_drives, d_taps = pull(d_outputs @ weights["readout"][:, None].mT if read_out else d_outputs)
        scale = 2.0 + jnp.arange(len(outputs), dtype=jnp.float32)[:, None]  # another one for each member
        d_taps |= {"readout": d_outputs} if read_out else {}
        scaled = jax.tree.map(lambda x: self.factor * scale[:, :, None, None] * x, (d_drives, d_taps))
        d_taps = jax.tree.map(_one_later, scaled[1]) | ({"last": scaled[1]["readout"][:, :, -1:]} if read_out else {})
        return scaled[0], d_taps, jnp.broadcast_to(scale, outputs.shape[:2])

    def _run(self, kind: str, activation: str, weights: Any, drives: Any, taps: Any) -> Any:
        def member(weights: Any, *inputs: Any) -> Any:
            return jax.vmap(lambda *x: _one(kind, activation, weights, *x))(*inputs)

        return jax.vmap(member)(weights, drives, taps)

    def _taps(self, kind: str, weights: Any, like: Any) -> Any:
        names = ("value", "action") if "stack" in kind else ()
        return {name: jnp.zeros((*like.shape[:3], weights[name].shape[-1])) for name in names}


def _one_hot(symbols: Any, num_symbols: int) -> Any:
    """Symbols as the kernels of LSTM and GRU write them."""
    columns, has_low_parts = kernels.gated_table(num_symbols)
    low = jax.nn.one_hot(symbols + columns // 2, columns) if has_low_parts else 0
    return jax.nn.one_hot(symbols, columns) + low


def _one_later(x: Any) -> Any:
    """Moves every step's row to the next step; the first row is zeros."""
    return jnp.concatenate([jnp.zeros_like(x[:, :, :1]), x[:, :, :-1]], 2)


@pytest.fixture
def fresh_kernels() -> Iterator[None]:
    """JAX remembers what the kernels were when they were traced first."""
    for function in (batching.forward, batching.backward):
        function.cache_clear()
    yield
    for function in (batching.forward, batching.backward):
        function.cache_clear()


@pytest.fixture
def kernel_scans(fresh_kernels: None, monkeypatch: pytest.MonkeyPatch) -> Scans:
    """Makes the tests' machine one with kernels, which are scans."""
    scans = Scans()
    for name in ("fits", "forward", "backward"):
        monkeypatch.setattr(kernels, name, getattr(scans, name))
    monkeypatch.setattr(choice, "device_fault", lambda: "")
    monkeypatch.setattr(self_test, "_faults", {})
    return scans
