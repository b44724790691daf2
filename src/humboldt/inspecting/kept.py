"""Finds and loads saved members."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from humboldt.arguments import checked_arguments, either, mapping, optional, text
from humboldt.arguments import folder as folder_path
from humboldt.core.identity import Evaluation, Member, Training, canonical
from humboldt.core.results import State
from humboldt.errors import UsageError, unknown_name
from humboldt.inspecting.inspection import KeptMember, title
from humboldt.models.own import is_reference, register_reference, remember
from humboldt.plugins import load_installed
from humboldt.report.words import counted
from humboldt.settings import check_known, fields, plain, typed_value, words
from humboldt.storage import checkpoints
from humboldt.storage.store import Store, weights_path
from humboldt.suites import catalogue, own_tasks, suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.reading import upgrade, warn

MOST_LISTED = 12  # members in an error


@dataclass(frozen=True)
class KeptFile:
    """A finished member in a folder of results, whose weights may have been saved.

    `evaluation` and `detail` are those of the suite's headline measure.
    """

    folder: Path
    training: Training
    member: Member
    measures: Mapping[str, float]
    evaluation: Evaluation
    detail: Mapping[str, Any]

    @property
    def path(self) -> Path:
        """Path of its weights, if they were saved."""
        return weights_path(self.folder, self.training, self.member)

    @property
    def title(self) -> str:
        """A title: `chomsky/parity_check, rnn, seed 0: score 1`."""
        return title(suites.get(self.training.suite), self.training, self.member, self.measures)

    def load(self) -> KeptMember:
        """Loads the member with its weights."""
        suite = suites.get(self.training.suite)
        own_tasks.remember([self.training])
        remember([(self.training, suite.kind)])  # raises with the way out if its file was not named
        _check_versions(suite, self.training)
        try:
            return KeptMember(suite, self.training, self.member, _weights(self), self.measures)
        except ValueError as error:
            raise UsageError(f"The weights `{self.path}` do not fit the model: {error}.") from error


@checked_arguments(
    folder=folder_path,
    suite=optional(text),
    task=optional(text),
    model=optional(text),
    member=optional(either(mapping, text)),
    settings=optional(mapping),
)
def load(
    folder: str | Path,
    *,
    suite: str | None = None,
    task: str | None = None,
    model: str | None = None,
    member: Mapping[str, Any] | str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> KeptMember:
    """Loads a trained member whose weights were saved (`run(..., keep="best")`, the default).

    **Arguments:**

    - `folder`: of the results.
    - `suite`, `task`, `model`: their names; each may be omitted if the folder has only one. A model from a file of
      your own is named with its path, `path/to/my_file.py:MyGRU`.
    - `member`: which one, if several of one task and model were saved: `{"seed": 3}`, or `"best"` by the suite's
      headline measure.
    - `settings`: of the training, if there are several: `{"hidden_size": 64}`.

    ```python
    member = humboldt.load("results", suite="chomsky", task="parity_check", model="rnn")
    member.predict("a b b")  # ['b']: the number of b's is even
    print(member.inspect("a b b"))
    ```
    """
    load_installed()
    if model is not None and is_reference(model):
        model = register_reference(model)
    if suite is not None and task is not None and suite in suites:
        task = own_tasks.register_language(suites.get(suite), task)
    known = _candidates(Path(folder))
    wanted = {"suite": suite, "task": task, "model": model}
    for kind, name in wanted.items():
        names = {getattr(each.training, kind) for each in known}
        if name is not None and name not in names:
            raise unknown_name(f"{kind} with finished members in `{folder}`", name, names)
        known = [each for each in known if name in (None, getattr(each.training, kind))]
    known = _with_settings(known, settings or {})
    known = _with_member(known, member)
    kept = [each for each in known if each.path.is_file()]
    if not kept:
        raise UsageError(
            f"`{folder}` holds {counted(len(known), 'such member')}, but no weights of them: they were run with --keep "
            "none, or their files were removed. Run them in another folder with --keep best or --keep all."
        )
    its_suite = suites.get(kept[0].training.suite)
    if member == "best" and len({(t.suite, t.task, t.model) for t in (each.training for each in kept)}) == 1:
        kept = [max(kept, key=lambda each: each.measures.get(its_suite.headline, -np.inf))]
    if len(kept) > 1:
        raise _several(kept)
    return kept[0].load()


def kept_members(folder: Path) -> list[KeptFile]:
    """Returns all members of known suites whose weights are saved."""
    if not (folder / "weights").is_dir():
        return []
    finished = _finished(Store.open(folder, upgrade))
    return [each for each in finished if each.training.suite in suites and each.path.is_file()]


def _candidates(folder: Path) -> list[KeptFile]:
    store = Store.open(folder, upgrade)
    finished = _finished(store)
    for remark in store.remarks:
        warn(remark)
    if not finished:
        raise UsageError(f"No member in `{folder}` has finished, so there is none to load. Run the command again.")
    return finished


def _finished(store: Store) -> list[KeptFile]:
    """Returns all finished members, each with all its measures."""
    files: dict[str, KeptFile] = {}
    for scores in store.scores():
        for result in scores.results:
            if result.state is State.FINISHED:
                key = canonical([scores.training.key, result.member])
                measures = {**(files[key].measures if key in files else {}), **result.measures}
                suite = suites.get(scores.training.suite) if scores.training.suite in suites else None
                is_main = suite is None or suite.headline in result.measures or key not in files
                about = (scores.evaluation, result.detail) if is_main else (files[key].evaluation, files[key].detail)
                files[key] = KeptFile(store.folder, scores.training, result.member, measures, *about)
    return list(files.values())


def _with_settings(known: Sequence[KeptFile], settings: Mapping[str, Any]) -> list[KeptFile]:
    """Selects the members whose trainings have these settings."""
    for key, value in settings.items():
        is_met, classes = [], set[type]()
        for file in known:
            suite = suites.get(file.training.suite)
            of_training = catalogue.settings_classes(suite, file.training.task, file.training.model)
            classes.update(of_training)
            by_name = {field.name: field for cls in of_training for field in fields(cls)}
            if key in by_name:
                stored = file.training.flat.get(by_name[key].stored_name, plain(by_name[key].default))
                is_met.append(plain(typed_value(by_name[key], value)) in (stored, [stored]))
            else:
                is_met.append(False)
        check_known([key], classes)
        if not any(is_met):
            raise UsageError(f"{key}={words(value)}: no finished member was trained with it.")
        known = [file for file, met in zip(known, is_met, strict=True) if met]
    return list(known)


def _with_member(known: Sequence[KeptFile], member: Mapping[str, Any] | str | None) -> list[KeptFile]:
    """Selects the members with these values."""
    if member is None or member == "best":
        return list(known)
    if not isinstance(member, Mapping):
        raise UsageError(f"member={member!r} is not a member. Give its values, e.g. member={{'seed': 0}}, or 'best'.")
    for key in member:
        names = {name for file in known for name in file.member}
        if key not in names:
            raise unknown_name("part of a member", key, names)
    matching = [file for file in known if all(file.member.get(key) == value for key, value in member.items())]
    if not matching:
        shown = ", ".join(f"{key} {words(value)}" for key, value in member.items())
        there = "; ".join(_listed({canonical(file.member): _member_words(file.member) for file in known}.values()))
        raise UsageError(f"No finished member has {shown}. The finished ones have: {there}.")
    return matching


def _several(kept: Sequence[KeptFile]) -> UsageError:
    """Returns the error for an ambiguous request, which lists how the matching members differ."""
    trainings = [file.training for file in kept]
    names = [{"suite": each.suite, "task": each.task, "model": each.model} for each in trainings]
    named = [key for key in names[0] if any(name[key] != names[0][key] for name in names)]
    lines = []
    for file, name in zip(kept, names, strict=True):
        flat = file.training.flat
        alike = [training.flat for training, other in zip(trainings, names, strict=True) if other == name]
        differing = {key: value for key, value in flat.items() if any(each.get(key) != value for each in alike)}
        values = [f"{key}={words(value)}" for key, value in {**{key: name[key] for key in named}, **differing}.items()]
        lines.append(", ".join([*values, _member_words(file.member)]))
    return UsageError(
        f"{len(kept)} kept members match: {'; '.join(_listed(lines))}. Name suite, task and model; choose among "
        "settings with settings={...} (--set key=value), and among members with member={...} (--member key=value) or "
        "with member='best' (--member best)."
    )


def _member_words(member: Member) -> str:
    return " ".join(f"{key}={words(value)}" for key, value in member.items())


def _listed(lines: Iterable[str]) -> list[str]:
    lines = list(lines)
    return lines if len(lines) <= MOST_LISTED else [*lines[:MOST_LISTED], f"and {len(lines) - MOST_LISTED} more"]


def _check_versions(suite: AbstractSuite, training: Training) -> None:
    now = catalogue.versions(suite, training.task, training.model)
    for kind, version in now.items():
        if training.versions.get(kind) != version:
            raise UsageError(
                f"This member was trained with version {training.versions.get(kind)} of the {kind} "
                f"{getattr(training, kind)!r}, and this is version {version}: its weights belong to the earlier "
                "version. Train it again, or load it with the version of Humboldt that trained it."
            )


def _weights(candidate: KeptFile) -> dict[str, np.ndarray]:
    try:
        arrays, about = checkpoints.read(candidate.path)
    except checkpoints.Damaged as error:
        raise UsageError(
            f"The weights `{candidate.path}` are damaged: {error} Its scores are kept; to have the weights again, run "
            "it in another folder."
        ) from error
    if about != {"training": candidate.training.key, "member": dict(candidate.member)}:
        raise UsageError(f"`{candidate.path}` holds the weights of another member: {about}. Put its own file back.")
    return arrays
