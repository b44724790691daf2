"""Rules by which results are compared with the published tables: which record belongs to which number, and when the
two agree. They are stated before the comparison, and judge only the tables that they name.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from humboldt.report.tables import Record

Row = Mapping[str, str]  # of a published table


@dataclass(frozen=True, kw_only=True)
class Rule:
    """How the records of a suite are compared with its paper.

    - `value`: the column of the published numbers. `matches`: whether a record is compared with a row.
    - `agrees`: ours, the paper's, and the record of the test where there is one; `None` if the rule does not judge it.
    - `in_words`: the rule for readers. `judged`: the tables that it judges.
    - `repeats`: whether a row repeats a number of another table of the paper, and so is not counted again.
    - `names`: the task, the model, and what of them a row is about, for readers.
    - `missing`: the options of `humboldt run` for a row; `lists`: settings in them that take several values.
    - `prefers`: the sort key by which one of several records for a number is chosen: the highest value, as in the
      papers that print the best, or the fewest departures.
    - `is_of_equal_length`: whether a record is judged first. Longer trainings are reported apart, since to train on
      only where results do not agree yet would inflate agreement.
    - `is_lower`: whether ours is lower than the paper's, where the paper prints the best of its members: the best of
      fewer members says nothing then.
    """

    value: str
    matches: Callable[[Record, Row], bool]
    agrees: Callable[[Any, Any, float | None], bool | None]
    in_words: str
    judged: tuple[str, ...]
    names: Callable[[Row], tuple[str, str, str]]
    missing: Callable[[Row], tuple[str, ...]]
    prefers: Callable[[Record], tuple[float, ...]]
    lists: tuple[str, ...] = ()
    repeats: Callable[[Row], bool] = lambda row: False
    is_of_equal_length: Callable[[Record], bool] = lambda record: True
    is_lower: Callable[[Any, Any], bool] = lambda ours, papers: False


def _size(value: Any) -> float:
    return float(str(value).lstrip("<>")) - 0.5 * str(value).startswith("<")


def _highest(record: Record) -> tuple[float, ...]:
    return (_size(record.value),)


def _is_smaller(ours: Any, papers: Any) -> bool:
    return _size(ours) < _size(papers)


def _fewest_departures(record: Record) -> tuple[float, ...]:
    return -record.setting.count("="), record.members if isinstance(record.members, int) else 0


#: Most training steps of the results by which numbers of `chomsky` are judged: a hundredth of the paper's.
EQUAL_STEPS = 10_000


def _steps(record: Record) -> int | None:
    """Returns the steps of a record; `None` if they are the paper's, or a number that the paper tries in a table."""
    match = re.search(r"\bsteps=([\d,]*\d)", record.setting)
    return int(match[1].replace(",", "")) if match else None


def _is_of_equal_steps(record: Record) -> bool:
    return (_steps(record) or EQUAL_STEPS + 1) <= EQUAL_STEPS


def _nearest_to_equal_steps(record: Record) -> tuple[float, ...]:
    steps = _steps(record)
    return (steps == EQUAL_STEPS, *_highest(record))


STATISTICS = {"max": "max", "mean_over_seeds": "mean", "std_over_seeds": "std"}


def _chomsky(record: Record, row: Row) -> bool:
    scale = re.search(r"(\d+) layers (\d+) steps", record.setting)
    is_autoregressive = "autoregressive" in record.setting
    return (
        (record.task, record.model) == (row["task"], row["architecture"])
        and STATISTICS.get(record.statistic) == row["statistic"]
        and is_autoregressive == (row["setting"] == "autoregressive")
        and (scale.groups() if scale else ("", "")) == (row["layers"], row["training_steps"])
    )


def _chomsky_agrees(ours: float, papers: str, p: float | None) -> bool:
    del p
    return abs(ours - float(papers)) <= 3 and (ours >= 90) == (float(papers) >= 90)


def _chomsky_names(row: Row) -> tuple[str, str, str]:
    form = "autoregressive" if row["setting"] == "autoregressive" else ""
    scale = f"{row['layers']} layers, {row['training_steps']} steps" if row["layers"] else ""
    return row["task"], row["architecture"], ", ".join(filter(None, [form, scale, row["statistic"]]))


