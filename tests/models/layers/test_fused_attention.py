"""Attention by the kernels, with products in their place, against the attention of today."""

import re
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attention_support import Products
from attention_support import fresh_attention as fresh_attention
from attention_support import kernel_products as kernel_products

from humboldt.models.layers.attention import Attention, KeysValues
from humboldt.models.layers.blocks import BlockOptions, Blocks
from humboldt.models.layers.fused import self_test
from humboldt.models.layers.fused.choice import form_of, noted_attention
from humboldt.models.layers.fused.kernels import Form
from humboldt.models.loop.fused import choice as loops
from humboldt.models.loop.fused.choice import loop_road, without_gradients

MEMBERS, EXAMPLES, TIME, WIDTH, HEADS = 3, 4, 7, 16, 2
scan = pytest.mark.skipif(not hasattr(jax, "make_user_context"), reason="no kernel with this version of JAX")


def members_of(positions: Any, **options: Any) -> tuple[Any, Any]:
    """The weights of all members, and the part that they share. Biases are large enough to matter."""
    layers = [Attention(WIDTH, HEADS, positions=positions, key=jax.random.key(i), **options) for i in range(MEMBERS)]
    parts = [eqx.partition(layer, eqx.is_inexact_array) for layer in layers]
    weights = jax.tree.map(lambda *x: jnp.stack(x), *(weights for weights, _ in parts))
    if weights.relative is not None:
        biases = weights.relative.content_bias, weights.relative.distance_bias
        weights = eqx.tree_at(
            lambda w: (w.relative.content_bias, w.relative.distance_bias), weights, [9 * x for x in biases]
        )
    return weights, parts[0][1]


def learned(positions: Any, *, own: bool) -> Any:
    """Outputs, attention weights and gradients of all weights and inputs, for all members."""
    weights, static = members_of(positions)
    rng = np.random.default_rng(0)
    shape = (MEMBERS, EXAMPLES) if own else (EXAMPLES,)
    x = jnp.asarray(rng.standard_normal((*shape, TIME, WIDTH)), jnp.float32)
    mask = jnp.asarray((rng.random((*shape, TIME, TIME)) < 0.6) & (np.arange(TIME) != 3)[:, None])

    def member(weights: Any, x: Any, mask: Any) -> Any:
        def loss(weights: Any, x: Any) -> Any:
            def one(x: Any, mask: Any) -> Any:
                attention = eqx.combine(weights, static)
                return attention(x, attention.remember(x), mask)

            outputs, shares = jax.vmap(one)(x, mask)
            return jnp.sin(3 * outputs).sum(), (outputs, shares)

        return jax.grad(loss, (0, 1), has_aux=True)(weights, x)

    return jax.jit(jax.vmap(member, (0, 0, 0) if own else (0, None, None))), (weights, x, mask)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("positions", ["none", "rope", "alibi", "relative"])
def test_one_call_runs_all_members_and_results_equal_those_of_products(
    positions: Any, own: bool, kernel_products: Products
):
    run, arguments = learned(positions, own=own)
    ours = run(*arguments)
    sizes, masks = (MEMBERS, EXAMPLES), (MEMBERS if own else 1, EXAMPLES)
    if own and positions != "relative":  # then nothing tells members from examples
        sizes = masks = 1, MEMBERS * EXAMPLES
    form = form_of(positions)
    assert kernel_products.of(*sizes) == [(way, form, *sizes, masks) for way in ("forward", "backward")]
    kernel_products.calls.clear()
    loops.device_fault = lambda: "not now"  # undone with the fixture
    run, arguments = learned(positions, own=own)
    theirs = run(*arguments)
    assert not kernel_products.calls
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5 * float(jnp.abs(b).max()))


