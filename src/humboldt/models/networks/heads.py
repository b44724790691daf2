"""A network with further outputs beside its answers, which only training uses."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray


class WithHeads(eqx.Module):
    """A network whose first outputs are the answers. Called, it returns these; `network` returns all outputs."""

    network: Any
    answers: int = eqx.field(static=True)

    def __call__(
        self, tokens: Int[Array, " time"], mask: Bool[Array, " time"], *, key: PRNGKeyArray | None = None
    ) -> Float[Array, "time out"]:
        return self.network(tokens, mask, key=key)[:, : self.answers]

    @property
    def embedding(self) -> Any:
        """The embedding of the network, if it has one."""
        return getattr(self.network, "embedding", None)

    @property
    def readout(self) -> Any:
        """The readout of the network, if it has one: of all outputs."""
        return getattr(self.network, "readout", None)
