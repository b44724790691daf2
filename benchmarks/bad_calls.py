"""Is every wrong call refused? Wrong values, by type, of every option of every command and of every public function.

    python benchmarks/bad_calls.py [--every N] [--only PLACE] [--processes 2] > record.json

Each call runs in a copy (fork) of one process that has imported the package, with a new folder, which is its working
directory, its home and the place of its temporary files; no path outside it is used. It must end with a sentence within
10 s of processor time, and 60 s of time, as other work may be running: no traceback, no success, and no file that is
new or changed. That the same call without the wrong value succeeds is checked for `right_calls` only; elsewhere
(`NOT_BEGUN`, `check`, `run`, `bench`, `load`, `check_model`) a call may be refused for another reason. `--every N`
makes every N-th call only. Prints one JSON record.
"""

import argparse
import contextlib
import gzip
import inspect
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import typing
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import typer.main

import humboldt
from humboldt import cli
from humboldt.errors import HumboldtError
from humboldt.outside.model_check import check_model
from humboldt.running.bench import plan_bench
from humboldt.running.run import run_study
from humboldt.settings import fields
from humboldt.suites import catalogue, suites

MOST_PROCESSOR_SECONDS, MOST_SECONDS = 10, 60.0
LONG, DIGITS, NESTED = "x" * 300, "9" * 5_000, "[" * 100_000
TINY = ["--set", "test_lengths=41,42", "--set", "strings_per_length=2"]
DRY = ["--references", "--no-estimate", "--dry-run"]
CELL = ["chomsky", "--task", "parity_check", "--model", "rnn", "--no-estimate"]
# Calls that succeed, of each command. Every option of the command is then added to each of them with wrong values: an
# option that is not about a call must be refused, too.
COMMANDS: dict[str, list[list[str]]] = {
    "list": [["tasks"], ["settings", "chomsky"]],
    "plan": [CELL, [*CELL, "--settings"], [*CELL, "--slurm"]],
    "run": [
        [*CELL, "--dry-run"],
        ["chomsky", "--preset", "bench_quick", "--task", "parity_check", "--model", "family/lstm", *DRY],
    ],
    "show": [["store"], ["store", "--members"], ["store", "--failures"]],
    "data": [["chomsky", "parity_check"]],
    "describe": [["my.regex"]],
    "score": [["chomsky", "parity_check", "predictions.jsonl", *TINY]],
    "archive": [["store"], ["store", "--output", "archive"]],
    "merge": [["store", "--out", "merged"], ["members.jsonl", "--out", "merged"]],
    "check": [
        ["chomsky", "parity_check", "examples.jsonl"],
        ["task", "chomsky/parity_check"],
        ["model", "mine.py:answer", "--on", "chomsky/parity_check"],
    ],
    "report": [["store"]],
    "plot": [["store", "list"], ["store", "chomsky/scores", "--output", "scores.svg"]],
    "inspect": [["store", "--input", "a b"]],
    "prove": [["bliss", "an_bn", "an_bn.json"], ["bliss", "dyck_1", "dyck_1.json", "--check", "certificate.json"]],
    "export": [["lm-eval", "chomsky", "--out", "exported", "--task", "parity_check"], ["hub", "exported"]],
    "demo": [[]],
    "bench": [["lstm", "--suite", "chomsky", "--no-estimate", "--dry-run"]],
    "reproduced": [["store"], ["store", "--missing"], ["store", "--disagreements"]],
    "references": [[], ["--add", "members.jsonl", "--to", "folder"], ["--picture", "answers.svg"]],
}
# These succeed after more than 10 s: wrong values are refused before that.
NOT_BEGUN = [["demo"], ["export", "hub", "exported"]]
WRONG_NUMBERS = [
    "x",
    "",
    "3.5.5",
    "nan",
    "inf",
    "-inf",
    "-1",
    "1e999",
    DIGITS,
    "５",
    "0x10",
    "1,5",
    "--",
    NESTED,
    "1;2",
]
WRONG_NAMES = ["", " ", "nope", LONG, "../../nope", "\x1b[31mred", "chomsky/parity_check/x", DIGITS, "a\nb", NESTED]
WRONG_FILES = ["", "nowhere/file.json", LONG, "folder", "\x1b[31m/x", DIGITS]
CONTENTS: dict[str, bytes] = {
    "empty": b"",
    "bytes": b"\xff\xfe\0\x80",
    "zeros": b"\0" * 1000,
    "null": b"null\n",
    "list": b"[]\n",
    "object": b"{}\n",
    "number": DIGITS.encode(),
    "nested": NESTED.encode(),
    "keys": b'{"input": 3, "target": [], "prediction": {}, "training": 1, "symbols": "a", "units": {}}\n',
    "inside": b'{"input": ' + NESTED.encode() + b"}\n",
    "escape": b"\x1b[31mred\n",
}
# Files with these contents are given to the options that read a file, with the endings that they accept.
ENDINGS = {
    ("describe", "file"): ("regex", "automaton", "grammar"),
    ("score", "file"): ("jsonl", "tsv", "parquet", "eval", "json"),
    ("score", "twin"): ("jsonl", "tsv"),
    ("check", "file"): ("jsonl",),
    ("check", "task"): ("py:answer",),
    ("merge", "folders"): ("jsonl",),
    ("prove", "network"): ("json",),
    ("prove", "check"): ("json",),
    ("references", "add"): ("jsonl", "jsonl.gz"),
}
# An empty pattern is a language; so is a pattern of these letters.
LANGUAGES = {("empty", "regex"), ("null", "regex"), ("number", "regex")}
PLUGINS = {
    "exits": "raise SystemExit(0)",
    "raises": "class Stop(BaseException): pass\nraise Stop('x' * 1000)",
    "fails": "1 / 0",
    "lacks": "import a_module_that_is_not_there",
    "syntax": "def",
    "nested": "(" * 1000,
    "bytes": "\0",
}
WRONG_FOLDERS = ["", LONG, "examples.jsonl", "examples.jsonl/x"]
WRONG_SETTINGS = ["", "=", "steps", "steps=", "nope=3", f"steps={DIGITS}", f"{LONG}=1", "steps=-1", "steps=1=2", NESTED]
# Options that any text fits.
FREE = {("score", "name"), ("inspect", "input_"), ("export", "end")}


