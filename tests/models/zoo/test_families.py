"""Checks of every family: one network for every kind of problem, the same numbers at once and step by step.

Most of the time goes into compiling: each family has one program, which all tests share.
"""

from functools import cache
from pathlib import Path
from typing import Any, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from humboldt import settings
from humboldt.core.problems import ProblemKind
from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.models.forms import build_network, check_fits, form
from humboldt.models.loop.check import QUICK, check_gradients
from humboldt.models.networks.base import AbstractInspectable, AbstractStepwise
from humboldt.models.networks.parameters import count_parameters
from humboldt.models.networks.sequence_to_sequence.concatenated import Concatenated
from humboldt.models.zoo.shared.attention import is_random

FAMILIES = models.names("family/")
RANDOM = "family/transformer_random_rope"  # its places are drawn for a whole string
EVERYWHERE = [name for name in FAMILIES if name != RANDOM]
SYMBOLS, OUTPUTS, START = 4, 3, 2  # a source has 4 ids, a target 3, of which the last is the start
SOURCE = np.array([0, 2, 1, 3, 3, 0], np.int32)
TOLD = np.array([START, 0, 1, 1, 0], np.int32)
TIME = 16
VERSIONS = {"family/slstm": 2, "family/xlstm": 2}  # since then with the feed-forward layer of xlstm


@cache
def build(name: str, **changes: Any) -> Concatenated:
    """A network with random numbers as weights: a program that draws the initial ones takes long to compile, and many
    are zero, where a mistake would not show."""
    model = models.get(name)

    def make(key: Any) -> Concatenated:
        kind = ProblemKind.SEQUENCE_TO_SEQUENCE
        return build_network(
            model(**{**model.tiny, **changes}), kind, SYMBOLS, OUTPUTS, num_symbols=SYMBOLS, start=START, key=key
        )

    rng = np.random.default_rng(0)

    def drawn(leaf: Any) -> Any:
        is_shape = isinstance(leaf, jax.ShapeDtypeStruct)
        return jnp.asarray(0.4 * rng.normal(size=leaf.shape), jnp.float32) if is_shape else leaf

    return jax.tree.map(drawn, eqx.filter_eval_shape(make, jax.random.key(0)))


def allowed_positions() -> list[Any]:
    (field,) = (field for field in settings.fields(models.get("family/transformer")) if field.name == "positions")
    return list(get_args(field.kind))


JOINED = np.concatenate([SOURCE, TOLD + SYMBOLS])
PLAIN = np.random.default_rng(0).integers(0, SYMBOLS, TIME).astype(np.int32)


def run(program: Any, name: str, changes: dict[str, Any]) -> dict[str, np.ndarray]:
    weights, static = eqx.partition(build(name, **changes), eqx.is_inexact_array)
    compiled = (
        jax.jit(lambda weights: program(eqx.combine(weights, static))).lower(weights).compile(compiler_options=QUICK)
    )
    return {name: np.asarray(value) for name, value in compiled(weights).items()}


@cache
def numbers(name: str, **changes: Any) -> dict[str, np.ndarray]:
    """The logits of one network for several rows, at once and step by step."""
    later = np.array([6, 0, 5, 1, 3], np.int32)
    # The concatenation made by hand, with two kinds of padding; a string without a mark; its prefix; a later change.
    rows = np.stack(
        [np.pad(JOINED, (0, 5)), np.append(JOINED, later), PLAIN, PLAIN, np.append(PLAIN[:9], PLAIN[9:] ^ 1)]
    )
    masks = np.arange(TIME)[None] < np.array([11, 11, TIME, 9, TIME])[:, None]

    def program(whole: Concatenated) -> dict[str, Any]:
        network = whole.network
        tokens, mask = jnp.asarray(rows), jnp.asarray(masks)

        def one_by_one(tokens: Any, mask: Any) -> Any:
            return jax.lax.scan(lambda *given: network.step(*given), network.start(tokens, mask), tokens)[1]

        return {
            "rows": jax.vmap(lambda tokens, mask: network(tokens, mask))(tokens, mask),
            "steps": jax.vmap(one_by_one)(tokens[1:3], mask[1:3]),
        }

    return run(program, name, changes)


@cache
def concatenated(name: str, **changes: Any) -> dict[str, np.ndarray]:
    """The logits of the same network, which is given a padded source and a target."""
    padded, mask = jnp.array([*SOURCE, 1, 3, 2], jnp.int32), jnp.arange(9) < 6
    told = jnp.asarray(TOLD)

    def program(whole: Concatenated) -> dict[str, Any]:
        state = whole.start(whole.encode(padded, mask), 8)
        return {
            "decoded": whole(padded, mask, told, jnp.ones(5, bool)),
            "written": jax.lax.scan(lambda *given: whole.step(*given), state, told)[1],
        }

    return run(program, name, changes)


