"""Registers models from a user's file, `my_file.py:MyGRU`, as classes of settings like those of Humboldt.

The reference names a class or a function that makes a network:

- `make(input_size, output_size, hidden_size=64, ...)` returns a PyTorch module;
- with a parameter `key` it returns a JAX network for one example (an Equinox module, say), as in `humboldt.models`;
- a class of settings with a method `build` is registered unchanged.

All other parameters but `problem` need defaults and become settings: `--set hidden_size=128`. An attribute `problems`
lists the kinds of problem that the network accepts. Without one, they follow from the parameters of `forward` or
`__call__`: a network that takes a source and a target is for sequence to sequence; every other one is *causal*, which
fits every kind of problem (see `humboldt.models.forms`), unless an attribute `causal` is false. A maker with a
parameter `problem` is given the kind (`sequence_to_sequence`), and may return another network for each.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from humboldt.core.identity import Training
from humboldt.core.problems import ProblemKind
from humboldt.errors import RunError, UsageError, contained
from humboldt.models import models
from humboldt.models.forms import SEES_AHEAD, takes_source
from humboldt.registry import Registry, origin_of
from humboldt.settings import setting, settings

GIVEN = ("input_size", "output_size", "num_symbols", "key", "problem")  # by Humboldt, not by the user
PLAIN = (bool, int, float, str)
OTHER_NAMES = {  # that others give to the sizes, most likely first
    "input_size": ("vocab_size", "num_tokens", "n_tokens", "ntoken", "num_embeddings", "vocab", "n_vocab", "input_dim"),
    "output_size": ("num_classes", "n_classes", "num_labels", "out_features", "output_dim", "vocab_out", "n_out"),
}

modules: Registry[Any] = Registry("model")
"""PyTorch modules, as classes of settings."""


def is_reference(text: str) -> bool:
    """Returns whether a text names something in a file: `my_file.py:MyGRU`."""
    path, _, name = text.rpartition(":")
    return path.endswith(".py") and name.isidentifier()


def register_reference(text: str) -> str:
    """Registers the model that `my_file.py:MyGRU` names; returns its registered name, without the file's folder."""
    from humboldt.plugins import attribute_of_file

    path, _, attribute = text.rpartition(":")
    if not Path(path).is_file() and (text in modules or text in models):
        return text  # it was registered before, by a file in another folder
    name = f"{Path(path).name}:{attribute}"
    return register_model(name, attribute_of_file(text), origin=str(Path(path).resolve()))


def known_name(text: str) -> str:
    """Returns the name of a model that a user names: a registered one, or one in a file, which is registered.

    If a file is named without a model in it, the error lists the models in the file.
    """
    if text.removesuffix(":").endswith(".py"):
        from humboldt.plugins import attribute_of_file, is_model

        attribute_of_file(text, is_model, "models")
    return register_reference(text) if is_reference(text) else text


def register_model(name: str, thing: Any, *, version: int | None = None, origin: str | None = None) -> str:
    """Registers a class or a function that makes networks, or a class of settings.

    The hash of the file `origin` replaces a version; by default it is the file that defines `thing`.
    """
    if not callable(thing):
        raise UsageError(f"{name} is a {type(thing).__name__}. Name a class or a function that makes a network.")
    registry, model = _as_settings(name, thing)
    if name in registry and getattr(registry.get(name), "is_remembered", False):
        registry.forget(name)
    registry.register(name, version=version, origin=origin or origin_of(thing))(model)
    return name


