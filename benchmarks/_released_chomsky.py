"""Parts of the released code of Delétang et al. (2023), from a checkout. Imported in its own environment only."""

import importlib
import sys
import types
from typing import Any

PACKAGE = "neural_networks_chomsky_hierarchy"


def module(checkout: str, name: str) -> Any:
    """One of its modules for experiments."""
    if PACKAGE not in sys.modules:
        package = types.ModuleType(PACKAGE)  # it calls itself by a fixed name wherever it lies
        package.__path__ = [checkout]
        sys.modules[PACKAGE] = package
    return importlib.import_module(f"{PACKAGE}.experiments.{name}")


def network(checkout: str, task: Any, name: str, sizes: dict[str, int]) -> Any:
    """One of its models for one of its tasks, as in its example."""
    import haiku as hk  # pyright: ignore[reportMissingImports]

    builders, utils = module(checkout, "constants").MODEL_BUILDERS, module(checkout, "utils")
    model = builders[name](output_size=task.output_size, return_all_outputs=True, **sizes)
    is_one_symbol = task.output_length(10) == 1
    return hk.transform(utils.make_model_with_empty_targets(model, task, 0, is_one_symbol))


def versions() -> dict[str, str]:
    """Of what it runs on."""
    names = {"jax": "jax", "dm-haiku": "haiku", "optax": "optax"}
    return {name: importlib.import_module(imported).__version__ for name, imported in names.items()}
