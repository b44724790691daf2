"""Models from a user's own file, `my_file.py:MyGRU`, as classes of settings like our own.

What is named is a class or a function that makes a network:

- `make(input_size, output_size, hidden_size=64, ...)` gives a PyTorch module;
- with a parameter `key` it gives a JAX network for one example (an Equinox module, say), as in `humboldt.models`;
- a class of settings with a method `build` is taken as it is.

All other parameters need defaults and become settings: `--set hidden_size=128`. An attribute `problems` says which
kinds of problem the network can be given; without one, the parameters of a class's `forward` or `__call__` tell.
"""

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, Literal

from humboldt.errors import RunError, UsageError
from humboldt.identity import Training
from humboldt.models import models
from humboldt.problems import ProblemKind
from humboldt.registry import Registry, origin_of
from humboldt.settings import setting, settings

GIVEN = ("input_size", "output_size", "num_symbols", "key")  # by us, not by the user
PLAIN = (bool, int, float, str)

modules: Registry[Any] = Registry("model")
"""PyTorch modules, as classes of settings."""


def is_reference(text: str) -> bool:
    """Whether a text names something in a file: `my_file.py:MyGRU`."""
    path, _, name = text.rpartition(":")
    return path.endswith(".py") and name.isidentifier()


def register_reference(text: str) -> str:
    """Registers what `my_file.py:MyGRU` names; returns the name that it then has, without the file's folder."""
    from humboldt.plugins import attribute_of_file

    path, _, attribute = text.rpartition(":")
    if not Path(path).is_file() and (text in modules or text in models):
        return text  # it was registered before, by a file in another folder
    name = f"{Path(path).name}:{attribute}"
    return register_model(name, attribute_of_file(text), origin=str(Path(path).resolve()))


def register_model(name: str, thing: Any, *, version: int | None = None, origin: str | None = None) -> str:
    """Registers a class or a function that makes networks, or a class of settings.

    `origin` is the file whose hash takes the place of a version; that which defines it, if none is given.
    """
    if not callable(thing):
        raise UsageError(f"{name} is a {type(thing).__name__}. Name a class or a function that makes a network.")
    registry, model = _as_settings(name, thing)
    if name in registry and getattr(registry.get(name), "is_remembered", False):
        registry.forget(name)
    registry.register(name, version=version, origin=origin or origin_of(thing))(model)
    return name


def remember(trainings: Iterable[tuple[Training, ProblemKind]]) -> None:
    """Makes models of files that were not given known by what a store says of them, with the kind of problem that each
    had. So their results can be shown wherever the store is; to build a network, the file is needed."""
    described: dict[str, tuple[Training, set[ProblemKind]]] = {}
    for training, kind in trainings:
        if is_reference(training.model) and training.model not in modules and training.model not in models:
            kinds = described[training.model][1] if training.model in described else set()
            described[training.model] = training, {*kinds, kind}  # the last one in a store is the newest
    for name, (training, kinds) in described.items():
        registry, base = (modules, ModuleMaker) if training.engine == "torch" else (models, JaxMaker)
        own = {key: value for key, value in training.setting["model"].items() if not hasattr(base, key)}
        body = {
            **{key: setting(_frozen(value), f"of {name}", "your own file") for key, value in own.items()},
            "__annotations__": dict.fromkeys(own, Any),
            "__doc__": name,
            "__module__": __name__,
            "title": name,
            "maker": staticmethod(_without_file(name)),
            "problems": tuple(kinds),
            "is_remembered": True,
        }
        model = settings(type(_class_name(name), (base,), body))
        registry.register(name, version=training.versions["model"], origin="a store of results")(model)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _without_file(name: str) -> Callable[..., Any]:
    def maker(**_: Any) -> Any:
        raise UsageError(f"The file of {name} is not known here. Name the model with its place: path/to/{name}.")

    return maker


