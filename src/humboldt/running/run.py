"""Runs a study: `humboldt.run`, and the part that the command line shares with it."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, get_args

from humboldt.arguments import checked_arguments, choice, either, flag, function, instance, optional, seconds
from humboldt.core.events import AbstractSink, Event
from humboldt.running.execution import AbstractExecutor, Keep
from humboldt.running.interrupts import stop_on_interrupt
from humboldt.running.planning import announce
from humboldt.running.progress import Shown
from humboldt.running.progress import progress as shown
from humboldt.running.study import Study, plan
from humboldt.suites.experiments import Experiment
from humboldt.suites.task_check import check_before_training
from humboldt.training.base import Compile, Road

RUN_ARGUMENTS = {
    "progress": either(flag, function),
    "save_every": seconds,
    "keep": choice("best", "all", "none"),
    "executor": optional(instance(AbstractExecutor, "an executor")),
    "road": choice(*get_args(Road)),
    "compile": choice(*get_args(Compile)),
    "fused": flag,
}


@checked_arguments(**RUN_ARGUMENTS)
def run(
    suite: str,
    *,
    progress: Callable[[str, Event], None] | bool = True,
    save_every: float = 30.0,
    keep: Keep = "best",
    executor: AbstractExecutor | None = None,
    road: Road = "auto",
    compile: Compile = "setting",
    fused: bool = True,
    **options: Any,
) -> Study:
    """Plans a study, runs its missing work, and returns it. Takes the arguments of `plan`.

    **Arguments:**

    - `progress`: whether to show it; or a function of the name of an experiment and an event
      (`humboldt.core.events`).
    - `save_every`: seconds between checkpoints; more if saving would take a tenth of the time.
    - `keep`: the trained members to save.
    - `executor`: runs the experiments; in this process if it is `None`.
    - `road`: how the members of PyTorch modules are trained: the fastest way that a trial allows, as one module
      (`stacked`), as CUDA `graphs`, in `processes`, one after the other on all cores (`threads`), or on one
      (`in_turn`). Results depend on it only in rounding.
    - `compile`: with `auto`, `torch.compile` is tried for PyTorch modules, and used if it is faster and agrees.
      Otherwise the model's setting of this name decides. Results depend on it only in rounding.
    - `fused`: whether the loops over time and the attention of our networks may run as one kernel, on a GPU for which
      there is one. Results depend on it only in rounding.

    ```python
    study = humboldt.run("chomsky", tasks=["parity_check"], models=["rnn"], preset="quick", out="results")
    study.records()
    print(study.table())
    ```
    """
    study = plan(suite, **options)
    return run_study(
        study,
        progress=progress,
        save_every=save_every,
        keep=keep,
        executor=executor,
        road=road,
        compile=compile,
        fused=fused,
    )


@checked_arguments(study=instance(Study, "a study, as `plan` returns it"), **RUN_ARGUMENTS)
def run_study(
    study: Study,
    *,
    progress: Callable[[str, Event], None] | bool = True,
    save_every: float = 30.0,
    keep: Keep = "best",
    executor: AbstractExecutor | None = None,
    road: Road = "auto",
    compile: Compile = "setting",
    fused: bool = True,
    announces: bool = False,
) -> Study:
    """Runs the missing work of a study; see `run`. `announces`: whether the plan is printed on stderr first."""
    if executor is not None:
        executor.check()
    study.store  # noqa: B018  raises before anything is announced if the folder cannot be written
    check_before_training(study.suite, study.pending())
    planned = announce(study, estimate="remembered") if announces else ()
    if executor is None:
        study.check_memory()
    seconds = {p.experiment.name: p.seconds for p in planned if p.seconds is not None and p.missing}
    count = len(study.pending())
    with (
        shown(count, seconds) if progress is True else nullcontext() as view,
        stop_on_interrupt(view.say if view is not None else None) as should_stop,
    ):

        def sink(experiment: Experiment) -> AbstractSink:
            if view is not None:
                return Shown(experiment.name, view, should_stop)
            return _Forwarded(experiment.name, progress if callable(progress) else None, should_stop)

        study.run(sink, save_seconds=save_every, keep=keep, executor=executor, road=road, compile=compile, fused=fused)
    return study


@dataclass(frozen=True)
class _Forwarded(AbstractSink):
    """Passes events to a function, if there is one, and can be stopped."""

    name: str
    progress: Callable[[str, Event], None] | None
    stop_requested: Callable[[], bool]

    def send(self, event: Event) -> None:
        if self.progress is not None:
            self.progress(self.name, event)

    def should_stop(self) -> bool:
        return self.stop_requested()
