"""Warns once if a GPU is present but not used."""

import os
from pathlib import Path

from humboldt.core.events import AbstractSink, Warned

# Where NVIDIA's driver shows them: a container may show its GPU in one place only.
PLACES = {Path("/proc/driver/nvidia/gpus"): "*", Path("/dev"): "nvidia[0-9]*"}
_told: set[str] = set()


def warn_of_idle_gpu(library: str, sink: AbstractSink) -> None:
    """Warns if `library` computes on the processor although the machine has a GPU, unless the user chose this."""
    asked_for = os.environ.get("JAX_PLATFORMS") or os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    if library in _told or asked_for or not any(any(folder.glob(names)) for folder, names in PLACES.items()):
        return
    _told.add(library)
    sink.send(
        Warned(
            f"This machine has an NVIDIA GPU, but {library} computes on the processor, which is much slower. Either "
            f"{library} is installed without support for GPUs, or it could not reach this one (then it has said so "
            "above). To turn this warning off, set CUDA_VISIBLE_DEVICES=-1."
        )
    )