def _chomsky_missing(row: Row) -> tuple[str, ...]:
    options = [row["task"], f"--model {row['architecture']}"]
    if row["setting"] == "autoregressive" and row["architecture"] != "transformer":
        options.append("--set autoregressive=true")
    if row["layers"]:
        options.append("--preset table_b6")
    return tuple(options)


def _bliss(record: Record, row: Row) -> bool:
    return (
        (record.task, record.model) == (row["language"], row["model"])
        and record.measure == "b_index"
        and record.setting.endswith(f" epsilon={row['epsilon']}")
        and (record.setting.startswith("paper epsilon=") or "keep_proved=true" in record.setting)
        and record.value in ("<1", "1", "2", "4", "10")  # and not of a part of the corpus sizes, such as <10
    )


def _bliss_names(row: Row) -> tuple[str, str, str]:
    return row["language"], row["model"], f"B-index, epsilon={row['epsilon']}"


#: Measures that have another name in the published table, or belong to a part of the items.
PRINTED_PARTS = {
    "overgeneralisation": ("sequence_accuracy", "all"),
    "consistency_of_incorrect": ("consistency", "incorrect"),
    "synonym_distance": ("cosine_distance", "average"),
    "other_distance": ("cosine_distance_to_other_functions", "average"),
}


def _pcfg_set(record: Record, row: Row) -> bool:
    where = dict(re.findall(r"(pair|function)=([^,]+)", record.setting))
    metric, subset = PRINTED_PARTS.get(record.measure, (record.measure, "all"))
    subset = next(iter(where.values()), subset).replace(" ", "_")
    # Table 4 prints distances to other functions once, whichever of the two tests a model is trained for.
    test = record.task.partition("_")[0] if record.measure == "other_distance" else record.task
    return (
        (test, record.model, metric, subset) == (row["test"], row["model"], row["metric"], row["subset"])
        and record.statistic == "mean"
        and record.published is not None
        and float(row["mean"]) == record.published
    )


def _pcfg_set_names(row: Row) -> tuple[str, str, str]:
    subset = "" if row["subset"] == "all" else f", {row['subset']}"
    return row["test"], row["model"], f"{row['metric']}{subset}"


def _pcfg_set_missing(row: Row) -> tuple[str, ...]:
    # Distances to other functions, which Table 4 prints once, are measured with both tests.
    test = "substitutivity_primitive" if row["test"] == "substitutivity" else row["test"]
    rate = ["--set rates=0.001"] if test == "overgeneralisation" else []
    return test, f"--model {row['model']}", *rate


BIAS_TABLES = ("table_1a", "table_1b", "table_1c", "table_1d", "table_2")
VARIED = {"num_layers": "table_3", "hidden_size": "table_4", "embedding_size": "table_5", "dropout": "table_6"}


USUAL = (("num_layers", 1.0), ("hidden_size", 512.0), ("embedding_size", 16.0), ("dropout", 0.5))


def _bias(record: Record, row: Row) -> bool:
    metric, _, rule = record.measure.partition("-")
    task = "scan_jump" if row["task"] == "scan" else row["task"]
    wanted = {"FPA": "share", "L": "bits", "accuracy": "mean"}.get(row["metric"])
    if (record.task, record.model, rule) != (task, row["model"], row["rule"]) or record.statistic != wanted:
        return False
    if metric != row["metric"] or any(word in record.setting for word in ("vocabulary", "kept", "optimiser")):
        return False
    changes = dict(re.findall(r"(\w+)=([\w.]+)", record.setting))
    varied = [name for name in VARIED if name in changes]
    table = row["paper_table"]
    size = next((changes[name] for name in ("l", "M", "d") if name in changes), "")
    of_table = _varied_in(table)
    if of_table is not None:
        value = float(row["parameter_value"] or "nan")
        return varied == [of_table] and record.published is not None and float(changes[of_table]) == value
    if varied:
        return False
    if table == "table_7":
        return changes.get("kernel_width", "") == row["parameter_value"]
    return table in (*BIAS_TABLES, "table_8") and size in row["parameter_value"].split("|")


def _varied_in(table: str) -> str | None:
    """Returns the setting that one of Tables 3 to 6 varies."""
    return next((name for name, of in VARIED.items() if table.startswith(of)), None)


