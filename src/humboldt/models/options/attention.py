"""Settings that models with attention share."""

from typing import Any, Literal

from humboldt.errors import UsageError

Positions = Literal["none", "sin_cos", "rope", "alibi", "relative"]
"""`sin_cos` is added to the embeddings, before the first block; the last three act in every attention."""

SinCosFrom = Literal["start", "end"]
"""Where the sinusoids count from."""


def check_heads(width: int, num_heads: int, positions: Positions) -> None:
    """Raises a `UsageError` unless the width can be shared out among the heads."""
    if width % num_heads:
        raise UsageError(f"width={width} cannot be shared out among num_heads={num_heads}. Make it a multiple.")
    if positions == "rope" and (width // num_heads) % 2:
        raise UsageError(
            f"positions=rope turns pairs of features, but width={width} and num_heads={num_heads} give "
            f"{width // num_heads} to a head. Make that even."
        )
    if positions == "sin_cos" and width % 2:
        raise UsageError(f"width={width} is odd, but sines and cosines fill it in pairs. Make it even.")


def check_shares(values: Any, *names: str) -> None:
    """Raises a `UsageError` unless these settings are 0 or more and less than 1."""
    for name in names:
        if not 0 <= getattr(values, name) < 1:
            raise UsageError(f"{name}={getattr(values, name):g} is not a share. Use 0 or more and less than 1.")
