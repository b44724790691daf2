"""The engine of models that were trained elsewhere: it trains nothing. It gives their results a place in the store."""

from collections.abc import Sequence
from typing import ClassVar, Literal, NoReturn

from humboldt.checkpoints import Checkpoints
from humboldt.environment import environment
from humboldt.errors import UsageError
from humboldt.events import AbstractSink
from humboldt.registry import Registry
from humboldt.settings import setting, settings
from humboldt.training.base import AbstractEngine, Arrays, Job, engines

trained_elsewhere: Registry[type] = Registry("model that was trained elsewhere")


@trained_elsewhere.register("outside", version=1)
@settings
class Outside:
    """Anybody's model. All that is known of it is how it was asked."""

    asked: Literal["answers", "probabilities"] = setting(
        "answers", "what it was asked for: answers, or which of two strings is more probable"
    )
    toolkit: ClassVar[str] = "opennmt"  # its target tokens have a start mark, which an outside model may say, too


class OutsideEngine(AbstractEngine):
    """Refuses to train."""

    models = trained_elsewhere

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
