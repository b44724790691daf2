"""Launches a CUDA kernel from JAX, given its text in PTX, the assembly of NVIDIA's GPUs."""

import gzip
from functools import cache
from pathlib import Path

import jax
import numpy as np
from jaxtyping import Array

TEXTS = Path(__file__).parent / "ptx"
TARGET = "__gpu$xla.gpu.ptx"  # XLA's own; it hands the text to the driver, which compiles it for the device


@cache
def read(name: str) -> str:
    """Returns the text of a kernel."""
    return gzip.decompress((TEXTS / f"{name}.ptx.gz").read_bytes()).decode()


def launch(
    text: str,
    entry: str,
    results: tuple[jax.ShapeDtypeStruct, ...],
    *arguments: Array,
    blocks: int,
    threads: int,
    shared_memory: int,
) -> tuple[Array, ...]:
    """Returns the results of one launch. The kernel gets the addresses of all arguments, then of all results."""
    sizes = {"grid_x": blocks, "grid_y": 1, "grid_z": 1, "block_x": threads, "block_y": 1, "block_z": 1}
    sizes["shared_mem_bytes"] = shared_memory
    call = jax.ffi.ffi_call(TARGET, results)
    outputs = call(
        *arguments,
        name=entry,
        kernel_type="ptx",
        kernel_data=f"{text}",
        **{name: np.int32(size) for name, size in sizes.items()},
    )
    return tuple(outputs)
