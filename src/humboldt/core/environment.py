"""Describes the software and hardware that a result was made with."""

import importlib.metadata
import platform
import sys
from functools import cache

import humboldt

BASE = ("numpy", "numba")
WITH_JAX = ("jax", "equinox", "optax")


def package_versions() -> dict[str, str]:
    """Returns the versions of all packages that can change a result, `none` if not installed. Imports none of them."""
    versions = {"humboldt": humboldt.__version__}
    for package in (*BASE, *WITH_JAX, "torch"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "none"
    return versions


def environment(*, uses_jax: bool = True) -> dict[str, str]:
    """Returns versions and device, as stored with every result.

    JAX is described if it is loaded already; it is never loaded for this.

    **Arguments:**

    - `uses_jax`: false for work without JAX, even if other work in the process uses it: its device is the CPU, not
      JAX's.
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
