"""Tables of the pages of `reproductions` that are made from members; `generated.py` puts them there."""

import importlib.util
import json
import math
import re
import statistics
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humboldt.published import lookup
from humboldt.report.tables import Record
from humboldt.suites import catalogue, suites
from humboldt.suites.agreement_rules import RULES
from humboldt.suites.cells import Cell, cells_of, sort_results
from humboldt.suites.chomsky.protocol import TASKS as CHOMSKY_TASKS
from humboldt.suites.pcfg_set.protocol import TASKS as PCFG_SET_TASKS
from humboldt.suites.reading import stored

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "reproductions"
SYNTAX_TASKS = ("adj_n_np", "np_n_vp_n", "nested_dependency", "cross_serial_dependency")
CLASSIFIERS = {
    "transformer_encoder": "Encoder",
    "transformer_decoder": "Decoder",
    "bilstm": "BiLSTM",
    "lstm": "LSTM",
}


def script(path: str) -> Any:
    """A script of the repository, as a module."""
    place = ROOT / path
    spec = importlib.util.spec_from_file_location(place.stem, place)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table, or a sentence if it has no rows, with an empty line before and after it."""
    if not rows:
        return "\nThere are no results yet.\n\n"
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n\n"


def title(suite: str, model: str) -> str:
    """Returns what a table calls a model."""
    return catalogue.contender(suites.get(suite), model).title


def cells(suite: str) -> list[Cell]:
    """Returns the cells of a suite on record; those of earlier versions follow."""
    its = suites.get(suite)
    found = sort_results(its, stored(RECORDS, suite))
    groups = *found.cells.values(), *cells_of(its, found.superseded).values()
    return [cell for group in groups for cell in group]


def records(suite: str) -> list[Record]:
    """Returns the flat records of all cells."""
    return [record for cell in cells(suite) for record in suites.get(suite).presentation.records(cell)]


def chomsky_cells() -> str:
    """Returns every training of Table 2 on record; in bold where ours does not agree."""
    rule, rows = RULES["chomsky"], []
    models = list(suites.get("chomsky").contenders)
    for cell in cells("chomsky"):
        beside = {record.statistic: record for record in suites.get("chomsky").presentation.records(cell)}
        if any(cell.place) or "max" not in beside or beside["max"].published is None:
            continue
        best = beside["max"]
        flat = cell.scores[0].training.flat
        values = [100 * value for value, _, _ in cell.finished("score")]
        seconds = sum(result.seconds for result in cell.results)
        agrees = rule.agrees(best.value, str(best.published), None)
        row = [
            *(cell.task, title("chomsky", cell.model), f"{flat['steps']:,}", str(best.members)),
            f"{best.value:.1f}" if agrees else f"**{best.value:.1f}**",
            *(f"{best.published:.1f}", str(sum(value >= 90 for value in values)), f"{seconds:,.0f}"),
        ]
        rows.append(((CHOMSKY_TASKS.index(cell.task), models.index(cell.model), flat["steps"]), row))
    columns = ("task", "model", "steps", "members", "best", "paper", "members >= 90%", "seconds, all members")
    return markdown(columns, [row for _, row in sorted(rows)])


def pcfg_set_cells() -> str:
    """Returns Table 1 on record: mean and deviation, seeds, and the paper's; departures as in headings."""
    rows = []
    for cell in cells("pcfg_set"):
        for measured in suites.get("pcfg_set").presentation.measured(cell):
            if measured.published is None:
                continue
            test = measured.task or cell.task
            values = measured.values
            printed = {"paper_table": "table_1", "model": cell.model, "test": test, "subset": "all"}
            paper = [lookup("pcfg_set", column, **printed) for column in ("mean", "std")]
            changes = [f"{name}={value}" for name, value in cell.heading.changes]
            version = str(cell.scores[0].training.versions["task"])
            rows.append(
                (
                    (PCFG_SET_TASKS.index(suites.get("pcfg_set").trained_task(test)), test),
                    [
                        *(test, title("pcfg_set", cell.model), version, ", ".join(changes) or "–"),
                        f"{statistics.mean(values):.3f} ± {statistics.pstdev(values):.3f}",
                        ", ".join(f"{value:.3f}" for value in values),
                        " ± ".join(map(str, paper)),
                    ],
                )
            )
    columns = ("test", "model", "corpus", "departures", "ours: mean ± deviation", "seeds", "paper")
    return markdown(columns, [row for _, row in sorted(rows)])


