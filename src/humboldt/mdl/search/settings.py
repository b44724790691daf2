"""Settings of the search, with the source of each number."""

import math
from dataclasses import dataclass

from humboldt.errors import UsageError
from humboldt.mdl.activations import PAPER_ACTIVATIONS, activation_ids
from humboldt.mdl.corpus_bits import SEARCH_CLIP
from humboldt.mdl.machine_words import MAX_UNITS
from humboldt.mdl.search.mutations import OPERATORS, REFERENCE_RATES


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """Settings of a search. The defaults found more than `reference()`, the settings of the published search.

    Islands form rings of `len(pressures)`. Island number i of a ring selects by `pressures[i] * |G| + |D:G|`: where |G|
    has little weight, networks can grow through stages that do not pay yet; migration then carries them to islands
    where every bit counts. All but the last island of a ring charge `impossible` bits for a symbol of probability 0, so
    that a network that is wrong about few strings is distinguished from one that is wrong about all. The full
    description length is reported, of networks from islands that charge the full cost.
    """

    activations: tuple[str, ...] = PAPER_ACTIVATIONS
    allow_product: bool = False  # multiplication units: off in the reference except for Dyck-2 and centre embedding
    num_rings: int = 1
    pressures: tuple[float, ...] = (0.1, 0.2, 0.5, 1.0)
    impossible: float = 20.0  # bits for a symbol of probability 0 on all islands of a ring but the last; reference: inf
    population_size: int = 1000  # per island; reference: 500
    tournament_size: int = 2  # Lan et al. (2023), appendix A.4
    elite_ratio: float = 0.001  # Lan et al. (2023), appendix A.4
    extra_mutation: float = 0.5  # after each mutation, the probability of one more; reference: 0
    rates: tuple[float, ...] = (1.0,) * len(OPERATORS)  # of the operators in `mutate.OPERATORS`
    keep_distinct: bool = True  # an offspring replaces a member with the same two lengths; reference: no
    strict: bool = True  # an offspring worse than the tournament's loser dies at once; reference: no
    migration_interval: int = 50  # generations; reference: 1,000
    migration_ratio: float = 0.01  # part of a population that is sent on; reference code
    rotate_migration: bool = False  # each migration leads one island further than the last; reference code: yes
    # A ring restarts after this many generations without improvement, and in any case after this many times 1, 1, 2,
    # 1, 1, 2, 4, ... (twice that if it holds the record); 0: never (reference).
    restart_after: int = 1000
    max_hidden: int = 8  # units beyond inputs and outputs; room to grow costs time where |G| has little weight
    max_edges: int = 32  # reference: no limit on edges, 1,024 units
    clip: float = SEARCH_CLIP  # reference code

    def __post_init__(self) -> None:
        activation_ids(self.activations)
        if len(self.rates) != len(OPERATORS) or min(self.rates) < 0 or not self.rates[OPERATORS.index("add_edge")] > 0:
            raise UsageError(
                f"rates {self.rates} must be {len(OPERATORS)} numbers from 0, one for each of {', '.join(OPERATORS)}, "
                "and that of add_edge above 0."
            )
        for name, low, high in (
            ("num_rings", 1, 10_000),
            ("population_size", 4, 1_000_000),
            ("tournament_size", 2, self.population_size // 2),
            ("migration_interval", 1, 10**9),
            ("restart_after", 0, 10**9),
            ("max_hidden", 1, MAX_UNITS - 4),
            ("max_edges", 4, 250),
            ("elite_ratio", 0.0, 0.5),
            ("migration_ratio", 0.0, 0.5),
            ("extra_mutation", 0.0, 0.95),
        ):
            if not low <= getattr(self, name) <= high:
                raise UsageError(f"{name} is {getattr(self, name)}. It must be from {low} to {high}.")
        if not self.pressures or min(self.pressures) < 0:
            raise UsageError(f"pressures {self.pressures} must be one or more numbers from 0.")
        if not self.impossible > 0:
            raise UsageError(f"impossible is {self.impossible}. It must be above 0 (infinity for the true cost).")
        if not self.clip > 0:
            raise UsageError(f"clip is {self.clip}. It must be above 0 (infinity for none).")

    @classmethod
    def reference(cls, *, num_islands: int = 250, activations: tuple[str, ...] = PAPER_ACTIVATIONS) -> "SearchSettings":
        """Returns the search of Lan et al. (2022, 2023): one ring, full weight of |G|, one mutation at a time.

        Remaining differences from the released code:

        - room: 62 units (inputs and outputs among them) and 250 edges; there, 1,024 units and any number of edges;
        - migration: all islands at once, every 1,000 generations. There each island also migrates by its own clock,
          after 30 minutes; copies among the migrants are sent once; and migrants that wait at an island are replaced
          by others only if these are shorter on average;
        - the end: after a number of generations without improvement; there, after two hours;
        - those that `docs/mdl.md` lists under "Not settings": cycles, product units, sums of 0, ties of infinite
          lengths.
        """
        return cls(
            activations=activations,
            pressures=(1.0,) * num_islands,
            impossible=math.inf,
            population_size=500,
            extra_mutation=0.0,
            rates=REFERENCE_RATES,
            keep_distinct=False,
            strict=False,
            migration_interval=1000,
            rotate_migration=True,
            restart_after=0,
            max_hidden=52,  # with the five symbols of Dyck-2, the most that a genome holds
            max_edges=250,
        )

    @property
    def exact_places(self) -> range:
        """Places in a ring where a symbol of probability 0 makes the description infinitely long (its true cost)."""
        places = len(self.pressures)
        return range(0 if math.isinf(self.impossible) else places - 1, places)

    @property
    def num_islands(self) -> int:
        """Number of islands of all rings."""
        return self.num_rings * len(self.pressures)
