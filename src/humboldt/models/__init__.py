"""Networks for one example. Each model is one file and registers its settings under the file's name.

A registered model is a frozen dataclass of settings with `build(input_size, output_size, *, key)`, which returns an
Equinox module `model(tokens, mask, *, key) -> logits`. Importing this package does not import JAX.
"""

from typing import Any

from humboldt.registry import Registry

models: Registry[Any] = Registry("model", "humboldt.models")
