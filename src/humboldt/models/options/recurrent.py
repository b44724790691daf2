"""Settings that recurrent models share."""

from typing import ClassVar, Literal

from humboldt.problems import ProblemKind
from humboldt.settings import setting, settings

ControllerName = Literal["rnn", "lstm"]
"""The cells of Delétang et al. (2023) that can hold a memory."""

STEPWISE = (ProblemKind.TRANSDUCTION, ProblemKind.NEXT_SYMBOL)
"""What a network that answers at every step, of what came before it, can be given."""


@settings
class AbstractChomskyRecurrent:
    """What the recurrent models of Delétang et al. (2023) have in common."""

    hidden_size: int = setting(256, "units of the recurrent layer", "appendix A.2", least=1)
    relu_readout: bool = setting(
        False, "whether a ReLU comes before the readout", "the paper is silent; released code: true", added_later=True
    )

    problems: ClassVar[tuple[ProblemKind, ...]] = STEPWISE
