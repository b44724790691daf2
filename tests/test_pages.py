"""The pages for readers: what they show in Python runs."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from kept_support import fill
from pages import PAGES, ROOT, blocks, script

import humboldt
from humboldt.suites import suites

WITH_PYTHON = [page for page in PAGES if any(block.kind == "python" for block in blocks(page))]
NOT_PLAIN = object()  # what a remark is that is no value
# Blocks of this page are complete programs, which tests/test_score_page.py runs one by one.
IN_ONE_PROCESS = [page for page in WITH_PYTHON if page != Path("docs/score.md")]


@pytest.mark.parametrize("suite", suites.names())
def test_the_page_of_a_suite_has_the_four_sections(suite: str):
    headings = re.findall(r"^## (.*)$", (ROOT / f"docs/{suite}.md").read_text(encoding="utf-8"), re.MULTILINE)
    for wanted in ("Tasks", "Protocol", "How to read the score", "Departures"):
        assert sum(heading.startswith(wanted) for heading in headings) == 1, wanted


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that pages speak of. Members there were never trained."""
    small = {"hidden_size": 4, "num_test_lengths": 1, "learning_rates": (1e-3,)}
    for task, model in (("parity_check", "rnn"), ("reverse_string", "stack_rnn")):
        fill(tmp_path / "results", "chomsky", task, model, small)
    for name, function in (("mine", "swap"), ("twin", "swap_syn")):
        row = f"append {function} A B , C\tB A C\tB A C\n"
        (tmp_path / f"{name}.tsv").write_text(f"source\ttarget\tprediction\n{row}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(humboldt, "run", humboldt.plan)  # trainings take minutes; other tests have them
    return tmp_path


def run_statements(text: str, names: dict[str, Any]) -> None:
    """Runs a block as a notebook would. A remark behind a statement is what comes out, where it is a plain value (but
    for members that were never trained), or the error that it must raise."""
    lines = text.splitlines()
    for statement in ast.parse(text).body:
        remark = lines[(statement.end_lineno or 0) - 1].encode()[statement.end_col_offset or 0 :].decode().strip(" #")
        source = ast.get_source_segment(text, statement) or ""
        if isinstance(statement, ast.ClassDef | ast.FunctionDef):  # whose segment begins behind its decorators
            source = "\n".join(lines[_first_line(statement) - 1 : statement.end_lineno])
        error = re.match(r"\w+Error(?=: )", remark)
        if error:
            with pytest.raises(Exception, match=re.escape(remark.partition(": ")[2].removesuffix(" ..."))) as raised:
                exec(source, names)
            assert type(raised.value).__name__ == error.group()
        elif isinstance(statement, ast.Expr):
            value, shown = eval(source, names), _plain_value(remark)
            if shown is not NOT_PLAIN and not source.startswith("member"):
                assert value == shown, source
        else:
            exec(source, names)


def _first_line(statement: ast.ClassDef | ast.FunctionDef) -> int:
    return min([statement.lineno, *(decorator.lineno for decorator in statement.decorator_list)])


def _plain_value(remark: str) -> Any:
    for text in (remark, remark.partition(";")[0], remark.partition(", ")[0]):
        try:
            return ast.literal_eval(text)
        except (SyntaxError, ValueError):
            continue
    return NOT_PLAIN


@pytest.mark.parametrize(
    ("text", "passes"),
    [("1 + 1  # 2", True), ("1 + 1  # 3", False), ("1 + 1  # a sum", True), ("[1, 2]  # [1, 2]; a list", True),
     ("int('x')  # ValueError: invalid literal ...", True), ("int('1')  # ValueError: invalid literal ...", False)],
)  # fmt: skip
def test_remarks_are_held_to_what_comes_out(text: str, passes: bool):
    if passes:
        run_statements(text, {})
    else:
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            run_statements(text, {})


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("registrations_undone")
@pytest.mark.parametrize("page", IN_ONE_PROCESS, ids=str)
def test_python_blocks_run(page: Path, folder: Path):
    names: dict[str, Any] = {"__name__": "__main__", "humboldt": humboldt}
    for block in blocks(page):
        if block.kind == "python" and not block.needs:
            run_statements(block.text, names)


def test_the_notebook_is_that_of_the_tutorial():
    made = script("docs/notebook.py")
    assert made.NOTEBOOK.read_text(encoding="utf-8") == made.notebook(), "Run `python docs/notebook.py`."


def test_the_walk_through_is_recorded():
    """No block is empty, and none is wider than its terminal."""
    recording = script("benchmarks/recording.py")
    blocks = dict(recording.RECORDED.findall(recording.PAGE.read_text(encoding="utf-8")))
    assert len(blocks) == 10
    for name, text in blocks.items():
        assert text.startswith(("$ ", "...\n")), name
        assert max(map(len, text.splitlines())) <= (120 if name.endswith("-120") else 80), name
