"""Runs the kernels on a CPU, compiled with the emulator in `emulator`."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from humboldt.models.layers.fused import kernels as attention
from humboldt.models.loop.fused import build, kernels, tape

EMULATOR = Path(__file__).parent / "emulator"
COMPILER = shutil.which("g++") or shutil.which("clang++")
SHARED_MEMORY = 232_448  # bytes that a block may have
MARGIN = 2048  # bytes around each array, in which nothing may be written
FILLING = 0xAB


class Emulator:
    """Launches kernels, with numbers in place of their texts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seed = 0  # of the order in which threads take turns; 0: one after the other
        self._launchers: dict[str, Any] = {}

    def launch(
        self, name: str, entry: str, results: Any, *arguments: Any, blocks: int, threads: int, shared_memory: int
    ) -> tuple[Any, ...]:
        assert shared_memory <= SHARED_MEMORY
        inputs = [np.asarray(argument).tobytes() for argument in arguments]
        sizes = [*map(len, inputs), *(int(np.prod(result.shape)) * result.dtype.itemsize for result in results)]
        buffers = [np.full(size + 2 * MARGIN + 64, FILLING, np.uint8) for size in sizes]
        starts = [MARGIN + -buffer.ctypes.data % 64 for buffer in buffers]
        for buffer, start, data in zip(buffers, starts, inputs, strict=False):
            buffer[start : start + len(data)] = np.frombuffer(data, np.uint8)
        addresses = [buffer.ctypes.data + start for buffer, start in zip(buffers, starts, strict=True)]
        cluster = int(name.split("_")[2]) // 64 if entry.startswith("gated") else 1
        pointers = (ctypes.c_void_p * len(addresses))(*addresses)
        wrong = self._launcher(name, entry)(pointers, blocks, threads, cluster, shared_memory, self.seed)
        assert wrong == 0, f"{wrong} bytes beyond shared memory"
        found = []
        for buffer, start, size in zip(buffers, starts, sizes, strict=True):
            around = np.concatenate([buffer[:start], buffer[start + size :]])
            assert (around == FILLING).all(), "a kernel wrote beyond an array"
            found.append(buffer[start : start + size])
        found = found[len(arguments) :]
        return tuple(
            jnp.asarray(x.copy().view(result.dtype).reshape(result.shape))
            for x, result in zip(found, results, strict=True)
        )

    def _launcher(self, name: str, entry: str) -> Any:
        if name not in self._launchers:
            assert COMPILER is not None
            source, macros = build.variants()[name]
            number = ["-DHALF"] if source == "gated" else []
            defines = [*(f"-D{macro}" for macro in macros), *number, f"-DENTRY={entry}", f'-DSOURCE="{source}.cu"']
            places = [f"-I{EMULATOR}", f"-I{build.FOLDER}", str(EMULATOR / "launch.cpp"), "-o", str(self.folder / name)]
            options = ["-std=c++20", "-O1", "-w", "-fno-strict-aliasing", "-shared", "-fPIC"]
            subprocess.run([COMPILER, *options, *defines, *places], check=True)
            self._launchers[name] = ctypes.CDLL(str(self.folder / name)).launch
        return self._launchers[name]


@pytest.fixture
def emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Emulator:
    """The emulator in place of launches on a GPU."""
    if COMPILER is None:
        pytest.skip("there is no compiler of C++")
    found = Emulator(tmp_path)
    for module in (kernels, tape, attention):
        monkeypatch.setattr(module, "launch", found.launch)
        monkeypatch.setattr(module, "read", lambda name: name)
    return found
