"""Makes `frozen/mixers.npz`: weights, inputs and outputs of layers of released code.

    git clone https://github.com/fla-org/flash-linear-attention CHECKOUTS/fla
    git clone https://github.com/state-spaces/mamba             CHECKOUTS/mamba
    git clone https://github.com/NX-AI/xlstm                    CHECKOUTS/xlstm
    git clone https://github.com/state-spaces/s4                CHECKOUTS/s4
    git clone https://github.com/lucidrains/minGRU-pytorch      CHECKOUTS/mingru
    git clone https://github.com/IBM/expressive-sparse-state-space-model CHECKOUTS/pd_ssm
    python -m venv ENVIRONMENT
    ENVIRONMENT/bin/pip install torch einops numpy
    ENVIRONMENT/bin/python tests/agreement/make_mixers.py --checkouts CHECKOUTS

The layers of xlstm, S4D, minGRU and, but for the norm behind it, PD-SSM are run as they are. Those of flash-linear-
attention and mamba call kernels for GPUs; here the projections, convolutions and norms around the kernel are written in
PyTorch, as the layer's file has them, and the kernel is replaced by the plain function that the repository holds it to
(`naive.py`, `*_ref`, `ssd_minimal_discrete`). Such functions are taken out of their files one by one, since the files
import Triton.

All is in single precision, as the plain functions are. Weights are drawn anew, so that every one matters, as multiples
of 1/256, so that the file is small.
"""

import argparse
import ast
import importlib
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from einops import rearrange, repeat  # pyright: ignore[reportMissingImports]  # of the script's own environment

HERE = Path(__file__).parent
TIME, WIDTH, HEADS = 12, 8, 2
Weights = dict[str, torch.Tensor]
Layer = Callable[[Weights, torch.Tensor], torch.Tensor]


