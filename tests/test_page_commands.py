"""Every shell command in a block of README.md and docs/*.md: planned if it trains, run if it does not.

A page with a command that this file does not know fails. Then: prepare the files that it reads in `folder`, or add it
to `NOT_RUN` with the reason.
"""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from kept_support import fill
from pages import ROOT, blocks, call

from humboldt import plan
from humboldt.mdl import published_networks

#: Pages whose commands another test runs.
RUN_ELSEWHERE = {"docs/score.md": "tests/test_score_page.py"}

#: What only a long run, or another machine, can show.
NOT_RUN = {
    "git clone <this repository> humboldt": "needs the network",
    "make demo": "trains a part of every suite, for minutes",
    "make test": "this is a part of it",
    "pip wheel --no-deps --wheel-dir dist .": "builds in an environment of its own: tests/extras/test_installation.py",
    "sbatch study.sbatch": "needs a Slurm cluster",
}
#: These need the network.
INSTALLS = ("pip install ", "python -m venv ", "python -m pip ", "source .venv/")
#: Programs of others, in scripts for clusters.
NOT_OURS = ("export", "srun", "ray", "sleep", "cd", "head=$(scontrol")

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPENING = re.compile(r"^ *(humboldt|python3?|make|sh|bash|pip|git|sbatch) ")


def commands_of(page: Path) -> list[str]:
    """All commands in the blocks of a page, without comments, `&&` and what the shell does with their output."""
    found = []
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines() if language in ("", "bash", "sh") else ():
            if OPENING.match(line):
                whole = re.sub(r"\s+#.*$| > \S+$| &$", "", line.strip())
                found += [part for part in whole.split(" && ") if part.split()[0] not in NOT_OURS]
    return found


PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
COMMANDS = {
    command: str(page.relative_to(ROOT))
    for page in PAGES
    if str(page.relative_to(ROOT)) not in RUN_ELSEWHERE
    for command in commands_of(page)
}
HUMBOLDT = [command for command in COMMANDS if command.startswith("humboldt ")]
QUICK = {"steps": 4000, "batch_size": 32, "hidden_size": 4, "num_test_lengths": 24, "strings_per_length": 64}


def marked(command: str) -> object:
    """PyTorch is installed for the extras only; to try out a network takes seconds."""
    is_extra = "pytorch" in command or "check model my_file.py:GRU" in command
    return pytest.param(command, marks=[pytest.mark.extras] if is_extra else [])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands run: with the files that they read, and without those that they write."""
    folder = tmp_path_factory.mktemp("pages")
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copytree(ROOT / "tests/page/store", folder / "results")
    for name, task, model in (("kept", "parity_check", "rnn"), ("part-1", "parity_check", "rnn")):
        fill(folder / name, "chomsky", task, model, {**QUICK, "learning_rates": (4e-3,)})
    fill(folder / "kept", "chomsky", "reverse_string", "stack_rnn", {**QUICK, "learning_rates": (4e-3,)})
    fill(folder / "part-2", "chomsky", "even_pairs", "rnn", {**QUICK, "learning_rates": (4e-3,)})
    for name, task in (("network.json", "an_bn_figure_4"), ("dyck_1.json", "dyck_1")):
        (folder / name).write_text(published_networks()[task].to_json())
    jax_model = (ROOT / "examples/jax_linear_recurrence.py").read_text().replace("LinearRecurrence", "GRU")
    reverses = "def predict(inputs):\n    return [symbols[::-1] for symbols in inputs]\n"
    (folder / "my_file.py").write_text(f"{jax_model}\n\n{reverses}")
    own = [block.text for block in blocks("docs/own_task.md") if block.kind == "python"]
    (folder / "my_task.py").write_text(next(text for text in own if '"chomsky/majority"' in text))
    language = next(text for text in own if '"bliss/an_bn_cn_dn_en"' in text)
    (folder / "my_suite.py").write_text(next(text for text in own if '"recall"' in text))
    (folder / "my_language.py").write_text(f"{language}\n\n{language.replace('an_bn_cn_dn_en', 'my_language')}")
    languages = re.findall(r"```text\n(# (\w+\.\w+):.*?)```", (ROOT / "docs/languages.md").read_text(), re.DOTALL)
    for text, name in languages:
        (folder / name).write_text(text)
    for name, other in (("results-here", "part-1"), ("results-there", "part-2")):
        shutil.copytree(folder / other, folder / name)
    (folder / "results/parts").mkdir()
    shutil.copytree(folder / "part-1", folder / "results/parts/0")
    return folder


def prepared(command: str, folder: Path) -> list[str]:
    """The arguments, with those that a test needs: what trains is planned, and little is written."""
    arguments = shlex.split(command)[1:]
    verb = arguments[0]
    for i, text in enumerate(arguments):
        # A file is loaded once, and what it registers is undone each time.
        if text in ("my_task.py", "my_language.py", "my_suite.py"):
            arguments[i] = shutil.copy(text, f"{Path(text).stem}_{len(list(folder.iterdir()))}.py")
    if "ID" in arguments:
        study = plan("chomsky", preset="paper", out=folder / "new")
        arguments[arguments.index("ID")] = study.experiments[0].id
    if verb in ("run", "bench"):
        return [*arguments, "--dry-run", "--no-estimate"]
    if verb == "plan":
        return [*arguments, "--no-estimate"]
    if verb in ("data", "export") and "--count" not in arguments:
        arguments += ["--count", "3"]
    if verb == "inspect":
        arguments[arguments.index("results")] = "kept"
    if verb == "merge":
        arguments[1:-2] = [str(path) for text in arguments[1:-2] for path in Path().glob(text)]
        arguments[-1] = "merged"
    return arguments


def said_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command says that fails."""
    with pytest.raises(AssertionError):
        call(*shlex.split(command)[1:])
    return capsys.readouterr().err


def their_examples(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files of examples and predictions that a command reads are made of our own."""
    _, verb, suite, task, file, *_ = [*shlex.split(command), "", ""]
    if verb == "check" and suite not in ("model", "task"):
        call("data", suite, task, "--count", "30")
        (folder / file).write_text(capsys.readouterr().out)


@pytest.mark.usefixtures("registrations_undone")
@pytest.mark.parametrize("command", [marked(command) for command in HUMBOLDT])
def test_a_command_of_ours_is_understood(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(folder)
    their_examples(command, folder, capsys)
    if command.startswith("humboldt score "):  # all of it is understood, up to the file, which is the reader's
        missing = f"Error: `{shlex.split(command)[4]}` cannot be read: it is not a file."
        assert said_of(command, capsys).startswith(missing)
        return
    call(*prepared(command, folder))


def test_every_other_command_is_known():
    for command, page in COMMANDS.items():
        program, *arguments = shlex.split(command)
        if program == "humboldt" or command in NOT_RUN or command.startswith(INSTALLS):
            continue
        if program == "make":
            targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert arguments[0] in targets, f"{page}: {command}"
        else:
            assert program in ("python", "python3", "sh", "bash"), f"{page}: what is `{command}`?"
            assert (ROOT / arguments[0]).exists(), f"{page}: {command}: there is no {arguments[0]}"


def test_what_is_not_run_is_on_a_page():
    assert NOT_RUN.keys() <= COMMANDS.keys()
    assert len(HUMBOLDT) > 50