def close(a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", FAMILIES)
def test_it_says_what_it_is(name: str):
    entry = models.entry(name)
    model = entry.value
    assert entry.version == VERSIONS.get(name, 1) and model.title and model.family and model.__doc__ and model.tiny
    assert "(" in model.about and any(year.isdigit() for year in model.about.split()[-1].rstrip(")").split("-"))
    assert model.causal
    assert model.size in settings.names(model)
    for field in settings.fields(model):
        assert field.about and field.source, f"{field.name} says not what it means, or where it comes from"
        assert field.kind is not int or field.least is not None, f"{field.name} has no bound"


@pytest.mark.parametrize("name", EVERYWHERE)
def test_all_at_once_is_step_by_step(name: str):
    found = numbers(name)
    assert np.abs(found["rows"]).max() > 0.05 and np.isfinite(found["rows"]).all()
    close(found["steps"][0, :11], found["rows"][1, :11])
    close(found["steps"][1], found["rows"][2])


@pytest.mark.parametrize("name", EVERYWHERE)
def test_nothing_is_seen_ahead_and_padding_changes_nothing(name: str):
    rows = numbers(name)["rows"]
    close(rows[3, :9], rows[2, :9])  # the rest is padding
    close(rows[4, :9], rows[2, :9])  # the rest is other tokens
    close(rows[1, :11], rows[0, :11])
    assert np.abs(rows[4, 9:] - rows[2, 9:]).max() > 1e-4


def some(names: list[str], quick: tuple[str, ...]) -> list[Any]:
    """All names; those that are not `quick` are left to the slow tests."""
    return [pytest.param(name, marks=() if name in quick else pytest.mark.slow) for name in names]


@pytest.mark.parametrize(
    "name", some(EVERYWHERE, ("family/gru", "family/tape_rnn", "family/ndstack_rnn", "family/mingru"))
)
def test_concatenation_gives_the_logits_from_the_mark_on(name: str):
    """At once and symbol by symbol, the logits of the string that is joined by hand."""
    found, expected = concatenated(name), numbers(name)["rows"][0, 6:11]
    close(found["decoded"], expected)
    close(found["written"], expected)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_body_does_not_depend_on_alphabets(name: str):
    model = models.get(name)
    counts = []
    for symbols, outputs in ((4, 3), (9, 7)):
        network = eqx.filter_eval_shape(
            lambda key, symbols=symbols, outputs=outputs: model(**model.tiny).build(
                symbols, outputs, num_symbols=symbols, key=key
            ),
            jax.random.key(0),
        )
        assert isinstance(network, AbstractStepwise) and isinstance(network, AbstractInspectable)
        counts.append(count_parameters(network))
    assert counts[0]["body"] == counts[1]["body"] > 0
    assert all(counts[0][part] < counts[1][part] for part in ("embedding", "readout"))


def test_every_family_has_one_form_for_each_kind_of_problem():
    for name in EVERYWHERE:
        assert set(models.get(name).problems) == set(ProblemKind)
        forms = {kind: form(models.get(name), kind) for kind in ProblemKind}
        assert forms.pop(ProblemKind.SEQUENCE_TO_SEQUENCE) == "concatenated" and set(forms.values()) == {"causal"}
    assert form(models.get("lstm_s2s"), ProblemKind.SEQUENCE_TO_SEQUENCE) == "encoder-decoder"
    assert form(models.get("cnn"), ProblemKind.TRANSDUCTION) == "whole string"


POSITIONS = [name for name in allowed_positions() if not is_random(name)]


@pytest.mark.parametrize("after_input", ["continue", "restart"])
@pytest.mark.parametrize("positions", some(POSITIONS, ("relative", "cope")))
def test_attention_is_causal_with_all_positions(positions: str, after_input: str):
    changes = {"positions": positions, "after_input": after_input, "share_layers": after_input == "restart"}
    found, joined = numbers("family/transformer", **changes), concatenated("family/transformer", **changes)
    rows = found["rows"]
    close(found["steps"][0, :11], rows[1, :11])
    close(found["steps"][1], rows[2])
    close(rows[3:, :9], np.broadcast_to(rows[2, :9], (2, 9, OUTPUTS)))
    close(joined["decoded"], rows[0, 6:11])
    close(joined["written"], rows[0, 6:11])


def test_random_positions_are_refused_where_they_give_away_the_length():
    model = models.get("family/transformer")(positions="random_rope")
    with pytest.raises(UsageError, match="would give away where the string ends"):
        check_fits(model, ProblemKind.NEXT_SYMBOL)
    check_fits(model, ProblemKind.TRANSDUCTION)
    named = models.get(RANDOM)
    for kind in set(ProblemKind) - set(named.problems):
        with pytest.raises(UsageError, match="would give away where the string ends"):
            check_fits(named(), kind)
    for kind in named.problems:
        check_fits(named(), kind)


@pytest.mark.parametrize("name", ["family/gru", "family/ndstack_rnn"])
def test_gradients_taken_out_of_the_loop_are_the_same(name: str):
    """As an accelerator takes them. The other cells are those of models that the contract tests check."""
    network = build(name).network
    tokens = jnp.array([[0, 1, 2, 1, 4, 5], [3, 1, 0, 4, 0, 0]], jnp.int32)
    check_gradients(network, tokens, jnp.arange(6)[None] < jnp.array([[6], [4]]))


def test_the_page_lists_every_family():
    page = (Path(__file__).parents[3] / "docs/models.md").read_text(encoding="utf-8")
    rows = [f"| `{name.partition('/')[2]}` | {models.get(name).title}: {models.get(name).about} |" for name in FAMILIES]
    assert [line for line in page.splitlines() if line.startswith("| `")] == rows
