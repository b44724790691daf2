"""What a result was made with."""

import platform
from functools import cache

import equinox
import jax
import numpy
import optax

import humboldt


@cache
def environment() -> dict[str, str]:
    """Versions and device, as stored with every result."""
    device = jax.devices()[0]
    return {
        "humboldt": humboldt.__version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "jax": jax.__version__,
        "equinox": equinox.__version__,
        "optax": optax.__version__,
        "device": f"{device.platform}: {device.device_kind}",
        "devices": str(len(jax.local_devices())),
    }
