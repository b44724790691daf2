"""The predictor of an ensemble, which evaluates all members at once."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from humboldt.core.internals import Inspectable, Internal
from humboldt.languages import Batch
from humboldt.models.loop.fused.choice import loop_road
from humboldt.models.networks.parameters import count_parameters
from humboldt.models.stepping import make_stepper
from humboldt.training.abilities import (
    CountsRight,
    GivesProbabilities,
    HasNetwork,
    ReadsSymbols,
    SearchesOutputs,
    WritesOutputs,
    lacks,
)
from humboldt.training.base import AbstractPredictor, AbstractProblem
from humboldt.training.ensemble.beam import beam_outputs
from humboldt.training.ensemble.decode import correct_targets, greedy_outputs, nats_of_targets
from humboldt.training.ensemble.evaluate import evaluate


class Arithmetic(NamedTuple):
    """How programs compute: whether matrix products are in single precision, not in the default of the device; and
    whether loops over time and attention may be kernels."""

    exact_products: bool = False
    fused: bool = True

    @contextmanager
    def used(self) -> Iterator[None]:
        """Makes programs that are called inside the context compute in this way."""
        products = jax.default_matmul_precision("highest") if self.exact_products else nullcontext()
        with products, loop_road("auto" if self.fused else "scan"):
            yield


AS_USUAL = Arithmetic()


class EnsemblePredictor(
    AbstractPredictor, CountsRight, GivesProbabilities, WritesOutputs, SearchesOutputs, ReadsSymbols, HasNetwork
):
    """Weights with a leading axis of members, and the part of the model that they share."""

    def __init__(
        self, weights: PyTree, static: PyTree, problem: AbstractProblem, arithmetic: Arithmetic = AS_USUAL
    ) -> None:
        self.weights, self.static, self.problem, self.arithmetic = weights, static, problem, arithmetic
        self.num_members = jax.tree.leaves(weights)[0].shape[0]

    def take(self, members: Sequence[int]) -> "EnsemblePredictor":
        rows = np.asarray(members)
        weights = jax.tree.map(lambda x: x[rows], self.weights)
        return EnsemblePredictor(weights, self.static, self.problem, self.arithmetic)

    def correct(self, batch: Batch, *, number: int = 0) -> np.ndarray:
        with self.arithmetic.used():
            return self._correct(batch, number)

    def _correct(self, batch: Batch, number: int) -> np.ndarray:
        if self.problem.start is not None:
            return correct_targets(self.weights, self.static, batch, start=self.problem.start)
        seed = self.problem.test_dropout_seed
        key = None if seed is None else jax.random.fold_in(jax.random.key(seed), number)
        answers_from = self.problem.answers_from
        (counts,) = evaluate(self.weights, self.static, iter([batch]), own_answers_from=answers_from, dropout_key=key)
        return counts

    def nats(self, batch: Batch) -> np.ndarray:
        with self.arithmetic.used():
            if self.problem.start is None:
                return np.stack([self._nats(member, batch) for member in range(self.num_members)])
            return nats_of_targets(self.weights, self.static, batch, start=self.problem.start)

    def _nats(self, member: int, batch: Batch) -> np.ndarray:
        """Returns nats that are equal to the last bit to those of stored results: the compiled program returns all
        log-probabilities."""
        weights = jax.tree.map(lambda x: x[member], self.weights)
        tokens, mask = jnp.asarray(batch.tokens), jnp.asarray(batch.mask)
        logarithms = np.asarray(_log_probabilities(weights, self.static, tokens, mask), np.float64)
        said = np.take_along_axis(logarithms, batch.targets[..., None], 2)[..., 0]
        return -np.where(batch.target_mask, said, 0).sum(1)

    def outputs(self, batch: Batch, longest: int) -> np.ndarray:
        start, end = self.problem.start, self.problem.end
        if start is None or end is None:
            raise lacks("a network that does not map sequences to sequences", WritesOutputs)
        with self.arithmetic.used():
            return greedy_outputs(self.weights, self.static, batch, start=start, end=end, longest=longest)

    def beam_outputs(self, batch: Batch, longest: int, beam: int) -> np.ndarray:
        start, end = self.problem.start, self.problem.end
        if start is None or end is None:
            raise lacks("a network that does not map sequences to sequences", SearchesOutputs)
        with self.arithmetic.used():
            return beam_outputs(self.weights, self.static, batch, start=start, end=end, longest=longest, beam=beam)

    def model(self, member: int) -> "OnArrays":
        network = self._network(member)
        return InspectableOnArrays(network) if isinstance(network, Inspectable) else OnArrays(network)

    def _network(self, member: int) -> Any:
        """Returns one member as a network with NumPy weights."""
        return eqx.combine(jax.tree.map(lambda x: np.asarray(x[member]), self.weights), self.static)

    def stepper(self, member: int, *, longest: int, most_memory: int) -> tuple[Any, int]:
        return make_stepper(self._network(member), longest, most_memory)

    def source_vectors(self) -> np.ndarray | None:
        embedding = getattr(self.weights, "source_embedding", None)
        # Other vectors of an embedding (of positions) come after those of tokens.
        return None if embedding is None else np.asarray(jax.tree.leaves(embedding)[0])

    def parameters(self) -> dict[str, int]:
        return count_parameters(self._network(0))


class OnArrays:
    """A network that is called with NumPy arrays for one example."""

    def __init__(self, network: Any) -> None:
        self.network = jax.tree.map(lambda x: jnp.asarray(x) if isinstance(x, np.ndarray) else x, network)

    def __call__(self, *arrays: Any) -> jax.Array:
        return self.network(*map(jnp.asarray, arrays))


class InspectableOnArrays(OnArrays):
    """The same for a network with internals to inspect."""

    def inspect(self, *arrays: Any) -> dict[str, Internal]:
        """Returns the internals by name."""
        return self.network.inspect(*map(jnp.asarray, arrays))

    def inspect_all(self, name: str, tokens: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
        """Returns one internal of several strings, with a leading axis of strings, and the axes of a single one."""
        names = list[tuple[str, ...]]()

        def one(tokens: jax.Array, mask: jax.Array) -> jax.Array:
            internal = self.network.inspect(tokens, mask)[name]
            names.append(internal.axes)
            return internal.values

        values = jax.jit(jax.vmap(one))(jnp.asarray(tokens), jnp.asarray(mask))
        return np.asarray(values), names[0]


@eqx.filter_jit
def _log_probabilities(weights: PyTree, static: PyTree, tokens: Any, mask: Any) -> Any:
    model = eqx.combine(weights, static)
    return jax.nn.log_softmax(jax.vmap(lambda tokens, mask: model(tokens, mask))(tokens, mask))
