"""Saved weights as safetensors files, which other tools can read, with a digest of the whole file in their metadata.

A file is the length of the header (8 bytes, little-endian); the header, a JSON object with data type, shape and place
of each array and, under `__metadata__`, texts; and the bytes of all arrays, one after the other. Our metadata are
`about` (JSON), and `sha256`: the digest of the file with 64 zeros in its place. Everything in a file is checked before
it is used: the file may come from anywhere.
"""

import hashlib
import json
import math
import os
from collections.abc import Mapping
from io import BufferedReader
from typing import Any

import numpy as np

from humboldt.errors import MissingExtra

DTYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "uint16",
    "I16": "int16",
    "U32": "uint32",
    "I32": "int32",
    "U64": "uint64",
    "I64": "int64",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
}
_NAMES = {name: code for code, name in DTYPES.items()}
METADATA, ABOUT, DIGEST = "__metadata__", "about", "sha256"
NO_DIGEST = "0" * 64
LONGEST_HEADER = 100_000_000  # bytes, as in other readers of this format
PIECE_BYTES = 1 << 20


class Damaged(Exception):
    """A damaged file of arrays."""


def header_of(arrays: Mapping[str, np.ndarray], about: Mapping[str, Any]) -> bytes | None:
    """Returns length and header of a file with these arrays, in order; `None` if the format does not support one of
    them."""
    codes = {name: _code(array.dtype) for name, array in arrays.items()}
    if METADATA in arrays or None in codes.values():
        return None
    header: dict[str, Any] = {METADATA: {ABOUT: json.dumps(about), DIGEST: NO_DIGEST}}
    begin = 0
    for name, array in arrays.items():
        end = begin + array.nbytes
        header[name] = {"dtype": codes[name], "shape": list(array.shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # aligns arrays to multiples of eight
    digest = hashlib.sha256(len(text).to_bytes(8, "little") + text)
    for array in arrays.values():
        digest.update(bytes_of(array))
    before, after = _around_digest(text, NO_DIGEST)
    return len(text).to_bytes(8, "little") + before + digest.hexdigest().encode() + after


def _around_digest(header: bytes, digest: str) -> tuple[bytes, bytes]:
    """Returns the header before and after the digest, which comes first, before all names of arrays."""
    mark = f'"{DIGEST}":"'.encode()
    before, found, after = header.partition(mark + digest.encode())
    if not found:
        raise ValueError("the header has no digest")
    return before + mark, after


def _code(dtype: np.dtype[Any]) -> str | None:
    return _NAMES.get(dtype.name) if dtype.isnative and dtype.names is None else None


def read(file: BufferedReader, name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Reads the arrays of an open file, and their description."""
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > min(size - 8, LONGEST_HEADER):
        raise Damaged(f"`{name}` has {size:,} bytes, and its header should have {length:,}.")
    text = file.read(length)
    try:
        header = json.loads(text)
        metadata = header.pop(METADATA)
        _check_digest(file, text, metadata[DIGEST])
        about = json.loads(metadata[ABOUT])
        places = _places(header, size - 8 - length)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged(f"`{name}` does not have the header of kept weights: {_said(error)}.") from error
    arrays = {}
    for key, (dtype, shape, begin) in places.items():
        arrays[key] = np.empty(shape, dtype)
        file.seek(8 + length + begin)
        if file.readinto(bytes_of(arrays[key])) != arrays[key].nbytes:
            raise Damaged(f"`{name}` ends in the middle of an array.")
    return arrays, about


def _said(error: Exception) -> str:
    text = f"{type(error).__name__}: {error}"
    return text if len(text) <= 200 else f"{text[:197]}..."


def _check_digest(file: BufferedReader, header: bytes, written: Any) -> None:
    if not isinstance(written, str) or len(written) != len(NO_DIGEST):
        raise ValueError(f"the digest is {written!r:.80}")
    before, after = _around_digest(header, written)
    digest = hashlib.sha256(len(header).to_bytes(8, "little") + before + NO_DIGEST.encode() + after)
    while piece := file.read(PIECE_BYTES):
        digest.update(piece)
    if digest.hexdigest() != written:
        raise ValueError("the file does not match its checksum")


def _places(header: Mapping[str, Any], size: int) -> dict[str, tuple[np.dtype[Any], tuple[int, ...], int]]:
    """Returns data type, shape and first byte of all arrays; raises unless they fill `size` bytes without a gap or
    overlap."""
    places, reached = {}, 0
    for key, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"][0]):
        code, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        if code not in DTYPES:
            raise ValueError(f"the data type {code!r:.40} of {key!r:.40} is not known")
        if not all(type(number) is int and 0 <= number <= size for number in (begin, end)):
            raise ValueError(f"{key!r:.40} is not inside the file")
        if not all(type(number) is int and number >= 0 for number in shape) or len(shape) > 64:
            raise ValueError(f"the shape of {key!r:.40} is not a shape")
        dtype = _dtype(DTYPES[code])
        if begin != reached or end - begin != dtype.itemsize * math.prod(shape):
            raise ValueError(f"the place of {key!r:.40} does not fit its shape, or that of another array")
        places[key], reached = (dtype, tuple(shape), begin), end
    if reached != size:
        raise ValueError(f"arrays have {reached:,} bytes, and the file has {size:,} of them")
    return {key: places[key] for key in header}  # in the order in which they were written


def bytes_of(array: np.ndarray) -> memoryview:
    """Returns the memory of a contiguous array, as bytes."""
    return array.reshape(-1).view(np.uint8).data if array.nbytes else memoryview(bytearray())


def extended_dtype(name: str) -> np.dtype[Any]:
    """Returns a data type that NumPy itself does not have, such as bfloat16."""
    try:
        import ml_dtypes  # comes with JAX; nothing else here needs it
    except ImportError as error:
        raise MissingExtra("ml_dtypes") from error
    return np.dtype(getattr(ml_dtypes, name))


def _dtype(name: str) -> np.dtype[Any]:
    try:
        return np.dtype(name)
    except TypeError:
        return extended_dtype(name)
