"""`humboldt check model`: sound models pass; each fault is found, and named with what to do."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import humboldt
from humboldt import cli
from humboldt.errors import RunError
from humboldt.languages import tasks
from humboldt.measures.bliss import Oracle
from humboldt.outside.model_check import check_model

REVERSE: Any = tasks.get("chomsky/reverse_string")()
AN_BN: Any = tasks.get("bliss/an_bn")()
BLISS = {"factors": 1, "order": 1}


def failed(model: Any, suite: str = "chomsky", task: str = "reverse_string", **settings: Any) -> set[str]:
    report = check_model(model, suite, task, settings=settings)
    assert all(finding.advice for finding in report.findings if not finding.passed)
    return {finding.check for finding in report.findings if not finding.passed}


def right(inputs: list[list[str]]) -> list[list[str]]:
    return [symbols[::-1] for symbols in inputs]


class Draws:
    rng = np.random.default_rng(0)

    def __call__(self, inputs: list[list[str]]) -> list[list[str]]:
        return [["a" if self.rng.random() < 0.5 else "b"] * len(symbols) for symbols in inputs]


def reads_the_padding(inputs: list[list[str]]) -> list[list[str]]:
    longest = max(map(len, inputs))
    return [["a" if len(symbols) < longest else "b"] * len(symbols) for symbols in inputs]


def remembers_the_row_before(inputs: list[list[str]]) -> list[list[str]]:
    before = [[], *inputs[:-1]]
    return [["a" if len(one) % 2 else "b"] * len(two) for one, two in zip(before, inputs, strict=True)]


def test_answers():
    assert failed(right) == set()
    assert failed(lambda inputs: [["x"]] * len(inputs)) == {"answers"}
    assert failed(lambda inputs: [["a"]] * len(inputs)) == {"length of answers"}
    assert "asked twice" in failed(Draws())
    assert failed(reads_the_padding) == {"each alone"}
    assert failed(remembers_the_row_before) == {"other order", "each alone"}
    make: Any = tasks.get("syntax/adj_n_np")
    language = make(terminals=2)
    assert failed(lambda inputs: [language.accepts(x) for x in inputs], "syntax", "adj_n_np", train=20) == set()
    assert failed(lambda inputs: [0.5 for x in inputs], "syntax", "adj_n_np", train=20) == {"answers"}


def distributions(string: list[str]) -> np.ndarray:
    return np.stack([AN_BN.next_distribution(string[1:n]) for n in range(1, len(string) + 1)])


def test_distributions():
    assert failed(Oracle(AN_BN), "bliss", "an_bn", **BLISS) == set()
    assert failed(lambda p: [distributions(x)[-1] for x in p], "bliss", "an_bn", **BLISS) == set()
    sound = humboldt.NextSymbols(lambda strings: [distributions(x) for x in strings])
    assert failed(sound, "bliss", "an_bn", **BLISS) == set()
    sees_the_end = humboldt.NextSymbols(lambda strings: [distributions(x)[::-1].copy() for x in strings])
    assert failed(sees_the_end, "bliss", "an_bn", **BLISS) == {"causality"}
    logits = humboldt.NextSymbols(lambda strings: [distributions(x) * 2 for x in strings])
    assert failed(logits, "bliss", "an_bn", **BLISS) == {"distributions"}


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    functions = "def good(inputs):\n    return [x[::-1] for x in inputs]\n"
    (tmp_path / "mine.py").write_text(f"{functions}\ndef bad(inputs):\n    return [x[:1] for x in inputs]\n")

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["humboldt", "check", "model", *arguments])
        with pytest.raises(SystemExit) as leaving:
            cli.main()
        captured = capsys.readouterr()
        return int(leaving.value.code or 0), captured.out, captured.err

    on = "--on", "chomsky/reverse_string"
    code, out, _ = run(f"{tmp_path}/mine.py:good", *on)
    assert code == 0 and "Ready to be scored." in out and "a second" in out
    code, out, _ = run(f"{tmp_path}/mine.py:bad", *on)
    assert code == 1 and "FAILED  length of answers" in out
    assert "Did you mean 'good'" in run(f"{tmp_path}/mine.py:goood", *on)[2]
    assert "Say which of its models: good, bad. Write e.g." in run(f"{tmp_path}/mine.py", *on)[2]
    assert "e.g. my_file.py:predict" in run("mine", *on)[2]
    assert "--on chomsky/parity_check" in run(f"{tmp_path}/mine.py:good")[2]


class Odd(BaseException):
    """It is not an `Exception`."""


def test_a_model_that_ends_the_program_or_empties_its_inputs_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def exits(inputs: list[list[str]]) -> list[list[str]]:
        sys.exit(0)

    def is_odd(inputs: list[list[str]]) -> list[list[str]]:
        raise Odd("odd")

    def empties(inputs: list[list[str]]) -> list[list[str]]:
        inputs.clear()
        return []

    def empties_each(inputs: list[list[str]]) -> list[list[str]]:
        answers = right(inputs)
        for one in inputs:
            one.clear()
        return answers

    assert failed(exits) == failed(is_odd) == failed(empties) == {"answers"}
    assert failed(empties_each) == set()
    with pytest.raises(RunError, match="SystemExit"):
        humboldt.score("chomsky", exits, tasks="reverse_string", preset="quick")
    (tmp_path / "model.py").write_text("import sys\ndef predict(inputs):\n    sys.exit(0)\n")
    (tmp_path / "plugin.py").write_text("class Odd(BaseException): ...\nraise Odd('odd')\n")
    for arguments in (
        ["check", "model", f"{tmp_path / 'model.py'}:predict", "--on", "chomsky/parity_check"],
        ["list", "tasks", "--plugin", str(tmp_path / "plugin.py")],
    ):
        sys.argv = ["humboldt", *arguments]
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code in (1, 2) and "Traceback" not in capsys.readouterr().err