def test_any_order_of_axes_leads_to_one_call(kernel_products: Products):
    """Examples of members, members of examples, and a mask that all examples share."""
    weights, static = members_of("relative")
    x = jax.random.normal(jax.random.key(1), (EXAMPLES, TIME, WIDTH))
    masks = jax.random.bernoulli(jax.random.key(2), 0.6, (EXAMPLES, TIME, TIME))

    def one(weights: Any, x: Any, mask: Any) -> Any:
        attention = eqx.combine(weights, static)
        return attention(x, attention.remember(x), mask)[0]

    for own_mask in (True, False):
        mask, axis = (masks, 0) if own_mask else (masks[0], None)
        orders = (
            jax.vmap(jax.vmap(one, (None, 0, axis)), (0, None, None)),
            jax.vmap(jax.vmap(one, (0, None, None)), (None, 0, axis), 1),
        )
        found = []
        for order in orders:
            kernel_products.calls.clear()
            found.append(order(weights, x, mask))
            masked = (1, EXAMPLES if own_mask else 1)
            calls = kernel_products.of(MEMBERS, EXAMPLES)
            assert calls == [("forward", Form(relative=True), MEMBERS, EXAMPLES, masked)]
        expected = [
            [
                one(jax.tree.map(lambda w, m=m: w[m], weights), x[e], masks[e if own_mask else 0])
                for e in range(EXAMPLES)
            ]
            for m in range(MEMBERS)
        ]
        for result in found:
            np.testing.assert_allclose(result, jnp.array(expected), rtol=1e-4, atol=1e-5)


def notes_of(positions: Any = "none", *, heads: int = HEADS, dtype: Any = jnp.float32, **options: Any) -> list[str]:
    attention = Attention(WIDTH, heads, positions=positions, weight_dropout=0.1, key=jax.random.key(0))
    x = jnp.ones((TIME, WIDTH), dtype)
    attention = jax.tree.map(lambda w: w.astype(dtype) if eqx.is_array(w) else w, attention)
    first = options.pop("first", 0)
    places = jnp.arange(TIME) if "random" in positions else None
    with noted_attention() as notes:
        memory = attention.remember(x, places=places)
        jax.eval_shape(
            lambda: attention(x, memory, jnp.ones((TIME, TIME), bool), first=first, places=places, **options)
        )
    return list(notes)


@scan
def test_attention_is_plain_wherever_the_kernels_do_not_apply(kernel_products: Products):
    for positions in ("none", "sin_cos", "rope", "random_sin_cos", "random_rope", "alibi", "relative"):
        assert notes_of(positions) == [""]
    for positions in ("t5", "kerple", "fire", "cope", "random_alibi", "random_relative"):
        assert notes_of(positions) == [f"there is no kernel for positions={positions}"]
    assert notes_of(first=1) == notes_of(num_positions=9) == ["tokens come one by one"]
    assert notes_of(first=jnp.zeros((), jnp.int32)) == ["tokens come one by one"]
    assert notes_of(key=jax.random.key(0)) == ["attention weights are dropped"]
    assert notes_of(dtype=jnp.bfloat16) == ["the kernels compute in single precision"]
    assert "heads of 8, 16, 24" in notes_of(heads=4)[0]
    with jax.default_matmul_precision("highest"):
        assert notes_of() == ["the kernels round factors of products"]
    with loop_road("scan"):
        assert notes_of() == ["it was asked for"]
    assert len(kernel_products.calls) == 7


def test_long_strings_are_scored_by_the_kernel_but_not_trained(kernel_products: Products):
    attention = Attention(WIDTH, HEADS, key=jax.random.key(0))

    def notes() -> list[str]:
        x = jnp.ones((200, WIDTH))
        with noted_attention() as notes:
            jax.eval_shape(lambda: attention(x, attention.remember(x), jnp.ones((200, 200), bool)))
        return list(notes)

    assert notes() == ["in training the kernel is for at most 128 tokens, not 200"]
    with without_gradients():
        assert notes() == [""]


