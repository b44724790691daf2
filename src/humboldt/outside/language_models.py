"""Causal language models in BLISS and syntax: converts the logits of a PyTorch model to next-symbol distributions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from humboldt.errors import UsageError, named_extras
from humboldt.outside.predictor import NextSymbols

Strings = list[list[str]]


def causal_lm(model: Any, token_ids: Mapping[str, int], symbols: Sequence[str], *, rows: int = 64) -> NextSymbols:
    """Returns a causal language model, for example one of `transformers`, as a next-symbol model.

    The model reads a string as the tokens of its symbols. Its probabilities are normalised over the tokens of all
    symbols; those of other tokens are left out.

    **Arguments:**

    - `model`: called with `input_ids` and `attention_mask`; returns an object with `logits`.
    - `token_ids`: the token of each symbol, `#` included, which begins and ends every string.
    - `symbols`: `humboldt.symbols(suite, task).next_symbols`. `rows`: strings of one call.
    """
    missing = [symbol for symbol in symbols if symbol not in token_ids]
    if missing:
        raise UsageError(
            f"The symbol {missing[0]!r} has no token. `token_ids` needs one for each of {' '.join(symbols)}."
        )
    tokens_of = [token_ids[symbol] for symbol in symbols]

    def distributions(strings: Strings) -> list[np.ndarray]:
        return [part for begin in range(0, len(strings), rows) for part in _read(strings[begin : begin + rows])]

    def _read(strings: Strings) -> list[np.ndarray]:
        with named_extras():
            import torch  # pyright: ignore[reportMissingImports]
        longest = max(map(len, strings))
        ids = torch.full((len(strings), longest), tokens_of[0])
        mask = torch.zeros((len(strings), longest), dtype=torch.long)
        for row, string in enumerate(strings):
            ids[row, : len(string)] = torch.tensor([token_ids[symbol] for symbol in string])
            mask[row, : len(string)] = 1
        device = next(model.parameters()).device
        with torch.inference_mode():
            logits = model(input_ids=ids.to(device), attention_mask=mask.to(device)).logits
        chances = torch.softmax(logits[..., tokens_of].double(), -1).cpu().numpy()
        return [chances[row, : len(string)] for row, string in enumerate(strings)]

    return NextSymbols(distributions)
