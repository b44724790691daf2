"""Logs of inspect_ai as scores: `humboldt score SUITE TASK LOG.eval`. Every answer is judged again by the oracle."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from humboldt.errors import OtherStrings, UsageError, named_extras
from humboldt.measures.statistics import bootstrap, share
from humboldt.outside.prompts import Form, Judgement, Subject
from humboldt.report.tables import Table, as_text
from humboldt.suites.experiments import ReportedNumber

ENDINGS = (".eval", ".json")
ALL = "all"


@dataclass(frozen=True)
class Log:
    """The answers of one log, by group of lengths. `unanswered`: samples without an answer, which are not scored."""

    model: str
    subject: Subject
    judged: Mapping[int, Sequence[Judgement]]
    unanswered: int = 0

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the numbers: labels and letters have no parts."""
        return ("symbols", "strings") if self.subject.form is Form.TRANSDUCE else ("accuracy",)

    def number(self, measure: str, length: int | None = None) -> ReportedNumber:
        """Returns a mean over the strings of one group of lengths, or over all, with its interval."""
        answers = [one for group, found in self.judged.items() if length in (None, group) for one in found]
        note = f"{self.unanswered} samples have no answer" if self.unanswered and length is None else ""
        if measure == "symbols":
            values = [one.symbols for one in answers]
            ends = bootstrap(values)
            value = sum(values) / len(values)
            low, high = (None, None) if ends is None else (ends.low, ends.high)
        else:
            part = share(sum(one.is_right for one in answers), len(answers))
            value, low, high = part.count / part.total, part.low, part.high
        chance = None if measure == "strings" else self.subject.chance
        by_length = {str(group): self.number(measure, group).value for group in self.judged} if length is None else {}
        breakdown = {"length": by_length} if by_length else {}
        about: dict[str, Any] = {"low": low, "high": high, "chance": chance, "breakdown": breakdown, "note": note}
        return ReportedNumber(measure=measure, value=value, n=len(answers), **about)


@dataclass(frozen=True)
class LogScores:
    """The scores of logs. `short()` is a table; `to_dict()` has the keys of `humboldt score` for every suite."""

    suite: str
    task: str
    logs: Sequence[Log] = field(default=())

    def readings(self) -> list[dict[str, Any]]:
        """Returns every number of every log, with the accuracy by length as its breakdown."""
        return [
            {"suite": self.suite, "task": self.task, "evaluation": str(log.subject.form), "model": log.model}
            | asdict(log.number(measure))
            | {"published": []}
            for log in self.logs
            for measure in log.measures
        ]

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON of `humboldt score`."""
        models = ", ".join(dict.fromkeys(log.model for log in self.logs))
        members = [
            {"evaluation": str(log.subject.form), "model": log.model, "unanswered": log.unanswered} for log in self.logs
        ]
        about = {"suite": self.suite, "task": self.task, "model": models}
        return {**about, "readings": self.readings(), "details": {"members": members}}

    def short(self) -> str:
        """Returns a table with a row for each model, measure and group of lengths."""
        rows = []
        for log in self.logs:
            for measure in log.measures:
                for length in (*log.judged, None):
                    number = log.number(measure, length)
                    interval = "" if number.low is None else f"{number.low:.3f} to {number.high:.3f}"
                    chance = "" if number.chance is None else f"{number.chance:.3g}"
                    place = ALL if length is None else str(length)
                    rows.append((log.model, measure, place, f"{number.value:.3f}", interval, f"{number.n}", chance))
        columns = ("Model", "Measure", "Length", "Value", "95%", "n", "Chance")
        missing = [f"{log.model}: {log.unanswered} samples have no answer" for log in self.logs if log.unanswered]
        return as_text([Table(f"{self.suite}/{self.task}, asked by inspect_ai", columns, tuple(rows), tuple(missing))])


def is_log(path: Path) -> bool:
    """Returns whether a file is a log of inspect_ai, by its ending."""
    return path.suffix.lower() in ENDINGS


def score_logs(suite: str, task: str, paths: Sequence[Path]) -> LogScores:
    """Reads logs of the tasks of `humboldt.outside.inspect_ai`, each of one model, and judges their answers again."""
    logs = [_checked(suite, task, path) for path in paths]
    return LogScores(suite, logs[0].subject.task, logs)


def _checked(suite: str, task: str, path: Path) -> Log:
    """Reads a log; metadata of another form than our tasks write are a usage error."""
    try:
        return _read(suite, task, path)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise UsageError(
            f"`{path.name}` was edited, or is not a log of our tasks: its metadata have another form ({error!r:.200}). "
            "Give the log that inspect_ai wrote."
        ) from error


def _read(suite: str, task: str, path: Path) -> Log:
    with named_extras():
        from inspect_ai.log import read_eval_log
    try:
        log = read_eval_log(str(path), exclude_fields={"events", "store", "attachments"})
    except Exception as error:
        raise UsageError(f"`{path}` cannot be read as a log of inspect_ai: {error}") from error
    judged: dict[int, list[Judgement]] = {}
    subject, unanswered = None, 0
    for sample in log.samples or []:
        about = sample.metadata
        if "form" not in about or "strings" not in about:
            raise UsageError(
                f"`{path.name}` is a log of {log.eval.task}. Only logs of humboldt/transduce, humboldt/recognise and "
                "humboldt/minimal_pairs have the strings that are scored."
            )
        if subject is None:
            subject = _subject(suite, task, path, about)
        if sample.target != (target := subject.target(about["strings"])):
            raise OtherStrings(
                f"{path.name}, sample {sample.id}: the log has the right answer {sample.target!r}, and the task "
                f"{subject.suite}/{subject.task} has {target!r}. The log is of another version of the task."
            )
        if sample.error is not None or sample.output.empty:
            unanswered += 1
            continue
        if type(length := about["length"]) is not int:
            raise ValueError(f"a length of {length!r:.40}")
        judged.setdefault(length, []).append(subject.judge(about["strings"], sample.output.completion))
    if subject is None or not judged:
        raise UsageError(f"`{path.name}` has no answers: its status is {log.status}. Run the evaluation again.")
    return Log(log.eval.model, subject, dict(sorted(judged.items())), unanswered)


def _subject(suite: str, task: str, path: Path, about: Mapping[str, Any]) -> Subject:
    """Returns the subject of a log; raises an error unless it is about this task."""
    named = Subject(Form(about["form"]), suite, task, about["settings"])
    if (named.suite, named.task) != (about["suite"], about["task"]):
        raise UsageError(
            f"`{path.name}` is about {about['suite']}/{about['task']}, not about {suite}/{task}. Write: humboldt score "
            f"{about['suite']} {about['task']} {path}"
        )
    return named
