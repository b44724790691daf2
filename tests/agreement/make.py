"""Makes the frozen files beside it: weights, inputs and outputs of networks of Delétang et al.'s released code.

    git clone https://github.com/google-deepmind/neural_networks_chomsky_hierarchy CHECKOUT
    python -m venv ENVIRONMENT
    ENVIRONMENT/bin/pip install jax dm-haiku optax chex dm-tree einshape tqdm absl-py
    ENVIRONMENT/bin/python tests/agreement/make.py --reference CHECKOUT

Everything is in double precision. Weights are drawn anew, so that every part of a network matters to its outputs, as
multiples of 1/256, so that the files are small; dropout is off. Memories of the released code have a fixed size, here
one that loses nothing, but for nondeterministic stacks of five places and of one.
"""

import argparse
import importlib
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

HERE = Path(__file__).parent
PACKAGE = "neural_networks_chomsky_hierarchy"
BATCH, INPUT, ANSWER, SYMBOLS, OUTPUTS = 2, 9, 7, 3, 3  # sizes of what is read and said
RECURRENT: dict[str, dict[str, Any]] = {
    "rnn": {"hidden_size": 6},
    "stack_rnn": {"hidden_size": 6, "stack_cell_size": 3, "stack_size": 40},
    "tape_rnn": {"hidden_size": 6, "memory_cell_size": 3, "memory_size": 64},
    "ndstack_rnn": {"hidden_size": 6, "stack_symbols": 2, "stack_states": 2, "stack_size": 20, "read_states": True},
}
PLACES = (5, 1)  # of stacks that are used up before the end
LSTMS: dict[str, dict[str, Any]] = {
    "lstm": {"hidden_size": 5},
    "stack_lstm": {"hidden_size": 5, "stack_cell_size": 3, "stack_size": 40},
}
ENCODINGS = {"none": "NONE", "sin_cos": "SIN_COS", "alibi": "ALIBI", "relative": "RELATIVE", "rope": "ROTARY"}
TRANSFORMER = {"embedding_dim": 8, "num_layers": 2, "num_heads": 2, "widening_factor": 2, "dropout_prob": 0.0}


def released(path: Path, name: str) -> Any:
    """A module of the checkout, which calls itself by a fixed package name wherever it lies."""
    if PACKAGE not in sys.modules:
        package = types.ModuleType(PACKAGE)
        package.__path__ = [str(path.resolve())]
        sys.modules[PACKAGE] = package
    return importlib.import_module(f"{PACKAGE}.{name}")


def freeze(name: str, model: Callable[..., Any], random: np.random.Generator, **inputs: np.ndarray) -> None:
    """Runs the model with fresh weights and writes the file. Inputs are ids; the model sees them as one-hot vectors."""
    import haiku as hk  # pyright: ignore[reportMissingImports]  # of the released code's environment

    sizes = {"tokens": SYMBOLS + 1, "source": SYMBOLS, "target": OUTPUTS}
    one_hot = [np.eye(sizes[key])[ids] for key, ids in inputs.items()]
    transformed = hk.transform(model)
    shapes = transformed.init(jax.random.PRNGKey(0), *one_hot)
    weights: dict[str, dict[str, np.ndarray]] = {}
    for module, parameters in shapes.items():
        for parameter, value in parameters.items():
            scale = 1 / np.sqrt(value.shape[0]) if value.ndim > 1 else 0.5
            drawn = scale * random.normal(size=value.shape) + (parameter == "scale")  # of a normalisation: around 1
            weights.setdefault(module, {})[parameter] = np.round(256 * drawn) / 256
    outputs = np.asarray(transformed.apply(weights, jax.random.PRNGKey(0), *one_hot))
    flat = [(f"{module}:{name}", array) for module, arrays in weights.items() for name, array in arrays.items()]
    layout = json.dumps([(name, array.shape) for name, array in flat])
    assert outputs.dtype == np.float64, outputs.dtype
    together = np.concatenate([array.ravel() for _, array in flat])
    arrays: dict[str, Any] = {"layout": layout, "weights": together, **inputs, "outputs": outputs}
    np.savez_compressed(HERE / "frozen" / f"{name}.npz", **arrays)
    print(f"{name}: {outputs.shape}, outputs from {outputs.min():.2f} to {outputs.max():.2f}")


def main() -> None:
    """All files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", type=Path, required=True, help="a checkout of the released code")
    folder = parser.parse_args().reference
    jax.config.update("jax_enable_x64", True)
    constants = released(folder, "experiments.constants")
    positions = released(folder, "models.positional_encodings")
    (HERE / "frozen").mkdir(exist_ok=True)
    random = np.random.default_rng(0)

    # x_1 ... x_n and then one mark for each symbol of the answer
    tokens = np.concatenate([random.integers(SYMBOLS, size=(BATCH, INPUT)), np.full((BATCH, ANSWER), SYMBOLS)], 1)

    def freeze_recurrent(networks: dict[str, dict[str, Any]], kind: str = "") -> None:
        for name, sizes in networks.items():
            build = constants.MODEL_BUILDERS[name](output_size=OUTPUTS, return_all_outputs=True, **sizes)
            freeze(name + kind, lambda x, build=build: build(x, input_length=INPUT), random, tokens=tokens)

    freeze_recurrent(RECURRENT)
    source = random.integers(SYMBOLS, size=(BATCH, INPUT))
    target = random.integers(OUTPUTS, size=(BATCH, ANSWER))
    for ours, theirs in ENCODINGS.items():
        options = {
            "output_size": OUTPUTS,
            "return_all_outputs": True,
            "positional_encodings": positions.POS_ENC_TABLE[theirs],
            "positional_encodings_params": positions.POS_ENC_PARAMS_TABLE[theirs](),
            **TRANSFORMER,
        }
        encoder = constants.MODEL_BUILDERS["transformer_encoder"](**options)
        freeze(f"transformer_encoder-{ours}", encoder, random, tokens=tokens)
        if ours in ("none", "alibi", "rope"):  # for the others the released decoder does something else: see the docs
            both = constants.MODEL_BUILDERS["transformer"](**options)
            freeze(f"transformer-{ours}", both, random, source=source, target=target)
    freeze_recurrent(LSTMS)
    for places in PLACES:
        freeze_recurrent({"ndstack_rnn": {**RECURRENT["ndstack_rnn"], "stack_size": places}}, f"-{places}_places")


if __name__ == "__main__":
    main()
