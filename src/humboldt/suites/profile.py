"""The answers of models as tables: one row per model, one column per suite; then task by task, and comparisons."""

from collections.abc import Callable, Mapping, Sequence

from humboldt.measures import comparison
from humboldt.report.tables import Table, TableCell, TableEntry
from humboldt.report.words import counted, duration
from humboldt.suites import catalogue, suites
from humboldt.suites.answers import ModelAnswers, ModelCost, Progress, TaskAnswer
from humboldt.suites.bench import BUDGETS

OWN, REFERENCE = "this bench", "reference"
SHORT_LEVELS = {"regular": "R", "dcf": "DCF", "cs": "CS"}


def tables(
    answers: Sequence[ModelAnswers],
    references: Sequence[ModelAnswers],
    titles: Callable[[str], str],
    costs: Sequence[ModelCost] = (),
) -> list[Table]:
    """Returns all tables of a bench. `titles` gives the title of a model."""
    first, *compared = summary_tables(answers, references, titles, costs)
    return [first, *(task_table(each, titles) for each in answers), *compared]


def summary_tables(
    answers: Sequence[ModelAnswers],
    references: Sequence[ModelAnswers],
    titles: Callable[[str], str],
    costs: Sequence[ModelCost] = (),
) -> list[Table]:
    """Returns the table of all answers, that of ranks if there are references, and that of costs."""
    compared = comparison_table(answers, references, titles, costs)
    costly = [cost_table(costs, titles)] if costs else []
    return [overview(answers, references, titles), *([compared] if compared is not None else []), *costly]


def overview(
    answers: Sequence[ModelAnswers], references: Sequence[ModelAnswers], titles: Callable[[str], str]
) -> Table:
    """Returns the table of all answers: one row per model, those of the bench first."""
    answered = {each.suite for each in (*answers, *references)}
    columns = [name for name in catalogue.suite_names() if name in answered]
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for source, group in ((OWN, answers), (REFERENCE, references)):
        for each in group:
            rows.setdefault((each.model, each.source or source), {})[each.suite] = headline(each)
    lines = tuple(
        (titles(model), source, *(texts.get(suite, TableCell()) for suite in columns))
        for (model, source), texts in rows.items()
    )
    notes = (
        "Means over tasks of scores from the floor (0) to perfect (1), with 95% intervals over members; then solved "
        "tasks by group, which have a mean score of at least 0.9 that is 0.05 above the floor. In bias, for each task: "
        "the rule that most of the fitting members agree with, and how many members fit.",
    )
    return Table("Answers", ("Model", "From", *columns), lines, notes, labels=2)


def headline(answers: ModelAnswers) -> str:
    """Returns the answer of a model to a suite in one line.

    >>> task = TaskAnswer(task="parity_check", group="R", values=(1.0, 1.0), learnt=(True, True), floor=0.5)
    >>> headline(ModelAnswers("chomsky", "lstm", "bench_quick", (task,)))
    '1.00 (1.00 to 1.00); R 1/1'
    """
    if answers.has_preferences:
        return "; ".join(preference(task) for task in answers.tasks)
    mean, interval = comparison.mean_over_tasks(answers.scaled())
    number = f"{mean:.2f}" + (f" ({interval.low:.2f} to {interval.high:.2f})" if interval else "")
    solved = ", ".join(
        f"{SHORT_LEVELS.get(group, group)} {count}/{total}" for group, (count, total) in answers.solved.items()
    )
    return f"{number}; {solved}"


def preference(task: TaskAnswer) -> str:
    """Returns the rule that most of the fitting members prefer, and how many do.

    >>> shares = {"count": 0.75, "mem": 0.25}
    >>> preference(TaskAnswer(task="count_or_memorization", values=(1, 1, 1, 1, 0), learnt=(), preferences=shares))
    'count 75% (4/5)'
    """
    fit = f"{sum(map(round, task.values))}/{len(task.values)}"
    rule = max(task.preferences, key=lambda name: task.preferences[name], default="")
    if not rule or not task.preferences[rule]:
        return f"none ({fit})"
    return f"{rule} {100 * task.preferences[rule]:.0f}% ({fit})"


def task_table(answers: ModelAnswers, titles: Callable[[str], str]) -> Table:
    """Returns the answers of one model to one suite, task by task."""
    question = suites.get(answers.suite).question
    title = f"{titles(answers.model)}, {answers.suite}: {question}"
    if answers.has_preferences:
        rules = list(dict.fromkeys(rule for task in answers.tasks for rule in task.preferences))
        rows = [
            (
                task.task,
                TableCell(value=task.learning_rate, form="g"),
                f"{sum(map(round, task.values))}/{len(task.values)}",
                *(TableCell(value=task.preferences.get(rule), form=".2f") for rule in rules),
            )
            for task in answers.tasks
        ]
        note = "Shares of the members that fit the training set. No learning rate is selected: it changes preferences."
        return Table(title, ("Task", "Rate", "Fit", *rules), tuple(rows), (note,), labels=3)
    return Table(
        title,
        ("Task", "", "Score", "Solved by", "Floor", "Chance", "Best", "Best of 2", "Rate", "Result", "Steps"),
        tuple(_row(task) for task in answers.tasks),
        (
            "Not learnt: in so many steps (epochs in pcfg_set) of this recipe. A longer training may succeed.",
            "Best: the best member. Best of 2: the expected best of two members.",
        ),
        labels=2,
    )


