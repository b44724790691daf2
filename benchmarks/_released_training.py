"""Training steps of the released code of Delétang et al. (2023), a round at a time. Run by its own environment.

    ENVIRONMENT/bin/python benchmarks/_released_training.py CHECKOUT MODEL BATCH LENGTHS STEPS '{"hidden_size": 256}'

Reverse String, lengths in turn, with the code's own update. The first line on stdout says with which versions; then
every line on stdin asks for one round and is answered by its seconds, of the clock and of the processor.
`training_speed.py --reference` talks to it.
"""

import json
import sys
import time
from typing import Any

import _released_chomsky as released


def main() -> None:
    """Builds everything, then answers."""
    checkout, name, batch, lengths, steps, sizes = sys.argv[1:]
    training = released.module(checkout, "training")
    import haiku as hk  # pyright: ignore[reportMissingImports]
    import jax
    import jax.numpy as jnp
    import optax

    task = released.module(checkout, "constants").TASK_BUILDERS["reverse_string"]()
    model = released.network(checkout, task, name, json.loads(sizes))
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))

    def loss_fn(output: Any, target: Any) -> tuple[Any, dict]:
        return jnp.mean(jnp.sum(task.pointwise_loss_fn(output, target), axis=-1)), {}

    keys = hk.PRNGSequence(0)

    def batch_of(step: int) -> Any:
        turn = [int(length) for length in lengths.split(",")]
        return task.sample_batch(next(keys), length=turn[step % len(turn)], batch_size=int(batch))

    params = model.init(next(keys), batch_of(0)["input"])
    state = params, optimizer.init(params)

    def update(state: Any, step: int) -> Any:
        params, opt_state, _ = training._update_parameters(
            params=state[0],
            rng_key=next(keys),
            batch=batch_of(step),
            model_apply_fn=model.apply,
            loss_fn=loss_fn,
            accuracy_fn=None,
            optimizer=optimizer,
            opt_state=state[1],
        )
        return params, opt_state

    print(json.dumps(released.versions()), flush=True)
    for _ in sys.stdin:
        begun, used = time.perf_counter(), time.process_time()
        for step in range(int(steps)):
            state = update(state, step)
        jax.block_until_ready(state)
        print(json.dumps([time.perf_counter() - begun, time.process_time() - used]), flush=True)


if __name__ == "__main__":
    main()