def test_weights_of_attention_are_computed_only_if_somebody_looks_at_them(
    kernel_products: Products, monkeypatch: pytest.MonkeyPatch
):
    """In a compiled program of several layers, with gradients. The kernels are something without exponentials."""
    from humboldt.models.layers.fused import kernels

    def forward(form: Form, queries: Any, keys: Any, values: Any, *others: Any) -> Any:
        return queries + values, queries[..., 0].swapaxes(2, 3)

    def backward(form: Form, queries: Any, keys: Any, values: Any, mask: Any, weights: Any, *others: Any) -> Any:
        by_example = {
            name: jnp.broadcast_to(x[:, None], (*queries.shape[:2], *x.shape[1:])) for name, x in weights.items()
        }
        return kernels.Gradients(queries, keys, values, by_example)

    monkeypatch.setattr(kernels, "forward", forward)
    monkeypatch.setattr(kernels, "backward", backward)
    options = BlockOptions(WIDTH, HEADS, 8, positions="relative", dropout=0.0)
    x, mask = jnp.ones((EXAMPLES, TIME, WIDTH)), jnp.ones((EXAMPLES, TIME), bool)

    def has_weights(layers: int, trained: bool) -> bool:
        blocks, static = eqx.partition(Blocks(layers, options, key=jax.random.key(0)), eqx.is_array)

        def run(blocks: Any) -> Any:
            return jax.vmap(lambda x, mask: eqx.combine(blocks, static)(x, mask))(x, mask)

        def loss(blocks: Any) -> Any:
            return jnp.square(run(blocks)[0]).sum()

        program = jax.grad(loss) if trained else lambda blocks: run(blocks)[1]["attention"]
        text = jax.jit(program).lower(blocks).compile().as_text() or ""
        return f"{EXAMPLES},{HEADS},{TIME},{TIME}]" in text

    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert has_weights(2, trained=False)
    assert not has_weights(2, trained=True)  # one layer after the other
    assert not has_weights(6, trained=True)  # a loop over layers


def test_the_self_test_passes_once_in_a_process(
    kernel_products: Products, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
):
    """It is called while a program is being traced."""
    monkeypatch.setattr(self_test, "_faults", {})
    for positions in ("none", "relative", "alibi", "none", "relative"):
        run, arguments = learned(positions, own=False)
        run(*arguments)
    tested = kernel_products.of(self_test.MEMBERS, self_test.EXAMPLES)
    forms = Form(), Form(relative=True), Form(alibi=True)
    assert [call[:2] for call in tested] == [(way, form) for form in forms for way in ("forward", "backward")]
    assert not recwarn.list


@pytest.mark.parametrize("fault", ["differs", "raises"])
def test_a_kernel_that_fails_is_not_used_and_one_warning_says_so(
    fault: str, kernel_products: Products, monkeypatch: pytest.MonkeyPatch
):
    def raises(*arguments: Any, **keywords: Any) -> Any:
        raise RuntimeError("no target __gpu$xla.gpu.ptx\nand a long trace")

    monkeypatch.setattr(self_test, "_faults", {})
    if fault == "differs":
        kernel_products.factor = 1.1
    else:
        monkeypatch.setattr(self_test, "attended", raises)
    reason = {
        "differs": "the kernel's gradients differ from those of products",
        "raises": "the kernel failed (RuntimeError: no target __gpu$xla.gpu.ptx)",
    }[fault]
    with pytest.warns(UserWarning, match=re.escape(reason)) as warned:
        assert notes_of() == notes_of() == [reason]
    assert len(warned) == 1
    kernel_products.calls.clear()
    attention, x = Attention(WIDTH, HEADS, key=jax.random.key(0)), jnp.ones((TIME, WIDTH))
    found = attention(x, attention.remember(x), jnp.ones((TIME, TIME), bool))
    assert not kernel_products.calls
    np.testing.assert_allclose(found[1].sum(-1), 1.0, rtol=1e-5)


def test_what_is_attended_to_may_be_shorter(kernel_products: Products):
    """As in a decoder, whose tokens attend to those of an encoder."""
    attention = Attention(WIDTH, HEADS, positions="relative", key=jax.random.key(0))
    x, source = (jax.random.normal(jax.random.key(i), (n, WIDTH)) for i, n in enumerate((TIME, 4)))
    memory, mask = attention.remember(source), jnp.arange(4)[None, :] < jnp.array([[1], [2], [3], [4], [0], [4], [2]])
    ours, shares = attention(x, memory, mask)
    values = jnp.einsum("hqk,khd->qhd", shares, memory.values).reshape(TIME, WIDTH)
    np.testing.assert_allclose(ours, values @ attention.output.weight, rtol=1e-4, atol=1e-5)
    assert isinstance(memory, KeysValues) and len(kernel_products.calls) == 1
