"""Numbers that the paper prints: the table of a cell, its number of learners, and its significance level."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from humboldt import published
from humboldt.core.identity import Training
from humboldt.languages import tasks
from humboldt.suites.cells import Cell

MAIN_TABLES = {
    "count_or_memorization": "table_1a",
    "add_or_multiply": "table_1b",
    "hierarchical_or_linear": "table_1c",
    "composition_or_memorization": "table_1d",
    "multiply_by_3": "table_2",
    "scan_jump": "table_7",
}
#: Settings that appendices B and C vary: the table without its last letter, the name there, and the usual value.
VARIED = {
    "num_layers": ("table_3", "n_layer", 1),
    "hidden_size": ("table_4", "hidden", 512),
    "embedding_size": ("table_5", "embedding", 16),
    "dropout": ("table_6", "dropout", 0.5),
}
SEEDS, FEWER_SEEDS = 100, 20  # of Tables 1 and 2; of appendices B, C and E
FITTING = 0.7  # the least share of learners that fit the training set in a printed row, by the caption of Table 3
FOOTNOTE = re.compile(r"only (\d+)% of learners fitted")  # of Table 2, as the published table has it


class Printed(NamedTuple):
    """A published number; with a bound (`>`, `<`), the paper only states on which side of it several cells lie."""

    value: float
    bound: str = ""
    note: str = ""

    def __str__(self) -> str:
        return f"{self.bound}{self.value:.2f}"


def printed(cell: Cell, rule: str, metric: str) -> Printed | None:
    """Returns the published number of a cell, from the main tables or from the variations of appendices B and C."""
    size, kernel, *_ = cell.place
    training = cell.scores[0].training
    criteria = {"model": cell.model, "rule": rule, "metric": metric}
    if cell.task == "scan_jump":
        factor = 1000.0 if metric == "L" else 1.0
        return published_number("table_7", str(kernel) if kernel else "", criteria, factor)
    if cell.task == "scan_simple":
        return _in_text({**criteria, "task": cell.task, "kernel_width": str(kernel) if kernel else ""})
    table = "table_8" if cell.model == "joint_attention" else MAIN_TABLES.get(cell.task, "")
    is_papers = training.model == cell.model  # and not a user's model, in whose place the paper's is looked up
    changes = varied(cell.model, training.setting["model"]) if is_papers else {}
    if len(changes) > 1:
        return None
    for name, value in changes.items():
        sizes = tasks.get(f"bias/{cell.task}").sizes  # pyright: ignore[reportAttributeAccessIssue]
        if not sizes or size != sizes[1][0]:
            return None
        letter = table[-1]
        return published_number(f"{VARIED[name][0]}{letter}", f"{value:g}", criteria)
    return published_number(table, str(size), {**criteria, "task": cell.task})


def _in_text(criteria: Mapping[str, str]) -> Printed | None:
    """Looks up a number that the paper prints in its text and in no table."""
    for row in published.rows("bias_text"):
        if all(row[key] == value for key, value in criteria.items()):
            return Printed(float(row["value"]), row["bound"])
    return None


def exactly_printed(cell: Cell, rule: str, metric: str) -> float | None:
    """Returns the published number, if there is one and not only a bound."""
    beside = printed(cell, rule, metric)
    return None if beside is None or beside.bound else beside.value


def published_number(table: str, size: str, criteria: Mapping[str, str], factor: float = 1.0) -> Printed | None:
    """Looks up a published number. A row of the paper may be for several sizes: `10|20|30|40`."""
    for row in published.rows("bias"):
        if _is_of(row, table, size) and all(row[key] == value for key, value in criteria.items()) and row["value"]:
            return Printed(float(row["value"]) * factor, row["bound"], row["note"])
    return None


def _is_of(row: Mapping[str, str], table: str, size: str) -> bool:
    """Returns whether a published row is of this table and size, which may be written `0` or `0.0`."""
    if row["paper_table"] != table:
        return False
    sizes = row["parameter_value"].split("|")
    return size in sizes or (size != "" and float(size) in map(float, filter(None, sizes)))


def varied(model: str, setting: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings varied in appendices B and C whose values are not those of the main tables."""
    usual = {"embedding_size": 64} if model == "joint_attention" else {}
    return {
        name: setting[name]
        for name, (_, _, value) in VARIED.items()
        if name in setting and setting[name] != usual.get(name, value)
    }


def variation(training: Training) -> dict[str, Any]:
    """Returns the varied setting and the task size if a table of appendices B and C has this training, else nothing.

    The paper trains these with `FEWER_SEEDS`, only at the first size of each task.
    """
    changes = varied(training.model, training.setting.get("model", {}))
    table = MAIN_TABLES.get(training.task, "")
    if len(changes) != 1 or training.model == "joint_attention":
        return {}
    ((name, value),) = changes.items()
    rows = [row for row in published.rows("bias") if _is_of(row, f"{VARIED[name][0]}{table[-1:]}", f"{value:g}")]
    if not any(row["model"] == training.model for row in rows):
        return {}
    sizes = tasks.get(f"bias/{training.task}").sizes  # pyright: ignore[reportAttributeAccessIssue]
    return {name: value, **({sizes[0]: sizes[1][0]} if sizes else {})}


def varied_at_first_size(training: Training) -> tuple[str, float] | None:
    """Returns the setting that a row of Tables 3 to 6 varies, and its value; `None` for all other trainings."""
    changes = variation(training)
    sizes = {key: value for key, value in changes.items() if key not in VARIED}
    own = training.setting.get("task", {})
    if not changes or training.setting.get("curve_block") or any(own.get(key) != value for key, value in sizes.items()):
        return None
    return next((key, float(value)) for key, value in changes.items() if key in VARIED)


def has_fewer_seeds(cell: Cell) -> bool:
    """Returns whether the cell is in one of Tables 3 to 6 and 8."""
    return cell.model == "joint_attention" or bool(variation(cell.scores[0].training))


def star_level(cell: Cell) -> float:
    """Returns the significance level of stars in the cell's table: 0.01 in Tables 3 to 6 and 8, else 0.001."""
    return 1e-2 if has_fewer_seeds(cell) else 1e-3


def fits_of_the_paper(cell: Cell, rule: str) -> tuple[int, ...]:
    """Returns the number of the paper's learners that fit the training set, the denominator of its share for a rule.

    If the paper does not print it (it does in Table 2): the smallest and the largest possible number, since rows with
    fewer than 70% are printed as a dash.
    """
    return fits_behind(printed(cell, rule, "FPA"), FEWER_SEEDS if has_fewer_seeds(cell) else SEEDS)


def fits_behind(number: Printed | None, seeds: int) -> tuple[int, ...]:
    """Returns the possible numbers of fitting learners for a published number and the seeds of its table.

    >>> fits_behind(Printed(0.62, note="only 21% of learners fitted the training example"), 100), fits_behind(None, 20)
    ((21,), (14, 20))
    """
    footnote = FOOTNOTE.search(number.note if number is not None else "")
    return (round(int(footnote[1]) / 100 * seeds),) if footnote else (round(FITTING * seeds), seeds)
