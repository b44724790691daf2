"""The convolutional network of Delétang et al. (2023)."""

from typing import TYPE_CHECKING, Any, ClassVar

from humboldt.core.problems import ProblemKind
from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.settings import setting, settings

if TYPE_CHECKING:
    from jaxtyping import PRNGKeyArray

    from humboldt.models.networks.cnn import CNNNetwork


@models.register("cnn", version=1)
@settings
class CNN:
    """A plain CNN with a small MLP on top; it answers at the `∅` it is given.

    The paper (appendix A.2) describes it in four sentences and its code is not released. From the paper: layers,
    channels, kernel sizes, a final MLP, and a first kernel that spans the whole one-hot encoding. Our choices: every
    later kernel spans all channels likewise, which makes the two-dimensional convolutions one-dimensional ones over
    time; zeros beyond both ends, so that the length stays; ReLU; an MLP of one hidden layer, the same at every
    position. A string's `∅` sees `num_layers * (kernel_size // 2)` symbols to its left.
    """

    num_layers: int = setting(5, "convolutions, one after the other", "appendix A.2", least=1, most=100)
    channels: int = setting(32, "channels of every convolution", "appendix A.2", least=1)
    kernel_size: int = setting(
        3, "time steps that a kernel spans: an odd number", "appendix A.2: the best of 3, 5, 7, 11", least=1
    )
    hidden_size: int = setting(32, "units of the MLP", "the paper is silent", least=1)

    title: ClassVar[str] = "CNN"
    family: ClassVar[str] = "CNN"
    problems: ClassVar[tuple[ProblemKind, ...]] = (ProblemKind.TRANSDUCTION,)
    tiny: ClassVar[dict[str, Any]] = {"num_layers": 2, "channels": 5, "hidden_size": 6}

    def check(self) -> None:
        """Checks that kernels have a middle, which is at the position of the output."""
        if self.kernel_size % 2 == 0:
            raise UsageError(
                f"kernel_size={self.kernel_size} has no middle. Make it odd: the paper has 3, 5, 7 and 11."
            )

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: "PRNGKeyArray") -> "CNNNetwork":
        """Builds the network, freshly initialised."""
        from humboldt.models.networks.cnn import CNNNetwork

        del num_symbols  # a CNN treats marks like all other tokens
        return CNNNetwork(
            input_size,
            output_size,
            num_layers=self.num_layers,
            channels=self.channels,
            kernel_size=self.kernel_size,
            hidden_size=self.hidden_size,
            key=key,
        )
