"""RWKV-7, for every kind of problem."""

from typing import Any, ClassVar

from humboldt.models import models
from humboldt.models.zoo.shared.backbone import AbstractHeadsFamily
from humboldt.settings import settings


@models.register("family/rwkv7", version=1)
@settings
class RWKV7(AbstractHeadsFamily):
    """Blocks of RWKV-7. In the released model, the layer after the mixer also sees the previous token."""

    title: ClassVar[str] = "RWKV-7"
    family: ClassVar[str] = "RWKV-7"
    about: ClassVar[str] = "a matrix state with decay and erasure by a key of its own (Peng et al. 2025)"
    mixers: ClassVar[tuple[str, ...]] = ("rwkv7",)
    tiny: ClassVar[dict[str, Any]] = {"layers": 2, "width": 8, "heads": 2}