def syntax_table_2() -> str:
    """Returns results on strings whose symbols follow Zipf's law."""
    return _syntax_table("zipf")


def syntax_table_3() -> str:
    """Returns results on strings whose symbols are equally frequent."""
    return _syntax_table("uniform")


def _syntax_table(distribution: str) -> str:
    """Returns the best of 30 members of the stated sizes, the paper's in brackets if it has one; in bold where the two
    disagree."""
    rule = RULES["syntax"]
    found: dict[tuple[str, str, str, str], Record] = {}
    for record in records("syntax"):
        place = dict(part.split("=") for part in record.setting.split(", ") if "=" in part)
        is_best_of_30 = record.statistic == "max" and record.members == 30
        if is_best_of_30 and "sizes" not in place and distribution in record.setting:
            found.setdefault((record.task, place["terminals"], record.model, record.measure), record)
    rows, above = [], ("", "")
    for task in SYNTAX_TASKS:
        for terminals in sorted({key[1] for key in found if key[0] == task}, key=int):
            for name, measure in (("in", "in_dist"), ("out", "out_of_dist")):
                own = {model: found.get((task, terminals, model, measure)) for model in CLASSIFIERS}
                entries, shortcuts = [], []
                for model, record in own.items():
                    if record is None:
                        entries.append("–")
                        continue
                    if record.published is None:
                        entries.append(f"{record.value:.2f}")
                    else:
                        text = f"{record.value:.2f} ({record.published:.2f})"
                        agrees = rule.agrees(record.value, str(record.published), None)
                        entries.append(text if agrees else f"**{text}**")
                    shortcuts.append(found[task, terminals, model, f"{measure}_shortcut"].value)
                first = f"`{task}`" if task != above[0] else "", terminals if (task, terminals) != above else ""
                above = task, terminals
                rows.append([*first, name, *entries, f"{max(shortcuts):.2f}"])
    return markdown(("language", "T", "test", *CLASSIFIERS.values(), "shortcut"), rows)


def syntax_printed_columns() -> str:
    """Returns how far the printed columns are from each other."""
    between = script("reproductions/syntax/columns.py").printed_distances()
    order = list(CLASSIFIERS)
    order = [order[1], order[2], order[0], order[3]]  # the Decoder first
    rows = [
        [f"{CLASSIFIERS[a]} and {CLASSIFIERS[b]}", *(f"{gap:.1f}" for gap in gaps)]
        for (a, b), gaps in sorted(between.items(), key=lambda item: sorted(order.index(name) for name in item[0]))
    ]
    return markdown(("printed columns", "in distribution", "out of distribution"), rows)


def syntax_columns() -> str:
    """Returns how far our models are from the printed columns; the nearest in bold."""
    gaps = script("reproductions/syntax/columns.py").our_distances()
    tables = []
    for measure, name in (("out_of_dist", "out of distribution"), ("in_dist", "in distribution")):
        rows = []
        for model, printed in CLASSIFIERS.items():
            own = [round(gaps[measure, model, column], 1) for column in CLASSIFIERS]
            rows.append([f"our {printed}", *(f"**{gap:.1f}**" if gap == min(own) else f"{gap:.1f}" for gap in own)])
        tables.append(markdown((name, *(f"printed {each}" for each in CLASSIFIERS.values())), rows))
    return tables[0] + tables[1].lstrip("\n")


