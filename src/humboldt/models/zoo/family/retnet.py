"""RetNet, for every kind of problem."""

from typing import ClassVar

from humboldt.errors import UsageError
from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractFastWeightsFamily
from humboldt.settings import settings


@models.register("family/retnet", version=1)
@settings
class RetNet(AbstractFastWeightsFamily):
    """Blocks of retention: fixed decays, rotated queries and keys, and a gate at the output."""

    title: ClassVar[str] = "RetNet"
    family: ClassVar[str] = "RetNet"
    about: ClassVar[str] = "linear attention with a fixed decay per head (Sun et al. 2023)"
    mixers: ClassVar[tuple[str, ...]] = ("retnet",)

    def check(self) -> None:
        """Checks relations between settings."""
        super().check()
        if self.width // self.heads % 2:
            raise UsageError(
                f"RetNet turns pairs of features, but width={self.width} and heads={self.heads} give "
                f"{self.width // self.heads} to a head. Make that even."
            )
