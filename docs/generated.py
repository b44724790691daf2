"""Rewrites the parts of the pages that are made from records: `python docs/generated.py`.

Such a part stands between two remarks, `<!-- generated: NAME -->` and `<!-- end -->`; `BLOCKS` has a function for each
name. `tests/test_generated.py` fails where a page is not what this script would write.
"""

import importlib.util
import json
import re
import statistics
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import humboldt
from humboldt.languages import tasks
from humboldt.models import models
from humboldt.published import lookup, rows
from humboldt.report.tables import as_text
from humboldt.suites import benched, suites
from humboldt.suites.agreement_rules import RULES
from humboldt.suites.answers import Progress, TaskAnswer
from humboldt.suites.bench import QUICK
from humboldt.suites.chomsky import floors
from humboldt.suites.chomsky.protocol import TASKS
from humboldt.suites.profile import headline
from humboldt.suites.published_numbers import NOT_EXPLAINED
from humboldt.suites.reading import stored, tables
from humboldt.suites.reproduced import by_cause
from humboldt.suites.reproduced import disagreements as found_disagreements

ROOT = Path(__file__).parents[1]
PATTERN = re.compile(r"(<!-- generated: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def script(path: str) -> Any:
    """Returns a script of the repository as a module."""
    place = ROOT / path
    spec = importlib.util.spec_from_file_location(place.stem, place)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def quick(suite: str) -> str:
    """Returns the first table of the preset `quick`, from its record."""
    first = tables(suites.get(suite), stored(ROOT / "reproductions/quick", suite))[:1]
    return f"```\n{as_text(first).strip()}\n```\n"


def chomsky_floors() -> str:
    """Returns the floors that are above chance by more than a point, beside the paper's best scores."""
    models = {"rnn": "RNN", "stack_rnn": "Stack-RNN", "tape_rnn": "Tape-RNN"}
    models |= {"transformer_encoder": "Transformer", "lstm": "LSTM"}
    lines = [f"| task | chance | floor | {' | '.join(f'{title}, paper' for title in models.values())} |"]
    lines.append("| --- " * (3 + len(models)) + "|")
    for task in TASKS:
        chance, floor = tasks.get(f"chomsky/{task}").chance, floors.measured()[task, 1].score
        if floor > chance + 0.01:
            printed = [
                lookup("chomsky", "value", paper_table="table_2", task=task, architecture=model) for model in models
            ]
            lines.append(f"| {task} | {100 * chance:.0f} | {100 * floor:.1f} | {' | '.join(map(str, printed))} |")
    return "\n" + "\n".join(lines) + "\n\n"


def pcfg_set_table_3() -> str:
    """Returns Table 3 of Hupkes et al., our numbers before the paper's in brackets."""
    entries = json.loads((ROOT / "reproductions/pcfg_set/table_3.json").read_text(encoding="utf-8"))
    places = [(row["property"], row["statistic"]) for row in entries if (row["dataset"], row["split"]) == SET]
    titles = {"n_functions": "functions"}
    lines = [f"| ours (paper) | {' | '.join(f'{titles.get(name, name)}, {what}' for name, what in places)} |"]
    lines.append("| --- " * (1 + len(places)) + "|")
    for dataset, split in dict.fromkeys((row["dataset"], row["split"]) for row in entries):
        own = [row for row in entries if (row["dataset"], row["split"]) == (dataset, split)]
        form = {"avg": ".1f"}
        cells = [
            f"{row['value']:{form.get(row['statistic'], 'g')}} ({row['published']:{form.get(row['statistic'], 'g')}})"
            for row in own
        ]
        lines.append(f"| {dataset}, {split} | {' | '.join(cells)} |")
    return "\n" + "\n".join(lines) + "\n\n"


def bench_tasks() -> str:
    """Returns how far apart the references of the quick bench are, task by task."""
    by_task: dict[tuple[str, str], list[tuple[float, str, TaskAnswer]]] = {}
    for answers in benched.answers_of(benched.reference_scores(), QUICK):
        for task in answers.tasks:
            if not answers.has_preferences:
                mean = sum(task.scaled) / len(task.scaled)
                place = by_task.setdefault((answers.suite, task.task), [])
                place.append((mean, benched.model_title(answers.model), task))
    lines = ["| suite | task | families | lowest | median | highest | which | extended by |", "| --- " * 8 + "|"]
    for (suite, task), known in by_task.items():
        means = sorted(mean for mean, _, _ in known)
        highest = max(means)
        which = ", ".join(sorted(title for mean, title, _ in known if f"{mean:.2f}" == f"{highest:.2f}"))
        which = which if highest >= 0.005 else "–"
        extended = sum(answer.progress is Progress.EXTENDED for _, _, answer in known)
        numbers = f"{means[0]:.2f} | {statistics.median(means):.2f} | {highest:.2f}"
        lines.append(f"| `{suite}` | {task} | {len(known)} | {numbers} | {which} | {extended} |")
    return "\n" + "\n".join(lines) + "\n\n"


def bench_references() -> str:
    """Returns the answers of all references of the quick bench: the mean score from floor to perfect with its interval,
    and how many tasks are solved."""
    names = benched.benched_suites()
    rows_: dict[str, dict[str, str]] = {}
    for answers in benched.answers_of(benched.reference_scores(), QUICK):
        if not answers.has_preferences:
            number, _, _ = headline(answers).partition(";")
            solved = sum(count for count, _ in answers.solved.values())
            text = f"{number}, {solved} of {sum(total for _, total in answers.solved.values())}"
            rows_.setdefault(benched.model_title(answers.model), {})[answers.suite] = text
    columns = [name for name in names if any(name in row for row in rows_.values())]
    lines = [f"| family | {' | '.join(f'`{name}`' for name in columns)} |", "| --- " * (1 + len(columns)) + "|"]
    lines += [
        f"| {title} | {' | '.join(row.get(name, '–') for name in columns)} |"
        for title, row in sorted(rows_.items(), key=lambda item: item[0].lower())
    ]
    return "\n" + "\n".join(lines) + "\n\n"


def bliss_prior_work() -> str:
    """Returns Table 1 of Lan et al., with the factor between the longest n of the test and of training."""
    lines = [
        "| language | paper | network | measure | training strings | longest n in training | in the test | factor |"
    ]
    lines.append("| --- " * 8 + "|")
    metrics = {"m_det": "M_det", "m_cat": "M_cat", "m_cat_prime": "M_cat'", "bin": "accept or reject"}
    for row in rows("bliss_prior_work"):
        guessed = " (from the longest n)" if row["training_size_inferred"] == "true" else ""
        longest = row["max_test_n"].replace("inf", "∞")
        factor = "∞" if longest == "∞" else f"{int(longest) / int(row['max_train_n']):.3g}"
        cells = (
            row["language"],
            row["paper"],
            row["model"],
            metrics[row["metric"]],
            f"{int(row['training_size']):,}{guessed}",
            row["max_train_n"],
            longest,
            factor,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n" + "\n".join(lines) + "\n\n"


def reproduced() -> str:
    """Returns one row for each published table of which something was measured, and one for all others of a paper."""
    columns = ("numbers", "measured", "judged", "agree", "trained longer", "cost")
    lines = [f"| suite | the paper's | {' | '.join(columns)} |", "| --- " * 8 + "|"]
    found = humboldt.reproduced(ROOT / "reproductions")
    for suite in dict.fromkeys(one.suite for one in found):
        own = [one for one in found if one.suite == suite]
        for one in own:
            if one.measured:
                old = f" ({one.superseded} of an earlier version)" if one.superseded else ""
                left_out = f" ({one.not_comparable} more not comparable)" if one.not_comparable else ""
                judged = (f"{one.judged}{left_out}", str(one.agree)) if one.judged else (f"–{left_out}", "–")
                longer = f"{one.extended_agree} of {one.extended} agree" if one.extended else ""
                cost = "–" if one.cost is None else f"{100 * one.cost:.3g}%"
                cells = (
                    f"`{suite}`",
                    _title(one.table),
                    str(one.numbers),
                    f"{one.measured}{old}",
                    *judged,
                    longer,
                    cost,
                )
                lines.append(f"| {' | '.join(cells)} |")
        rest = [one for one in own if not one.measured]
        if rest:
            names = ", ".join(_title(one.table).removeprefix("Table ") for one in rest)
            noun = "Tables" if len(rest) > 1 else "Table"
            lines.append(f"| `{suite}` | {noun} {names} | {sum(one.numbers for one in rest)} | 0 | | | | |")
    rules = dict.fromkeys((one.suite, one.rule) for one in found if one.rule)
    lines += ["", "What counts as agreement:", "", *(f"- `{suite}`: {rule}" for suite, rule in rules)]
    total = sum(one.measured for one in found), sum(one.numbers for one in found)
    lines += ["", f"{total[0]:,} of {total[1]:,} published numbers are measured."]
    return "\n" + "\n".join(lines) + "\n\n"


def reproduced_suites() -> str:
    """Returns one row for each paper: how many of its numbers are measured, judged, and agree."""
    found = humboldt.reproduced(ROOT / "reproductions")
    lines = ["| suite | published numbers | measured | judged | agree |", "| --- | --- | --- | --- | --- |"]
    for suite in dict.fromkeys(one.suite for one in found):
        own = [one for one in found if one.suite == suite]
        counts = [sum(getattr(one, name) for one in own) for name in ("numbers", "measured", "judged", "agree")]
        lines.append(f"| `{suite}` | {' | '.join(f'{count:,}' for count in counts)} |")
    return "\n" + "\n".join(lines) + "\n\n"


def speed() -> str:
    """Returns sentences on the speed of training and scoring beside the released code, from the records."""
    records = ROOT / "benchmarks/records"
    models = {"rnn": "RNN", "lstm": "LSTM", "stack_rnn": "Stack-RNN", "tape_rnn": "Tape-RNN"}
    ratios = {
        title: json.loads((records / f"training_speed-{model}-cpu.json").read_text())["ratio_of_processor_time"]
        for model, title in models.items()
    }
    shown = ", ".join(f"{ratio} ({title})" for title, ratio in ratios.items())
    scoring = json.loads((records / "evaluation_speed-rnn-cpu.json").read_text())["ratio_of_processor_time"]
    text = (
        f"On 2 cores, training does {shown} times as many steps per processor second as the released code of the "
        f"Chomsky paper, which takes {scoring} times as long as ours to score an RNN. All seeds and learning rates of "
        "an experiment train as one program."
    )
    return "\n" + textwrap.fill(text, 140, break_long_words=False) + "\n\n"


def disagreements() -> str:
    """Returns the numbers that do not agree, by likely cause."""
    found = by_cause(found_disagreements(ROOT / "reproductions"))
    lines = ["| suite | table | ours (paper) | likely cause |", "| --- | --- | --- | --- |"]
    for (suite, table, cause), names in found.items():
        lines.append(f"| `{suite}` | {_title(table)} | {'; '.join(names)} | {cause} |")
    count = sum(map(len, found.values()))
    unknown = sum(len(names) for (_, _, cause), names in found.items() if cause.startswith(NOT_EXPLAINED))
    lines += ["", f"{count} numbers do not agree; {unknown} of these are not explained."]
    return "\n" + "\n".join(lines) + "\n\n"


def counted() -> str:
    """Returns how the published numbers are counted, paper by paper."""
    lines = ["| suite | printed | repeated | counted |", "| --- | --- | --- | --- |"]
    totals = [0, 0]
    for suite, rule in RULES.items():
        printed = [row for row in rows(suite) if row[rule.value] not in ("", "-", "–")]
        repeated = sum(map(rule.repeats, printed))
        totals = [totals[0] + len(printed), totals[1] + repeated]
        lines.append(f"| `{suite}` | {len(printed):,} | {repeated:,} | {len(printed) - repeated:,} |")
    lines.append(f"| all | {totals[0]:,} | {totals[1]:,} | {totals[0] - totals[1]:,} |")
    return "\n" + "\n".join(lines) + "\n\n"


def _title(table: str) -> str:
    """Returns the paper's name of a table: `table_b1` is Table B.1."""
    number = table.removeprefix("table_")
    return f"Table {number[0].upper()}.{number[1:]}" if number[0].isalpha() else f"Table {number}"


SET = ("pcfg_set", "test")


def own_recipes() -> str:
    """Returns each family under the recipe of the bench and under its own paper's, from the record; nothing as long as
    there is none."""
    path = ROOT / "benchmarks/records/own_recipes.json"
    if not path.exists():
        return ""
    record = json.loads(path.read_text(encoding="utf-8"))
    lines = ["| family | task | this recipe | its own paper's | difference |", "| --- | --- | --- | --- | --- |"]
    for row in record["rows"]:
        if row["bench"] is None:  # no reference of this family ships
            continue
        apart = row["bench"] - row["paper"]
        marked = f"**{apart:+.1f}**" if row["is_loss"] else f"{apart:+.1f}"
        title = models.get(f"family/{row['family']}").title
        lines.append(f"| {title} | `{row['task']}` | {row['bench']:.1f} | {row['paper']:.1f} | {marked} |")
    paper, counts = record["paper"], sorted({row["paper_members"] for row in record["rows"]})
    rates = ", ".join(f"{rate:g}" for rate in paper["learning_rates"])
    about = (
        f"Mean scores of `chomsky` in percent, of {' to '.join(map(str, counts))} seeds, at the sizes, batches and "
        f"steps of `{record['preset']}`. The paper's recipe (Delétang et al. 2023): {paper['optimiser']}, no warm-up, "
        f"rates {rates}, one of which is chosen as above. A loss of more than ten points is bold "
        "([record](../benchmarks/records/own_recipes.json), `python benchmarks/own_recipes.py --out results`)."
    )
    return "\n" + "\n".join(lines) + "\n\n" + textwrap.fill(about, 150, break_on_hyphens=False) + "\n\n"


BLOCKS: dict[str, Callable[[], str]] = {
    "quick_chomsky": lambda: quick("chomsky"),
    "quick_syntax": lambda: quick("syntax"),
    "bench_references": bench_references,
    "bench_tasks": bench_tasks,
    "chomsky_floors": chomsky_floors,
    "bliss_prior_work": bliss_prior_work,
    "pcfg_set_table_3": pcfg_set_table_3,
    "reproduced": reproduced,
    "reproduced_suites": reproduced_suites,
    "speed": speed,
    "own_recipes": own_recipes,
    "disagreements": disagreements,
    "counted": counted,
    "statements": lambda: script("docs/statements.py").statements(),
    **script("docs/benchmark_tables.py").BLOCKS,
    **script("docs/record_tables.py").BLOCKS,
    **script("docs/family_tables.py").BLOCKS,
}


def pages() -> list[Path]:
    """Returns the pages that have generated parts."""
    everywhere = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "benchmarks/README.md"]
    everywhere += ROOT.glob("reproductions/**/*.md")
    return sorted(path for path in everywhere if PATTERN.search(path.read_text(encoding="utf-8")))


def rewritten(text: str) -> str:
    """Returns a page with all its generated parts made again."""
    return PATTERN.sub(lambda part: part[1] + BLOCKS[part[2]]() + part[4], text)


def main() -> None:
    """Writes the pages that have changed, and names them."""
    for path in pages():
        before = path.read_text(encoding="utf-8")
        if (after := rewritten(before)) != before:
            path.write_text(after, encoding="utf-8")
            print(f"{path.relative_to(ROOT)} is rewritten")


if __name__ == "__main__":
    main()
