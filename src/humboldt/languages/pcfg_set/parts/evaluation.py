"""Fast interpretation of many expressions, as arrays of token ids, by compiled code.

Token ids: functions from 0 in the order of the language, then the comma, then the letters.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.compiled import compiled
from humboldt.languages.pcfg_set.parts.functions import MOST_SLICES, Language

NO_BOUND = np.iinfo(np.int64).max  # an omitted bound of a slice


@dataclass(frozen=True, eq=False)
class Encoded:
    """A language as arrays.

    - `arities`: shape `(functions,)`.
    - `parts`: shape `(functions, most parts, 1 + 3 * MOST_SLICES)`: the argument (-1 if there is no such part), then
      start, stop and step of each slice.
    """

    symbols: np.ndarray  # of objects: the symbol of every id
    arities: np.ndarray
    parts: np.ndarray

    @property
    def comma(self) -> int:
        """The comma's id; the letters follow it."""
        return len(self.arities)

    def texts(self, tokens: np.ndarray, offsets: np.ndarray) -> tuple[str, ...]:
        """Returns the texts of flat tokens; text `i` is from `offsets[i]` to `offsets[i + 1]`."""
        words = self.symbols[tokens].tolist()
        bounds = offsets.tolist()
        return tuple(" ".join(words[a:b]) for a, b in itertools.pairwise(bounds))


def encode(language: Language) -> Encoded:
    """Returns the language as arrays."""
    symbols = [function.name for function in language.functions] + [",", *language.letters]
    most = max(len(function.parts) for function in language.functions)
    parts = np.full((len(language.functions), most, 1 + 3 * MOST_SLICES), -1, np.int64)
    for row, function in enumerate(language.functions):
        for column, part in enumerate(function.parts):
            bounds: list[int] = [part.argument]
            for piece in (*part.slices, *[slice(None)] * (MOST_SLICES - len(part.slices))):
                bounds.append(NO_BOUND if piece.start is None else piece.start)
                bounds.append(NO_BOUND if piece.stop is None else piece.stop)
                bounds.append(1 if piece.step is None else piece.step)
            parts[row, column] = bounds
    return Encoded(
        np.array(symbols, object), np.array([function.arity for function in language.functions], np.int64), parts
    )


@compiled
def _window(start: int, stop: int, step: int, size: int) -> tuple[int, int]:
    """Returns the first index and the number of letters of a slice, with the semantics of Python."""
    low, high = (0, size) if step > 0 else (-1, size - 1)
    first, last = (low, high) if step > 0 else (high, low)
    if start != NO_BOUND:
        first = min(max(start + size if start < 0 else start, low), high)
    if stop != NO_BOUND:
        last = min(max(stop + size if stop < 0 else stop, low), high)
    if step > 0:
        return first, max(0, (last - first + step - 1) // step)
    return first, max(0, (first - last - step - 1) // -step)


@compiled
def _view(part: np.ndarray, size: int) -> tuple[int, int, int]:
    """Returns the first index, step and number of letters of a part of an argument with `size` letters."""
    first, step, count = 0, 1, size
    for column in range(1, len(part), 3):
        inner, taken = _window(part[column], part[column + 1], part[column + 2], count)
        first, step, count = first + inner * step, step * part[column + 2], taken
    return first, step, count


@compiled
def _layout(
    tokens: np.ndarray, arities: np.ndarray, parts: np.ndarray, ends: np.ndarray, sizes: np.ndarray, depths: np.ndarray
) -> None:
    """Writes the end of each token's subtree, its meaning's length and its depth, from right to left."""
    comma = len(arities)
    for i in range(len(tokens) - 1, -1, -1):
        token = tokens[i]
        if token == comma:
            continue
        if token > comma:
            continues = i + 1 < len(tokens) and tokens[i + 1] > comma
            ends[i] = ends[i + 1] if continues else i + 1
            sizes[i] = sizes[i + 1] + 1 if continues else 1
            depths[i] = 0
            continue
        second = ends[i + 1] + 1
        ends[i] = ends[second] if arities[token] == 2 else ends[i + 1]
        depths[i] = 1 + (max(depths[i + 1], depths[second]) if arities[token] == 2 else depths[i + 1])
        sizes[i] = 0
        for k in range(parts.shape[1]):
            if parts[token, k, 0] >= 0:
                child = i + 1 if parts[token, k, 0] == 0 else second
                sizes[i] += _view(parts[token, k], sizes[child])[2]


@compiled
def measure(
    tokens: np.ndarray, offsets: np.ndarray, arities: np.ndarray, parts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the depth of each expression and the length of its meaning, shapes `(count,)`."""
    longest = 0
    for item in range(len(offsets) - 1):
        longest = max(longest, offsets[item + 1] - offsets[item])
    ends, sizes, depths = np.zeros((3, longest + 1), np.int64)
    expression_depths, meaning_sizes = np.zeros((2, len(offsets) - 1), np.int64)
    for item in range(len(offsets) - 1):
        _layout(tokens[offsets[item] : offsets[item + 1]], arities, parts, ends, sizes, depths)
        expression_depths[item], meaning_sizes[item] = depths[0], sizes[0]
    return expression_depths, meaning_sizes


@compiled
def evaluate(
    tokens: np.ndarray, offsets: np.ndarray, arities: np.ndarray, parts: np.ndarray, targets: np.ndarray
) -> None:
    """Writes the meanings into `targets`, one after the other.

    No intermediate strings are built: every letter of a meaning is traced down the tree to the token it comes from.
    """
    longest = 0
    for item in range(len(offsets) - 1):
        longest = max(longest, offsets[item + 1] - offsets[item])
    ends, sizes, depths = np.zeros((3, longest + 1), np.int64)
    comma = len(arities)
    place = 0
    for item in range(len(offsets) - 1):
        expression = tokens[offsets[item] : offsets[item + 1]]
        _layout(expression, arities, parts, ends, sizes, depths)
        for position in range(sizes[0]):
            node, index = 0, position
            while expression[node] < comma:
                function = expression[node]
                for k in range(parts.shape[1]):
                    child = node + 1 if parts[function, k, 0] == 0 else ends[node + 1] + 1
                    first, step, count = _view(parts[function, k], sizes[child])
                    if index < count:
                        node, index = child, first + index * step
                        break
                    index -= count
            targets[place] = expression[node + index]
            place += 1


def meanings(encoded: Encoded, tokens: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the meanings of many expressions, as flat tokens with offsets."""
    _, sizes = measure(tokens, offsets, encoded.arities, encoded.parts)
    target_offsets = np.concatenate([[0], np.cumsum(sizes)])
    targets = np.empty(target_offsets[-1], np.int32)
    evaluate(tokens, offsets, encoded.arities, encoded.parts, targets)
    return targets, target_offsets


def flatten(texts: Sequence[str], encoded: Encoded) -> tuple[np.ndarray, np.ndarray]:
    """Returns texts, in the spelling of the language, as flat tokens with offsets."""
    ids = {symbol: i for i, symbol in enumerate(encoded.symbols.tolist())}
    rows = [text.split(" ") for text in texts]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return np.array([ids[token] for row in rows for token in row], np.int32), offsets