def remember(trainings: Iterable[tuple[Training, ProblemKind]]) -> None:
    """Registers models of files that were not loaded, from stored trainings and the kind of problem of each.

    So their results can be shown wherever the store is; to build a network, the file is needed.
    """
    described: dict[str, tuple[Training, set[ProblemKind]]] = {}
    for training, kind in trainings:
        if is_reference(training.model) and training.model not in modules and training.model not in models:
            kinds = described[training.model][1] if training.model in described else set()
            described[training.model] = training, {*kinds, kind}  # the last one in a store is the newest
    for name, (training, kinds) in described.items():
        registry, base = (modules, ModuleMaker) if training.engine == "torch" else (models, JaxMaker)
        values = {key: value for key, value in training.setting["model"].items() if not hasattr(base, key)}
        body = {
            **{key: setting(_frozen(value), f"of {name}", "your own file") for key, value in values.items()},
            "__annotations__": dict.fromkeys(values, Any),
            "__doc__": name,
            "__module__": __name__,
            "title": name,
            "maker": staticmethod(_without_file(name)),
            "problems": tuple(kinds),
            "causal": kinds != {ProblemKind.SEQUENCE_TO_SEQUENCE},
            "chooses_form": kinds == {ProblemKind.SEQUENCE_TO_SEQUENCE},  # its form is not known here
            "is_remembered": True,
        }
        model = settings(type(_class_name(name), (base,), body))
        registry.register(name, version=training.versions["model"], origin="a store of results")(model)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _without_file(name: str) -> Callable[..., Any]:
    def maker(**_: Any) -> Any:
        raise UsageError(f"The file of {name} is not known here. Name the model with its path: path/to/{name}.")

    return maker


def _as_settings(name: str, thing: Any) -> tuple[Registry[Any], type]:
    if isinstance(thing, type) and hasattr(thing, "build"):
        return models, thing
    parameters = inspect.signature(thing).parameters
    _check_given(name, parameters)
    options, hints = {}, {}
    for parameter in parameters.values():
        if parameter.name in GIVEN or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        default = parameter.default
        if type(default) not in PLAIN:
            raise UsageError(
                f"{name}: its parameter {parameter.name!r} has "
                + ("no default" if default is parameter.empty else f"the default {default!r}")
                + ". Every parameter but input_size and output_size becomes a setting, and needs a number, true or "
                "false, or a text as its default."
            )
        options[parameter.name] = setting(default, f"of {name}", "your own file", **_bounds(default))
        hints[parameter.name] = type(default)
    base = JaxMaker if "key" in parameters else ModuleMaker
    body = {
        **options,
        "__annotations__": hints,
        "__doc__": inspect.getdoc(thing) or name,
        "__module__": getattr(thing, "__module__", __name__),
        "title": name,
        "maker": staticmethod(thing),
        "problems": _problems(thing),
        "causal": _is_causal(thing),
        "chooses_form": "problem" in parameters,
    }
    return (models if base is JaxMaker else modules), settings(type(_class_name(name), (base,), body))


def _check_given(name: str, parameters: Mapping[str, inspect.Parameter]) -> None:
    """Raises a usage error if a maker cannot be called with the sizes of a problem."""
    missing = [given for given in GIVEN[:2] if given not in parameters]
    if not missing or any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    guesses = {given: [other for other in OTHER_NAMES[given] if other in parameters] for given in missing}
    renamed = [f"`{others[0]}` to `{given}`" for given, others in guesses.items() if others]
    way_out = f"Rename {' and '.join(renamed)}." if renamed else "Add " + " and ".join(f"`{each}`" for each in missing)
    raise UsageError(
        f"{name}: it has no parameter {' and no parameter '.join(missing)}. It is called with `input_size` (how "
        "many token ids there are) and `output_size` (how many symbols it chooses from), by name. "
        f"{way_out.rstrip('.')}."
    )


def _problems(thing: Any) -> tuple[ProblemKind, ...]:
    """Returns the kinds of problem that the network accepts."""
    if hasattr(thing, "problems"):
        return tuple(thing.problems)
    if _is_causal(thing) or "problem" in inspect.signature(thing).parameters:
        return tuple(ProblemKind)
    return (ProblemKind.SEQUENCE_TO_SEQUENCE,) if _takes_source(thing) else SEES_AHEAD


