"""How PyTorch computes for a training: with how many threads on a CPU, and how exactly it multiplies on a GPU."""

import contextlib
import os
import warnings
from collections.abc import Iterator
from typing import Any

import torch


@contextlib.contextmanager
def own_threads(device: torch.device, count: int = 1) -> Iterator[None]:
    """Limits PyTorch to one thread on a CPU, or to `count`, unless the user has set a number (`OMP_NUM_THREADS`).

    By default, PyTorch uses all cores. If one of them is busy with other work, all threads wait for it at every
    operation, of which small networks have many: steps then take several times as long as with one thread.
    """
    before = torch.get_num_threads()
    if device.type == "cpu" and not os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def own_products(device: torch.device, *, exact: bool) -> Iterator[None]:
    """Lets a GPU round the factors of products in single precision to ten bits (TF32), as JAX does, or not if products
    are to be `exact`. PyTorch's switches are restored at the end of the block.

    PyTorch has older switches, and newer ones from 2.9 on. It refuses to read the older ones where the newer ones
    differ from them, also inside `torch.compile`. So the older ones are set, which sets both, unless they already
    differ because the user has set newer ones.
    """
    if device.type != "cuda":
        yield
        return
    before = [switch.fp32_precision for switch in NEWER]
    with _unwarned():
        older = _older()
        if older is None:
            for switch in NEWER[:3]:
                switch.fp32_precision = "ieee" if exact else "tf32"
        else:
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = not exact
    try:
        yield
    finally:
        with _unwarned():
            if older is not None:
                torch.set_float32_matmul_precision(older[0])
                torch.backends.cudnn.allow_tf32 = older[1]
            for switch, value in zip(NEWER, before, strict=True):
                switch.fp32_precision = value


def rounds_products(device: torch.device) -> bool:
    """Returns whether products in single precision round their factors to ten bits now."""
    if device.type != "cuda":
        return False
    return bool(NEWER[0].fp32_precision == "tf32" if NEWER else torch.backends.cuda.matmul.allow_tf32)


def _newer() -> list[Any]:
    """Returns the switches of products, convolutions and recurrent layers on a GPU, and that of products on a CPU,
    which an older switch changes as well."""
    backends: Any = torch.backends
    if not hasattr(backends.cudnn, "conv"):
        return []
    return [backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn, backends.mkldnn.matmul]


def _older() -> tuple[str, bool] | None:
    """Returns the older switches of products and of cuDNN; `None` where the newer ones differ from them."""
    try:
        return torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    except RuntimeError:
        return None


@contextlib.contextmanager
def _unwarned() -> Iterator[None]:
    """Ignores the warnings of some versions about the older switches."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


NEWER = _newer()
