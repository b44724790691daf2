"""What README.md and the page on reproduction show is so: pictures come from records, the lines of Python run."""

import json
import re
import shlex
import statistics
from pathlib import Path

import pytest
from pages import ROOT, measured

import humboldt
from humboldt import cli
from humboldt.suites import benched, suites
from humboldt.suites.bench import QUICK

README = (ROOT / "README.md").read_text(encoding="utf-8")
REPRODUCED = (ROOT / "docs/reproduced.md").read_text(encoding="utf-8")
PICTURES = [f"docs/{place}" for place in re.findall(r"!\[.+?\]\((pictures/\w+\.svg)\)", REPRODUCED)]
BENCH = "docs/pictures/bench.svg"
MAKE = [shlex.split(line)[1:] for line in (ROOT / "docs/pictures/make.sh").read_text().splitlines() if "$PLOT " in line]


def test_every_suite_is_in_the_table():
    assert sorted(re.findall(r"^\| \[`(\w+)`\]", README, re.MULTILINE)) == sorted(suites.names())


def test_every_paper_with_records_has_a_picture_and_every_picture_a_command():
    measured = {one.suite for one in humboldt.reproduced(ROOT / "reproductions") if one.measured}
    assert sorted(Path(picture).stem for picture in PICTURES) == sorted(measured)
    assert sorted(arguments[-1] for arguments in MAKE) == sorted(PICTURES)
    assert set(re.findall(r"!\[.+?\]\((.+?)\)", README)) <= {*PICTURES, BENCH}


# The largest two take seconds, and are drawn by the same code.
@pytest.mark.parametrize(
    "arguments", [one for one in MAKE if "syntax/" not in one[1]], ids=lambda arguments: arguments[1]
)
def test_pictures_are_those_of_the_records(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    again = tmp_path / Path(arguments[-1]).name
    monkeypatch.setattr("sys.argv", ["humboldt", "plot", *arguments[:-1], str(again)])
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    assert not leaving.value.code
    drawn, shown = (
        re.sub(r"\b(clip|gradient_)\d+", r"\1", path.read_text()) for path in (again, ROOT / arguments[-1])
    )  # names are counted over all pictures of a process
    assert drawn == shown, "run `sh docs/pictures/make.sh`"


def test_the_picture_of_the_bench_is_that_of_the_references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    again = tmp_path / "bench.svg"
    assert f"references --picture {BENCH}" in (ROOT / "docs/pictures/make.sh").read_text()
    monkeypatch.setattr("sys.argv", ["humboldt", "references", "--picture", str(again)])
    with pytest.raises(SystemExit) as leaving:
        cli.main()
    assert not leaving.value.code
    drawn, shown = (re.sub(r"\b(clip|gradient_)\d+", r"\1", path.read_text()) for path in (again, ROOT / BENCH))
    assert drawn == shown, "run `sh docs/pictures/make.sh`"
    assert re.search(rf"!\[.+?\]\({BENCH}\)", "\n".join(README.splitlines()[:20]))
    answered = dict[str, set[str]]()
    for each in benched.answers_of(benched.reference_scores(), QUICK):
        answered.setdefault(benched.model_title(each.model), set()).add(each.suite)
    everything = set.union(*answered.values())
    assert {title for title, found in answered.items() if f">{title}</text>" in drawn} == {
        title for title, found in answered.items() if found == everything
    }


def test_what_is_said_below_the_pictures_is_in_the_records():
    text = " ".join(REPRODUCED.split())
    lines = [json.loads(line) for line in (ROOT / "reproductions/pcfg_set/members.jsonl").read_text().splitlines()]
    (members,) = [
        line["results"]
        for line in lines
        if (line["training"]["model"], line["training"]["task"]) == ("transformer", "task_accuracy")
        and line["evaluation"]["name"] == "accuracy"
    ]
    depths = [member["detail"]["score"]["breakdowns"]["depth"] for member in members]
    first, tenth = (f"{100 * statistics.mean(one[depth]['value'] for one in depths):.0f}%" for depth in ("1", "10"))
    assert f"{first} of the answers are right at depth 1, {tenth} at depth 10 (three networks" in text
    assert len(members) == 3
    scores = [r for r in measured("chomsky") if "steps=10,000" in r["setting"] and r["statistic"] == "max"]
    slow = ("transformer_encoder", "tape_rnn")
    assert {r["members"] for r in scores if r["model"] not in slow} == {30}
    assert {r["members"] for r in scores if r["model"] in slow} == {10}


def test_the_lines_of_python_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    (first,) = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert len([line for line in first.splitlines() if line.strip()]) <= 10
    exec(first, {})
    printed = capsys.readouterr().out
    assert "regular  parity_check      50   50.0  100.0*" in printed and "['b'] (5, 64)" in printed
    assert "counts:\n  score 1.0000" in printed


def test_the_wheel_has_the_name_that_is_installed():
    assert f"humboldt-{humboldt.__version__}-py3-none-any.whl" in (ROOT / "docs/start.md").read_text(encoding="utf-8")


def test_the_first_screen_says_what_it_is_how_to_install_it_and_one_command():
    """Within 40 lines: three lines to install, one command."""
    screen = "\n".join(README.splitlines()[:40])
    install, command = re.findall(r"^```\n(.*?)^```", screen, re.MULTILINE | re.DOTALL)
    assert len(install.splitlines()) == 3 and command.startswith("humboldt bench ") and len(command.splitlines()) == 1
    assert len(README.splitlines()) <= 150
