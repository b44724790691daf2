import dataclasses
import json
import re
from pathlib import Path

import pytest
from page_support import HOSTILE, STORE, results, small_page
from pages import ROOT

import humboldt
from humboldt.commands.report import all_figures
from humboldt.core.results import Scores, State
from humboldt.page import charts
from humboldt.page.collect import collect
from humboldt.page.content import Page
from humboldt.page.write import html
from humboldt.report.figures import Drawing, Figure
from humboldt.report.tables import TableCell
from humboldt.suites import catalogue, plans, suites
from humboldt.suites.cells import cells_of
from humboldt.suites.experiments import Contender
from humboldt.suites.reading import records, stored

FIGURES = all_figures(STORE)


@pytest.fixture(scope="module")
def page() -> Page:
    return small_page()


def entries(page: Page, suite: str):
    """All numbers of a suite's tables that know where they come from, with their rows' first words."""
    (section,) = (section for section in page.sections if section.name == suite)
    return [
        entry for part in section.parts for table in part.tables for row in table.rows for entry in row if entry.key
    ]


def test_every_suite_is_there_with_tables_and_figures(page: Page):
    names = [section.name for section in page.sections]
    assert names == catalogue.suite_names() and sorted(names) == sorted(suites.names())
    rows = re.findall(r"^\| \[`(\w+)`\]", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert names[: len(rows)] == rows
    for section in page.sections:
        assert section.parts, section.name
        assert any(part.figures for part in section.parts), section.name
        assert all(part.tables for part in section.parts), section.name


def test_tables_hold_the_numbers_of_the_records(page: Page):
    own = [scores for scores in results() if scores.training.suite == "chomsky"]
    best = {f"{r.value:.1f}" for r in records(suites.get("chomsky"), own) if r.statistic == "max"}
    shown = {entry.text.strip("* ") for entry in entries(page, "chomsky")}
    assert best <= shown


def test_differences_to_the_paper_are_told(page: Page):
    (rnn,) = (s for s in results() if (s.training.task, s.training.model) == ("reverse_string", "rnn"))
    ours = 100 * max(r.measures["score"] for r in rnn.results)
    (entry,) = (e for e in entries(page, "chomsky") if e.text == f"{ours:.1f}" and e.gap == f"{ours - 62.0:+.1f}")
    assert entry.level == -3 and entry.has_counterpart and not entry.is_solved


@pytest.mark.parametrize(
    ("number", "gap", "level"),
    [
        (TableCell(value=99.0, form=".1f", published=99.1, scale=100.0), "-0.1", 0),
        (TableCell(value=99.0, form=".1f", mark="*", published=99.0, scale=100.0), "=", 0),
        (TableCell(value=99.04, form=".1f", deviation=2.0, published=99.0, scale=100.0), "=", 0),
        (TableCell(value=50.0, form=".1f", published=100.0, scale=100.0), "-50.0", -4),
        (TableCell(value=0.5, form=".2f", published=0.45), "+0.05", 2),
        (TableCell(value=0.9, form=".4g", published=0.94), "-0.04", -2),
        (TableCell(value=0.1 + 0.2, form=".4g", published=0.3), "=", 0),
        (TableCell(value="10", published="10"), "=", 0),
        (TableCell(value="<1", published="10"), "≠", -4),
        (TableCell(value="10", published="<1"), "≠", 4),
        (TableCell(value="<10", published="4"), "≠", 0),
        (TableCell(value=5.0), "", 0),
        (TableCell(published=5.0), "", 0),
    ],
)
def test_how_large_a_difference_is(number: TableCell, gap: str, level: int):
    from humboldt.page.grids import gap_to_paper

    assert gap_to_paper(number) == (gap, level)


def test_every_number_has_its_origin(page: Page):
    keys = {entry.key for section in page.sections for entry in entries(page, section.name)}
    assert keys <= set(page.provenance)
    one = next(p for p in page.provenance.values() if p["title"] == "chomsky · parity_check · RNN")
    lines = dict(one["lines"])
    assert one["command"].startswith("humboldt run chomsky --task parity_check --model rnn --preset quick")
    assert "steps 400 (paper: 1,000,000)" in lines["Not the paper's"]
    assert lines["Members"] == "3 finished" and lines["seed"] == "0 to 2"
    assert "task 1" in lines["Versions"] and "jax" in lines["Software"] and "cpu" in lines["Device"]
    (spread,) = one["spreads"]
    statistics = dict(spread["lines"])
    assert "of 3 (95%" in statistics["Solved"] and "of 1" in statistics["Expected best of fewer"]


def test_what_is_missing_stands_there_with_its_command(page: Page):
    (section,) = (section for section in page.sections if section.name == "chomsky")
    quick = next(part for part in section.parts if part.kind == "other")
    gaps = {gap.model: gap for gap in quick.gaps}
    assert "bucket_sort" in gaps["RNN"].tasks and "parity_check" not in gaps["RNN"].tasks
    assert "--set steps=400" in gaps["RNN"].command and gaps["RNN"].estimate.startswith("about ")


def test_quick_numbers_are_told_from_the_papers(page: Page):
    kinds = {part.kind: part.badge for section in page.sections for part in section.parts}
    assert kinds == {"changed": "paper's setting with changes", "other": "preset quick with changes"}


def test_fewer_seeds_are_a_part_of_the_papers_setting():
    suite, one = suites.get("chomsky"), _as_in_the_paper()
    all_members = [
        dataclasses.replace(one.results[0], member=member)
        for member in plans.paper_members(suite, one.training.task, one.training.model)
    ]
    for members, badge in ((all_members[:1], "a part of the paper's setting"), (all_members, "the paper's setting")):
        page = collect([dataclasses.replace(one, results=tuple(members))], "results")
        (part,) = (part for section in page.sections for part in section.parts)
        (seen,) = (seen for _, row in page.overview for networks in row for seen in networks)
        assert part.badge == seen.badge == badge


def _as_in_the_paper() -> Scores:
    suite, scores = suites.get("chomsky"), next(s for s in results() if s.training.suite == "chomsky")
    resolved = next(plans.trainings(suite, scores.training.task, "rnn", catalogue.preset(suite, "paper"), {}))
    evaluation = suite.evaluations(resolved.protocol, "")[0]
    return dataclasses.replace(scores, training=resolved.training, evaluation=evaluation)


def test_a_model_that_was_trained_elsewhere_is_a_row_of_its_own(tmp_path: Path):
    few = {"num_test_lengths": 2, "strings_per_length": 2}
    humboldt.score(
        *("chomsky", lambda strings: [string[::-1] for string in strings]),
        **{"tasks": "reverse_string", "preset": "quick", "name": "reverser", "out": tmp_path, "settings": few},
    )
    page = collect(stored(tmp_path), "out")
    ((family, cells),) = page.overview
    assert family == "reverser" and [len(networks) for networks in cells] == [1, 0, 0, 0, 0, 0, 0]
    (origin,) = page.provenance.values()
    assert origin["command"].startswith("humboldt score chomsky reverse_string PREDICTIONS --name reverser --preset ")
    assert "--set num_test_lengths=2" in origin["command"]
    assert "trained outside Humboldt" in dict(origin["lines"])["Not the paper's"]


def test_superseded_results_stand_apart():
    old = [
        dataclasses.replace(s, training=dataclasses.replace(s.training, versions={**s.training.versions, "task": 0}))
        for s in results()
        if s.training.suite == "chomsky"
    ]
    page = collect(old, "out")
    (section,) = (section for section in page.sections if section.name == "chomsky")
    assert {part.kind for part in section.parts} == {"superseded"} and not any(part.gaps for part in section.parts)
    networks = [one for _, by_suite in page.overview for found in by_suite for one in found]
    assert networks and {one.badge for one in networks} == {"an earlier version"}


def test_numbers_without_members_are_in_the_overview():
    record = {"suite": "bliss", "task": "an_bn", "model": "lstm", "setting": "paper epsilon=0", "measure": "b_index"}
    record |= {"statistic": "max", "value": "10", "members": 3, "published": "<1"}
    page = collect([], "out", [("results.json", [record, {**record, "task": "dyck_1"}])])
    ((family, by_suite),) = page.overview
    (seen,) = [one for found in by_suite for one in found]
    assert (family, seen.network, seen.badge, seen.glance.text) == ("LSTM", "LSTM", "numbers on record", "2 records")


def test_an_empty_study_gives_a_useful_page():
    page = collect([], "out")
    text = html(page)
    assert "humboldt demo --out out" in text and "humboldt run chomsky --preset quick --out out" in text
    assert len(text) < 50_000  # nothing is drawn, so that no scripts are carried


def test_a_study_in_which_nobody_finished_gives_a_page():
    failed = [
        dataclasses.replace(
            s,
            results=tuple(
                dataclasses.replace(r, state=State.DIVERGED if i % 2 else State.FAILED, measures={}, detail={})
                for i, r in enumerate(s.results)
            ),
        )
        for s in results()
    ]
    text = html(collect(failed, "out"))
    assert "diverged" in text and "1 failed" in text


def test_members_without_details_give_a_page():
    bare = [
        dataclasses.replace(s, results=tuple(dataclasses.replace(r, detail={}, environment={}) for r in s.results))
        for s in results()
    ]
    assert "not known" in html(collect(bare, "out"))


@pytest.mark.parametrize(("name", "heading", "figure"), FIGURES, ids=lambda value: str(value)[:60])
def test_every_figure_is_valid(name: str, heading: str, figure: Figure | Drawing):
    if isinstance(figure, Drawing):
        assert charts.drawing_svg(figure).startswith("<svg")
        return
    assert charts.specification(figure, is_checked=True)["$schema"].startswith(
        "https://vega.github.io/schema/vega-lite/"
    )
    assert figure.rows and figure.about and heading is not None
    for row in figure.rows:
        assert {figure.x.column, figure.y.column, figure.colour} <= row.keys(), name


def test_the_suites_show_the_papers_figures():
    names = {name for name, _, _ in FIGURES}
    assert {
        *("chomsky/lengths", "chomsky/scores", "chomsky/positions", "bliss/sizes", "bliss/frontier"),
        *("bliss/network-an_bn", "syntax/vocabularies", "syntax/lengths", "pcfg_set/depth", "pcfg_set/length"),
        *("pcfg_set/num-functions", "pcfg_set/functions", "pcfg_set/string-lengths", "pcfg_set/exceptions"),
        *("bias/description-length", "bias/course"),
    } <= names


def test_agreement_is_drawn_among_those_that_fit():
    suite, own = suites.get("bias"), [s for s in results() if s.training.suite == "bias"]
    fitting = [
        dataclasses.replace(
            s,
            results=tuple(
                dataclasses.replace(r, measures={**r.measures, **({"fits": 1.0} if not r.member["block"] else {})})
                for r in s.results
            ),
        )
        for s in own
    ]
    (cells,) = cells_of(suite, fitting).values()
    figures = {figure.name: figure for figure in suite.presentation.figures(suite, cells)}
    rows = figures["agreement"].rows  # pyright: ignore[reportAttributeAccessIssue]
    assert {row["x"] for row in rows} == {"hierar", "linear"} and all(row["members"] == 2 for row in rows)
    assert {cell.model for cell in cells} == {"lstm_s2s_no_att", "cnn_s2s"}
    assert suite.presentation.overview(cells) is not None and not any(
        row["value"] for row in rows
    )  # none of them follows a rule


def test_the_page_is_one_file_that_asks_for_nothing(page: Page):
    text = html(page)
    assert len(text) < 10e6
    outside = re.findall(r"""(?:src|href|action)=["']?(?!#|data:|"|'|\{)([^"' >]+)""", text.split("<script>")[0])
    assert outside == []
    assert "default-src 'none'" in text
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    assert data["figures"] and data["provenance"].keys() == page.provenance.keys()


def test_names_from_outside_are_text(monkeypatch: pytest.MonkeyPatch):
    suite = suites.get("chomsky")
    monkeypatch.setattr(type(suite), "contenders", {**suite.contenders, "rnn": Contender("rnn", HOSTILE)})
    strange = [
        dataclasses.replace(s, training=dataclasses.replace(s.training, suite=HOSTILE, task=HOSTILE))
        for s in results()
        if s.training.suite == "syntax"
    ]
    text = html(collect([*results(), *strange], f"out {HOSTILE}"))
    assert HOSTILE not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text and "\\u003cscript>alert(1)" in text


def test_a_page_that_cannot_be_written_is_an_error(tmp_path: Path):
    from humboldt.errors import UsageError
    from humboldt.page.write import write

    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match=r"cannot be written.*Choose another file with --output"):
        write("text", tmp_path / "file" / "page.html")