@dataclass(frozen=True)
class Call:
    """One wrong call: its words for the record, and the function to be called in the child process."""

    place: str
    value: str
    function: Callable[[], object]


def prepare(folder: Path, *, trains: bool = True) -> None:
    """Makes the files that the calls refer to. `trains`: whether a member is trained, which `inspect` needs."""
    if trains:
        sizes = ("steps=1", "hidden_size=2", "batch_size=2", "test_lengths=41,42", "strings_per_length=2")
        cell = ["--task", "parity_check", "--model", "rnn", "--seeds", "1", "--set", "learning_rates=1e-3"]
        options = [text for size in sizes for text in ("--set", size)]
        program = [sys.executable, "-m", "humboldt", "run", "chomsky", *cell, *options, "--out", "store"]
        subprocess.run(program, cwd=folder, check=True, capture_output=True)
    else:
        few = {"test_lengths": (41, 42), "strings_per_length": 2}
        humboldt.score("chomsky", answer, tasks="parity_check", settings=few, out=folder / "store")
    (folder / "folder").mkdir()
    (folder / "my.regex").write_text("(a|b)*abb\n")
    (folder / "mine.py").write_text("def answer(inputs):\n    return ['a' for _ in inputs]\n")
    for network, name in (("an_bn_figure_4", "an_bn"), ("dyck_1", "dyck_1")):
        text = resources.files("humboldt.mdl").joinpath("networks", f"{network}.json").read_text()
        (folder / f"{name}.json").write_text(text)
    certificate = ["dyck_1", str(folder / "dyck_1.json"), "--certificate", str(folder / "certificate.json")]
    said_by("prove", "bliss", *certificate)
    members = resources.files("humboldt.references").joinpath("chomsky.jsonl.gz").read_bytes()
    (folder / "members.jsonl").write_bytes(gzip.decompress(members))
    examples = said_by("data", "chomsky", "parity_check", "--split", "test", *TINY)
    (folder / "examples.jsonl").write_text(examples)
    rows = [json.loads(line) for line in examples.splitlines()]
    written = [json.dumps({**row, "prediction": row["target"]}) + "\n" for row in rows]
    (folder / "predictions.jsonl").write_text("".join(written))
    (folder / "wrong").mkdir()
    for ending in sorted({ending for endings in ENDINGS.values() for ending in endings}):
        for name, content in CONTENTS.items():
            packed = gzip.compress(content) if ending.endswith(".gz") else content
            (folder / "wrong" / f"{name}.{ending.partition(':')[0]}").write_bytes(packed)
    for name, text in PLUGINS.items():
        (folder / "wrong" / f"plugin_{name}.py").write_text(text)


