"""The form in which a model is given a problem, and its network for that problem.

A *causal* network reads tokens and answers at every step from the tokens up to it. It fits every kind of problem: it is
given sequence-to-sequence problems by concatenation (`networks.sequence_to_sequence.concatenated`).
"""

import inspect
from collections.abc import Callable
from typing import Any, Literal

from humboldt.core.problems import ProblemKind
from humboldt.errors import UsageError

SEES_AHEAD = (ProblemKind.TRANSDUCTION, ProblemKind.CLASSIFICATION)
"""The kinds of problem for a network whose answers may depend on later tokens."""

Form = Literal["causal", "concatenated", "encoder-decoder", "whole string", "own"]
"""How a model is given a problem:

- `causal`: it reads tokens and answers at every step, without seeing later ones;
- `concatenated`: the same network reads a source, a mark, and the target so far;
- `encoder-decoder`: it takes a source and a target;
- `whole string`: it reads all tokens at once, and may see later ones, or does not declare whether it does;
- `own`: it receives the kind of problem and chooses its form itself.
"""


def form(model: Any, kind: ProblemKind) -> Form:
    """Returns the form in which a model, a class of settings or an object of it, is given problems of a kind."""
    if kind is not ProblemKind.SEQUENCE_TO_SEQUENCE:
        return "causal" if getattr(model, "causal", False) or kind is ProblemKind.NEXT_SYMBOL else "whole string"
    if getattr(model, "chooses_form", False):
        return "own"
    return "concatenated" if getattr(model, "causal", False) else "encoder-decoder"


def takes_source(network: Any) -> bool:
    """Returns whether a network (or its class) takes a source and a target: a parameter is named `told` or `source`."""
    call = getattr(network, "forward", None) or network.__call__
    try:
        names = inspect.signature(call).parameters
    except (TypeError, ValueError):  # it is not written in Python
        return False
    return "told" in names or "source" in names


def check_fits(model: Any, kind: ProblemKind, most_tokens: Callable[[], int | None] = lambda: None) -> None:
    """Raises a `UsageError` if a model with these settings cannot be given problems of a kind.

    Called for every training of a plan. A class of settings may define `check_problem(kind)` for its own rules, and
    `most_positions()` if its network can only read strings up to that number of tokens; `most_tokens` returns the
    number of tokens of the longest string, and is only called then.
    """
    sees_ahead = getattr(model, "sees_ahead", "")
    if sees_ahead and (kind is ProblemKind.NEXT_SYMBOL or form(model, kind) == "concatenated"):
        raise UsageError(f"{sees_ahead} So it cannot be given problems of {kind.value}, only {_words(SEES_AHEAD)}.")
    if hasattr(model, "check_problem"):
        model.check_problem(kind)
    most = model.most_positions() if hasattr(model, "most_positions") else None
    tokens = None if most is None else most_tokens()
    if most is not None and tokens is not None and tokens > most:
        raise UsageError(
            f"positions={model.positions}: a string has up to {tokens:,} tokens, but there are {most:,} places. Use "
            f"num_places={tokens}, or shorter strings."
        )


def _words(kinds: tuple[ProblemKind, ...]) -> str:
    return " and ".join(kind.value for kind in kinds)


def word(kind: ProblemKind) -> str:
    """Returns the name of a kind of problem for the makers of networks: `sequence_to_sequence`."""
    return kind.name.lower()


def build_network(
    model: Any,
    kind: ProblemKind,
    input_size: int,
    output_size: int,
    *,
    num_symbols: int,
    start: int | None = None,
    key: Any,
) -> Any:
    """Builds the network of a model for problems of a kind, freshly initialised.

    For the concatenated form, the network reads the ids of sources, then those of targets, shifted by `input_size`; the
    mark between the two is the shifted `start`, which a target begins with.
    """
    told = {"problem": word(kind)} if getattr(model, "chooses_form", False) else {}
    its_form = form(model, kind)
    if its_form in ("encoder-decoder", "own", "causal", "whole string"):
        network = model.build(input_size, output_size, num_symbols=num_symbols, key=key, **told)
        if its_form != "own" or takes_source(network):
            return network
    from humboldt.models.networks.sequence_to_sequence.concatenated import Concatenated

    assert start is None or start < output_size, "the start mark is one of the target's symbols"
    network = model.build(input_size + output_size, output_size, num_symbols=input_size, key=key, **told)
    return Concatenated(network, input_size)
