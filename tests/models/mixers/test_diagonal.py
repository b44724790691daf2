"""Both forms of the linear recurrence, and the mixers made of it, against loops in NumPy."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.mixers import s4d
from humboldt.models.mixers.diagonal import Form, states
from humboldt.models.mixers.fast_weights import Eigenvalues
from humboldt.models.mixers.lru import LRU
from humboldt.models.mixers.mamba import Mamba
from humboldt.models.mixers.mingru import MinGRU
from humboldt.models.mixers.s4d import S4D

TIME, WIDTH = 9, 4


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def vectors() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(TIME, WIDTH))


@pytest.mark.parametrize("form", ["associative", "loop"])
def test_states_follow_the_recurrence(form: Form):
    random = np.random.default_rng(0)
    decays, drives = random.uniform(-1, 1, (TIME, 2, 3)), random.normal(size=(TIME, 2, 3))
    state, expected = np.zeros((2, 3)), []
    for decay, drive in zip(decays, drives, strict=True):
        state = decay * state + drive
        expected.append(state)
    found = jax.jit(lambda a, b: states(a, b, form=form))(jnp.asarray(decays, "f4"), jnp.asarray(drives, "f4"))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("eigenvalues", ["0_1", "-1_1"])
def test_mamba_against_its_equations(eigenvalues: Eigenvalues):
    xs = vectors()

    @eqx.filter_jit
    def run(xs: jax.Array) -> tuple[Mamba, jax.Array, jax.Array]:
        mixer = Mamba(WIDTH, eigenvalues=eigenvalues, state_size=3, key=jax.random.key(0))
        assert mixer.step_size.bias is not None
        mixer = eqx.tree_at(lambda m: m.step_size.bias, mixer, mixer.step_size.bias + 3)  # steps large enough to matter
        return mixer, mixer(xs, jnp.ones(TIME, bool)), jax.vmap(mixer.selected)(jnp.tile(xs, (1, 2)))[0]

    mixer, outputs, decays = run(jnp.asarray(xs, jnp.float32))
    assert np.abs(decays).max() < 1
    assert (decays.min() < 0) == (eigenvalues == "-1_1")

    m = jax.tree.map(lambda leaf: np.asarray(leaf, float), mixer)
    u, z = np.split(xs @ m.input.weight, 2, axis=-1)
    padded = np.concatenate([np.zeros((3, 2 * WIDTH)), u])
    u = sum(m.convolution.weight[i] * padded[i : i + TIME] for i in range(4)) + m.convolution.bias
    u = u * sigmoid(u)
    hidden, expected = np.zeros((2 * WIDTH, 3)), []
    for t in range(TIME):
        step, b, c = np.split(u[t] @ m.select.weight, [1, 4])
        step = np.log1p(np.exp(step @ m.step_size.weight + m.step_size.bias))
        decay = np.exp(-step[:, None] * np.exp(m.log_rate))
        decay = 2 * decay - 1 if eigenvalues == "-1_1" else decay
        hidden = decay * hidden + np.outer(step * u[t], b)
        y = (hidden @ c + m.skip * u[t]) * z[t] * sigmoid(z[t])
        expected.append(y @ m.output.weight)
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("eigenvalues", ["0_1", "-1_1"])
def test_both_forms_of_mamba_have_the_same_gradient(eigenvalues: Eigenvalues):
    xs = jnp.asarray(vectors(), jnp.float32)

    @eqx.filter_jit
    def gradient(form: Form) -> tuple[Mamba, jax.Array]:
        mixer = Mamba(WIDTH, eigenvalues=eigenvalues, state_size=3, form=form, key=jax.random.key(0))
        return eqx.filter_grad(lambda both: jnp.sin(both[0](both[1], jnp.ones(TIME, bool))).sum())((mixer, xs))

    found, expected = (jax.tree.leaves(gradient(form)) for form in ("loop", "associative"))
    assert min(float(np.abs(leaf).max()) for leaf in expected) > 0
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_lru_against_its_equations():
    xs = vectors()

    @eqx.filter_jit
    def run(xs: jax.Array) -> tuple[LRU, jax.Array]:
        mixer = LRU(WIDTH, state_size=5, key=jax.random.key(0))
        return mixer, mixer(xs, jnp.ones(TIME, bool))

    mixer, outputs = run(jnp.asarray(xs, jnp.float32))
    m = jax.tree.map(lambda leaf: np.asarray(leaf, float), mixer)
    eigenvalues = np.exp(-np.exp(m.log_rate) + 1j * np.exp(m.log_phase))
    assert np.abs(eigenvalues).max() < 1
    np.testing.assert_allclose(np.exp(m.log_scale), np.sqrt(1 - np.abs(eigenvalues) ** 2), rtol=1e-4)
    b = (m.writing.weight[:, :5] + 1j * m.writing.weight[:, 5:]) * np.exp(m.log_scale)
    c = m.reading.weight[:5] + 1j * m.reading.weight[5:]
    hidden, expected = np.zeros(5, complex), []
    for x in xs:
        hidden = eigenvalues * hidden + x @ b
        y = (hidden @ c).real + m.skip * x
        y = 0.5 * y * (1 + np.tanh(np.sqrt(2 / np.pi) * (y + 0.044715 * y**3)))
        value, gate = np.split(y @ m.output.weight + m.output.bias, 2)
        expected.append(value * sigmoid(gate))
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-5)


def test_states_of_s4d_decay():
    decay, _ = eqx.filter_jit(lambda: S4D(WIDTH, state_size=6, key=jax.random.key(0))._discrete())()
    assert np.abs(decay).max() < 1


@pytest.mark.parametrize("positive", [False, True])
def test_a_state_of_mingru_stays_between_its_candidates(positive: bool):
    xs = vectors()

    @eqx.filter_jit
    def run(xs: jax.Array) -> tuple[MinGRU, jax.Array]:
        mixer = MinGRU(WIDTH, positive=positive, key=jax.random.key(0))
        return mixer, mixer(xs, jnp.ones(TIME, bool))

    mixer, outputs = run(jnp.asarray(xs, jnp.float32))
    candidates, gates = np.split(xs @ np.asarray(mixer.input.weight, float), 2, axis=-1)
    if positive:
        candidates = np.where(candidates >= 0, candidates + 0.5, sigmoid(candidates))
    hidden = np.zeros(WIDTH)
    for t in range(TIME):
        hidden = (1 - sigmoid(gates[t])) * hidden + sigmoid(gates[t]) * candidates[t]
        np.testing.assert_allclose(outputs[t], hidden, rtol=1e-4, atol=1e-5)
    assert outputs.min() >= min(0, candidates.min())
    assert outputs.max() <= max(0, candidates.max())
    assert not positive or outputs.min() > 0


def test_s4d_by_its_response_is_s4d_by_its_states(monkeypatch: pytest.MonkeyPatch):
    """Short strings are weighted with the response to one input, long ones read by states: numbers and gradients."""
    mixer = S4D(WIDTH, state_size=6, key=jax.random.key(0))
    both = []
    for longest in (TIME, 0):
        monkeypatch.setattr(s4d, "LONGEST_RESPONSE", longest)

        @eqx.filter_jit
        def run(mixer: S4D, xs: jax.Array) -> tuple[jax.Array, S4D]:
            def loss(mixer: S4D) -> tuple[jax.Array, jax.Array]:
                ys = mixer(xs, jnp.ones(TIME, bool))
                return jnp.sin(3 * ys).sum(), ys

            gradients, ys = eqx.filter_grad(loss, has_aux=True)(mixer)
            return ys, gradients

        both.append(jax.tree.leaves(run(mixer, jnp.asarray(vectors(), jnp.float32))))
    for one, other in zip(*both, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