def bias_shares() -> str:
    """Returns the shares of learners that follow a rule, with Fisher's exact test, and how many of these differ."""
    module = script("reproductions/bias/cells.py")
    shares = list(module.shares())
    columns = ("task", "size", "learner", "products", "rule", "fit", "follow it", "FPA", "paper", "p")
    tested = [share for share in shares if share.p]
    rare = [share for share in tested if share.p[max(share.p)] < 0.01]
    if_few = [share for share in tested if share.p[min(share.p)] < 0.01]
    where = dict.fromkeys(f"{title('bias', share.model)} on {share.task}, {share.size}" for share in (*rare, *if_few))
    places = {(share.task, share.size, share.model) for share in shares}
    said = (
        f"In these {len(places)} cells, {len(tested)} shares have a published number. Of them {len(rare)} have a p "
        f"below 0.01 if all of the paper's seeds fit, and {len(if_few)} if 70% do: {'; '.join(where) or 'none'}."
    )
    return markdown(columns, [module.row(share) for share in shares]) + textwrap.fill(said, 140) + "\n\n"


def bias_lengths() -> str:
    """Returns description lengths beside the paper's."""
    columns = ("task", "size", "learner", "seeds", "rule", "L in nats", "L in bits", "paper", "")
    return markdown(columns, script("reproductions/bias/cells.py").lengths())


def bias_units() -> str:
    """Returns how often the intervals of our description lengths hold the printed number, in bits and in nats."""
    found: dict[str, list[tuple[bool, bool]]] = {}
    for task, _, _, _, _, _, bits, paper, _ in script("reproductions/bias/cells.py").lengths():
        if not paper[0].isdigit() or float(paper.strip("*")) < 1:  # a bound, or none, or nearly zero
            continue
        low, high = (float(part) for part in re.findall(r"[\d.]+", bits)[1:])
        printed = float(paper.strip("*"))
        in_nats = low * math.log(2) <= printed <= high * math.log(2)
        found.setdefault(task, []).append((low <= printed <= high, in_nats))
    rows = [
        [task, str(len(held)), str(sum(bits for bits, _ in held)), str(sum(nats for _, nats in held))]
        for task, held in found.items()
    ]
    return markdown(("task", "printed lengths of at least 1", "our interval holds them, in bits", "in nats"), rows)


def bias_appendices() -> str:
    """Returns what is on record of Tables 3 to 6 and 8: agreement and description lengths, the paper's in brackets."""
    module = script("reproductions/bias/cells.py")
    rows = []
    for cell in cells("bias"):
        own = {(r.measure, r.statistic): r for r in suites.get("bias").presentation.records(cell)}
        _, _, *varied = cell.place
        if not module.has_fewer_seeds(cell) or ("fits", "share") not in own:
            continue
        fits, changes = own["fits", "share"], ", ".join(f"{name}={value:g}" for name, value in varied)
        for rule in module.rules_of(cell):
            shown = []
            for measure, statistic in ((f"FPA-{rule}", "share"), (f"L-{rule}", "bits")):
                record = own.get((measure, statistic))
                paper = module.printed(cell, rule, measure[: measure.index("-")])
                beside = "–" if paper is None else str(paper)
                shown.append("–" if record is None else f"{record.value:.2f} ({beside})")
            p = [r.value for (m, s), r in own.items() if m == f"FPA-{rule}" and s.startswith("p_if_")]
            members = int(fits.members)
            fit = f"{round(float(fits.value) * members)} of {members}"
            lowest = f"{min(p):.2g}" if p else ""
            rows.append([cell.task, title("bias", cell.model), changes or "–", fit, rule, *shown, lowest])
    return markdown(("task", "learner", "setting", "fit", "rule", "FPA (paper)", "L in bits (paper)", "p"), rows)


