"""`Pairs`: pairs of strings as padded arrays. `Drawn`: strings of a sampler, for the checks of a task."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.languages.alphabet import Alphabet


@dataclass(frozen=True, eq=False)
class Pairs:
    """Input strings and target strings, right-padded with id 0.

    - `inputs`: shape `(count, input time)`; `input_lengths`: shape `(count,)`.
    - `targets`: shape `(count, target time)`; `target_lengths`: shape `(count,)`, the number of scored symbols.
    - `slots`: shape `(count,)`, the number of output symbols to be predicted. It depends on the input's length only, so
      it is larger than `target_lengths` where a target ends early with a terminator (later symbols are not scored).
    """

    inputs: np.ndarray
    input_lengths: np.ndarray
    targets: np.ndarray
    target_lengths: np.ndarray
    slots: np.ndarray

    @classmethod
    def full(cls, inputs: np.ndarray, targets: np.ndarray, target_lengths: np.ndarray | None = None) -> "Pairs":
        """Builds pairs from arrays without padding, such as those of a sampler at one length.

        With `target_lengths` the targets may end early; all columns of `targets` remain slots.
        """
        count = len(inputs)
        slots = np.full(count, targets.shape[1], np.int32)
        return cls(
            inputs=inputs.astype(np.int32),
            input_lengths=np.full(count, inputs.shape[1], np.int32),
            targets=targets.astype(np.int32),
            target_lengths=slots.copy() if target_lengths is None else target_lengths.astype(np.int32),
            slots=slots,
        )

    @classmethod
    def concatenate(cls, parts: Sequence["Pairs"]) -> "Pairs":
        """Returns the pairs of all parts in order, padded to the longest."""

        def padded(name: str) -> np.ndarray:
            arrays = [getattr(part, name) for part in parts]
            width = max(array.shape[1] for array in arrays)
            return np.concatenate([np.pad(array, ((0, 0), (0, width - array.shape[1]))) for array in arrays])

        def joined(name: str) -> np.ndarray:
            return np.concatenate([getattr(part, name) for part in parts])

        return cls(
            padded("inputs"), joined("input_lengths"), padded("targets"), joined("target_lengths"), joined("slots")
        )

    def check(self, count: int) -> None:
        """Raises a `ValueError` unless these are `count` pairs of one length of input, in arrays that fit together."""
        for name in ("inputs", "targets"):
            if getattr(self, name).ndim != 2:
                raise ValueError(f"{name} have shape {getattr(self, name).shape}, and need two axes: string, position")
        for name in ("inputs", "targets", "input_lengths", "target_lengths", "slots"):
            if len(getattr(self, name)) != count:
                raise ValueError(f"{count} strings were asked for, and {name} are of {len(getattr(self, name))}")
        if (self.input_lengths > self.inputs.shape[1]).any() or (self.target_lengths > self.targets.shape[1]).any():
            raise ValueError("a string is longer than the array that holds it")
        if len(set(self.slots.tolist())) > 1:
            raise ValueError(
                f"strings of one length have {self.slots.min()} to {self.slots.max()} output symbols to predict. That "
                "number may depend on the length of the input only; see `Pairs.slots`"
            )

    def head(self, count: int) -> "Pairs":
        """Returns the first `count` pairs."""
        fields = (self.inputs, self.input_lengths, self.targets, self.target_lengths, self.slots)
        return Pairs(*(array[:count] for array in fields))

    def __len__(self) -> int:
        return len(self.inputs)

    def symbols(self, inputs: Alphabet, outputs: Alphabet) -> Iterator[tuple[list[str], list[str]]]:
        """Yields the pairs as symbols, without padding."""
        rows = zip(self.inputs, self.input_lengths, self.targets, self.target_lengths, strict=True)
        for source, source_length, target, target_length in rows:
            yield inputs.decode(source[:source_length]), outputs.decode(target[:target_length])


@dataclass(frozen=True, eq=False)
class Drawn:
    """Strings as a training draws them, by which a task is checked.

    - `sources`, `targets`: ids of each input and of its target.
    - `length`: the number of symbols of every input; `None` if it varies.
    - `is_random`: whether another seed gives other strings.
    """

    sources: Sequence[Sequence[int]]
    targets: Sequence[Sequence[int]]
    length: int | None = None
    is_random: bool = True

    @classmethod
    def of_pairs(cls, pairs: Pairs, length: int) -> "Drawn":
        """Returns pairs whose inputs should have `length` symbols."""
        rows = zip(pairs.inputs, pairs.input_lengths, pairs.targets, pairs.target_lengths, strict=True)
        both = [(source[:n].tolist(), target[:m].tolist()) for source, n, target, m in rows]
        return cls([source for source, _ in both], [target for _, target in both], length)
