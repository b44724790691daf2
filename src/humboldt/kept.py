"""Trained members that were kept: which there are in a folder, and the one that is meant."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from humboldt import checkpoints
from humboldt.errors import UsageError, unknown_name
from humboldt.identity import Evaluation, Member, Training, canonical
from humboldt.inspection import KeptMember, title
from humboldt.outside_models import is_reference, register_reference, remember
from humboldt.plugins import load_installed
from humboldt.report.words import counted
from humboldt.results import State
from humboldt.settings import check_known, fields, plain, typed_value, words
from humboldt.store import Store, weights_path
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.reading import upgrade

MOST_LISTED = 12  # members in an error


@dataclass(frozen=True)
class KeptFile:
    """A finished member in a folder of results, whose weights may have been kept.

    `evaluation` and `detail` are those under which the suite's own measure was stored.
    """

    folder: Path
    training: Training
    member: Member
    measures: Mapping[str, float]
    evaluation: Evaluation
    detail: Mapping[str, Any]

    @property
    def path(self) -> Path:
        """Where its weights are, if they were kept."""
        return weights_path(self.folder, self.training, self.member)

    @property
    def title(self) -> str:
        """`chomsky/parity_check, rnn, seed 0: score 1`."""
        return title(suites.get(self.training.suite), self.training, self.member, self.measures)

    def load(self) -> KeptMember:
        """The member with its weights."""
        suite = suites.get(self.training.suite)
        remember([(self.training, suite.kind)])  # an error that tells what to do, where its file was not named
        _check_versions(suite, self.training)
        try:
            return KeptMember(suite, self.training, self.member, _weights(self), self.measures)
        except ValueError as error:
            raise UsageError(f"The weights `{self.path}` do not fit the model: {error}.") from error


def load(
    folder: str | Path,
    *,
    suite: str | None = None,
    task: str | None = None,
    model: str | None = None,
    member: Mapping[str, Any] | str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> KeptMember:
    """A trained member whose weights were kept (`run(..., keep="best")`, which is the default).

    **Arguments:**

    - `folder`: of the results.
    - `suite`, `task`, `model`: their names; each may be left out where the folder holds one only. A model from a file
      of your own is named with its place, `path/to/my_file.py:MyGRU`.
    - `member`: which one, where several of one task and model were kept: `{"seed": 3}`, or `"best"` by the suite's own
      measure.
    - `settings`: of which training, where several were made: `{"hidden_size": 64}`.

    ```python
    member = humboldt.load("results", suite="chomsky", task="parity_check", model="rnn")
    member.predict("a b b")  # ['b']: the number of b's is even
    print(member.inspect("a b b"))
    ```
    """
    load_installed()
    if model is not None and is_reference(model):
        model = register_reference(model)
    known = _candidates(Path(folder))
    wanted = {"suite": suite, "task": task, "model": model}
    for kind, name in wanted.items():
        names = {getattr(one.training, kind) for one in known}
        if name is not None and name not in names:
            raise unknown_name(f"{kind} with finished members in `{folder}`", name, names)
        known = [one for one in known if name in (None, getattr(one.training, kind))]
    known = _with_settings(known, settings or {})
    known = _with_member(known, member)
    kept = [one for one in known if one.path.is_file()]
    if not kept:
        raise UsageError(
            f"`{folder}` holds {counted(len(known), 'such member')}, but no weights of them: they were run with --keep "
            "none, or their files were removed. Run them in another folder with --keep best or --keep all."
        )
    its_suite = suites.get(kept[0].training.suite)
    if member == "best" and len({(t.suite, t.task, t.model) for t in (one.training for one in kept)}) == 1:
        kept = [max(kept, key=lambda one: one.measures.get(its_suite.headline, -np.inf))]
    if len(kept) > 1:
        raise _several(kept)
    return kept[0].load()


def kept_members(folder: Path) -> list[KeptFile]:
    """All members of known suites whose weights are there."""
    if not (folder / "weights").is_dir():
        return []
    return [one for one in _finished(folder) if one.training.suite in suites and one.path.is_file()]


def _candidates(folder: Path) -> list[KeptFile]:
    found = _finished(folder)
    if not found:
        raise UsageError(f"No member in `{folder}` has finished, so there is none to load. Run the command again.")
    return found


def _finished(folder: Path) -> list[KeptFile]:
    """All finished members, with all that was measured of each."""
    found: dict[str, KeptFile] = {}
    for scores in Store.open(folder, upgrade).scores():
        for result in scores.results:
            if result.state is State.FINISHED:
                key = canonical([scores.training.key, result.member])
                measures = {**(found[key].measures if key in found else {}), **result.measures}
                suite = suites.get(scores.training.suite) if scores.training.suite in suites else None
                is_main = suite is None or suite.headline in result.measures or key not in found
                about = (scores.evaluation, result.detail) if is_main else (found[key].evaluation, found[key].detail)
                found[key] = KeptFile(folder, scores.training, result.member, measures, *about)
    return list(found.values())


def _with_settings(known: Sequence[KeptFile], settings: Mapping[str, Any]) -> list[KeptFile]:
    """Those whose trainings have these settings."""
    for key, value in settings.items():
        is_met, classes = [], set[type]()
        for one in known:
            suite = suites.get(one.training.suite)
            own = suite.settings_classes(one.training.task, one.training.model)
            classes.update(own)
            by_name = {field.name: field for cls in own for field in fields(cls)}
            if key in by_name:
                stored = one.training.flat.get(by_name[key].stored_name, plain(by_name[key].default))
                is_met.append(plain(typed_value(by_name[key], value)) in (stored, [stored]))
            else:
                is_met.append(False)
        check_known([key], classes)
        if not any(is_met):
            raise UsageError(f"{key}={words(value)}: no member there was trained with it.")
        known = [one for one, met in zip(known, is_met, strict=True) if met]
    return list(known)


def _with_member(known: Sequence[KeptFile], member: Mapping[str, Any] | str | None) -> list[KeptFile]:
    """Those that have these values."""
    if member is None or member == "best":
        return list(known)
    if not isinstance(member, Mapping):
        raise UsageError(f"member={member!r} is no member. Give its values, e.g. member={{'seed': 0}}, or 'best'.")
    for key in member:
        names = {name for one in known for name in one.member}
        if key not in names:
            raise unknown_name("part of a member", key, names)
    chosen = [one for one in known if all(one.member.get(key) == value for key, value in member.items())]
    if not chosen:
        shown = ", ".join(f"{key} {words(value)}" for key, value in member.items())
        there = "; ".join(_listed({canonical(one.member): _member_words(one.member) for one in known}.values()))
        raise UsageError(f"No finished member has {shown}. There are: {there}.")
    return chosen


def _several(kept: Sequence[KeptFile]) -> UsageError:
    """The error that tells those apart which could be meant."""
    flats = [{"suite": t.suite, "task": t.task, "model": t.model, **t.flat} for t in (one.training for one in kept)]
    differing = [key for key in flats[0] if any(flat.get(key) != flats[0][key] for flat in flats)]
    lines = [
        ", ".join([*(f"{key}={words(flat.get(key))}" for key in differing), _member_words(one.member)])
        for one, flat in zip(kept, flats, strict=True)
    ]
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
    now = suite.versions(training.task, training.model)
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