def _is_causal(thing: Any) -> bool:
    """Returns whether the network answers at every step from the tokens up to it: unless it declares otherwise, or is
    made for sequence to sequence.
    """
    if _takes_source(thing) or tuple(getattr(thing, "problems", ())) == (ProblemKind.SEQUENCE_TO_SEQUENCE,):
        return False
    return bool(getattr(thing, "causal", True))


def _takes_source(thing: Any) -> bool:
    return isinstance(thing, type) and takes_source(thing)


def _bounds(default: Any) -> dict[str, Any]:
    """Returns the bounds of a setting. Sizes are positive: a setting whose default is a positive integer stays so."""
    return {"least": 1} if type(default) is int and default >= 1 else {}


def _class_name(name: str) -> str:
    return name.rpartition(":")[2]


class _Maker:
    """Settings of a user's network: the parameters of its class or function, except those in `GIVEN`."""

    title: ClassVar[str]
    maker: ClassVar[Callable[..., Any]]
    problems: ClassVar[tuple[ProblemKind, ...]]
    causal: ClassVar[bool]  # see `humboldt.models.forms`
    chooses_form: ClassVar[bool]  # whether the maker is given the kind of problem

    def _made(self, given: dict[str, Any]) -> Any:
        cls = type(self)
        parameters = inspect.signature(cls.maker).parameters
        takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        options = {name: getattr(self, name) for name in parameters if name not in GIVEN and hasattr(self, name)}
        named = {
            name: value for name, value in given.items() if name in parameters or (takes_all and name != "problem")
        }
        try:
            with contained():
                return cls.maker(**named, **options)
        except UsageError:
            raise
        except Exception as error:
            call = ", ".join(f"{key}={value!r}" for key, value in {**named, **options}.items() if key != "key")
            raise RunError(f"{self.title}({call}) raised {type(error).__name__}: {error}") from error


class JaxMaker(_Maker):
    """A user's JAX network."""

    def build(
        self, input_size: int, output_size: int, *, num_symbols: int, key: Any, problem: str = "transduction"
    ) -> Any:
        """Builds the network, freshly initialised. `problem`: the kind of problem, for a maker that takes it."""
        sizes = {"input_size": input_size, "output_size": output_size, "num_symbols": num_symbols}
        return self._made({**sizes, "key": key, "problem": problem})


@settings
class ModuleMaker(_Maker):
    """A user's PyTorch module."""

    device: Literal["auto", "cpu", "cuda", "mps"] = setting(
        "auto", "where it is trained; auto: on a GPU, if there is one"
    )
    compile: bool = setting(False, "whether torch.compile is used")

    def make(self, input_size: int, output_size: int, *, num_symbols: int, problem: str = "transduction") -> Any:
        """Builds the module, freshly initialised. `problem`: the kind of problem, for a maker that takes it."""
        from torch import nn

        sizes = {"input_size": input_size, "output_size": output_size, "num_symbols": num_symbols}
        module = self._made({**sizes, "problem": problem})
        if not isinstance(module, nn.Module):
            raise RunError(
                f"{self.title} made a {type(module).__name__}, which is not a torch.nn.Module. A JAX network needs a "
                "parameter `key`, which distinguishes it from a PyTorch module."
            )
        return module

    def on_device(self) -> Any:
        """Returns the `torch.device` of the setting; raises a `UsageError` if it is not available."""
        import torch

        if self.device == "cuda" and not torch.cuda.is_available():
            raise UsageError("device=cuda: PyTorch sees no GPU here. Use device=cpu, or install a build with CUDA.")
        if self.device == "mps" and not torch.backends.mps.is_available():
            raise UsageError("device=mps: PyTorch sees no Apple GPU here. Use device=cpu.")
        device = ("cuda" if torch.cuda.is_available() else "cpu") if self.device == "auto" else self.device
        return torch.device(device)
