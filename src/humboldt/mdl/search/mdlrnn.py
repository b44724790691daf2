"""The MDLRNN of Lan et al. (2022, 2023): a network found by a search, not trained by gradients."""

from dataclasses import dataclass
from typing import Literal

from humboldt.errors import UsageError
from humboldt.mdl.activations import EXTENDED_ACTIVATIONS, PAPER_ACTIVATIONS, WIDE_ACTIVATIONS
from humboldt.mdl.search.settings import SearchSettings

ACTIVATION_SETS = {"paper": PAPER_ACTIVATIONS, "wide": WIDE_ACTIVATIONS, "extended": EXTENDED_ACTIVATIONS}
VERSION = 2  # grows when the same settings can give another network


@dataclass(frozen=True, kw_only=True)
class MDLRNN:
    """Settings of a search for the network with the shortest description. What is not here is in `SearchSettings`."""

    activations: Literal["paper", "wide", "extended"] = "paper"  # Lan et al. (2023), section 5.1
    generations: int = 25_000  # Lan et al. (2023), appendix A.4
    patience: int = 5_000  # generations without improvement before it stops; the paper stops after two hours
    population_size: int = 1000  # per island; paper: 500
    num_rings: int = 1  # of four islands each; paper: 250 islands

    def __post_init__(self) -> None:
        for name in ("generations", "patience"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, but must be at least 1.")
        self.search_settings()

    def search_settings(self) -> SearchSettings:
        """How the search goes about it."""
        return SearchSettings(
            activations=ACTIVATION_SETS[self.activations],
            population_size=self.population_size,
            num_rings=self.num_rings,
        )
