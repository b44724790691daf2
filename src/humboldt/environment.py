"""What a result was made with."""

import importlib.metadata
import platform
import sys
from functools import cache

import humboldt

BASE = ("numpy", "numba")
WITH_JAX = ("jax", "equinox", "optax")


def package_versions() -> dict[str, str]:
    """Of all packages that can change a result; `none` where one is not installed. Nothing is imported for this."""
    found = {"humboldt": humboldt.__version__}
    for package in (*BASE, *WITH_JAX, "torch"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "none"
    return found


def environment(*, uses_jax: bool = True) -> dict[str, str]:
    """Versions and device, as stored with every result.

    JAX is described if it is loaded, and is never loaded for this.

    **Arguments:**

    - `uses_jax`: false for work that does not use JAX, even where something else in the process does: its device is
      the processor, not JAX's.
    """
    return dict(_environment(uses_jax and "jax" in sys.modules))


@cache
def _environment(has_jax: bool) -> dict[str, str]:
    packages = (*BASE, *WITH_JAX) if has_jax else BASE
    versions = {name: importlib.metadata.version(name) for name in packages}
    described = {"humboldt": humboldt.__version__, "python": platform.python_version(), **versions}
    if not has_jax:
        return described | {"device": f"cpu: {platform.processor() or platform.machine()}"}
    import jax

    device = jax.devices()[0]
    return described | {
        "device": f"{device.platform}: {device.device_kind}",
        "devices": str(len(jax.local_devices())),
    }
