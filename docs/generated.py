"""Rewrites the parts of the pages that are made from records: `python docs/generated.py`.

Such a part stands between two remarks, `<!-- generated: NAME -->` and `<!-- end -->`; `BLOCKS` has a function for each
name. `tests/test_generated.py` fails where a page is not what this script would write.
"""

import json
import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import humboldt
from humboldt.languages import tasks
from humboldt.models import models
from humboldt.published import lookup, rows
from humboldt.report.tables import as_text
from humboldt.suites import suites
from humboldt.suites.chomsky import floors
from humboldt.suites.chomsky.protocol import TASKS
from humboldt.suites.reading import stored, tables

ROOT = Path(__file__).parents[1]
PATTERN = re.compile(r"(<!-- generated: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


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
    lines = ["| suite | the paper's | numbers | measured | judged | agree | cost | what counts as agreement |"]
    lines.append("| --- " * 8 + "|")
    found = humboldt.reproduced(ROOT / "reproductions")
    for suite in dict.fromkeys(one.suite for one in found):
        own = [one for one in found if one.suite == suite]
        for one in own:
            if one.measured:
                old = f" ({one.superseded} of an earlier version)" if one.superseded else ""
                judged = (str(one.judged), str(one.agree)) if one.judged else ("–", "–")
                cost = "–" if one.cost is None else f"{100 * one.cost:.3g}%"
                cells = (
                    f"`{suite}`",
                    _title(one.table),
                    str(one.numbers),
                    f"{one.measured}{old}",
                    *judged,
                    cost,
                    one.rule,
                )
                lines.append(f"| {' | '.join(cells)} |")
        rest = [one for one in own if not one.measured]
        if rest:
            names = ", ".join(_title(one.table).removeprefix("Table ") for one in rest)
            noun = "Tables" if len(rest) > 1 else "Table"
            lines.append(f"| `{suite}` | {noun} {names} | {sum(one.numbers for one in rest)} | 0 | | | | |")
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


STATEMENTS = """
**Neural networks and the Chomsky hierarchy: where it was tried, mostly yes.** {chomsky_measured} are measured, {cells}
of Table 2 among them, with {cost} of the paper's training. {chomsky_agree} of these cells agree: RNN, LSTM and
Stack-RNN solve the regular tasks, and of the three only the Stack-RNN reverses strings. The one that does not agree,
the LSTM on Bucket Sort, had at most 4% of the paper's steps and was still learning. Nothing is measured of the
Tape-RNN, of the Transformer, and of most tasks that are not regular.

**BLISS: in part.** {bliss_measured} are measured; {bliss_agree} B-indices are the same. No LSTM meets the strict
criterion, as in the paper. A B-index is that of the best member, often of a single one, so it
differs easily from run to run. Our searches by description length find right networks where the paper's found none:
these numbers disagree because ours are higher.

**Compositionality decomposed: not known yet.** {pcfg_set_measured} are measured, all on a corpus that has since been
corrected. {pcfg_set_agree} numbers of Table 1 agree, one of them (LSTMS2S on localism) with the setting of the authors'
script. With the paper's learning rate LSTMS2S has 0.91 on the base task, where the paper has 0.79. The recorded ConvS2S
is not the authors' network. Productivity, substitutivity and overgeneralisation are not measured.

**What they do when in doubt: which rule, mostly yes; how many learn, no.** {bias_measured} are measured. Of the shares
of learners that follow a rule in Tables 1 and 2, {bias_agree} agree (p > 0.01, which is weak where few learners fit),
and two of ten more, which are on record only as printed, do not. Of our Transformers 9 of 100 fit
composition_or_memorization, of the paper's at least 70%, and the CNN composes less on SCAN; neither is explained.
Description lengths are measured in seven cells, in an unclear unit; Tables 3 to 6 and 8 are not measured.

**Targeted syntactic evaluations with pseudo-languages: two of four columns.** {syntax_measured} are measured, on
strings of our own. {syntax_agree} are within 15 points, a wide margin: the best of 30 members varies. Those that are
not are all of the LSTM and the Decoder, whose printed columns may be exchanged. The printed Table 3 repeats Table 2, so
there is nothing to compare for terminals that are drawn uniformly.
"""


def statements() -> str:
    """Returns a paragraph for each paper: whether it reproduces, no stronger than the records show."""
    found = {(one.suite, one.table): one for one in humboldt.reproduced(ROOT / "reproductions")}

    def agree(suite: str, *tables: str) -> str:
        own = [found[suite, table] for table in tables]
        return f"{sum(one.agree for one in own)} of {sum(one.judged for one in own)}"

    def measured(suite: str) -> str:
        own = [one for (name, _), one in found.items() if name == suite]
        return f"{sum(one.measured for one in own):,} of its {sum(one.numbers for one in own):,} numbers"

    main = ("table_1a", "table_1b", "table_1c", "table_1d", "table_2")
    table_2 = found["chomsky", "table_2"]
    numbers = {
        **{f"{name}_measured": measured(name) for name in dict.fromkeys(suite for suite, _ in found)},
        **{f"{name}_agree": agree(name, "table_2") for name in ("chomsky", "bliss", "syntax")},
        "pcfg_set_agree": agree("pcfg_set", "table_1"),
        "bias_agree": agree("bias", *main),
        "cells": f"{table_2.measured} of the {table_2.numbers} cells",
        "cost": f"{100 * (table_2.cost or 0):.0f}%",
    }
    paragraphs = STATEMENTS.format(**numbers).strip().split("\n\n")
    return "\n" + "\n\n".join(textwrap.fill(text, 140, break_long_words=False) for text in paragraphs) + "\n\n"


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
    "chomsky_floors": chomsky_floors,
    "bliss_prior_work": bliss_prior_work,
    "pcfg_set_table_3": pcfg_set_table_3,
    "reproduced": reproduced,
    "reproduced_suites": reproduced_suites,
    "speed": speed,
    "own_recipes": own_recipes,
    "statements": statements,
}


def pages() -> list[Path]:
    """Returns the pages that have generated parts."""
    everywhere = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("reproductions/**/*.md")]
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
