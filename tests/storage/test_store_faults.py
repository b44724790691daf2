"""Faults of the disk and of people, each with real processes: the list of what was tried.

Every fault is done to a copy of a finished study (or to one that was killed half-way), then a command is given. Where
it cannot go on, it must end with status 1 or 2 and one sentence, without a traceback, and must leave the database as it
is; where it can, the rows must be those of an undisturbed study.
"""

import ctypes
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from forking import Forked

PLUGIN = str(Path(__file__).parents[1] / "fault_plugin.py")
SHOW, RUN = "show", "run"

Done = subprocess.CompletedProcess[str]
FORKED: Forked


@pytest.fixture(scope="module", autouse=True)
def copied(forked: Forked) -> None:
    """Most commands are given to copies of one process."""
    global FORKED
    FORKED = forked


def humboldt(
    *arguments: str,
    before: str = "",
    limit: int | None = None,
    is_root: bool = True,
    environment: dict[str, str] | None = None,
) -> Done:
    """The command in a process of its own. `before` is Python code, `limit` the largest file that it may write. Without
    `is_root`, it has no more rights than the owner of a file has."""
    code = f"import sys; {before}\nsys.argv = ['humboldt', *{list(arguments)!r}]\nfrom humboldt.cli import main; main()"
    if is_root:
        return FORKED.run(code, limit=limit, environment=environment)

    def restrict() -> None:
        for capability in range(4) if os.getuid() == 0 else ():
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # to pass over who may read, write, search and own

    # Rights are gone after the next exec.
    return subprocess.run(
        [sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=120, preexec_fn=restrict
    )


def run(folder: Path, *options: str, **how) -> Done:
    arguments = "run", "faults", "--plugin", PLUGIN, "--keep", "all", "--no-estimate", "--out", str(folder), *options
    return humboldt(*arguments, **how)


def show(folder: Path, **how) -> Done:
    return humboldt("show", str(folder), "--plugin", PLUGIN, **how)


def rows(folder: Path) -> list[tuple]:
    """All that must be the same in the end, but for seconds and dates."""
    db = sqlite3.connect(folder / "results.db")
    try:
        return sorted(
            [
                *db.execute("SELECT training, member, state, detail, '' FROM members"),
                *db.execute("SELECT evaluation, member, state, detail, measures FROM scores"),
            ]
        )
    finally:
        db.close()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults") / "finished"
    done = run(folder)
    assert done.returncode == 0, done.stderr
    assert len(rows(folder)) == 8
    return folder


@pytest.fixture(scope="module")
def table(finished: Path) -> str:
    return show(finished).stdout


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    # Whoever reads a database may leave an empty log beside it, with which a closed folder is not quite closed.
    return Path(shutil.copytree(finished, tmp_path / "copy", ignore=shutil.ignore_patterns("*-wal", "*-shm")))


def assert_one_sentence(done: Done, says: str) -> None:
    sentences = [line for line in done.stderr.splitlines() if line and not line.startswith("  humboldt ")]
    last = sentences[-1] if sentences else ""  # a command to copy may follow
    assert done.returncode in (1, 2), (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr and last.startswith("Error: ") and says in last, done.stderr
    assert last.endswith((".", "`", ":")) and len(last) < 700, last


# What is done to the database.


def sql(*statements: str) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        with sqlite3.connect(folder / "results.db", isolation_level=None) as db:
            db.execute("PRAGMA foreign_keys = OFF")
            for statement in statements:
                db.execute(statement)
        db.close()

    return damage


def set_cell(table: str, column: str, value: str) -> Callable[[Path], object]:
    return sql(f"UPDATE {table} SET {column} = {value} WHERE rowid = (SELECT min(rowid) FROM {table})")


def overwrite(at: float, content: bytes) -> Callable[[Path], object]:
    """Writes over the file, at a share of its length."""

    def damage(folder: Path) -> None:
        path = folder / "results.db"
        data = bytearray(path.read_bytes())
        begin = int(at * len(data))
        data[begin : begin + len(content)] = content
        path.write_bytes(data)

    return damage


def cut(share: float) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        path = folder / "results.db"
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])

    return damage


def write(content: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "results.db").write_text(content)


def make_folder(folder: Path) -> None:
    (folder / "results.db").unlink()
    (folder / "results.db").mkdir()