class Checkouts:
    """The released code."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def function(self, path: str, *names: str) -> Any:
        """The last of these functions of a file, which may call the others."""
        source = (self.folder / path).read_text()
        wanted = [node for node in ast.parse(source).body if getattr(node, "name", "") in names]
        space: dict[str, Any] = {"torch": torch, "F": F, "rearrange": rearrange, "repeat": repeat}
        exec(compile(ast.Module(wanted, []), path, "exec"), space)
        return space[names[-1]]

    def package(self, path: str, module: str) -> Any:
        """A module of a package, whose own `__init__.py` is not run."""
        name = module.split(".")[0]
        if name not in sys.modules:
            package = types.ModuleType(name)
            package.__path__ = [str(self.folder / path)]
            sys.modules[name] = package
        return importlib.import_module(module)


def linear(weights: Weights, name: str, x: torch.Tensor) -> torch.Tensor:
    return F.linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))


def convolve(weights: Weights, name: str, x: torch.Tensor) -> torch.Tensor:
    """A causal depthwise convolution, without an activation."""
    weight = weights[f"{name}.weight"]
    padded = F.pad(x.transpose(1, 2), (weight.shape[-1] - 1, 0))
    return F.conv1d(padded, weight, weights.get(f"{name}.bias"), groups=weight.shape[0]).transpose(1, 2)


def heads(x: torch.Tensor, number: int = HEADS) -> torch.Tensor:
    return x.reshape(*x.shape[:2], number, -1)


def l2norm(x: torch.Tensor) -> torch.Tensor:
    return x / torch.sqrt((x * x).sum(-1, keepdim=True) + 1e-6)


def gated_output(weights: Weights, x: torch.Tensor, o: torch.Tensor, *, norm_over: str = "head") -> torch.Tensor:
    """`o_proj(norm(o) * silu(g_proj(x)))`, with the gate where there is one."""
    o = o if norm_over == "head" else o.flatten(2)
    o = F.rms_norm(o, o.shape[-1:], weights["o_norm.weight"], 1e-5).reshape(*x.shape[:2], -1)
    o = o * F.silu(linear(weights, "g_proj", x)) if "g_proj.weight" in weights else o
    return linear(weights, "o_proj", o)


def delta(rule: Callable[..., torch.Tensor], *, householders: int = 1, range_: int = 1) -> Layer:
    """`delta_net.py`, `gated_deltanet.py` and `gated_deltaproduct.py`: they differ in the rule."""

    def layer(weights: Weights, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (
            F.silu(convolve(weights, f"{name}_conv1d", linear(weights, f"{name}_proj", x))) for name in ("q", "k", "v")
        )
        beta = range_ * torch.sigmoid(linear(weights, "b_proj", x))
        # `t (n h d) -> (t n) h d`
        k, v, beta = (y.reshape(1, TIME * householders, HEADS, -1) for y in (k, v, beta))
        g = None
        if "a_proj.weight" in weights:
            g = -weights["A_log"].exp() * F.softplus(linear(weights, "a_proj", x) + weights["dt_bias"])
        o = rule(l2norm(heads(q)), l2norm(k), v, beta[..., 0], g)
        return gated_output(weights, x, o)

    return layer


def fla_layers(code: Checkouts) -> dict[str, tuple[dict[str, tuple[int, ...]], Layer]]:
    """Shapes of weights, and the layer, by name."""
    ops = "fla/fla/ops"
    rule = code.function(f"{ops}/delta_rule/naive.py", "delta_rule_recurrence")
    gated_rule = code.function(f"{ops}/gated_delta_rule/naive.py", "naive_recurrent_gated_delta_rule")
    product = code.function(f"{ops}/gated_delta_product/naive.py", "naive_recurrent_gated_delta_product")
    gla = code.function(f"{ops}/gla/naive.py", "naive_recurrent_gla")
    retention = code.function(f"{ops}/retention/naive.py", "naive_retention")
    linear_attention = code.function(f"{ops}/linear_attn/naive.py", "naive_recurrent_linear_attn")
    rotary = code.function("fla/fla/modules/rotary.py", "rotate_half", "rotary_embedding_ref")
    w, size = WIDTH, WIDTH // HEADS

    def delta_shapes(householders: int, values: int, *, gate: bool, decay: bool) -> dict[str, tuple[int, ...]]:
        n, v = householders, values * w
        shapes: dict[str, tuple[int, ...]] = {
            "q_proj.weight": (w, w), "k_proj.weight": (n * w, w), "v_proj.weight": (n * v, w),
            "b_proj.weight": (n * HEADS, w), "o_proj.weight": (w, v), "o_norm.weight": (v // HEADS,),
            "q_conv1d.weight": (w, 1, 4), "k_conv1d.weight": (n * w, 1, 4), "v_conv1d.weight": (n * v, 1, 4),
        }  # fmt: skip
        shapes |= {"g_proj.weight": (v, w)} if gate else {}
        return shapes | ({"a_proj.weight": (HEADS, w), "A_log": (HEADS,), "dt_bias": (HEADS,)} if decay else {})

    def delta_rule(q: Any, k: Any, v: Any, beta: Any, g: Any) -> torch.Tensor:
        assert g is None
        return rule(*(y.transpose(1, 2) for y in (q, k, v)), beta.transpose(1, 2))[0].transpose(1, 2)

    def product_rule(q: Any, k: Any, v: Any, beta: Any, g: Any) -> torch.Tensor:
        n = k.shape[1] // q.shape[1]
        # This plain function does not scale queries, as its kernel does.
        return product(q * size**-0.5, k, v, g, beta, None, None, num_householder=n)[0]

    def gla_layer(weights: Weights, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (heads(linear(weights, f"{name}_proj", x)) for name in ("q", "k", "v"))
        gk = linear(weights, "gk_proj.1", linear(weights, "gk_proj.0", x))
        return gated_output(weights, x, gla(q, k, v, heads(F.logsigmoid(gk) / 16))[0])

    def hgrn2_layer(weights: Weights, x: torch.Tensor) -> torch.Tensor:
        q, i = F.silu(linear(weights, "q_proj", x)), linear(weights, "i_proj", x)
        g = F.logsigmoid(linear(weights, "f_proj", x))
        o = gla(heads(q), heads(1 - g.exp()), heads(i), heads(g))[0]
        return gated_output(weights, x, o, norm_over="all")

    def retnet_layer(weights: Weights, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (heads(linear(weights, f"{name}_proj", x)) for name in ("q", "k", "v"))
        rates = 10_000.0 ** (-torch.arange(0, size, 2) / size)
        angles = torch.arange(TIME)[:, None] * rates[None]
        q, k = (rotary(y, torch.cos(angles), torch.sin(angles)) for y in (q, k))
        o = retention(*(y.transpose(1, 2) for y in (q, k, v))).transpose(1, 2)
        return gated_output(weights, x, o)

    def linear_layer(weights: Weights, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (heads(linear(weights, f"{name}_proj", x)) for name in ("q", "k", "v"))
        o = linear_attention(F.elu(q) + 1, F.elu(k) + 1, v, normalize=True)[0]
        return linear(weights, "o_proj", o.flatten(2))

    square = {f"{name}_proj.weight": (w, w) for name in ("q", "k", "v", "o")}
    wide = {"v_proj.weight": (2 * w, w), "g_proj.weight": (2 * w, w), "o_proj.weight": (w, 2 * w)}
    return {
        "deltanet": (delta_shapes(1, 1, gate=False, decay=False), delta(delta_rule)),
        "deltanet_negative": (delta_shapes(1, 1, gate=False, decay=False), delta(delta_rule, range_=2)),
        "gated_deltanet": (
            delta_shapes(1, 2, gate=True, decay=True),
            delta(lambda q, k, v, beta, g: gated_rule(q, k, v, beta, g)[0]),
        ),
        "deltaproduct": (
            delta_shapes(2, 2, gate=True, decay=False),
            delta(product_rule, householders=2, range_=2),
        ),
        "gated_deltaproduct": (
            delta_shapes(3, 2, gate=True, decay=True),
            delta(product_rule, householders=3, range_=2),
        ),
        "gla": (
            {"q_proj.weight": (w // 2, w), "k_proj.weight": (w // 2, w), "v_proj.weight": (w, w)}
            | {"gk_proj.0.weight": (16, w), "gk_proj.1.weight": (w // 2, 16), "gk_proj.1.bias": (w // 2,)}
            | {"g_proj.weight": (w, w), "o_norm.weight": (w // HEADS,), "o_proj.weight": (w, w)},
            gla_layer,
        ),
        "hgrn2": (
            {f"{name}_proj.weight": (w, w) for name in ("q", "f", "i", "o")} | {"o_norm.weight": (w,)},
            hgrn2_layer,
        ),
        "retnet": (square | wide | {"o_norm.weight": (2 * w // HEADS,)}, retnet_layer),
        "linear_attention": (square, linear_layer),
    }  # fmt: skip


def rwkv7(code: Checkouts, *, layer: int) -> tuple[dict[str, tuple[int, ...]], Layer]:
    """`rwkv7.py`. The second layer is given values of the first."""
    dplr = code.function("fla/fla/ops/generalized_delta_rule/dplr/naive.py", "dplr_recurrence")
    k_update = code.function("fla/fla/ops/rwkv7/fused_k_update.py", "k_update_ref")
    correct = code.function("fla/fla/ops/rwkv7/gate_output_correction.py", "gate_output_correction_ref")
    w, size, rank = WIDTH, WIDTH // HEADS, 32
    shapes: dict[str, tuple[int, ...]] = {f"x_{name}": (w,) for name in "rwkvag"}
    shapes |= {f"{name}_proj.weight": (w, w) for name in "rkvo"} | {"k_k": (w,), "k_a": (w,), "r_k": (HEADS, size)}
    for name in "wag" if layer == 0 else "wavg":
        shapes |= {f"{name}_lora.lora.0.weight": (rank, w), f"{name}_lora.lora.2.weight": (w, rank)}
        shapes |= {} if name == "g" else {f"{name}_lora.lora.2.bias": (w,)}
    shapes |= {"g_norm.weight": (w,), "g_norm.bias": (w,)} | ({"v_first": (1, TIME, w)} if layer else {})

    def forward(weights: Weights, x: torch.Tensor) -> torch.Tensor:
        delta = F.pad(x, (0, 0, 1, -1)) - x
        xr, xw, xk, xv, xa, xg = (x + delta * weights[f"x_{name}"] for name in "rwkvag")

        def lora(name: str, y: torch.Tensor, activation: Callable[..., Any] = lambda y: y) -> torch.Tensor:
            return linear(weights, f"{name}_lora.lora.2", activation(linear(weights, f"{name}_lora.lora.0", y)))

        r, k, v = linear(weights, "r_proj", xr), linear(weights, "k_proj", xk), linear(weights, "v_proj", xv)
        log_w = -0.6065306597126334 * lora("w", xw, torch.tanh).sigmoid()
        if layer:
            v = torch.lerp(v, weights["v_first"], lora("v", xv).sigmoid())
        a, g = lora("a", xa).sigmoid(), lora("g", xg, torch.sigmoid)
        kk = F.normalize(heads(k * weights["k_k"]), dim=-1, p=2.0)
        k = k_update(k, a, weights["k_a"])
        r, log_w, k, a, v = (heads(y) for y in (r, log_w, k, a, v))
        inputs = [y.transpose(1, 2) for y in (r * size**0.5, k, v, -kk, kk * a, log_w)]  # queries are scaled there
        o = dplr(*inputs)[0].transpose(1, 2).reshape(TIME, w)
        o = F.group_norm(o, HEADS, weights["g_norm.weight"], weights["g_norm.bias"], size * 1e-5).view(1, TIME, w)
        return linear(weights, "o_proj", correct(o, r, k, weights["r_k"], v, g))

    return shapes, forward


def mamba(code: Checkouts) -> tuple[dict[str, tuple[int, ...]], Layer]:
    """`mamba_simple.py`."""
    scan = code.function("mamba/mamba_ssm/ops/selective_scan_interface.py", "selective_scan_ref")
    w, inner, states, rank = WIDTH, 2 * WIDTH, 4, 1
    shapes: dict[str, tuple[int, ...]] = {
        "in_proj.weight": (2 * inner, w), "conv1d.weight": (inner, 1, 4), "conv1d.bias": (inner,),
        "x_proj.weight": (rank + 2 * states, inner), "dt_proj.weight": (inner, rank), "dt_proj.bias": (inner,),
        "A_log": (inner, states), "D": (inner,), "out_proj.weight": (w, inner),
    }  # fmt: skip

    def forward(weights: Weights, x: torch.Tensor) -> torch.Tensor:
        u, z = linear(weights, "in_proj", x).chunk(2, -1)
        u = F.silu(convolve(weights, "conv1d", u))
        dt, b, c = linear(weights, "x_proj", u).split([rank, states, states], -1)
        dt = F.linear(dt, weights["dt_proj.weight"])
        u, dt, b, c, z = (y.transpose(1, 2) for y in (u, dt, b, c, z))
        bias, a = weights["dt_proj.bias"], -weights["A_log"].exp()
        y = scan(u, dt, a, b, c, weights["D"], z=z, delta_bias=bias, delta_softplus=True)
        return linear(weights, "out_proj", y.transpose(1, 2))

    return shapes, forward


def mamba2(code: Checkouts) -> tuple[dict[str, tuple[int, ...]], Layer]:
    """`mamba2.py`."""
    ssd = code.function("mamba/mamba_ssm/modules/ssd_minimal.py", "segsum", "ssd_minimal_discrete")
    norm = code.function("mamba/mamba_ssm/ops/triton/layernorm_gated.py", "rms_norm_ref")
    w, inner, states = WIDTH, 2 * WIDTH, 4
    shapes: dict[str, tuple[int, ...]] = {
        "in_proj.weight": (2 * inner + 2 * states + HEADS, w), "conv1d.weight": (inner + 2 * states, 1, 4),
        "conv1d.bias": (inner + 2 * states,), "dt_bias": (HEADS,), "A_log": (HEADS,), "D": (HEADS,),
        "norm.weight": (inner,), "out_proj.weight": (w, inner),
    }  # fmt: skip

    def forward(weights: Weights, x: torch.Tensor) -> torch.Tensor:
        z, xbc, dt = linear(weights, "in_proj", x).split([inner, inner + 2 * states, HEADS], -1)
        u, b, c = F.silu(convolve(weights, "conv1d", xbc)).split([inner, states, states], -1)
        u, dt = heads(u), F.softplus(dt + weights["dt_bias"])
        b, c = (y[:, :, None].expand(-1, -1, HEADS, -1) for y in (b, c))
        y = ssd(u * dt[..., None], -weights["A_log"].exp() * dt, b, c, TIME // 3)[0] + weights["D"][:, None] * u
        y = norm(y.flatten(2), weights["norm.weight"], None, z=z, eps=1e-5, norm_before_gate=False)
        return linear(weights, "out_proj", y)

    return shapes, forward


def modules(code: Checkouts) -> dict[str, tuple[torch.nn.Module, Callable[[Any, torch.Tensor], torch.Tensor]]]:
    """Layers that run as they are."""
    for name in ("src", "src.models", "src.models.nn"):  # S4D imports a dropout from its own repository
        sys.modules[name] = types.ModuleType(name)
    sys.modules["src.models.nn"].DropoutNd = torch.nn.Identity  # pyright: ignore[reportAttributeAccessIssue]
    s4d = code.package("s4/models", "models.s4.s4d").S4D(WIDTH, d_state=6, transposed=False)
    mingru = code.package("mingru/minGRU_pytorch", "minGRU_pytorch.minGRU").minGRU(WIDTH, expansion_factor=2.0)
    slstm = code.package("xlstm/xlstm", "xlstm.blocks.slstm.layer")
    mlstm = code.package("xlstm/xlstm", "xlstm.blocks.mlstm.layer")
    pd_ssm = code.package("pd_ssm/state_tracking_PyTorch/models", "pd_ssm.pdssm").PD_Block(WIDTH, 6, 3).eval()
    pd_ssm.norm = torch.nn.Identity()
    pd_ssm.readout = torch.nn.Linear(2 * 6, WIDTH)  # theirs is for as many states as features
    precision: dict[str, Any] = {"dtype": "float32", "enable_automatic_mixed_precision": False}
    config = {"embedding_dim": WIDTH, "num_heads": HEADS}
    return {
        "s4d": (s4d, lambda layer, x: layer(x)[0]),
        "mingru": (mingru, lambda layer, x: layer(x)),
        "slstm": (
            slstm.sLSTMLayer(slstm.sLSTMLayerConfig(**config, backend="vanilla", **precision)),
            lambda layer, x: layer(x),
        ),
        # Step by step, so by `recurrent_step_stabilized_simple`. Wide layers are rounded up to multiples of 64 there.
        "mlstm": (
            mlstm.mLSTMLayer(mlstm.mLSTMLayerConfig(**config, context_length=TIME, round_proj_up_to_multiple_of=4)),
            _mlstm_steps,
        ),
        "pd_ssm": (pd_ssm, lambda layer, x: layer(x)),  # the last, so that the others keep their random numbers
    }


def _mlstm_steps(layer: Any, x: torch.Tensor) -> torch.Tensor:
    state: dict[str, Any] = {}
    outputs = []
    for t in range(x.shape[1]):
        y, state = layer.step(x[:, t : t + 1], **state)
        outputs.append(y)
    return torch.cat(outputs, 1)


def main() -> None:
    """The file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", type=Path, required=True, help="a folder with the released code")
    code = Checkouts(parser.parse_args().checkouts)
    random = np.random.default_rng(0)
    arrays: dict[str, np.ndarray] = {}

    def draw(name: str, shape: tuple[int, ...]) -> torch.Tensor:
        scale = shape[-1] ** -0.5 if len(shape) > 1 else 0.5
        values = scale * random.normal(size=shape) + (1 if "norm" in name and "bias" not in name else 0)
        return torch.tensor(np.round(256 * values) / 256, dtype=torch.float32)

    def note(name: str, weights: Weights, x: torch.Tensor, y: torch.Tensor) -> None:
        arrays.update({f"{name}/{key}": value.detach().numpy() for key, value in weights.items()})
        arrays[f"{name}/inputs"], arrays[f"{name}/outputs"] = x[0].numpy(), y[0].detach().numpy()
        print(f"{name}: {tuple(y.shape)}, outputs from {y.min():.2f} to {y.max():.2f}")

    layers = fla_layers(code) | {"rwkv7": rwkv7(code, layer=0), "rwkv7_second": rwkv7(code, layer=1)}
    layers |= {"mamba": mamba(code), "mamba2": mamba2(code)}
    for name, (shapes, layer) in layers.items():
        weights = {key: draw(key, shape) for key, shape in shapes.items()}
        x = 2 * draw("", (1, TIME, WIDTH))
        note(name, weights, x, layer(weights, x))
    for name, (module, run) in modules(code).items():
        weights = {key: draw("", tuple(value.shape)) for key, value in module.state_dict().items()}
        module.load_state_dict(weights)
        x = 2 * draw("", (1, TIME, WIDTH))
        note(name, weights, x, run(module, x))
    layout = json.dumps([(name, array.shape) for name, array in arrays.items()])
    together = np.concatenate([array.ravel() for array in arrays.values()])
    np.savez_compressed(HERE / "frozen" / "mixers.npz", layout=np.array(layout), values=together)


if __name__ == "__main__":
    with torch.no_grad():
        main()