def said_by(*arguments: str) -> str:
    """Returns what a command prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        command(list(arguments))
    return said.getvalue()


def command(arguments: list[str]) -> None:
    """Runs the command line in this process."""
    before, sys.argv = sys.argv, ["humboldt", *arguments]
    try:
        cli.main()
    except SystemExit as error:
        if error.code:
            raise
    finally:
        sys.argv = before


def command_calls() -> Iterator[Call]:
    """Every option of every command with wrong values of its type."""
    group: Any = typer.main.get_command(cli.app)
    for name, bases in COMMANDS.items():
        parameters = group.commands[name].params
        kinds = typing.get_type_hints(inspect.unwrap(group.commands[name].callback))
        at = [parameter.name for parameter in parameters if not parameter.opts[0].startswith("-")]
        for base in bases:
            given = next((place for place, word in enumerate(base) if word.startswith("-")), len(base))
            for parameter in parameters:
                if (name, parameter.name) in FREE or parameter.name == "help":
                    continue
                values = [*wrong_texts(parameter, kinds[parameter.name]), *wrong_contents(name, parameter.name)]
                if base[:1] == ["hub"] and parameter.name == "what":
                    values = WRONG_FOLDERS
                for value in values:
                    if parameter.name in at:
                        place = min(at.index(parameter.name), given)  # one that is not given comes after the others
                        arguments = [*base[:place], value, *base[place + (place < given) :]]
                    elif getattr(parameter, "is_flag", False):
                        arguments = [*base, f"{parameter.opts[0]}={value}"]
                    else:
                        arguments = [*base, parameter.opts[0], value]
                    place = " ".join([name, *base[: given or 2], parameter.opts[0]])
                    yield Call(place, short(value), lambda a=[name, *arguments]: command(a))


def wrong_contents(name: str, option: str) -> list[str]:
    """Returns files with a wrong content for an option."""
    if option == "plugin":
        return [f"wrong/plugin_{content}.py" for content in PLUGINS]
    endings = ENDINGS.get((name, option), ())
    return [
        f"wrong/{content}.{ending}" for ending in endings for content in CONTENTS if (content, ending) not in LANGUAGES
    ]


def wrong_texts(parameter: Any, annotation: Any) -> list[str]:
    """Returns wrong values for an option."""
    kinds, option = {annotation, *typing.get_args(annotation)}, parameter.name
    if bool in kinds:
        return ["x", "3", "", LONG]
    if int in kinds or float in kinds:
        return WRONG_NUMBERS
    if option in ("add", "to"):
        return WRONG_FOLDERS
    if option in ("out", "folder", "folders"):
        return [*WRONG_FOLDERS, *(["nowhere", "folder"] if option != "out" else [])]
    if option == "set_":
        return WRONG_SETTINGS
    if option == "member":
        return ["", "=", "seed", f"seed={DIGITS}", f"seed={NESTED}", "nope=3", LONG]
    if Path in kinds or list[Path] in kinds:
        return WRONG_FILES
    return WRONG_NAMES


def setting_calls() -> Iterator[Call]:
    """Every number among the settings of every suite, with wrong values."""
    for suite_name in suites.names():
        suite = suites.get(suite_name)
        for task, model in [next(iter(catalogue_pairs(suite)))]:
            for cls in catalogue.settings_classes(suite, task, model):
                for field in fields(cls):
                    for value in ("", "x", "nan", "inf", DIGITS, "５", LONG, "1,,2", "--", NESTED[:1000], "true false"):
                        if field.kind is str or (value == "nan" and field.kind is Any):
                            continue
                        cell = ["--task", task, "--model", model, "--no-estimate", "--set", f"{field.name}={value}"]
                        place = f"plan {suite_name} --set {field.name}"
                        yield Call(place, short(value), lambda a=["plan", suite_name, *cell]: command(a))


def catalogue_pairs(suite: Any) -> Iterator[tuple[str, str]]:
    for task in catalogue.tasks(suite):
        for model in catalogue.models(suite):
            yield task, model


def answer(inputs: list[list[str]]) -> list[str]:
    return ["a" for _ in inputs]


def small_study() -> Any:
    return humboldt.plan("chomsky", tasks="parity_check", models="rnn", settings={"steps": 1}, out="results")


FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "plan": (humboldt.plan, {"suite": "chomsky", "tasks": ["parity_check"], "models": ["rnn"]}),
    "run": (humboldt.run, {"suite": "chomsky", "tasks": ["parity_check"], "models": ["rnn"]}),
    "run_study": (lambda **o: run_study(**{"study": small_study(), **o}), {}),
    "only": (lambda **o: small_study().only(**o), {"ids": []}),
    "load": (humboldt.load, {"folder": "store"}),
    "score": (
        humboldt.score,
        {
            "suite": "chomsky",
            "predict": answer,
            "tasks": "parity_check",
            "settings": {"test_lengths": (41, 42), "strings_per_length": 2},
        },
    ),
    "bench": (humboldt.bench, {"models": "lstm", "suites": "chomsky"}),
    "reproduced": (humboldt.reproduced, {"folder": "store"}),
    "batches": (humboldt.batches, {"suite": "chomsky", "task": "parity_check"}),
    "symbols": (humboldt.symbols, {"suite": "chomsky", "task": "parity_check"}),
    "register": (humboldt.register, {"name": "mine"}),
    "check_model": (check_model, {"model": answer, "suite": "chomsky", "task": "parity_check"}),
}
WRONG: dict[str, Any] = {
    "None": None,
    "3": 3,
    "3.5": 3.5,
    "True": True,
    "-1": -1,
    "nan": float("nan"),
    "inf": float("inf"),
    "10**5000": 10**5000,
    "''": "",
    "' '": " ",
    "'nope'": "nope",
    "'x' * 300": LONG,
    "'\\0'": "a\0b",
    "'\\ud800'": "\ud800",
    "b'chomsky'": b"chomsky",
    "[3]": [3],
    "[None]": [None],
    "['']": [""],
    "{3: 4}": {3: 4},
    "{'nope': 1}": {"nope": 1},
    "{'steps': 10**5000}": {"steps": 10**5000},
    "{'steps': object()}": {"steps": object()},
    "object()": object(),
    "int": int,
    "a lambda": lambda: None,
    "a generator": (name for name in ("parity_check",)),
}
NAMED, NUMBER = {"3", "3.5"}, {"3"}
# The values that are right for a parameter; where a parameter may be left out, None is, too.
RIGHT: dict[str, set[str]] = {
    "seeds": {*NUMBER, "None"},
    "seed": NUMBER,
    "start": NUMBER,
    "count": {*NUMBER, "None"},
    "version": {*NUMBER, "None"},
    "save_every": NAMED,
    "progress": {"True", "None", "int", "a lambda"},
    "executor": {"None"},
    "match_parameters": {"True"},
    "fused": {"True"},
    "settings": {"None"},
    "out": {"None", "' '", "'nope'"},
    "suite": set(),
    "experiments": set(),
    "twin": {"None"},
    "split": {"None"},
    "model": {"None"},
    "task": set(),
    "member": {"None"},
    "name": {"'nope'", "'x' * 300", "'\\0'", "'\\ud800'"},
    "predict": {"int", "a lambda"},
    "folder": set(),
    "parameters": {*NUMBER, "None"},
    "answered": {"None", "int", "a lambda"},
}
# None means something only where a function says so.
NO_NONE = {
    *((name, "out") for name in ("plan", "run", "bench")),
    *((name, "progress") for name in ("run", "run_study", "bench")),
    ("check_model", "model"),
}
ALSO_RIGHT = {
    ("run_study", "study"): set(),
    ("load", "suite"): {"None"},
    ("load", "task"): {"None"},
    ("reproduced", "suite"): {"None"},
}
PASSED_ON: dict[str, Callable[..., Any]] = {"run": humboldt.plan, "bench": plan_bench}  # they take its arguments, too


def python_calls() -> Iterator[Call]:
    """Every parameter of every public function with wrong values."""
    for name, (function, base) in FUNCTIONS.items():
        named = {"run_study": run_study, "only": humboldt.Study.only}.get(name, function)
        parameters = [p for p in inspect.signature(named).parameters if p not in ("self", "options", "announces")]
        if name in PASSED_ON:
            parameters += [p for p in inspect.signature(PASSED_ON[name]).parameters if p not in parameters]
        for parameter in parameters:
            right = ALSO_RIGHT.get((name, parameter), RIGHT.get(parameter, set()))
            for text, value in WRONG.items():
                if text in right and not (text == "None" and (name, parameter) in NO_NONE):
                    continue
                if (name, parameter) == ("check_model", "model") and text in ("int", "a lambda", "object()"):
                    continue  # it is called, and the check says that it failed
                options = {**base, parameter: value}
                yield Call(f"humboldt.{name} {parameter}=", text, lambda f=function, o=options: checked(f(**o)))
        yield Call(f"humboldt.{name}", "an unknown argument", lambda f=function, b=base: f(**b, unknown=3))


def checked(result: Any) -> Any:
    """A check of a model that did not pass is a refusal, too."""
    if hasattr(result, "passed") and not result.passed:
        raise HumboldtError(str(result))
    return result


def short(value: str) -> str:
    return value if len(value) <= 24 else f"{value[:12]}... ({len(value)} characters)"


class Outcome(NamedTuple):
    """What came of a call, the time and the processor time that it took, and what it said at its end."""

    result: str
    seconds: float
    processor_seconds: float
    said: str


def outcome(call: Call, prepared: Path) -> Outcome:
    """Makes a call in a child process."""
    with tempfile.TemporaryDirectory(prefix="humboldt-calls-") as place:
        folder = Path(place) / "folder"
        shutil.copytree(prepared, folder)
        before = contents(folder)
        begin = time.monotonic()
        process = os.fork()
        if not process:
            child(call, folder, Path(place) / "said")
        code, processor_seconds = wait(process)
        seconds = time.monotonic() - begin
        said = (Path(place) / "said").read_text(errors="replace")
        after = contents(folder)
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    if code is None:
        return Outcome("too slow", seconds, processor_seconds, said[-300:])
    if "Traceback (most recent call last)" in said or code not in (0, 1, 2):
        return Outcome("traceback", seconds, processor_seconds, said[-300:])
    if code == 0:
        return Outcome("accepted", seconds, processor_seconds, said[-300:])
    if changed:
        return Outcome("half-written", seconds, processor_seconds, str(changed))
    return Outcome("refused", seconds, processor_seconds, said[-300:])


def child(call: Call, folder: Path, said: Path) -> None:
    """The child process: what it says goes to a file; it ends with the code of the command line."""
    code = 99
    try:
        os.chdir(folder)
        output = os.open(said, os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        for variable in ("XDG_CACHE_HOME", "HOME", "TMPDIR"):
            os.environ[variable] = str(said.parent)
        tempfile.tempdir = str(said.parent)
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_PROCESSOR_SECONDS, MOST_PROCESSOR_SECONDS))
        try:
            call.function()
            code = 0
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        except HumboldtError as error:
            print(error)
            code = error.exit_code
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def wait(process: int) -> tuple[int | None, float]:
    """Returns the exit code of a process and its processor time; kills it, and the code is `None`, if it is slow."""
    end = time.monotonic() + MOST_SECONDS
    pause = 0.001
    while True:
        done, status, used = os.wait4(process, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.kill(process, signal.SIGKILL)
        time.sleep(pause)
        pause = min(0.05, pause * 1.5)
    code = os.waitstatus_to_exitcode(status)
    return None if code in (-signal.SIGKILL, -signal.SIGXCPU) else code, used.ru_utime + used.ru_stime


def contents(folder: Path) -> dict[str, bytes | None]:
    """Returns all files and folders, but for those that SQLite has beside a database while it is open for reading."""
    paths = [path for path in folder.rglob("*") if not path.name.endswith(("-shm", "-wal"))]
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


def all_calls() -> list[Call]:
    return [*command_calls(), *setting_calls(), *python_calls()]


def right_calls() -> list[Call]:
    """The calls that wrong values are put into: they succeed."""
    commands = [
        Call(" ".join([name, *base]), "", lambda a=[name, *base]: command(a))
        for name, bases in COMMANDS.items()
        for base in bases
        if [name, *base] not in NOT_BEGUN
    ]
    functions = [
        Call(f"humboldt.{name}", "", lambda f=function, b=base: f(**b))
        for name, (function, base) in FUNCTIONS.items()
        if name not in ("run", "run_study", "load", "check_model", "bench")
    ]
    return [*commands, *functions]


_SHARED: list[Any] = []


def _share(calls: list[Call], prepared: Path) -> None:
    _SHARED[:] = [calls, prepared]  # processes are forked, so that calls need not be pickled


def _numbered(number: int) -> Outcome:
    calls, prepared = _SHARED
    return outcome(calls[number], prepared)


def main() -> None:
    from _record import report

    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="", help="the beginning of the places of calls: `check`, `humboldt.load`")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="humboldt-calls-") as place:
        prepared = Path(place) / "prepared"
        prepared.mkdir()
        prepare(prepared)
        for call in right_calls():
            made = outcome(call, prepared)
            assert made.result == "accepted", (call.place, made)
        calls = [call for call in all_calls() if call.place.startswith(options.only)][:: options.every]
        with get_context("fork").Pool(options.processes, initializer=_share, initargs=(calls, prepared)) as pool:
            outcomes = pool.map(_numbered, range(len(calls)), chunksize=8)
    counts = Counter(made.result for made in outcomes)
    names = ("refused", "accepted", "traceback", "too slow", "half-written")
    slowest = max(zip(calls, outcomes, strict=True), key=lambda pair: pair[1].processor_seconds)
    report(
        "bad_calls",
        {
            "calls": len(calls),
            "of_commands": sum(not call.place.startswith("humboldt.") for call in calls),
            "of_functions": sum(call.place.startswith("humboldt.") for call in calls),
            **{name.replace(" ", "_").replace("-", "_"): counts[name] for name in names},
            "slowest": {
                "call": f"{slowest[0].place} {slowest[0].value}",
                "processor_seconds": round(slowest[1].processor_seconds, 2),
                "seconds": round(slowest[1].seconds, 2),
            },
            "slower_than_10_seconds": sum(made.seconds > 10 for made in outcomes),
            "wrong": [
                [call.place, call.value, made.result, made.said]
                for call, made in zip(calls, outcomes, strict=True)
                if made.result != "refused"
            ],
        },
    )


if __name__ == "__main__":
    main()
