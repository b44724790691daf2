"""Model-steps per second of recurrent networks in PyTorch (cuDNN, CUDA graphs, streams), beside `ensemble_speed.py`.

Batch 128, 80 time steps, hidden 256, 3 input symbols (one-hot), 2 classes at every step, Adam; products in TF32 as in
JAX. Ways:

    one_eager, one_graph      one model; its complete step as one CUDA graph
    graph, streams            all models in one CUDA graph, one after the other; or each on a stream of its own
    vmap, vmap_graph          all models by `torch.func.vmap` over a Python loop over time; the same as one CUDA graph

    python benchmarks/torch_recurrent.py [--kinds rnn,lstm] [--precisions float32,bfloat16] [--ways graph,streams]
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from _record import report
from torch import nn

CLASSES, SYMBOLS, CALLS = 2, 3, 4
WAYS = ("one_eager", "one_graph", "graph", "streams", "vmap", "vmap_graph")


class Network(nn.Module):
    """A recurrent layer of cuDNN and a readout."""

    def __init__(self, kind: str, hidden: int) -> None:
        super().__init__()
        self.layer = nn.RNN(SYMBOLS, hidden, nonlinearity="relu") if kind == "rnn" else nn.LSTM(SYMBOLS, hidden)
        self.readout = nn.Linear(hidden, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.readout(self.layer(x)[0])


def adam(parameters: Any, device: str) -> torch.optim.Optimizer:
    if device == "cpu":
        return torch.optim.Adam(parameters, lr=1e-3)
    return torch.optim.Adam(parameters, lr=1e-3, capturable=True, fused=True)


def separate(kind: str, way: str, precision: torch.dtype, data: Any, options: argparse.Namespace) -> Callable[[], Any]:
    """Returns a function that does one step of every model, each a module of its own."""
    x, y = data
    models = []
    for _ in range(1 if way.startswith("one") else options.members):
        network = Network(kind, options.hidden).to(device=options.device, dtype=precision)
        network.layer.flatten_parameters()
        models.append((network, adam(network.parameters(), options.device)))
    streams = [torch.cuda.Stream() for _ in models] if way == "streams" else []

    def step(network: Network, optimiser: torch.optim.Optimizer) -> None:
        loss = nn.functional.cross_entropy(network(x).float().view(-1, CLASSES), y.view(-1))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    def all_steps() -> None:
        if not streams:
            for network, optimiser in models:
                step(network, optimiser)
            return
        main = torch.cuda.current_stream()
        for (network, optimiser), stream in zip(models, streams, strict=True):
            stream.wait_stream(main)
            with torch.cuda.stream(stream):
                step(network, optimiser)
        for stream in streams:
            main.wait_stream(stream)

    return all_steps if way == "one_eager" else graphed(all_steps)


def together(kind: str, way: str, precision: torch.dtype, data: Any, options: argparse.Namespace) -> Callable[[], Any]:
    """Returns a function that does one step of all models, whose weights have a leading axis."""
    x, y = data
    hidden, gates = options.hidden, 4 if kind == "lstm" else 1
    shapes = {
        "input": (SYMBOLS, gates * hidden),
        "recurrent": (hidden, gates * hidden),
        "bias": (gates * hidden,),
        "readout": (hidden, CLASSES),
        "readout_bias": (CLASSES,),
    }
    bound = hidden**-0.5
    place: Any = {"device": options.device, "dtype": precision}
    weights = {
        name: torch.empty(options.members, *shape, **place).uniform_(-bound, bound).requires_grad_()
        for name, shape in shapes.items()
    }
    optimiser = adam(weights.values(), options.device)

    def loss_of(weights: dict[str, torch.Tensor]) -> torch.Tensor:
        drives = x @ weights["input"] + weights["bias"]
        hidden_state = torch.zeros(options.batch, hidden, **place)
        memory, outputs = hidden_state, []
        for drive in drives:
            sums = drive + hidden_state @ weights["recurrent"]
            if kind == "rnn":
                hidden_state = torch.relu(sums)
            else:
                i, g, f, o = sums.chunk(4, 1)
                memory = torch.sigmoid(f) * memory + torch.sigmoid(i) * torch.tanh(g)
                hidden_state = torch.sigmoid(o) * torch.tanh(memory)
            outputs.append(hidden_state)
        logits = torch.stack(outputs) @ weights["readout"] + weights["readout_bias"]
        return nn.functional.cross_entropy(logits.float().reshape(-1, CLASSES), y.view(-1))

    def step() -> None:
        loss = torch.func.vmap(loss_of)(weights).sum()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    return graphed(step) if way == "vmap_graph" else step


def graphed(work: Callable[[], Any]) -> Callable[[], Any]:
    """Returns the replay of a CUDA graph of a step."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph.replay


def timed(work: Callable[[], Any], seconds: float, device: str) -> float:
    """Returns the median of the seconds of one step."""
    wait = torch.cuda.synchronize if device != "cpu" else lambda: None
    for _ in range(3):
        work()
    wait()
    begun, times = time.perf_counter(), []
    while len(times) < 3 or time.perf_counter() - begun < seconds:
        before = time.perf_counter()
        for _ in range(CALLS):
            work()
        wait()
        times.append((time.perf_counter() - before) / CALLS)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default="rnn,lstm")
    parser.add_argument("--precisions", default="float32,bfloat16")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--members", type=int, default=30)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--time", type=int, default=80)
    parser.add_argument("--seconds", type=float, default=0.7, help="for which each way is timed")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    for kind in options.kinds.split(","):
        for precision in options.precisions.split(","):
            dtype = getattr(torch, precision)
            tokens = torch.randint(0, SYMBOLS, (options.time, options.batch), device=options.device)
            y = torch.randint(0, CLASSES, (options.time, options.batch), device=options.device)
            data = nn.functional.one_hot(tokens, SYMBOLS).to(dtype), y
            rates: dict[str, Any] = {}
            for way in options.ways.split(","):
                make = together if way.startswith("vmap") else separate
                try:
                    seconds = timed(make(kind, way, dtype, data, options), options.seconds, options.device)
                    rates[way] = round((1 if way.startswith("one") else options.members) / seconds)
                except Exception as error:  # the other ways are still wanted
                    rates[way] = f"{type(error).__name__}: {error}"[:300]
                if options.device != "cpu":
                    torch.cuda.empty_cache()
            report(
                "torch_recurrent",
                {
                    "model": kind,
                    "precision": precision,
                    "members": options.members,
                    "batch": options.batch,
                    "hidden_size": options.hidden,
                    "time_steps": [options.time],
                    "torch": torch.__version__,
                    "device": torch.cuda.get_device_name() if options.device != "cpu" else "cpu",
                    "model_steps_per_second": rates,
                },
            )


if __name__ == "__main__":
    main()
