"""Kept weights are safetensors files. Two processor seconds."""

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from humboldt.storage import checkpoints, weights
from humboldt.storage.weights import DTYPES, NO_DIGEST, Damaged

ARRAYS = {
    "layer.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "empty": np.zeros((0, 3), np.uint8),
    "step": np.array(7, np.int64),
    "é\n": np.array([True, False]),
}
ABOUT = {"training": "0123", "member": {"seed": 0, "text": '"sha256":"' + NO_DIGEST}}


def kept(folder: Path, arrays: dict[str, np.ndarray] = ARRAYS) -> Path:
    path = folder / "x.weights"
    checkpoints.write(path, arrays, ABOUT)
    return path


def same(some: dict[str, np.ndarray], others: dict[str, np.ndarray]) -> bool:
    return some.keys() == others.keys() and all(
        array.dtype == others[name].dtype and np.array_equal(array, others[name]) for name, array in some.items()
    )


def test_what_was_written_is_read_in_its_order(tmp_path: Path):
    arrays, about = checkpoints.read(kept(tmp_path))
    assert same(arrays, ARRAYS) and list(arrays) == list(ARRAYS) and about == ABOUT
    assert all(array.flags.writeable for array in arrays.values())
    assert [path.name for path in tmp_path.iterdir()] == ["x.weights"]


def test_other_tools_read_it(tmp_path: Path):
    numpy = pytest.importorskip("safetensors.numpy")
    path = kept(tmp_path)
    assert same(numpy.load_file(path), ARRAYS)
    with pytest.importorskip("safetensors").safe_open(path, "np") as file:
        assert json.loads(file.metadata()["about"]) == ABOUT


@pytest.mark.parametrize("code", DTYPES)
def test_every_data_type_of_the_format(code: str, tmp_path: Path):
    if DTYPES[code] not in np.sctypeDict:
        pytest.importorskip("ml_dtypes")
    array = np.array([[0, 1], [1, 0], [1, 1]]).astype(weights._dtype(DTYPES[code]))
    path = kept(tmp_path, {"x": array})
    assert f'"dtype":"{code}"'.encode() in path.read_bytes()
    assert same(checkpoints.read(path)[0], {"x": array})


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([1.0], ">f8"), np.zeros(2, [("a", "<f8")])], ids=str)
def test_arrays_that_the_format_does_not_have_are_kept_as_before(array: np.ndarray, tmp_path: Path):
    path = kept(tmp_path, {"x": array})
    assert path.read_bytes().startswith(checkpoints.FORMAT)
    assert same(checkpoints.read(path)[0], {"x": array})
    assert same(checkpoints.read(kept(tmp_path, {weights.METADATA: np.ones(2)}))[0], {weights.METADATA: np.ones(2)})


def test_weights_of_earlier_versions_are_read(tmp_path: Path):
    checkpoints.write(tmp_path / "x.ckpt", ARRAYS, ABOUT)
    old = (tmp_path / "x.ckpt").rename(tmp_path / "old.weights")
    arrays, about = checkpoints.read(old)
    assert same(arrays, ARRAYS) and about == ABOUT


def test_every_flipped_bit_and_every_cut_is_found(tmp_path: Path):
    path = kept(tmp_path)
    content, rng = path.read_bytes(), random.Random(0)
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        with pytest.raises(Damaged, match=r"x\.weights"):
            checkpoints.read(path)
        path.write_bytes(content[:place])
        with pytest.raises(Damaged, match=r"x\.weights"):
            checkpoints.read(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(Damaged):
        checkpoints.read(path)


def forged(header: Any, data: bytes = bytes(24), *, length: int | None = None) -> bytes:
    """A file with this header and a digest that fits it."""
    if not isinstance(header, bytes):
        header = json.dumps(
            {"__metadata__": {"about": "{}", "sha256": NO_DIGEST}, **header}, separators=(",", ":")
        ).encode()
    size = (len(header) if length is None else length).to_bytes(8, "little")
    return size + header.replace(NO_DIGEST.encode(), hashlib.sha256(size + header + data).hexdigest().encode()) + data


def entry(begin: Any = 0, end: Any = 24, shape: Any = (3,), dtype: Any = "F64") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


HOSTILE = {
    "a header longer than the file": forged({"x": entry()}, length=10**6),
    "a header of 2 to the 63": forged({"x": entry()}, length=2**63),
    "a header that is cut": forged({"x": entry()}, length=20),
    "no JSON": forged(b"{" + b"x" * 100),
    "a list": forged(b'{"a":1}'.replace(b"{", b"[").replace(b"}", b"]")),
    "no metadata": forged(b'{"x":{}}'),
    "metadata that are a number": forged(b'{"__metadata__":5}'),
    "no digest": forged(b'{"__metadata__":{"about":"{}"}}', b""),
    "a digest that is a list": forged(b'{"__metadata__":{"about":"{}","sha256":[]}}', b""),
    "brackets without end": forged(b'{"x":' + b"[" * 100_000),
    "braces without end": forged(b'{"x":' * 100_000),
    "a number of 5,000 digits": forged(b'{"x":' + b"9" * 5_000 + b"}"),
    "an unknown type": forged({"x": entry(dtype="F128")}),
    "a type that is a list": forged({"x": entry(dtype=["F64"])}),
    "a negative shape": forged({"x": entry(shape=[-3])}),
    "a shape that is text": forged({"x": entry(shape="3")}),
    "a shape of fractions": forged({"x": entry(shape=[3.0])}),
    "a shape that is too large": forged({"x": entry(shape=[10**30, 10**30])}),
    "a shape of a hundred axes": forged({"x": entry(shape=[1] * 99 + [3])}),
    "an end outside": forged({"x": entry(end=32, shape=[4])}),
    "an end at 2 to the 64": forged({"x": entry(end=2**64, shape=[2**61])}),
    "a negative begin": forged({"x": entry(begin=-8, shape=[4])}),
    "places that are text": forged({"x": entry(begin="0")}),
    "one place": forged({"x": {"dtype": "F64", "shape": [3], "data_offsets": [0]}}),
    "no places": forged({"x": {"dtype": "F64", "shape": [3]}}),
    "two arrays in one place": forged({"x": entry(), "y": entry()}),
    "two that overlap": forged({"x": entry(0, 16, [2]), "y": entry(8, 24, [2])}),
    "a gap": forged({"x": entry(0, 8, [1]), "y": entry(16, 24, [1])}),
    "an unused end": forged({"x": entry(0, 8, [1])}),
    "an entry that is a list": forged({"x": [1, 2]}),
    "nothing but a length": (5).to_bytes(8, "little") + b"{",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers_are_sentences(name: str, tmp_path: Path):
    path = tmp_path / "x.weights"
    path.write_bytes(HOSTILE[name])
    with pytest.raises(Damaged, match=r"x\.weights") as caught:
        checkpoints.read(path)
    assert len(str(caught.value)) < 400


def test_the_forger_makes_good_files_too(tmp_path: Path):
    (tmp_path / "x.weights").write_bytes(forged({"x": entry()}))
    arrays, about = checkpoints.read(tmp_path / "x.weights")
    assert same(arrays, {"x": np.zeros(3)}) and about == {}
