"""Suites: one folder for each paper, with its tasks, models, protocol, presets and table layout.

The interface of a suite is in `base`. Suites import neither JAX nor torch; engines do the training.
"""

from typing import TYPE_CHECKING

from humboldt.registry import Registry

if TYPE_CHECKING:
    from humboldt.suites.base import AbstractSuite

suites: "Registry[AbstractSuite]" = Registry("suite", "humboldt.suites", layout="folders")
