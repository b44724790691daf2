"""One paper each: its tasks, models, protocol, presets and table layout, in a folder of its own.

What every suite does is in `base`. None of it imports JAX or torch: engines train.
"""

from typing import TYPE_CHECKING

from humboldt.registry import Registry

if TYPE_CHECKING:
    from humboldt.suites.base import AbstractSuite

suites: "Registry[AbstractSuite]" = Registry("suite", "humboldt.suites", layout="folders")
