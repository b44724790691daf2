"""What a result was made with."""

import platform
import sys
from functools import cache
from importlib import metadata

import humboldt

LIBRARIES = {"jax": ("numpy", "jax", "equinox", "optax"), "search": ("numpy", "numba"), "torch": ("numpy", "torch")}


@cache
def environment(engine: str) -> dict[str, str]:
    """Versions and device, as stored with every result of an engine."""
    libraries = {name: metadata.version(name) for name in LIBRARIES.get(engine, ("numpy",))}
    return {"humboldt": humboldt.__version__, "python": platform.python_version(), **libraries, **_device(engine)}


def _device(engine: str) -> dict[str, str]:
    if engine == "jax":
        jax = sys.modules.get("jax") or __import__("jax")
        device = jax.devices()[0]
        return {"device": f"{device.platform}: {device.device_kind}", "devices": str(len(jax.local_devices()))}
    return {"device": f"cpu: {platform.processor() or platform.machine()}"}