def bias_kept() -> str:
    """Returns description lengths with a new Adam and with one that remembers, of the same learners."""
    module, found = script("reproductions/bias/cells.py"), {}
    for cell in cells("bias"):
        lengths = module.summarise(cell).lengths
        if lengths is not None and not module.has_fewer_seeds(cell):
            moments = dict(cell.heading.changes).get("moments", "fresh")
            found.setdefault((cell.task, cell.place[0], cell.model), {})[moments] = (cell, lengths.everyone)
    rows = []
    for (task, _, model), both in found.items():
        if "kept" not in both:
            continue
        for moments, (cell, lengths) in sorted(both.items()):
            for each in lengths.rules:
                low, high = (bound / math.log(2) for bound in (each.interval.low, each.interval.high))
                interval = f"{each.bits:.2f} ({low:.1f} to {high:.1f})"
                place = task, title("bias", model), moments, str(lengths.seeds), each.rule
                rows.append([*place, f"{each.nats:.2f}", interval, str(module.printed(cell, each.rule, "L"))])
    return markdown(("task", "learner", "Adam", "seeds", "rule", "L in nats", "L in bits", "paper"), rows)


def bias_scan() -> str:
    """Returns accuracies on the add-jump split of SCAN."""
    rows = []
    for cell in cells("bias"):
        own = {
            record.measure: record
            for record in suites.get("bias").presentation.records(cell)
            if record.measure.startswith("accuracy-") and record.published is not None
        }
        if cell.task == "scan_jump" and own:
            width = f", kernel width {cell.place[1]}" if cell.place[1] else ""
            seeds = {record.members for record in own.values()}
            values = [f"{own[f'accuracy-{rule}'].value:.3f}" for rule in ("comp", "mem")]
            paper = [f"{own[f'accuracy-{rule}'].published:.2f}" for rule in ("comp", "mem")]
            row = [title("bias", cell.model) + width, str(*seeds), values[0], paper[0], values[1], paper[1]]
            rows.append(((list(suites.get("bias").contenders).index(cell.model), cell.place[1] or 0), row))
    columns = ("learner", "seeds", "comp", "paper", "mem", "paper")
    return markdown(columns, [row for _, row in sorted(rows)])


def bliss_table_2() -> str:
    """Returns Table 2 with the members behind each number."""
    met = "met by"
    columns = ("language", "model", "ε = 0.005", "paper", met, "per string", "ε = 0", "paper", met)
    return markdown(columns, script("reproductions/bliss/table_2.py").rows())


def mdlrnn_sizes() -> str:
    """Returns the searches for all languages and corpus sizes."""
    module = script("reproductions/bliss/mdlrnn/table_2.py")
    languages = {
        **{"an_bn": "a^n b^n", "an_bn_cn": "a^n b^n c^n", "an_bn_cn_dn": "a^n b^n c^n d^n"},
        **{"an_bm_cn_plus_m": "a^n b^m c^(n+m)", "dyck_1": "Dyck-1", "dyck_2": "Dyck-2"},
    }
    searches = json.loads((RECORDS / "bliss/mdlrnn/table_2.json").read_text(encoding="utf-8"))["searches"]
    columns = (
        *("language", "strings", "b", "met", "verdicts"),
        *("shortest of the three", "its verdict", "shortest proved"),
    )
    return markdown(columns, [[languages[row[0]], *row[1:]] for row in module.page_rows(searches)])


def lines(path: str) -> list[dict[str, Any]]:
    """Returns the objects of a file of JSON lines, below `reproductions`."""
    return [json.loads(line) for line in (RECORDS / path).read_text(encoding="utf-8").splitlines()]


def bliss_orders() -> str:
    """Returns the two orders of strings on a^n b^n, and Fisher's exact test."""
    columns = ("ε", "`shuffled`", "`corpus`", "Fisher's exact test, p")
    return markdown(columns, script("reproductions/bliss/table_2.py").orders())


def bias_fairseq() -> str:
    """Returns how many of fairseq's own Transformers fit their training set, and which rule these follow."""
    runs = lines("bias/fairseq_transformer.jsonl")
    rows = []
    for task in dict.fromkeys(run["task"] for run in runs):
        own = [run for run in runs if run["task"] == task]
        fitting = [run for run in own if run["right"] == run["examples"]]
        rule = "hierar" if "hierar" in own[0] else "mem"
        follow = sum(run[rule] == run["inputs"] for run in fitting)
        right = f"{min(run['right'] for run in own)} to {max(run['right'] for run in own)} of {own[0]['examples']}"
        rows.append([task, str(len(own)), right, str(len(fitting)), f"{rule}: {follow} of {len(fitting)}"])
    return markdown(("task", "seeds", "examples right", "fit", "follow a rule"), rows)