def _bias_repeats(row: Row) -> bool:
    """Returns whether a row of Tables 3 to 6 has the usual value, and so repeats a row of Table 1."""
    name = _varied_in(row["paper_table"])
    return name is not None and (name, float(row["parameter_value"])) in USUAL


def _bias_agrees(ours: float, papers: str, p: float | None) -> bool | None:
    del ours, papers
    return None if p is None else p > 0.01


def _bias_names(row: Row) -> tuple[str, str, str]:
    size = f"{row['parameter']}={row['parameter_value']}, " if row["parameter_value"] else ""
    return row["task"], row["model"], f"{size}{row['metric']}-{row['rule']}"


def _bias_missing(row: Row) -> tuple[str, ...]:
    table, value = row["paper_table"], row["parameter_value"]
    task = "scan_jump" if row["task"] == "scan" else row["task"]
    options = [task, f"--model {row['model']}"]
    varied = _varied_in(table)
    if varied is not None:
        options += [f"--preset {table[:7]}", f"--set {varied}={float(value):g}"]
    elif table == "table_7" and value:
        options.append(f"--set kernel_width={value}")
    elif table in BIAS_TABLES and "|" not in value and row["parameter"] != "d":
        options.append(f"--set {row['parameter']}={value}")
    return tuple(options)


def _syntax(record: Record, row: Row) -> bool:
    place = f"terminals={row['terminals']}, {row['distribution']}"
    measure = {"in-dist": "in_dist", "out-of-dist": "out_of_dist"}.get(row["split"])
    return (
        (record.task, record.model, record.measure) == (row["language"], row["architecture"], measure)
        and record.statistic == "max"
        and record.setting.endswith(place)
        and record.members == 30  # as in the paper, of networks of the size that the paper states
        and "sizes" not in record.setting
    )


def _syntax_names(row: Row) -> tuple[str, str, str]:
    return row["language"], row["architecture"], f"T={row['terminals']}, {row['distribution']}, {row['split']}"


def _syntax_missing(row: Row) -> tuple[str, ...]:
    drawn = f"--set distribution={row['distribution']}"
    return row["language"], f"--model {row['architecture']}", drawn, f"--set terminals={row['terminals']}"


RULES: Mapping[str, Rule] = {
    "chomsky": Rule(
        value="value",
        matches=_chomsky,
        agrees=_chomsky_agrees,
        in_words="within 3 points, and both solved (>= 90) or both not, after at most 10,000 steps",
        judged=("table_2", "table_b2", "table_b4"),
        missing=_chomsky_missing,
        names=_chomsky_names,
        repeats=lambda row: row["paper_table"] in ("table_b2", "table_b3") and row["architecture"] == "stack_rnn",
        prefers=_nearest_to_equal_steps,
        is_of_equal_length=_is_of_equal_steps,
        is_lower=_is_smaller,
    ),
    "bliss": Rule(
        value="b_index",
        matches=_bliss,
        agrees=lambda ours, papers, p: ours == papers,
        in_words="the same B-index",
        judged=("table_2",),
        names=_bliss_names,
        missing=lambda row: (row["language"], f"--model {row['model']}"),
        prefers=_highest,
        is_lower=_is_smaller,
    ),
    "pcfg_set": Rule(
        value="mean",
        matches=_pcfg_set,
        agrees=lambda ours, papers, p: abs(ours - float(papers)) <= 0.03,
        in_words="within 0.03",
        judged=("table_1", "table_2"),
        names=_pcfg_set_names,
        missing=_pcfg_set_missing,
        prefers=_fewest_departures,
    ),
    "bias": Rule(
        value="value",
        matches=_bias,
        agrees=_bias_agrees,
        in_words="p > 0.01 (Fisher's exact test), for agreement with a rule",
        judged=(*BIAS_TABLES, *(f"{table}{part}" for table in VARIED.values() for part in "abcd"), "table_8"),
        names=_bias_names,
        missing=_bias_missing,
        repeats=_bias_repeats,
        prefers=_fewest_departures,
    ),
    "syntax": Rule(
        value="accuracy",
        matches=_syntax,
        agrees=lambda ours, papers, p: abs(ours - float(papers)) <= 15,
        in_words="within 15 points",
        judged=("table_2", "table_3"),
        names=_syntax_names,
        missing=_syntax_missing,
        lists=("terminals",),
        prefers=_highest,
        is_lower=_is_smaller,
    ),
}
