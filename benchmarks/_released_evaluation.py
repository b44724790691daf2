"""The range evaluation of the released code of Delétang et al. (2023), a round at a time. Run by its own environment.

    ENVIRONMENT/bin/python benchmarks/_released_evaluation.py CHECKOUT MODEL TASK FIRST LAST STRINGS SIZES

A network that was not trained, on STRINGS strings of each length from FIRST to LAST; SIZES as `{"hidden_size": 256}`.
The first line on stdout says with which versions; then every line on stdin asks for one round and is answered by its
seconds, of the clock and of the processor. `evaluation_speed.py --reference` talks to it.
"""

import json
import sys
import time
from typing import Any

import _released_chomsky as released

ROWS = 64  # strings at a time, as in its example


def main() -> None:
    """Builds everything, then answers."""
    checkout, name, task_name, first, last, strings, sizes = sys.argv[1:]
    evaluation = released.module(checkout, "range_evaluation")
    import jax
    import jax.numpy as jnp

    task = released.module(checkout, "constants").TASK_BUILDERS[task_name]()
    model = released.network(checkout, task, name, json.loads(sizes))
    key = jax.random.PRNGKey(0)
    begun: list[float] = []

    def accuracy(output: Any, target: Any) -> Any:
        mask = task.accuracy_mask(target)
        return jnp.sum(mask * task.accuracy_fn(output, target)) / jnp.sum(mask)

    def sample(key: Any, rows: int, length: int) -> Any:
        if length == int(first) and not begun:  # its evaluation starts at length 1: what is before FIRST does not count
            begun.extend([time.perf_counter(), time.process_time()])
        return task.sample_batch(key, rows, length)

    asked = evaluation.EvaluationParams(
        model=model,
        params=model.init(key, task.sample_batch(key, ROWS, 10)["input"]),
        accuracy_fn=accuracy,
        sample_batch=sample,
        max_test_length=int(last),
        total_batch_size=int(strings),
        sub_batch_size=ROWS,
    )
    print(json.dumps(released.versions()), flush=True)
    for _ in sys.stdin:
        jax.clear_caches()  # or a second round would find what the first has compiled
        begun.clear()
        evaluation.range_evaluation(asked)
        print(json.dumps([time.perf_counter() - begun[0], time.process_time() - begun[1]]), flush=True)


if __name__ == "__main__":
    main()
