"""Train a network with the code that Delétang et al. released, and score it per length: one JSON record on stdout.

The released code is not part of Humboldt. Clone it and give it an environment of its own:

    git clone https://github.com/google-deepmind/neural_networks_chomsky_hierarchy CHECKOUT
    python -m venv ENVIRONMENT
    ENVIRONMENT/bin/pip install jax dm-haiku optax chex dm-tree einshape tqdm absl-py
    ENVIRONMENT/bin/python reproductions/chomsky/released.py --reference CHECKOUT

Tasks, networks, losses, optimiser and training loop are the released ones. This script chooses the settings and the
test lengths: the released evaluation goes through every length from 1 on, with a compilation for each.
"""

import argparse
import importlib
import json
import platform
import subprocess
import sys
import time
import types
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PACKAGE = "neural_networks_chomsky_hierarchy"


def parse() -> argparse.Namespace:
    """The options. Defaults are the paper's setting, but for the number of steps (the paper: 1,000,000)."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--reference", type=Path, required=True, help="a checkout of the released code")
    options.add_argument("--task", default="missing_duplicate_string", help="its name in the released code")
    options.add_argument("--architecture", default="rnn", help="its name in the released code")
    options.add_argument("--hidden-size", type=int, default=256)
    options.add_argument("--batch-size", type=int, default=128)
    options.add_argument("--learning-rate", type=float, default=5e-4)
    options.add_argument("--steps", type=int, default=8000)
    options.add_argument("--seeds", type=int, nargs="+", default=[0])
    options.add_argument("--strings-per-length", type=int, default=512)
    options.add_argument("--lengths", type=int, nargs="+", default=[10, 20, 30, 40, *range(41, 501, 20), 500])
    return options.parse_args()


def released(path: Path, name: str) -> Any:
    """A module of the checkout, which calls itself by a fixed package name wherever it lies."""
    if PACKAGE not in sys.modules:
        package = types.ModuleType(PACKAGE)
        package.__path__ = [str(path.resolve())]
        sys.modules[PACKAGE] = package
    return importlib.import_module(f"{PACKAGE}.{name}")


def train_and_score(options: argparse.Namespace, seed: int) -> dict[str, Any]:
    """One network: its accuracy in training, and per test length."""
    import haiku as hk  # pyright: ignore[reportMissingImports]  # of the released code's environment
    import jax
    import jax.numpy as jnp
    import numpy as np

    constants = released(options.reference, "experiments.constants")
    curriculum = released(options.reference, "experiments.curriculum")
    training = released(options.reference, "experiments.training")
    utils = released(options.reference, "experiments.utils")

    task = constants.TASK_BUILDERS[options.task]()
    network = constants.MODEL_BUILDERS[options.architecture](
        output_size=task.output_size, return_all_outputs=True, hidden_size=options.hidden_size
    )
    single = task.output_length(10) == 1
    model = hk.transform(utils.make_model_with_empty_targets(network, task, 0, single))

    def loss(output: Any, target: Any) -> Any:
        return jnp.mean(jnp.sum(task.pointwise_loss_fn(output, target), axis=-1)), {}

    def accuracy(output: Any, target: Any) -> Any:
        mask = task.accuracy_mask(target)
        return jnp.sum(mask * task.accuracy_fn(output, target)) / jnp.sum(mask)

    settings = training.ClassicTrainingParams(
        seed=seed,
        model_init_seed=seed,
        training_steps=options.steps,
        log_frequency=100,
        task=task,
        length_curriculum=curriculum.UniformCurriculum(values=list(range(1, 41))),
        batch_size=options.batch_size,
        model=model,
        loss_fn=loss,
        learning_rate=options.learning_rate,
        accuracy_fn=accuracy,
    )
    begin = time.perf_counter()
    log, _, weights = training.TrainingWorker(settings).run()
    seconds = time.perf_counter() - begin

    apply = jax.jit(model.apply)
    key = jax.random.PRNGKey(1)
    per_length = {}
    for length in options.lengths:
        key, batch_key, model_key = jax.random.split(key, 3)
        batch = task.sample_batch(batch_key, options.strings_per_length, length)
        share = float(accuracy(apply(weights, model_key, batch["input"]), batch["output"]))
        per_length[str(length)] = round(100 * share, 2)
    last_batches = [entry["train_accuracy"] for entry in log[-10:]]
    unseen = [per_length[str(length)] for length in options.lengths if length > 40]
    return {
        "seed": seed,
        "training_accuracy_of_last_logged_batches": round(100 * float(np.mean(last_batches)), 2),
        "mean_accuracy_above_40": round(float(np.mean(unseen)), 2),
        "accuracy_per_length": per_length,
        "training_seconds": round(seconds, 1),
    }


def main() -> None:
    """Trains the networks one after the other and prints the record."""
    import jax

    options = parse()
    networks = []
    for seed in options.seeds:
        networks.append(train_and_score(options, seed))
        print(networks[-1], file=sys.stderr, flush=True)
    commit = subprocess.run(
        ["git", "-C", str(options.reference), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    arguments = [a if a != str(options.reference) else "CHECKOUT" for a in sys.argv[1:]]
    settings = {name: value for name, value in vars(options).items() if name not in ("reference", "lengths")}
    record = {
        "command": " ".join(["python", "reproductions/chomsky/released.py", *arguments]),
        "date": datetime.now(UTC).date().isoformat(),
        "released_code": {"repository": f"google-deepmind/{PACKAGE}", "commit": commit},
        "machine": {
            "python": platform.python_version(),
            "jax": jax.__version__,
            "device": jax.devices()[0].device_kind,
        },
        "settings": settings,
        "networks": networks,
    }
    print(json.dumps(record))


if __name__ == "__main__":
    main()
