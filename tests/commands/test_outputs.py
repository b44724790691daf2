"""What all commands do with files, names and text of others. Ten processor seconds."""

import json
import tempfile
from pathlib import Path

import pytest
from page_support import STORE
from typer.testing import CliRunner

from humboldt import cli
from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import ScoredMember, State, TrainedMember
from humboldt.errors import HumboldtError, UsageError
from humboldt.report.words import printable
from humboldt.storage import files
from humboldt.storage.exports import read_members, read_records
from humboldt.storage.store import Store, as_written

LONG, DIGITS, DEEP = "x" * 300, "9" * 5_000, "[" * 100_000
RED = "\x1b[31mred\x9b0m\x07\u202e"


def run(*arguments: str | Path):
    """The command, with our own errors as they are printed."""
    done = CliRunner().invoke(cli.app, [str(one) for one in arguments])
    if isinstance(done.exception, HumboldtError):
        return done.exception.exit_code, done.stdout, printable(str(done.exception))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


OUTPUTS = {
    "report": ("report", STORE, "--output"),
    "plot": ("plot", STORE, "chomsky/positions", "--output"),
    "archive": ("archive", STORE, "--output"),
    "show": ("show", STORE, "--output"),
    "data": ("data", "chomsky", "parity_check", "--output"),
}
ENDINGS = {"report": ".html", "plot": ".svg", "archive": ".jsonl", "show": ".csv", "data": ".jsonl"}


@pytest.mark.parametrize("command", OUTPUTS)
def test_every_command_replaces_plain_files_only(command: str, tmp_path: Path):
    target, ending = tmp_path / "target", ENDINGS[command]
    target.write_text("mine")
    link, plain = tmp_path / f"link{ending}", tmp_path / f"plain{ending}"
    link.symlink_to(target)
    (tmp_path / f".plain{ending}.part").symlink_to(target)
    plain.write_text("before")
    code, _, said = run(*OUTPUTS[command], link)
    assert code == 2 and "that is a link" in said and link.is_symlink()
    code, _, said = run(*OUTPUTS[command], plain)
    assert code == 0 and plain.read_text() != "before", said
    assert target.read_text() == "mine" and len(list(tmp_path.iterdir())) == 4
    code, _, said = run(*OUTPUTS[command], tmp_path / (LONG + ending))
    assert code == 2 and "long" in said and len(said) < 400


def foreign(folder: Path) -> None:
    """The store of somebody who wants to write on our terminal."""
    training = Training(f"suite{RED}", f"task{RED}", f"model{RED}", "jax", {RED: RED}, {"task": 1, "model": 1})
    trained = [
        TrainedMember({"seed": 0, RED: RED}, State.FINISHED),
        TrainedMember({"seed": 1}, State.FAILED, detail={"error": f"Traceback\n\tfailed {RED}"}),
    ]
    scored = [ScoredMember({"seed": 0, RED: RED}, State.FINISHED, {f"score{RED}": 0.5})]
    Store(folder).add(training, trained, [(Evaluation(f"score{RED}"), scored)])


def test_escape_sequences_of_others_do_not_reach_the_terminal(tmp_path: Path):
    foreign(tmp_path)
    for options in ((), ("--failures",), ("--json",), ("--csv",), ("--members",), ("--task", "none")):
        code, out, said = run("show", tmp_path, *options)
        assert code in (0, 2)
        assert not set(out + said) & set("\x1b\x9b\x07\u202e"), (options, out, said)
    failures = run("show", tmp_path, "--failures")[1]
    assert "Traceback\n\tfailed \\u001b[31mred" in failures
    for command in (("archive", tmp_path), ("plot", tmp_path, "list"), ("inspect", tmp_path, "--input", "a")):
        _, out, said = run(*command)
        assert not set(out + said) & set("\x1b\x9b\x07\u202e"), command
    assert json.loads(run("show", tmp_path, "--members", "--json")[1])  # still JSON


def test_text_keeps_its_lines_and_letters():
    assert printable("a\tb\nc\r\nd é ∅ 🙂") == "a\tb\nc\r\nd é ∅ 🙂"
    assert printable("a\rb\x00") == "a\\u000db\\u0000"


def test_show_needs_no_folder_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    foreign(tmp_path)

    def none(*arguments, **options):
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "mkdtemp", none)
    monkeypatch.setattr(tempfile, "TemporaryDirectory", none)
    code, out, said = run("show", tmp_path)
    assert code == 0 and "0.5" in out, said


@pytest.mark.parametrize("command", ["show", "report", "archive", "merge"])
@pytest.mark.parametrize("name", [LONG, "nowhere"])
def test_a_folder_of_a_name_that_is_too_long_is_a_sentence(command: str, name: str, tmp_path: Path):
    code, _, said = run(command, tmp_path / name, *(["--out", tmp_path / "out"] if command == "merge" else []))
    assert code == 2 and said


@pytest.mark.parametrize("value", [DIGITS, DEEP, LONG])
def test_hostile_values_in_files_and_options_are_sentences(value: str, tmp_path: Path):
    (tmp_path / "x.jsonl").write_text(f'{{"input": {value}}}\n')
    with pytest.raises(UsageError, match="line 1"):
        list(files.read(tmp_path / "x.jsonl"))
    (tmp_path / "exports.json").write_text('{"members": ["m.jsonl"], "records": ["r.json"]}')
    (tmp_path / "m.jsonl").write_text(f'{{"training": {value}}}\n')
    (tmp_path / "r.json").write_text(value)
    with pytest.raises(UsageError, match="line 1"):
        read_members(tmp_path, as_written)
    with pytest.raises(UsageError, match="is not JSON"):
        read_records(tmp_path)
    (tmp_path / "exports.json").write_text(value)
    with pytest.raises(UsageError, match="does not name exports"):
        read_members(tmp_path, as_written)
    foreign(tmp_path / "store")
    code, _, said = run("inspect", tmp_path / "store", "--input", "a", "--member", f"seed={value}")
    assert code == 2 and said


def test_exported_measures_are_numbers(tmp_path: Path):
    line = json.loads((STORE / "members.jsonl").read_text().splitlines()[0])
    (tmp_path / "exports.json").write_text('{"members": ["m.jsonl"]}')
    for value in ("high", 10**400, None):
        line["results"][0]["measures"] = {"score": value}
        (tmp_path / "m.jsonl").write_text(json.dumps(line))
        with pytest.raises(UsageError, match=r"not an exported training.*finite number"):
            read_members(tmp_path, as_written)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data", "chomsky", "parity_check", "--preset", "nope"], "No preset named 'nope'"),
        (["data", "syntax", "adj_n_np", "--split", "train", "--preset", "nope"], "No preset named 'nope'"),
        (["data", "chomsky", "parity_check", "--split", ""], "an empty name is not a split"),
        (["inspect", STORE, "--input", "a", "--output", "x.csv"], "`x.csv` ends in .csv, and figures are written as"),
        (["plot", "nowhere", "chomsky/lengths", "--output", "x.gif"], "`x.gif` ends in .gif"),
    ],
)
def test_wrong_requests_are_refused_at_once(arguments: list[str | Path], message: str):
    code, out, said = run(*arguments)
    assert code == 2 and message in said and out == ""