def _row(task: TaskAnswer) -> tuple[TableEntry, ...]:
    from humboldt.measures.statistics import expected_best, spread

    deviation = spread(task.values).std if len(task.values) > 1 else None
    return (
        task.task,
        task.group,
        TableCell(value=task.mean, form=".3f", deviation=deviation),
        f"{task.num_solved}/{len(task.values)}",
        TableCell(value=task.floor, form=".3f"),
        TableCell(value=task.chance or None, form=".3f"),
        TableCell(value=max(task.values), form=".3f"),
        TableCell(value=expected_best(task.values, 2) if len(task.values) > 2 else None, form=".3f"),
        TableCell(value=task.learning_rate, form="g"),
        str(task.progress),
        TableCell(value=task.steps, form=","),
    )


def comparison_table(
    answers: Sequence[ModelAnswers],
    references: Sequence[ModelAnswers],
    titles: Callable[[str], str],
    costs: Sequence[ModelCost] = (),
) -> Table | None:
    """Returns the place of each model among the references, and the nearest of them; `None` without references.

    A model that is much larger or smaller than the references is shown in its place, but not ranked.
    """
    rows: list[tuple[TableEntry, ...]] = []
    cost_of = {cost.model: cost for cost in costs}
    for each in answers:
        theirs = _theirs(each, references)
        if each.has_preferences or not theirs:
            continue
        rank = comparison.rank(each.scaled(), theirs)
        near = comparison.nearest(each.scaled(), theirs)
        tied = ", ".join(titles(name) for name in rank.tied) if rank is not None else ""
        place = f"{rank.place} of {len(theirs) + 1}" if rank is not None else "not ranked: a single member"
        cost = cost_of.get(each.model)
        if rank is not None and len(rank.tied) == len(rank.p):  # a first place would say more than the tests do
            place = "not ranked: distinguishable from none"
        elif rank is not None and cost is not None and not cost.is_near(BUDGETS[each.preset]):
            place = f"about {rank.place} of {len(theirs) + 1}; not ranked: another size"
        rows.append((titles(each.model), each.suite, place, tied or TableCell(), _names(near, titles)))
    if not rows:
        return None
    note = (
        "Rank: by permutation tests of members within tasks, with Holm's correction over the references; models that "
        "cannot be told apart share a rank. A model with less than half or more than twice the references' parameters "
        "is not ranked. Nearest: the reference with the most similar scores over tasks, if it is the same one in at "
        "least 90% of bootstraps; otherwise all candidates, the most frequent first. No total score is given."
    )
    columns = ("Model", "Suite", "Rank", "Not distinguishable from", "Nearest")
    return Table("Among the references", columns, tuple(rows), (note,), labels=2)


def cost_table(costs: Sequence[ModelCost], titles: Callable[[str], str]) -> Table:
    """Returns what each model costs: parameters, state, multiply-adds and time."""
    lengths = tuple(dict.fromkeys(length for cost in costs for length in cost.multiply_adds))
    rows = [
        (
            titles(cost.model),
            TableCell(value=cost.parameters, form=","),
            TableCell(value=cost.state_floats, form=","),
            *(TableCell(value=cost.multiply_adds.get(length), form=",") for length in lengths),
            duration(cost.seconds),
        )
        for cost in costs
    ]
    notes = [
        "Parameters: of the body, between embedding and readout. State: numbers remembered of a string of 40 tokens. "
        "Multiply-adds: of the matrix products of one forward pass. Time: training and scoring of all members."
    ]
    if any(cost.counts_all for cost in costs):
        all_of_it = ", ".join(titles(cost.model) for cost in costs if cost.counts_all)
        notes.append(f"Parameters of {all_of_it}: of the whole network, in the first suite.")
    columns = ("Model", "Parameters", "State", *(f"Multiply-adds, length {length}" for length in lengths), "Time")
    return Table("Cost", columns, tuple(rows), tuple(notes))


def _theirs(answers: ModelAnswers, references: Sequence[ModelAnswers]) -> Mapping[str, Mapping[str, Sequence[float]]]:
    same = [each for each in references if each.suite == answers.suite and each.preset == answers.preset]
    return {each.model: each.scaled() for each in same if each.model != answers.model}


def _names(names: Sequence[str], titles: Callable[[str], str]) -> TableEntry:
    return ", ".join(map(titles, names)) if names else TableCell()


def progress_line(answers: ModelAnswers, title: str, seconds: float) -> str:
    """Returns one line about a suite that has just been answered."""
    learnt = sum(task.progress is not Progress.NOT_LEARNT for task in answers.tasks)
    about = "" if answers.has_preferences else f", {learnt} of {counted(len(answers.tasks), 'task')} learnt"
    return f"{title}, {answers.suite}: {headline(answers)}{about}. {duration(seconds)}."
