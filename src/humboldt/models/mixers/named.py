"""All mixers by name, each with the block that its authors put around it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from jaxtyping import PRNGKeyArray

from humboldt.errors import unknown_name
from humboldt.models.mixers import fast_weights
from humboldt.models.mixers.base import AbstractMixer
from humboldt.models.mixers.block import FeedForwardName, NormName
from humboldt.models.mixers.fast_weights import FastWeights
from humboldt.models.mixers.lru import LRU
from humboldt.models.mixers.mamba import Mamba
from humboldt.models.mixers.mamba2 import Mamba2
from humboldt.models.mixers.mingru import MinGRU
from humboldt.models.mixers.mlstm import MLSTM
from humboldt.models.mixers.pd_ssm import PDSSM
from humboldt.models.mixers.rwkv7 import RWKV7
from humboldt.models.mixers.s4d import S4D
from humboldt.models.mixers.slstm import SLSTM


@dataclass(frozen=True)
class Place:
    """The place of a mixer in a network, on which the initialisation of some depends."""

    width: int
    heads: int
    layer: int = 0
    layers: int = 1


@dataclass(frozen=True)
class NamedMixer:
    """The function that builds a mixer, and the block around it.

    `make(place, key=key, **options)`: options are those of the mixer's class, or fields of `FastWeightsOptions`.
    """

    make: Callable[..., AbstractMixer]
    norm: NormName = "rms"
    feed_forward: FeedForwardName = "gated"


def _fast_weights(name: str) -> NamedMixer:
    def make(
        place: Place, *, head_size: int | None = None, chunk: int | None = None, key: PRNGKeyArray, **options: Any
    ) -> AbstractMixer:
        settings = replace(fast_weights.NAMED[name], **options)
        return FastWeights(place.width, place.heads, settings, head_size=head_size, chunk=chunk, key=key)

    return NamedMixer(make)


def _slstm(place: Place, **options: Any) -> AbstractMixer:
    return SLSTM(place.width, place.heads, layer=place.layer, layers=place.layers, **options)


def _rwkv7(place: Place, **options: Any) -> AbstractMixer:
    return RWKV7(place.width, place.heads, layer=place.layer, layers=place.layers, **options)


def _mlstm(place: Place, **options: Any) -> AbstractMixer:
    return MLSTM(place.width, place.heads, layers=place.layers, **options)


MIXERS: Mapping[str, NamedMixer] = {
    **{name: _fast_weights(name) for name in fast_weights.NAMED},
    # Blocks of mamba, mLSTM, S4D, LRU and PD-SSM have no layer of their own after the mixer, which contains one.
    "mamba": NamedMixer(lambda place, **options: Mamba(place.width, **options), feed_forward="none"),
    "mamba2": NamedMixer(lambda place, **options: Mamba2(place.width, place.heads, **options), feed_forward="none"),
    "s4d": NamedMixer(lambda place, **options: S4D(place.width, **options), "layer", "none"),
    "lru": NamedMixer(lambda place, **options: LRU(place.width, **options), "layer", "none"),
    "pd_ssm": NamedMixer(lambda place, **options: PDSSM(place.width, **options), "layer", "none"),
    "mingru": NamedMixer(lambda place, **options: MinGRU(place.width, **options)),
    "slstm": NamedMixer(_slstm, "layer", "gated_gelu"),
    "mlstm": NamedMixer(_mlstm, "layer", "none"),
    # In its authors' model, the layer after the mixer also sees the previous token; ours does not.
    "rwkv7": NamedMixer(_rwkv7, "layer", "plain"),
}


def named_mixer(name: str) -> NamedMixer:
    """Returns the mixer of this name, or raises a `UsageError` with the nearest ones."""
    if name not in MIXERS:
        raise unknown_name("mixer", name, MIXERS)
    return MIXERS[name]
