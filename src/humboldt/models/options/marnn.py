"""Settings of the memory-augmented networks of Suzgun et al. (2019), as Lan et al. (2023) train them."""

from typing import ClassVar

from humboldt.models.options.recurrent import STEPWISE
from humboldt.problems import ProblemKind
from humboldt.settings import setting, settings


@settings
class AbstractMarnn:
    """What the Stack-LSTM and the Baby-NTM have in common."""

    hidden_size: int = setting(8, "units of the controller", "appendix A.3", least=1)
    memory_size: int = setting(5, "numbers in a cell of the memory", 'appendix A.3, "memory dimension"', least=1)

    problems: ClassVar[tuple[ProblemKind, ...]] = STEPWISE
