"""Makes `frozen/positions.npz`: biases of attention scores from released code, on random weights.

    git clone https://github.com/chuanyang-Zheng/DAPE CHECKOUT
    python -m venv ENVIRONMENT
    ENVIRONMENT/bin/pip install torch numpy transformers
    ENVIRONMENT/bin/python tests/agreement/make_positions.py --checkout CHECKOUT

FIRE, Kerple (logarithmic) and CoPE are the classes of DAPE's `megatron/model/positional_embeddings.py`, which runs on a
CPU by itself but for Kerple, which asks for a GPU's number. T5's buckets are those of `transformers`. All attention is
causal; what stands on the right of a query means nothing.
"""

import argparse
import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

HERE = Path(__file__).parent
TIME, HEADS, SIZE = 24, 3, 4


def drawn(shape: Any, seed: int) -> torch.Tensor:
    """Draws multiples of 1/256, so that the file is small."""
    values = np.random.default_rng(seed).integers(-256, 257, tuple(shape)) / 256
    return torch.tensor(values, dtype=torch.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=Path, required=True)
    path = parser.parse_args().checkout / "megatron/model/positional_embeddings.py"
    spec = importlib.util.spec_from_file_location("positional_embeddings", path)
    assert spec is not None and spec.loader is not None
    released: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(released)
    torch.cuda.current_device = lambda: "cpu"  # pyright: ignore[reportAttributeAccessIssue]
    arrays: dict[str, torch.Tensor] = {}
    scores, queries = drawn((1, HEADS, TIME, TIME), 0), drawn((1, HEADS, TIME, SIZE), 1)
    with torch.no_grad():
        fire = released.FIRE(num_heads=HEADS, init_L=20.0)
        for seed, parameter in enumerate(fire.mlp.parameters(), 2):
            parameter.copy_(drawn(parameter.shape, seed))
        fire.c.copy_(torch.tensor(0.3125))
        fire.L_multiplier.copy_(torch.tensor(1.25))
        kerple = released.ParallelKerpleLog(
            SimpleNamespace(num_attention_heads=HEADS, pos_emb="", noise_seq_length=0, params_dtype=torch.float32)
        )
        kerple.bias_p.copy_(drawn((HEADS, 1, 1), 8))  # one is below the bound
        kerple.bias_a.copy_(drawn((HEADS, 1, 1), 9).abs())
        arrays |= {"kerple.scale": kerple.bias_p.clone(), "kerple.rate": kerple.bias_a.clone()}
        cope = released.CoPE(8, SIZE)
        cope.pos_emb.copy_(drawn(cope.pos_emb.shape, 10))
        for name, value in fire.mlp.named_parameters():
            arrays[f"fire.{name}"] = value
        arrays |= {"fire": fire(scores) - scores, "kerple": kerple(scores) - scores}
        arrays |= {"cope": cope(queries, scores) - scores, "cope.weight": cope.pos_emb}
    arrays |= {"scores": scores, "queries": queries}

    from transformers.models.t5.modeling_t5 import T5Attention  # pyright: ignore[reportMissingImports]

    keys_minus_queries = torch.arange(-400, 401)
    for both in (False, True):
        buckets = T5Attention._relative_position_bucket(keys_minus_queries, bidirectional=both)
        arrays[f"t5.{'both' if both else 'left'}"] = buckets
    np.savez_compressed(HERE / "frozen/positions.npz", **{k: v.detach().numpy() for k, v in arrays.items()})  # pyright: ignore[reportArgumentType]


if __name__ == "__main__":
    main()