def other_program(folder: Path) -> None:
    (folder / "results.db").unlink()
    sql("CREATE TABLE bookmarks (address TEXT)", "INSERT INTO bookmarks VALUES ('here')")(folder)


def dangling(folder: Path) -> None:
    (folder / "results.db").unlink()
    (folder / "results.db").symlink_to(folder / "gone" / "results.db")


def every_leaf(folder: Path) -> None:
    """The first bytes of every page but the first."""
    path = folder / "results.db"
    data = bytearray(path.read_bytes())
    for begin in range(4096, len(data), 4096):
        data[begin : begin + 8] = b"\xff" * 8
    path.write_bytes(data)


@dataclass(frozen=True)
class Fault:
    damage: Callable[[Path], object]
    says: str
    commands: tuple[str, ...] = (SHOW,)
    code: int = 2


DAMAGE = {
    "an empty file": Fault(write(""), "its file results.db is empty"),
    "a text file": Fault(write("hello " * 1000), "is not a Humboldt database", (SHOW, RUN)),
    "a folder in the place of the file": Fault(make_folder, "results", (SHOW, RUN)),
    "a link to nowhere": Fault(dangling, "results", (SHOW, RUN)),
    "the file of another program": Fault(other_program, "it belongs to another program", (SHOW, RUN)),
    "the mark of another program": Fault(sql("PRAGMA application_id = 7"), "another program", (SHOW, RUN)),
    "a newer schema": Fault(sql("PRAGMA user_version = 4"), "written by a newer Humboldt", (SHOW, RUN)),
    "cut to a half": Fault(cut(0.5), "is damaged"),
    "cut in the first page": Fault(cut(0.05), "is damaged"),
    "another first line": Fault(overwrite(0, b"SQLite format 9"), "is damaged"),
    "a damaged schema": Fault(overwrite(0.08, b"\xff" * 300), "is damaged"),
    "damaged pages": Fault(every_leaf, "is damaged", (SHOW, RUN)),
    "zeros over the second half": Fault(overwrite(0.5, bytes(20_000)), "is damaged"),
    "no table of trainings": Fault(sql("DROP TABLE trainings"), "another program"),
    "no table of members": Fault(sql("DROP TABLE members"), "no such table: members", (SHOW, RUN)),
    "no table of evaluations": Fault(sql("DROP TABLE evaluations"), "no such table: evaluations"),
    "no table of scores": Fault(sql("DROP TABLE scores"), "no such table: scores"),
    "no column of details": Fault(sql("ALTER TABLE members DROP COLUMN detail"), "no such column: detail"),
    "a column of another name": Fault(sql("ALTER TABLE scores RENAME COLUMN measures TO points"), "no such column"),
    "a setting that is no JSON": Fault(set_cell("trainings", "setting", "'{'"), "trainings.setting"),
    "a setting that is a list": Fault(set_cell("trainings", "setting", "'[]'"), "not a JSON object"),
    "a setting without its model": Fault(set_cell("trainings", "setting", "'{}'"), "lacks something"),
    "a number for a name": Fault(set_cell("trainings", "suite", "X'00'"), "trainings.suite"),
    "a format that is text": Fault(set_cell("trainings", "format", "'two'"), "trainings.format"),
    "versions that are no JSON": Fault(set_cell("trainings", "versions", "'1'"), "trainings.versions"),
    "a member that is no JSON": Fault(
        sql(*(f"UPDATE {table} SET member = 'seed' || rowid" for table in ("members", "scores"))), "members.member"
    ),
    "an unknown state": Fault(set_cell("members", "state", "'resting'"), "members.state holds 'resting'", (SHOW, RUN)),
    "an unknown state of a score": Fault(set_cell("scores", "state", "'resting'"), "scores.state holds 'resting'"),
    "text for seconds": Fault(set_cell("members", "seconds", "'long'"), "members.seconds holds 'long'"),
    "text for a score": Fault(set_cell("scores", "measures", '\'{"sum":"high"}\''), "scores.measures holds 'high'"),
    "a score that is no number": Fault(set_cell("scores", "measures", "'{\"sum\":NaN}'"), "not JSON of finite numbers"),
    "bytes for a detail": Fault(set_cell("members", "detail", "X'FF00FF'"), "members.detail"),
    "brackets without end": Fault(set_cell("scores", "detail", f"'{'[' * 100_000}'"), "scores.detail"),
    "a version that is no JSON": Fault(set_cell("evaluations", "version", "'one'"), "evaluations.version"),
}


