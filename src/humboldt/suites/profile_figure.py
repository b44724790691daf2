"""The figure of a bench: the answers of all models to all suites, on common scales."""

from collections.abc import Iterator, Sequence
from typing import Any

from humboldt.measures import comparison
from humboldt.report.figures import FAMILY, MODEL, Axis, Figure, Kind
from humboldt.suites import benched, catalogue
from humboldt.suites.answers import ModelAnswers, TaskAnswer
from humboldt.suites.bench import PREFIX
from humboldt.suites.profile import OWN, REFERENCE

ABOUT = (
    "Large marks: the mean over tasks of a model's scores, from the floor (0), which length, position or a shortcut "
    "reach, to perfect (1), with its 95% interval over members. Small marks: single tasks. In bias, for each task: the "
    "rule that most of the members prefer that fit the training set, and their share; no preference is better."
)
NO_RULE = "none"


def profile_figure(preset: str, own: Sequence[ModelAnswers], beside: Sequence[ModelAnswers]) -> Figure:
    """Returns the figure of a bench preset: `own` models first, then those `beside` them, by name."""
    rows = [row for source, group in ((OWN, own), (REFERENCE, beside)) for each in group for row in _rows(source, each)]
    titles = [*_titles(own), *sorted(_titles(beside), key=str.casefold)]
    rows.sort(key=lambda row: row["place"])
    return Figure(
        name=preset.removeprefix(PREFIX),
        title=f"Where each model stands, bench {preset.removeprefix(PREFIX)}",
        about=ABOUT,
        kind=Kind.PROFILE,
        rows=tuple({key: value for key, value in row.items() if key != "place"} for row in rows),
        x=Axis("value", "", domain=(0.0, 1.0)),
        y=Axis(MODEL, "", "category", order=tuple(dict.fromkeys(titles))),
        colour="from",
        colour_title="From",
        order=(OWN, REFERENCE, benched.REPORTED),
        panel="panel",
    )


def _titles(answers: Sequence[ModelAnswers]) -> list[str]:
    return list(dict.fromkeys(benched.model_title(each.model) for each in answers))


def _rows(source: str, answers: ModelAnswers) -> Iterator[dict[str, Any]]:
    """Yields the marks of one model in one suite. `place` orders the panels: suites as on a page, then preferences."""
    title, position = benched.model_title(answers.model), catalogue.suite_names().index(answers.suite)
    about = {MODEL: title, FAMILY: title, "from": answers.source or source}
    if answers.has_preferences:
        for number, task in enumerate(answers.tasks):
            name = task.task.replace("_or_", "\nor ")
            panel = {"panel": f"{answers.suite}: {name}", "place": (1, position, number)}
            yield {**about, **panel, "part": "rule", **_preferred(task)}
        return
    panel = {"panel": f"{answers.suite}\n{len(answers.scaled())} tasks", "place": (0, position, 0)}
    scaled = answers.scaled()
    if not scaled:
        return
    mean, interval = comparison.mean_over_tasks(scaled)
    ends = {} if interval is None else {"low": round(interval.low, 4), "high": round(interval.high, 4)}
    yield {**about, **panel, "part": "mean", "task": "mean over tasks", "value": round(mean, 4), **ends}
    for task in answers.tasks:
        if task.is_compared and task.values:
            value = sum(task.scaled) / len(task.scaled)
            yield {**about, **panel, "part": "task", "task": task.task, "value": round(value, 4)}


def _preferred(task: TaskAnswer) -> dict[str, Any]:
    """Returns the rule that most of the fitting members prefer, with their share."""
    rule = max(task.preferences, key=lambda name: task.preferences[name], default=NO_RULE)
    share = task.preferences.get(rule, 0.0)
    fit = f"{sum(map(round, task.values))} of {len(task.values)}"
    return {"task": task.task, "value": round(share, 4), "word": rule if share else NO_RULE, "members that fit": fit}