def _as_settings(name: str, thing: Any) -> tuple[Registry[Any], type]:
    if isinstance(thing, type) and hasattr(thing, "build"):
        return models, thing
    parameters = inspect.signature(thing).parameters
    options, hints = {}, {}
    for one in parameters.values():
        if one.name in GIVEN or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        if type(one.default) not in PLAIN:
            raise UsageError(
                f"{name}: its parameter {one.name!r} has "
                + ("no default" if one.default is one.empty else f"the default {one.default!r}")
                + ". Every parameter but input_size and output_size becomes a setting, and needs a number, true or "
                "false, or a text as its default."
            )
        options[one.name] = setting(one.default, f"of {name}", "your own file", **_bounds(one.default))
        hints[one.name] = type(one.default)
    missing = [given for given in GIVEN[:2] if given not in parameters]
    if missing and not any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        raise UsageError(
            f"{name}: it has no parameter {' and no parameter '.join(missing)}. It is called with `input_size` (how "
            "many token ids there are) and `output_size` (how many symbols it chooses from), by name."
        )
    base = JaxMaker if "key" in parameters else ModuleMaker
    body = {
        **options,
        "__annotations__": hints,
        "__doc__": inspect.getdoc(thing) or name,
        "__module__": getattr(thing, "__module__", __name__),
        "title": name,
        "maker": staticmethod(thing),
        "problems": _problems(thing),
    }
    return (models if base is JaxMaker else modules), settings(type(_class_name(name), (base,), body))


def _problems(thing: Any) -> tuple[ProblemKind, ...]:
    """What the network can be given. One that is told a target, or reads a `source`, is for sequence to sequence."""
    if hasattr(thing, "problems"):
        return tuple(thing.problems)
    call = (getattr(thing, "forward", None) or thing.__call__) if isinstance(thing, type) else None
    names = () if call is None else inspect.signature(call).parameters
    if "told" in names or "source" in names:
        return (ProblemKind.SEQUENCE_TO_SEQUENCE,)
    return tuple(kind for kind in ProblemKind if kind is not ProblemKind.SEQUENCE_TO_SEQUENCE)


def _bounds(default: Any) -> dict[str, Any]:
    """Sizes are positive: what is a whole number of at least 1 by default must stay one."""
    return {"least": 1} if type(default) is int and default >= 1 else {}


def _class_name(name: str) -> str:
    return name.rpartition(":")[2]


class _Maker:
    """Settings of a user's own network: what its class or function takes, but for what we give it."""

    title: ClassVar[str]
    maker: ClassVar[Callable[..., Any]]
    problems: ClassVar[tuple[ProblemKind, ...]]

    def _made(self, given: dict[str, Any]) -> Any:
        cls = type(self)
        parameters = inspect.signature(cls.maker).parameters
        takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        own = {name: getattr(self, name) for name in parameters if name not in GIVEN and hasattr(self, name)}
        named = {name: value for name, value in given.items() if takes_all or name in parameters}
        try:
            return cls.maker(**named, **own)
        except UsageError:
            raise
        except Exception as error:
            told = ", ".join(f"{key}={value!r}" for key, value in {**named, **own}.items() if key != "key")
            raise RunError(f"{self.title}({told}) raised {type(error).__name__}: {error}") from error


class JaxMaker(_Maker):
    """A user's JAX network."""

    def build(self, input_size: int, output_size: int, *, num_symbols: int, key: Any) -> Any:
        """The network, freshly initialised."""
        return self._made(
            {"input_size": input_size, "output_size": output_size, "num_symbols": num_symbols, "key": key}
        )


@settings
class ModuleMaker(_Maker):
    """A user's PyTorch module."""

    device: Literal["auto", "cpu", "cuda", "mps"] = setting(
        "auto", "where it is trained; auto: on a GPU, if there is one"
    )
    compile: bool = setting(False, "whether torch.compile is used")

    def make(self, input_size: int, output_size: int, *, num_symbols: int) -> Any:
        """The module, freshly initialised."""
        from torch import nn

        made = self._made({"input_size": input_size, "output_size": output_size, "num_symbols": num_symbols})
        if not isinstance(made, nn.Module):
            raise RunError(
                f"{self.title} made a {type(made).__name__}, which is no torch.nn.Module. A JAX network needs a "
                "parameter `key`; by it we know one from the other."
            )
        return made

    def on_device(self) -> Any:
        """The device that the setting means."""
        import torch

        if self.device == "cuda" and not torch.cuda.is_available():
            raise UsageError("device=cuda: PyTorch sees no GPU here. Use device=cpu, or install a build with CUDA.")
        if self.device == "mps" and not torch.backends.mps.is_available():
            raise UsageError("device=mps: PyTorch sees no Apple GPU here. Use device=cpu.")
        chosen = ("cuda" if torch.cuda.is_available() else "cpu") if self.device == "auto" else self.device
        return torch.device(chosen)