#: Faults that are much like others here: tried by `pytest -m slow`.
ALIKE = {
    *("cut in the first page", "zeros over the second half", "no table of evaluations", "a column of another name"),
    *("a number for a name", "a format that is text", "versions that are no JSON", "a version that is no JSON"),
    *("an unknown state of a score", "bytes for a detail", "a setting that is a list", "text for seconds"),
    *("an empty file", "another format", "a changed number"),
}


def some(names: Iterable[str]) -> list:
    return [pytest.param(name, marks=pytest.mark.slow if name in ALIKE else ()) for name in names]


@pytest.mark.parametrize("name", some(DAMAGE))
def test_damage_is_named_and_left_alone(name: str, folder: Path):
    fault = DAMAGE[name]
    fault.damage(folder)
    path = folder / "results.db"
    before = path.read_bytes() if path.is_file() else None
    for command in fault.commands:
        done = show(folder) if command == SHOW else run(folder, "--seeds", "3")
        assert_one_sentence(done, fault.says)
        assert done.returncode == fault.code
        assert (path.read_bytes() if path.is_file() else None) == before


def test_an_empty_file_becomes_a_database(folder: Path, finished: Path):
    (folder / "results.db").write_bytes(b"")
    done = run(folder)
    assert done.returncode == 0, done.stderr
    assert rows(folder) == rows(finished)


# What another process has left, or does meanwhile.


@contextmanager
def held(folder: Path) -> Iterator[None]:
    db = sqlite3.connect(folder / "results.db", isolation_level=None)
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        db.execute("ROLLBACK")
        db.close()


@pytest.mark.parametrize("command", [SHOW, RUN])
def test_a_database_that_another_program_holds(command: str, folder: Path, finished: Path):
    quickly = "import humboldt.storage.databases as d; d.LOCK_SECONDS = 0.2"
    with held(folder):
        done = show(folder, before=quickly) if command == SHOW else run(folder, "--seeds", "3", before=quickly)
    assert_one_sentence(done, "is in use")
    assert done.returncode == 1 and rows(folder) == rows(finished)


def leave_a_log(folder: Path, finished: Path) -> None:
    """The newest rows are in the write-ahead log only, as after a kill."""
    keeper = sqlite3.connect(folder / "results.db")
    keeper.execute("SELECT * FROM trainings").fetchall()
    done = run(folder, "--seeds", "3")
    assert done.returncode == 0, done.stderr
    copies = {name: (folder / name).read_bytes() for name in ("results.db", "results.db-wal")}
    keeper.close()
    for path in folder.glob("results.db*"):
        path.unlink()
    for name, content in copies.items():
        (folder / name).write_bytes(content)
    assert copies["results.db-wal"]


def test_a_leftover_log_is_read(folder: Path, finished: Path):
    leave_a_log(folder, finished)
    done = show(folder)
    assert done.returncode == 0 and "seed 2" in done.stdout, done.stderr


def test_a_log_of_rubbish_changes_nothing(folder: Path, table: str):
    (folder / "results.db-wal").write_bytes(b"rubbish" * 1000)
    done = show(folder)
    assert done.returncode == 0 and done.stdout == table, done.stderr


