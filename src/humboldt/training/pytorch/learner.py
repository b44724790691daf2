"""One member of a training as a PyTorch module, with its optimiser and random numbers, and its weights as arrays."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


@dataclass
class Learner:
    """The state of training of one member."""

    module: nn.Module
    called: nn.Module  # the same, compiled if requested
    optimiser: torch.optim.Optimizer
    random: dict[str, Tensor]  # its random state, for each kind of device
    diverged_at: int = -1
    best: dict[str, Tensor] | None = None  # the weights to end with, once a milestone was scored
    last: dict[str, Tensor] | None = None  # the weights of its last milestone, if they may be needed

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns the member as named arrays, for a checkpoint."""
        arrays = {f"weights/{name}": as_array(x) for name, x in self.module.state_dict().items()}
        for number, state in self.optimiser.state_dict()["state"].items():
            values = {key: value for key, value in state.items() if isinstance(value, Tensor)}
            arrays |= {f"optimiser/{number}/{key}": as_array(value) for key, value in values.items()}
        arrays |= {f"best/{name}": as_array(x) for name, x in (self.best or {}).items()}
        arrays |= {f"last/{name}": as_array(x) for name, x in (self.last or {}).items()}
        arrays |= {f"random/{device}": as_array(x) for device, x in self.random.items()}
        return {**arrays, "diverged_at": np.array(self.diverged_at)}

    def trained_arrays(self) -> dict[str, np.ndarray]:
        """Returns the arrays that a step of training changes."""
        return {name: x for name, x in self.arrays().items() if not name.startswith(("best/", "last/"))}

    def take_over(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Reads arrays that training has changed; the weights of milestones stay."""
        best, last = self.best, self.last
        self.restore(arrays)
        self.best, self.last = best, last

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores the arrays that `arrays` returned."""
        parts: dict[str, dict[str, Any]] = {"weights": {}, "optimiser": {}, "best": {}, "last": {}, "random": {}}
        for name, array in arrays.items():
            part, _, rest = name.partition("/")
            if part in parts:
                parts[part][rest] = torch.from_numpy(array.copy())
        load_weights(self.module, {name: x.numpy() for name, x in parts["weights"].items()})
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in parts["optimiser"].items():
            number, _, key = name.partition("/")
            state.setdefault(int(number), {})[key] = value
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": state, "param_groups": groups})
        # A training may be resumed on another device.
        self.random = {device: parts["random"].get(device, own) for device, own in self.random.items()}
        self.best, self.last = parts["best"], parts["last"]
        self.diverged_at = int(arrays["diverged_at"])


def as_array(tensor: Tensor) -> np.ndarray:
    """Returns a tensor as a NumPy array; in single precision if NumPy does not have its type."""
    plain = tensor.detach().cpu()
    return (plain.float() if plain.dtype == torch.bfloat16 else plain).numpy().copy()


def load_weights(module: nn.Module, arrays: dict[str, np.ndarray]) -> None:
    """Loads named arrays into a module."""
    module.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in arrays.items()})


@contextlib.contextmanager
def own_random(device: torch.device) -> Iterator[None]:
    """Restores the global random state at the end of the block."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        yield


def random_state(device: torch.device) -> dict[str, Tensor]:
    """Returns the global random state."""
    states = {"cpu": torch.get_rng_state()}
    return {**states, "cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else states


def set_random_state(state: dict[str, Tensor]) -> None:
    """Sets the global random state to a result of `random_state`."""
    torch.set_rng_state(state["cpu"])
    if "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"])
