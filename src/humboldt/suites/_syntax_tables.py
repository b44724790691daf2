"""How the results of the syntax suite are shown: records, and the paper's Table 2 with ours beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

from humboldt import published
from humboldt.measures import accuracy
from humboldt.report.words import counted
from humboldt.store import Result, Run, State
from humboldt.suites._base import Record, Table

CAPTURED = 90.0  # percent, and more than that; the paper's section 3
SPLIT_TITLES = {"in_dist": "in-dist", "out_of_dist": "out-of-dist"}  # measure -> what the paper calls the split
MODEL_TITLES = {
    "transformer_encoder": "Encoder",
    "transformer_decoder": "Decoder",
    "bilstm": "BiLSTM",
    "lstm": "LSTM",
}
PRINTED_COUNTS = {
    "transformer_encoder": "1.32M",
    "transformer_decoder": "1.32M",
    "bilstm": "791k",
    "lstm": "1.05M",
}  # section 2.3

Pair = tuple[Run, list[Result]]


def records(run: Run, results: Sequence[Result]) -> list[Record]:
    """The flat records of one run.

    `max` is the paper's score; `selected` is the accuracy of the member that is best on the validation split, which
    unlike `max` owes nothing to the choice among members. The measures that end in `_shortcut` are the best accuracy
    that a classifier without structure reaches on the same strings.
    """
    found = []
    finished = [result for result in results if result.state is State.FINISHED]
    for measure in SPLIT_TITLES if finished else ():
        summary = accuracy.summarise([100 * result.measures[measure] for result in finished])
        selected = max(finished, key=lambda result: result.measures["validation"])
        values = {"max": summary.max, "mean": summary.mean, "std": summary.std}
        values["selected"] = 100 * selected.measures[measure]
        for statistic, value in values.items():
            printed = published_accuracy(run, measure) if statistic == "max" else None
            found.append(_record(run, measure, statistic, value, summary.members, printed))
        _, value = best_shortcut(finished[0], measure)
        found.append(_record(run, f"{measure}_shortcut", "max", value, summary.members, None))
    return found


def tables(runs: Sequence[Pair], departures: Mapping[str, Sequence[str]]) -> list[Table]:
    """For each setting: the best member beside the paper's, then the mean over members. `departures` by run key."""
    settings = dict.fromkeys(_setting(run) for run, _ in runs)
    found = []
    for setting in settings:
        own = [pair for pair in runs if _setting(pair[0]) == setting]
        notes = _notes(own, departures)
        found.append(_table(f"syntax, {setting}", own, _best, with_paper=True, notes=notes))
        if any(len(results) > 1 for _, results in own):
            found.append(_table(f"syntax, {setting}: mean ± deviation over members", own, _mean, with_paper=False))
    return found


def best_shortcut(result: Result, measure: str) -> tuple[str, float]:
    """The classifier without structure that is best on these strings, and its accuracy in percent."""
    audit: Mapping[str, float] = result.detail["shortcuts"][measure]
    classifier = max(audit, key=lambda name: audit[name])
    return classifier, 100 * audit[classifier]


def published_accuracy(run: Run, measure: str) -> float | None:
    """What Table 2 has. Table 3, for the uniform distribution, repeats Table 2 and is no measurement."""
    printed = published.lookup(
        "syntax",
        "accuracy",
        paper_table="table_2",
        language=run.task,
        terminals=str(run.setting["terminals"]),
        distribution=run.setting["distribution"],
        architecture=run.model,
        split=SPLIT_TITLES[measure],
    )
    return None if printed is None else float(printed)


def _record(run: Run, measure: str, statistic: str, value: float, members: int, printed: float | None) -> Record:
    return Record("syntax", run.task, run.model, run.label, measure, statistic, value, members, printed)


def _setting(run: Run) -> str:
    """The label without what the rows of a table tell."""
    return run.label.rpartition(", terminals=")[0]


def _scores(results: Sequence[Result], measure: str) -> list[float]:
    return [100 * result.measures[measure] for result in results if result.state is State.FINISHED]


def _best(scores: Sequence[float]) -> str:
    return f"{max(scores):.2f}{'*' if max(scores) > CAPTURED else ' '}"


def _mean(scores: Sequence[float]) -> str:
    summary = accuracy.summarise(scores)
    return f"{summary.mean:.2f}" + (f" ± {summary.std:.2f}" if summary.members > 1 else "")


def _table(title: str, runs: Sequence[Pair], cell: Any, *, with_paper: bool, notes: Sequence[str] = ()) -> Table:
    names = [name for name in MODEL_TITLES if any(run.model == name for run, _ in runs)]
    titles = [[MODEL_TITLES[name], *(["paper"] if with_paper else [])] for name in names]
    columns = ["Language", "T", "Drawn", "Test", *(title for group in titles for title in group)]
    rows = []
    for where in dict.fromkeys(_place(run) for run, _ in runs):
        here = {run.model: (run, results) for run, results in runs if _place(run) == where}
        for measure, split in SPLIT_TITLES.items():
            row = [*where, split.split("-")[0]]
            shortcut = "–"
            for name in names:
                run, results = here.get(name, (None, []))
                scores = _scores(results, measure)
                row.append(cell(scores) if scores else "diverged" if results else "–")
                if with_paper:
                    printed = published_accuracy(run, measure) if run else None
                    row.append("–" if printed is None else f"{printed:.2f}")
                if results:
                    shortcut = f"{best_shortcut(results[0], measure)[1]:.2f}"
            rows.append((*row, shortcut) if with_paper else tuple(row))
    return Table(title, (*columns, *(["Shortcut"] if with_paper else [])), tuple(rows), tuple(notes))


def _place(run: Run) -> tuple[str, str, str]:
    return run.task, str(run.setting["terminals"]), run.setting["distribution"]


def _notes(runs: Sequence[Pair], departures: Mapping[str, Sequence[str]]) -> list[str]:
    counts = {len(_scores(results, "in_dist")) for _, results in runs} - {0}
    protocol = runs[0][0].setting
    spans = ["{}..{}".format(*protocol[name]) for name in ("lengths", "long_lengths")]
    sizes = [f"{2 * protocol[name]:,}" for name in ("test", "long")]
    notes = [
        f"Accuracy in percent on {sizes[0]} strings of length {spans[0]} (in) and {sizes[1]} of {spans[1]} (out); best "
        f"of {counted(counts, 'member')}. * captured (> {CAPTURED:.0f}). Chance 50. "
        "Paper: Table 2.",
        "Shortcut: the best classifier that knows no structure (lengths, ends, neighbours, counts of symbols and of "
        "their categories) on the same strings. An accuracy below it needs no syntax.",
    ]
    if any(run.setting["distribution"] == "uniform" for run, _ in runs):
        notes.append(
            "The paper's table for the uniform distribution (Table 3) repeats Table 2 in every cell: it is no "
            "measurement, so nothing is shown beside ours."
        )
    bodies = {run.model: results[0].detail["parameters"]["body"] for run, results in runs if results}
    words = [f"{MODEL_TITLES[m]} {_thousands(n)} (paper {PRINTED_COUNTS[m]})" for m, n in bodies.items()]
    notes.append(f"Parameters between word vectors and readout: {', '.join(words)}.")
    different = dict.fromkeys(text for run, _ in runs for text in departures[run.key])
    if different:
        notes.append("Not the paper's setting: " + "; ".join(different) + ".")
    return notes


def _thousands(count: int) -> str:
    return f"{count / 1e6:.2f}M" if count >= 1e6 else f"{count / 1e3:.0f}k"