def test_half_a_transaction_in_a_plain_journal_is_not_seen(folder: Path, finished: Path, table: str):
    """As a network disk has it: killed between the first page written and the end of the transaction."""
    code = (
        "import os, sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "[db.execute(f'PRAGMA {x}') for x in ('journal_mode = DELETE', 'cache_spill = 1', 'cache_size = 1')];"
        "db.execute('BEGIN IMMEDIATE'); db.execute('DELETE FROM scores'); db.execute('CREATE TABLE big (x)');"
        "db.executemany('INSERT INTO big VALUES (?)', [('x' * 3000,)] * 200); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(folder / "results.db")], check=False)
    assert (folder / "results.db-journal").stat().st_size > 0
    shown = show(folder)
    assert shown.returncode == 0 and shown.stdout == table, shown.stderr
    done = run(folder)
    assert done.returncode == 0 and rows(folder) == rows(finished), done.stderr


# A disk that is full, or may not be written.


def steps_of(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.mark.parametrize(
    ("limit", "width", "taken"),
    [(20_000, 3, 0), (33_000, 3, 12), (60_000, 5_000, 2)],
    ids=["at once", "rows", "checkpoints"],
)
def test_a_full_disk_loses_nothing(limit: int, width: int, taken: int, tmp_path: Path, finished: Path):
    """A file may not grow beyond a limit: the index of the log, the rows in it or the checkpoints do not fit. Once
    there is room again, what was trained before is not trained again."""
    folder, log = tmp_path / "out", tmp_path / "log"
    assert run(folder, "--task", "sums").returncode == 0
    before = rows(folder)
    environment, size = {"FAULTS_LOG": str(log)}, ("--set", f"width={width}")
    done = run(folder, *size, "--seeds", "3", limit=limit, environment=environment)
    assert_one_sentence(done, "")
    assert done.returncode == 1 and steps_of(log) == taken
    assert set(before) <= set(rows(folder))
    again = run(folder, *size, "--seeds", "3", environment=environment)
    assert again.returncode == 0, again.stderr
    assert set(before) <= set(rows(folder))
    repeated = taken if width == 5_000 else 0  # there was no checkpoint
    assert steps_of(log) == 12 + repeated


def test_weights_that_do_not_fit_are_written_later(tmp_path: Path):
    """The folder of the weights is a file, so that they cannot be written: rows come after them."""
    folder, log = tmp_path / "out", tmp_path / "log"
    folder.mkdir()
    (folder / "weights").write_text("")
    done = run(folder, environment={"FAULTS_LOG": str(log)})
    assert_one_sentence(done, "Results cannot be written to")
    assert done.returncode == 1 and rows(folder) == [] and steps_of(log) == 6
    (folder / "weights").unlink()
    again = run(folder, environment={"FAULTS_LOG": str(log)})
    assert again.returncode == 0 and len(rows(folder)) == 8 and steps_of(log) == 12, again.stderr


@pytest.mark.parametrize("name", ["checkpoints", "locks"])
def test_a_file_in_the_place_of_a_folder(name: str, tmp_path: Path, finished: Path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / name).write_text("")
    done = run(folder)
    assert_one_sentence(done, "")
    (folder / name).unlink()
    again = run(folder)
    assert again.returncode == 0 and rows(folder) == rows(finished), again.stderr


@contextmanager
def closed(*paths: Path, mode: int = 0o555) -> Iterator[None]:
    before = [path.stat().st_mode for path in paths]
    for path in paths:
        path.chmod(mode)
    try:
        yield
    finally:
        for path, earlier in zip(paths, before, strict=True):
            path.chmod(earlier)


def test_a_folder_that_may_not_be_written_is_shown_and_not_run(folder: Path, finished: Path, table: str):
    with closed(folder):
        shown = show(folder, is_root=False)
        assert shown.returncode == 0 and shown.stdout == table, shown.stderr
        done = run(folder, "--seeds", "3", is_root=False)
        assert_one_sentence(done, "cannot be")
        new = run(folder / "new", is_root=False)
        assert_one_sentence(new, "Results cannot be written to")
    assert rows(folder) == rows(finished)


def test_a_read_only_folder_with_a_leftover_log_is_shown_whole(folder: Path, finished: Path):
    leave_a_log(folder, finished)
    with closed(folder):
        shown = show(folder, is_root=False)
    assert shown.returncode == 0 and "seed 2" in shown.stdout, shown.stderr


def test_a_file_that_may_not_be_read(folder: Path):
    with closed(folder / "results.db", mode=0):
        assert_one_sentence(show(folder, is_root=False), "cannot be")
    with closed(folder, mode=0):
        assert_one_sentence(show(folder, is_root=False), "is not readable")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip("a disk can be mounted by root only")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_a_disk_that_is_really_full(small_disk: Path, finished: Path):
    assert run(small_disk / "out", "--task", "sums").returncode == 0
    before = rows(small_disk / "out")
    filler = small_disk / "filler"
    with filler.open("wb") as file, pytest.raises(OSError):
        while True:
            os.write(file.fileno(), bytes(1024))
    done = run(small_disk / "out")
    assert_one_sentence(done, "")
    assert done.returncode == 1
    filler.unlink()
    assert rows(small_disk / "out") == before
    again = run(small_disk / "out")
    assert again.returncode == 0 and rows(small_disk / "out") == rows(finished), again.stderr


# Checkpoints and weights.


def newest(folder: Path) -> Path:
    return max(folder.glob("checkpoints/*/*.ckpt"))


def change(old: bytes, new: bytes) -> Callable[[Path], object]:
    def damage(path: Path) -> None:
        content = path.read_bytes()
        assert old in content
        path.write_bytes(content.replace(old, new, 1))

    return damage


def turn_into_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


FILES: dict[str, Callable[[Path], object]] = {
    "an edited header": change(b'"done": 4', b'"done": 6'),
    "a missing key": change(b'"done"', b'"dome"'),
    "another name of an array": change(b'"sums"', b'"sumo"'),
    "a cut end": lambda path: path.write_bytes(path.read_bytes()[:-7]),
    "an empty file": lambda path: path.write_bytes(b""),
    "another format": change(b"humboldt checkpoint 2", b"humboldt checkpoint 1"),
    "a folder of that name": turn_into_folder,
    "a changed number": lambda path: path.write_bytes(path.read_bytes()[:-40] + bytes(8) + path.read_bytes()[-32:]),
}


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that killed itself after four of six steps."""
    folder = tmp_path_factory.mktemp("faults") / "killed"
    done = run(folder, environment={"FAULTS_DIE": "4"})
    assert done.returncode == -9 and newest(folder).name == "done-000000004.ckpt"
    return folder


@pytest.mark.parametrize("name", some(FILES))
def test_a_damaged_checkpoint_costs_a_step_and_no_result(name: str, killed: Path, tmp_path: Path, finished: Path):
    folder = Path(shutil.copytree(killed, tmp_path / "copy"))
    FILES[name](newest(folder))
    done = run(folder)
    assert done.returncode == 0 and rows(folder) == rows(finished), done.stderr
    assert "Damaged checkpoint" in done.stderr and "Going back to the one before." in done.stderr


def test_two_damaged_checkpoints_cost_the_training_and_no_result(killed: Path, tmp_path: Path, finished: Path):
    folder = Path(shutil.copytree(killed, tmp_path / "copy"))
    for path in folder.glob("checkpoints/*/*.ckpt"):
        path.write_bytes(b"")
    done = run(folder)
    assert done.returncode == 0 and rows(folder) == rows(finished), done.stderr
    assert "Starting from the beginning." in done.stderr


#: The other two change what only a checkpoint has.
OF_WEIGHTS = [name for name in FILES if name not in ("an edited header", "a missing key")]


@pytest.mark.parametrize("name", some(OF_WEIGHTS))
def test_damaged_weights_are_trained_again_where_they_are_needed(name: str, folder: Path, finished: Path, table: str):
    weights = min(folder.glob("weights/*/*.weights"))
    FILES[name](weights)
    assert show(folder).stdout == table  # which needs no weights
    inspected = humboldt("inspect", str(folder), "--plugin", PLUGIN, "--input", "a", *which(folder, weights))
    assert_one_sentence(inspected, "weights")
    done = run(folder, "--set", "digits=3")
    assert done.returncode == 0 and set(rows(finished)) < set(rows(folder)), done.stderr
    assert ("kept weights cannot be used" in done.stderr) == (name != "a folder of that name")


def which(folder: Path, weights: Path) -> list[str]:
    """The options that name the member of these weights."""
    from humboldt.core.identity import short_hash

    db = sqlite3.connect(folder / "results.db")
    (task,) = db.execute("SELECT task FROM trainings WHERE training = ?", (weights.parent.name,)).fetchone()
    db.close()
    seed = next(seed for seed in range(9) if short_hash({"seed": seed}) == weights.stem)
    return ["--task", task, "--member", f"seed={seed}"]


def test_weights_of_another_member_are_not_believed(folder: Path):
    first, second = sorted(sorted(folder.glob("weights/*"))[0].glob("*.weights"))
    shutil.copy(second, first)
    done = humboldt("inspect", str(folder), "--plugin", PLUGIN, "--input", "a", *which(folder, first))
    assert_one_sentence(done, "holds the weights of another member")


def test_missing_weights_say_how_to_keep_them(folder: Path):
    shutil.rmtree(folder / "weights")
    done = humboldt("inspect", str(folder), "--plugin", PLUGIN, "--input", "a", "--task", "sums")
    assert_one_sentence(done, "--keep best")


def test_at_least_thirty_faults_were_tried():
    tests = sum(name.startswith("test_") for name in globals())
    assert len(DAMAGE) + 2 * len(FILES) + tests > 60