def bias_fairseq_changes() -> str:
    """Returns what decides whether fairseq's own Transformers fit, one change of the training at a time."""
    runs = [run for run in lines("bias/fairseq_transformer.jsonl") if run["task"] == "composition_or_memorization"]
    runs += lines("bias/fairseq_changes.jsonl")
    rows = []
    for changes in dict.fromkeys(tuple(run.get("changes", {}).items()) for run in runs):
        own = [run for run in runs if tuple(run.get("changes", {}).items()) == changes]
        nats = [run["nats"] for run in own if "nats" in run]
        rows.append(
            [
                ", ".join(f"`{name}={value:g}`" for name, value in changes) or "none",
                f"{sum(run['right'] == run['examples'] for run in own)} of {len(own)}",
                f"{min(run['right'] for run in own)} to {max(run['right'] for run in own)}",
                f"{min(nats):.2g} to {max(nats):.2g}" if nats else "–",
            ]
        )
    return markdown(("change", "fit", "examples right, of 76", "nats of all 76"), rows)


def bias_moments() -> str:
    """Returns lengths of fairseq's own LSTM with a new Adam and with one that remembers."""
    runs, rows = lines("bias/fairseq_lengths.jsonl"), []
    for hidden in (128, 512):
        for moments in ("fresh", "kept"):
            own = [run for run in runs if (run["hidden"], run["moments"]) == (hidden, moments)]
            values = [statistics.mean(sum(run[f"bits_{rule}"]) for run in own) for rule in ("comp", "mem")]
            rows.append([moments, str(hidden), str(len(own)), *(f"{value:.2f}" for value in values)])
        place = {"paper_table": "table_4d", "parameter_value": str(hidden), "model": "lstm_s2s_no_att", "metric": "L"}
        printed = [str(lookup("bias", "value", **place, rule=rule)) for rule in ("comp", "mem")]
        rows.append(["paper", str(hidden), "20" if hidden == 128 else "100", *printed])
    return markdown(("optimiser", "hidden size", "seeds", "L-comp in bits", "L-mem in bits"), rows)


def syntax_shortcuts() -> str:
    """Returns how good classifiers are that see no structure."""
    titles = {
        **{"length": "length", "length_parity": "length, odd or even", "bag": "bag of symbols"},
        **{"first_last": "first and last symbol", "bigrams": "bigrams", "category_bag": "bag of categories"},
        **{"category_first_last": "first and last category", "category_bigrams": "bigrams of categories"},
        "category_bag_quadratic": "products of category counts",
    }
    entries = json.loads((RECORDS / "syntax/shortcuts.json").read_text(encoding="utf-8"))
    found = {(entry["task"], entry["terminals"]): entry["accuracy"] for entry in entries}
    rows = [
        [
            *(title if terminals == 2 else "", str(terminals)),
            *("{test:.1f} / {long:.1f}".format(**found[task, terminals][name]) for task in SYNTAX_TASKS),
        ]
        for name, title in titles.items()
        for terminals in (2, 100)
    ]
    return markdown(("classifier", "T", *(f"`{task}`" for task in SYNTAX_TASKS)), rows)


BLOCKS = {
    each.__name__: each
    for each in (
        *(chomsky_cells, pcfg_set_cells, syntax_table_2, syntax_table_3),
        *(syntax_printed_columns, syntax_columns, syntax_shortcuts),
        *(bias_shares, bias_lengths, bias_scan, bias_fairseq, bias_fairseq_changes, bias_moments),
        *(bias_units, bias_appendices, bias_kept),
        *(bliss_table_2, bliss_orders, mdlrnn_sizes),
    )
}
