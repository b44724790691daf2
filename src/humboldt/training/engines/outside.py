"""The engine of models that were trained outside Humboldt. It trains nothing; the store lists their results under
it."""

from collections.abc import Sequence
from typing import ClassVar, Literal, NoReturn

from humboldt.core.environment import environment
from humboldt.core.events import AbstractSink
from humboldt.errors import UsageError
from humboldt.registry import Registry
from humboldt.settings import setting, settings
from humboldt.storage.checkpoints import Checkpoints
from humboldt.training.abilities import CountsRight, ReadsSymbols, WritesOutputs
from humboldt.training.base import AbstractEngine, Arrays, Job, engines

trained_elsewhere: Registry[type] = Registry("model that was trained elsewhere")


@trained_elsewhere.register("outside", version=1)
@settings
class Outside:
    """A model from outside. Its only setting is the kind of answers that it gives."""

    asked: Literal["answers", "probabilities"] = setting(
        "answers", "kind of answers: outputs, or which of two strings is more probable"
    )
    toolkit: ClassVar[str] = "opennmt"  # its target tokens include a start mark, which an outside model may also output


class OutsideEngine(AbstractEngine):
    """An engine that cannot train: its methods raise a usage error."""

    models = trained_elsewhere
    abilities = frozenset({CountsRight, WritesOutputs, ReadsSymbols})

    def train(self, job: Job, checkpoints: Checkpoints, sink: AbstractSink) -> NoReturn:
        raise _refusal()

    def restore(self, job: Job, weights: Sequence[Arrays]) -> NoReturn:
        raise _refusal()

    def sample(self, job: Job) -> NoReturn:
        raise _refusal()

    def environment(self) -> dict[str, str]:
        return environment(uses_jax=False)


def _refusal() -> UsageError:
    return UsageError(
        "A model that was trained outside Humboldt can be scored, but neither trained nor loaded here. "
        "Use `humboldt.score` or `humboldt score`."
    )


engines.register("outside", version=1)(OutsideEngine())
