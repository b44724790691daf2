"""The MDLRNN of Lan et al. (2022, 2023): a network found by a search, not trained by gradients."""

from typing import Any, ClassVar, Literal

from humboldt.mdl.activations import EXTENDED_ACTIVATIONS, PAPER_ACTIVATIONS, WIDE_ACTIVATIONS
from humboldt.mdl.search.settings import SearchSettings
from humboldt.registry import Registry
from humboldt.settings import setting, settings

ACTIVATION_SETS = {"paper": PAPER_ACTIVATIONS, "wide": WIDE_ACTIVATIONS, "extended": EXTENDED_ACTIVATIONS}
VERSION = 2  # increased when the same settings can give another network


#: Settings of searches, by name. They are not models: a model can be built, a search must find one.
searches: Registry[Any] = Registry("search")


@searches.register("mdlrnn", version=VERSION)
@settings
class MDLRNN:
    """Settings of a search for the network with the shortest description. All others are in `SearchSettings`."""

    activations: Literal["paper", "wide", "extended"] = setting(
        "paper", "what units may compute", "Lan et al. (2023), section 5.1"
    )
    generations: int = setting(25_000, "generations at most", "Lan et al. (2023), appendix A.4", least=1)
    patience: int = setting(
        5_000, "generations without improvement before it stops", "the paper stops after two hours", least=1
    )
    population_size: int = setting(1000, "networks of each island", "paper: 500", least=2)
    num_rings: int = setting(1, "rings of four islands each", "paper: 250 islands", least=1)

    family: ClassVar[str] = "MDL network"

    keep_proved: bool = setting(
        False,
        "whether the shortest network that is proved right for all n is kept beside the shortest one",
        "not in the paper",
        added_later=True,
    )

    def check(self) -> None:
        """Runs the checks of `SearchSettings`."""
        self.search_settings()

    def search_settings(self) -> SearchSettings:
        """Returns the complete settings of the search."""
        return SearchSettings(
            activations=ACTIVATION_SETS[self.activations],
            population_size=self.population_size,
            num_rings=self.num_rings,
        )
