"""Settings that models with attention share."""

from typing import Any, Literal

from humboldt.errors import UsageError

Positions = Literal["none", "sin_cos", "rope", "alibi", "relative"]
"""`sin_cos` is added to the embeddings, before the first block; the last three act in every attention."""

BothWays = Literal[
    Positions, "random_sin_cos", "random_rope", "random_alibi", "random_relative", "t5", "kerple", "fire"
]
"""All kinds of positions that are defined where a token attends to both sides.

The `random_` ones use a sorted random subset of many places (Ruoss et al. 2023); the last three add a learnt bias.
"""

AllPositions = Literal[BothWays, "cope"]
"""All kinds of positions that are defined in causal attention. `cope` counts the tokens that a query chooses."""

NUM_PLACES = 2048
"""Places of randomised positions in Ruoss et al. (2023)."""

SinCosFrom = Literal["start", "end"]
"""The end of the string from which positions for sinusoids are counted."""


def is_random(positions: AllPositions) -> bool:
    """Returns whether positions are a random subset of places."""
    return positions.startswith("random_")


def most_positions(positions: AllPositions, num_places: int) -> int | None:
    """Returns the largest number of tokens that these positions are defined for; `None` if there is no bound."""
    return num_places if is_random(positions) else None


def check_heads(width: int, num_heads: int, positions: AllPositions) -> None:
    """Raises a `UsageError` unless the width can be shared out among the heads."""
    base = positions.removeprefix("random_")
    if width % num_heads:
        raise UsageError(f"width={width} cannot be shared out among num_heads={num_heads}. Make it a multiple.")
    if base == "rope" and (width // num_heads) % 2:
        raise UsageError(
            f"positions={positions} turns pairs of features, but width={width} and num_heads={num_heads} give "
            f"{width // num_heads} to a head. Make that even."
        )
    if base in ("sin_cos", "relative") and width % 2:
        raise UsageError(f"width={width} is odd, but sines and cosines fill it in pairs. Make it even.")


def check_shares(values: Any, *names: str) -> None:
    """Raises a `UsageError` unless these settings are 0 or more and less than 1."""
    for name in names:
        if not 0 <= getattr(values, name) < 1:
            raise UsageError(f"{name}={getattr(values, name):g} is not a share. Use 0 or more and less than 1.")
