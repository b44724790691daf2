"""The interface of a suite: facts as data, `job`, `score`, and hooks with defaults.

From its *protocol* (settings), *contenders* (the paper's models) and *presets*, `plans` makes trainings and `resolving`
makes their objects. A suite builds the *job* of an engine and *scores* predictors; its *presentation* shows results.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from humboldt import settings
from humboldt.core.identity import Evaluation, Member, Training
from humboldt.errors import UsageError
from humboldt.languages import AbstractTask, ProblemKind, tasks
from humboldt.languages.formal.language import ContextFreeLanguage, RegularLanguage
from humboldt.settings import Role
from humboldt.suites.experiments import (
    Contender,
    MemberScore,
    Preset,
    Probe,
    ReportedNumber,
    Request,
    Resolved,
    ScoringInput,
    Variation,
)
from humboldt.suites.presentation import Presentation
from humboldt.training.abilities import AbstractAbility
from humboldt.training.base import AbstractProblem, Job


class AbstractSuite(ABC):
    """A paper's protocol. Subclasses define `job`, `score`, and the class variables without a value."""

    name: ClassVar[str]
    paper: ClassVar[str]
    question: ClassVar[str]
    measure: ClassVar[str]
    kind: ClassVar[ProblemKind]
    protocol: ClassVar[type]
    contenders: ClassVar[Mapping[str, Contender]]
    others: ClassVar[Mapping[str, Any]] = MappingProxyType({})  # settings for models that the paper does not have
    printed_tasks: ClassVar[tuple[str, ...]]  # those of the paper, in the order of its table
    presets: ClassVar[Mapping[str, Preset]]
    headline: ClassVar[str]  # the measure by which members are ranked; more is better
    evaluation: ClassVar[tuple[str, int]]  # name and version of the evaluation that every training gets
    needs: ClassVar[tuple[type[AbstractAbility], ...]] = ()  # abilities that `score` needs of every predictor
    presentation: ClassVar[Presentation] = Presentation()
    position: ClassVar[int] = 100  # among the suites of a page; later ones are sorted by name
    bench_position: ClassVar[int] = 100  # among the suites of a bench, the quickest first; equal ones by name
    asks_preferences: ClassVar[bool] = False  # which of several rules is preferred: no answer is right or wrong
    demo: ClassVar[tuple[Request, ...]] = (Request(),)  # the part that `humboldt demo` shows
    format: ClassVar[int] = 2  # of stored settings; grows when one is renamed or removed, see `upgrade`
    test_sets: ClassVar[tuple[str, ...]] = ()  # if there are several; a predictions file may cover only one of them

    @abstractmethod
    def job(self, resolved: Resolved, members: Sequence[Member]) -> Job:
        """Builds the job of an engine that trains these members."""

    @abstractmethod
    def score(self, scoring_input: ScoringInput) -> list[MemberScore]:
        """Scores each member of a predictor. Needs no JAX; any predictor will do."""

    # Hooks. Each has a default that suits most suites.

    def problem(self, resolved: Resolved, members: Sequence[Member]) -> AbstractProblem:
        """Builds the data that members are trained on, or were trained on outside Humboldt. Suites override this if the
        data depends on the members, or can be built without a job."""
        del members
        return self.job(resolved, self.members(resolved)[:1]).problem

    def members(self, resolved: Resolved) -> list[Member]:
        """Returns the requested members: every seed with every learning rate, if the protocol has several. A protocol
        without `seeds` has one member."""
        protocol = resolved.protocol
        seeds = range(getattr(protocol, "seeds", 1))
        if not _members_differ_in_rates(protocol):
            return [{"seed": seed} for seed in seeds]
        return [{"seed": seed, "learning_rate": rate} for rate in protocol.learning_rates for seed in seeds]

    def member_settings(self, protocol: Any, members: Sequence[Member]) -> dict[str, Any]:
        """Returns the settings that give a protocol exactly these members: the inverse of `members`."""
        seeds: dict[str, Any] = {"seeds": len(distinct(members, "seed"))}
        if not _members_differ_in_rates(protocol):
            return seeds
        return {**seeds, "learning_rates": distinct(members, "learning_rate")}

    def evaluations(self, protocol: Any, task: str) -> list[Evaluation]:
        """Returns the evaluations of the members that are trained on a task."""
        del task
        name, version = self.evaluation
        return [Evaluation(name, settings.as_json(protocol, [Role.EVALUATION]), version)]

    def task_of_language(self, language: RegularLanguage | ContextFreeLanguage) -> type[AbstractTask]:
        """Makes the task of a language from a user's file. Its attribute `identity` is the part of the language that
        belongs to the identity of trainings, as plain data. By default a suite has no such tasks."""
        raise UsageError(f"{language.name}: the suite {self.name} has no tasks from files.")

    def make_task(self, name: str, protocol: Any, options: Mapping[str, Any]) -> AbstractTask:
        """Builds the task of a training from its stored settings."""
        del protocol
        cls = tasks.get(f"{self.name}/{name}")
        return settings.from_json(cls, options) if settings.fields(cls) else cls(**options)

    def check_plan(self, resolved: Resolved) -> None:
        """Raises a usage error if the settings do not fit the task. Called for every training before anything runs."""
        del resolved

    def most_tokens(self, resolved: Resolved) -> int | None:
        """Returns the number of tokens of the longest string that a network reads in training and tests; `None` if
        there is no bound. A plan refuses models whose positions are defined for fewer tokens."""
        del resolved

    def work(self, resolved: Resolved) -> str:
        """Returns the work of one member in words: "2,000 steps of 128 strings"."""
        protocol = resolved.protocol
        amounts = {name: getattr(protocol, name, None) for name in ("steps", "updates", "epochs")}
        return next((f"{amount:,} {name}" for name, amount in amounts.items() if amount is not None), "training")

    def probe(self, resolved: Resolved, evaluation: Evaluation) -> Probe | None:
        """Returns a part of an evaluation from which its time is estimated; `None` leaves it out of estimates."""
        del resolved, evaluation

    def groups(self, resolved: Resolved, members: Sequence[Member]) -> list[Sequence[Member]]:
        """Partitions the members into groups that are best trained together."""
        del resolved
        return [members]

    def sweep(self, task: str, contender: Contender) -> Mapping[str, tuple[Any, ...]]:
        """Returns the settings of which the paper tries several values, by name; each value is a training."""
        del task
        return contender.sweep

    def is_repetition(self, resolved: Resolved, sweep: Mapping[str, tuple[Any, ...]]) -> bool:
        """Returns whether another value of the sweep is certain to give the same numbers."""
        del resolved, sweep
        return False

    def trained_task(self, task: str) -> str:
        """Returns the task that models are trained on to be scored on `task`; it differs if `task` is only a test."""
        return task

    def outside_member(self, seed: int) -> Member:
        """Returns the member for a model that was trained outside Humboldt."""
        return {"seed": seed}

    def readings(
        self, resolved: Resolved, evaluation: Evaluation, scores: Sequence[MemberScore]
    ) -> list[ReportedNumber]:
        """Returns the numbers of a scorecard, each with sample size, interval, chance level and breakdown if known."""
        del resolved, evaluation
        return [ReportedNumber(measure=name, value=value) for score in scores for name, value in score.measures.items()]

    def variation(self, training: Training) -> Variation | None:
        """Returns the variation of the main setting under which the paper prints this training, if it does."""
        del training

    def upgrade(self, setting: dict[str, Any], format: int, *, model: str) -> dict[str, Any]:
        """Migrates settings that an earlier version stored to the current names."""
        del format, model
        return setting


def _members_differ_in_rates(protocol: Any) -> bool:
    """Returns whether the learning rates of a protocol belong to members, not to trainings of their own."""
    roles = {field.name: field.role for field in settings.fields(type(protocol))}
    return roles.get("learning_rates") is Role.MEMBERS


def distinct(members: Sequence[Member], key: str) -> tuple[Any, ...]:
    """Returns the distinct values of members for a key, in order."""
    return tuple(dict.fromkeys(member[key] for member in members if key in member))
