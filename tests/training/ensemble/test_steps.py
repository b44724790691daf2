"""The arithmetic of one step, against formulas and plain NumPy loops."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jaxtyping import TypeCheckError

from humboldt.training.base import Recipe, Schedule
from humboldt.training.ensemble.steps import example_loss, learning_rate_factor, likeliest, transformation

GRADIENTS = np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32)
START = np.random.default_rng(1).normal(size=5).astype(np.float32)


def walk(recipe: Recipe, rate: float = 0.1) -> np.ndarray:
    """Weights after every step, as `train_step` moves them."""
    rule = transformation(recipe)
    weights: Any = jnp.array(START)
    state, path = rule.init(weights), []
    with jax.numpy_dtype_promotion("standard"):
        for gradient in GRADIENTS:
            updates: Any
            updates, state = rule.update(jnp.array(gradient), state, weights)
            weights = weights - rate * updates
            path.append(np.array(weights))
    return np.stack(path)


@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.9, 0.98), (0.5, 0.8)])
@pytest.mark.parametrize("decay", [0.0, 1e-2])
def test_adam_and_adamw_with_any_betas(betas: tuple[float, float], decay: float):
    optimiser = "adamw" if decay else "adam"
    found = walk(Recipe(steps=6, optimiser=optimiser, betas=betas, gradient_clip=None))
    first, second = betas
    weights = START.astype(np.float64)
    mean = square = np.zeros(5)
    for step, gradient in enumerate(GRADIENTS, 1):
        mean, square = first * mean + (1 - first) * gradient, second * square + (1 - second) * gradient**2
        update = (mean / (1 - first**step)) / (np.sqrt(square / (1 - second**step)) + 1e-8)
        weights = weights - 0.1 * (update + decay * weights)
        np.testing.assert_allclose(found[step - 1], weights, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_sgd_with_momentum_is_that_of_optax_and_of_a_plain_loop(momentum: float, nesterov: bool):
    recipe = Recipe(steps=6, optimiser="sgd", momentum=momentum, nesterov=nesterov, gradient_clip=None)
    found = walk(recipe)
    rule = optax.sgd(0.1, momentum or None, nesterov)
    theirs: Any = jnp.array(START)
    state = rule.init(theirs)
    weights, velocity = START.astype(np.float64), np.zeros(5)
    for step, gradient in enumerate(GRADIENTS):
        updates, state = rule.update(jnp.array(gradient), state, theirs)
        theirs = optax.apply_updates(theirs, updates)
        velocity = momentum * velocity + gradient
        weights = weights - 0.1 * (gradient + momentum * velocity if nesterov and momentum else velocity)
        np.testing.assert_allclose(found[step], theirs, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found[step], weights, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("start", [0.0, 0.1])
@pytest.mark.parametrize("decay", ["none", "inverse_square_root"])
@pytest.mark.parametrize("warm_up", [1, 7])
def test_the_learning_rate_follows_its_schedule(start: float, decay: str, warm_up: int):
    schedule = Schedule(warm_up, start, decay)  # pyright: ignore[reportArgumentType]
    found = [float(learning_rate_factor(schedule, jnp.array(step, jnp.int32))) for step in range(30)]
    for step, factor in enumerate(found):
        done = step + 1  # the first step has taken one part of the way up
        expected = start + (1 - start) * done / warm_up if done < warm_up else 1.0
        if done > warm_up and decay == "inverse_square_root":
            expected = (warm_up / done) ** 0.5
        assert factor == pytest.approx(expected, rel=1e-6)
    assert max(found) == pytest.approx(1.0) and int(np.argmax(found)) == warm_up - 1


def test_the_gradient_norm_is_clipped():
    def clipped(gradient: dict[str, Any]) -> dict[str, Any]:
        updates, _ = clip.update(gradient, clip.init(gradient), gradient)
        return updates  # pyright: ignore[reportReturnType]

    clip = transformation(Recipe(steps=1, optimiser="sgd", gradient_clip=1.0))
    gradient = {"a": jnp.full(4, 3.0), "b": jnp.full(4, 4.0)}
    norm = np.sqrt(sum((leaf**2).sum() for leaf in clipped(gradient).values()))
    np.testing.assert_allclose(norm, 1.0, rtol=1e-5)
    small = jax.tree.map(lambda x: x / 100, gradient)
    np.testing.assert_allclose(clipped(small)["a"], small["a"], rtol=1e-6)


def test_loss_and_accuracy_are_over_the_symbols_that_count():
    logits = jnp.log(jnp.array([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]]))
    targets, mask = jnp.array([0, 1, 1]), jnp.array([False, True, True])
    nats = -np.log([0.1, 0.8])
    mean, accuracy = example_loss(logits, targets, mask, "mean")
    total, _ = example_loss(logits, targets, mask, "sum")
    np.testing.assert_allclose([mean, total, accuracy], [nats.mean(), nats.sum(), 0.5], rtol=1e-5)
    nothing, accuracy = example_loss(logits, targets, jnp.zeros(3, bool), "mean")
    assert float(nothing) == 0 and float(accuracy) == 0


def test_shapes_in_types_are_checked_when_tests_run():
    """The option `--jaxtyping-packages` of pytest turns the checks on."""
    logits, targets = jnp.zeros((3, 2)), jnp.zeros(3, jnp.int32)
    example_loss(logits, targets, jnp.ones(3, bool), "mean")
    with pytest.raises(TypeCheckError):
        example_loss(logits, targets, jnp.ones(4, bool), "mean")


def test_the_likeliest_symbol_is_that_of_numpy_on_every_machine(monkeypatch: pytest.MonkeyPatch):
    """Of equal logits the first counts."""
    logits = np.random.default_rng(0).integers(-2, 3, (200, 4)).astype(np.float32)
    logits[0], logits[1] = -np.inf, [0, np.inf, np.inf, 1]
    for backend in ("cpu", "gpu"):
        monkeypatch.setattr(jax, "default_backend", lambda backend=backend: backend)
        np.testing.assert_array_equal(likeliest(jnp.asarray(logits)), logits.argmax(-1))
