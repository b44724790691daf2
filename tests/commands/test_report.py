import json
import shutil
from pathlib import Path

import pytest
from page_support import STORE
from store_support import change
from typer.testing import CliRunner

from humboldt import cli
from humboldt.commands import run as running
from humboldt.commands.report import write_report
from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import ScoredMember, State, TrainedMember
from humboldt.errors import MissingExtra, UsageError
from humboldt.storage.store import Store
from humboldt.suites.reading import stored


def run(*arguments: str | Path) -> str:
    done = CliRunner().invoke(cli.app, [str(one) for one in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_report_is_one_file_beside_the_results_or_where_it_is_asked_for(tmp_path: Path):
    folder = Path(shutil.copytree(STORE, tmp_path / "study"))
    assert run("report", folder).strip() == str(folder / "report.html")
    assert run("report", folder, "--output", tmp_path / "page.html").strip().endswith("page.html")
    assert (tmp_path / "page.html").read_bytes() == (folder / "report.html").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["exports.json", "members.jsonl", "report.html"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report", "nowhere"], "There are no results in `nowhere`"),
        (["report", STORE, "--output", "nowhere/page.html"], "Give a file in a folder that exists"),
        (["report", STORE, "--output", "."], "that is a folder, and the page is one file"),
        (["plot", STORE, "chomsky/length"], "No figure named 'chomsky/length'. Did you mean 'chomsky/lengths'"),
        (["plot", STORE, "chomsky/lengths"], "2 settings have a figure 'chomsky/lengths'. Choose one: --heading"),
        (["plot", STORE, "chomsky/lengths", "--heading", "quick"], "No setting with the figure chomsky/lengths named"),
        (["plot", STORE, "chomsky/positions", "--output", "x.gif"], "`x.gif` ends in .gif, and figures are written as"),
        (["archive", STORE, "--suite", "chomski"], "No suite named 'chomski'. Did you mean 'chomsky'?"),
    ],
)
def test_wrong_requests(arguments: list[str | Path], message: str):
    with pytest.raises(UsageError) as error:
        run(*arguments)
    assert message in str(error.value)


def test_figures_are_listed_and_drawn(tmp_path: Path):
    listed = run("plot", STORE, "list")
    assert "chomsky/positions  (paper, " in listed and "bliss/network-an_bn" in listed
    for name, begin in (("a.svg", b"<svg"), ("a.pdf", b"%PDF"), ("a.png", b"\x89PNG")):
        run("plot", STORE, "chomsky/positions", "--output", tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(begin)
    run("plot", STORE, "bliss/network-an_bn", "--output", tmp_path / "network.pdf")
    assert (tmp_path / "network.pdf").read_bytes().startswith(b"%PDF")


def test_what_is_exported_is_read_again(tmp_path: Path):
    run("archive", STORE, "--output", tmp_path / "members.jsonl")
    (tmp_path / "exports.json").write_text(json.dumps({"members": ["members.jsonl"]}))
    assert stored(tmp_path) == stored(STORE)
    assert run("archive", STORE, "--suite", "syntax").count("\n") == len(stored(STORE, "syntax")) == 4
    assert run("show", tmp_path) == run("show", STORE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "line 1 is not JSON"),
        ('{"training": {}}', "is not an exported training"),
    ],
)
def test_a_damaged_export_is_an_error(tmp_path: Path, text: str, message: str):
    (tmp_path / "exports.json").write_text(json.dumps({"members": ["members.jsonl"]}))
    (tmp_path / "members.jsonl").write_text(text)
    with pytest.raises(UsageError, match=message):
        stored(tmp_path)


def test_show_tells_what_a_best_is_worth():
    records = json.loads(run("show", STORE, "--suite", "chomsky", "--json"))
    found = {r["statistic"]: r["value"] for r in records if (r["task"], r["model"]) == ("parity_check", "rnn")}
    assert {"max", "solved", "solved_low", "expected_best_of_1", "interquartile_mean", "mean_low"} <= found.keys()
    assert found["expected_best_of_1"] == pytest.approx(found["mean"])


def test_a_demo_without_the_extra_ends_with_a_hint(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def lacking(folder: Path) -> Path:
        raise MissingExtra("altair")

    monkeypatch.setattr(running, "demo_studies", lambda out: [])
    monkeypatch.setattr(running, "write_report", lacking)
    running.demo(Path("out"))
    assert "pip install 'humboldt[report]', then humboldt report out" in capsys.readouterr().err
    monkeypatch.setattr(running, "write_report", lambda folder: folder / "report.html")
    running.demo(Path("out"))
    assert "`out/report.html`. Open it in a browser." in capsys.readouterr().err


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    with pytest.raises(MissingExtra, match=r"humboldt\[report\]"):
        write_report(STORE, Path("unused.html"), inside=0)


def test_damaged_rows_are_named_on_the_page_and_have_no_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    training = Training("mine", "task", "model", "jax", {}, {"task": 1, "model": 1})
    results = [ScoredMember({"seed": seed}, State.FINISHED, {"score": 0.123}) for seed in (0, 1)]
    trained = [TrainedMember(result.member, State.FINISHED) for result in results]
    Store(tmp_path).add(training, trained, [(Evaluation("score"), results)])
    change(tmp_path, "UPDATE scores SET measures = '{\"score\":0.987}' WHERE rowid = 1")
    page = write_report(tmp_path).read_text()
    assert "a row of scores does not fit its digest" in page and "0.123" in page and "0.987" not in page
    assert "Warning: `" in capsys.readouterr().err
    shown = CliRunner().invoke(cli.app, ["show", str(tmp_path)])
    assert "0.123" in shown.stdout and "0.987" not in shown.stdout and "does not fit its digest" in shown.stderr
