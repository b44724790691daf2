"""Tasks for inspect_ai: its mock model answers our questions, and `humboldt score` reads its logs."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

inspect_ai = pytest.importorskip("inspect_ai")

from inspect_ai import eval as evaluate  # noqa: E402
from inspect_ai.log import EvalLog  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402

from humboldt.errors import HumboldtError  # noqa: E402
from humboldt.outside.inspect_logs import score_logs  # noqa: E402
from humboldt.outside.prompts import Form, Subject  # noqa: E402

pytestmark = [
    pytest.mark.extras,
    pytest.mark.filterwarnings("ignore"),  # inspect_ai warns of its own packages, and leaves streams open
]
USAGE = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # otherwise the mock downloads a tokeniser


def asked(name: str, answer: Any, folder: Path, **arguments: Any) -> EvalLog:
    """Runs a task by its registered name, with a mock model that answers as a function of the prompt."""

    def output(messages: Any, *_: Any) -> ModelOutput:
        found = ModelOutput.from_content("mockllm/model", answer(messages[-1].text))
        found.usage = USAGE
        return found

    model = get_model("mockllm/model", custom_outputs=output)
    (log,) = evaluate(f"humboldt/{name}", model=model, task_args=arguments, log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return log


def numbers(log: EvalLog, measure: str) -> dict[str, float]:
    """The means of one measure by length, as inspect_ai has them."""
    assert log.results is not None
    (scored,) = [scores for scores in log.results.scores if scores.name == measure]
    return {name.removeprefix("grouped_"): metric.value for name, metric in scored.metrics.items()}


def last_input(prompt: str) -> list[str]:
    return prompt.rpartition("Input: ")[2].partition("\n")[0].split()


def reverses_up_to_ten(prompt: str) -> str:
    symbols = last_input(prompt)
    return "Output: " + " ".join(symbols[::-1] if len(symbols) <= 10 else "x" * len(symbols))


def test_a_model_that_knows_the_rule_for_short_strings(tmp_path: Path):
    log = asked("transduce", reverses_up_to_ten, tmp_path, task="reverse_string", lengths=["5", "10", "20"], count=4)
    for measure in ("symbols", "strings"):
        assert numbers(log, measure) == pytest.approx({"5": 1.0, "10": 1.0, "20": 0.0, "all": 2 / 3})
    assert log.samples is not None and len(log.samples) == 12
    for sample in log.samples:
        prompt = str(sample.input)
        assert prompt.count("Input: ") == 9 and prompt.endswith("\nOutput:")
        shown = prompt.split("Input: ")[1:-1]
        assert sample.metadata["strings"][0] not in [block.partition("\n")[0] for block in shown]


def test_the_command_reads_the_log(tmp_path: Path):
    arguments = {"task": "reverse_string", "lengths": [5, 20], "count": 4, "seed": 3}
    log = asked("transduce", reverses_up_to_ten, tmp_path, **arguments)
    command = [sys.executable, "-m", "humboldt", "score", "chomsky", "reverse_string", log.location]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert found["model"] == "mockllm/model"
    symbols, strings = found["readings"]
    assert (symbols["measure"], strings["measure"]) == ("symbols", "strings")
    assert symbols["breakdown"]["length"] == {"5": 1.0, "20": 0.0} and symbols["chance"] == 0.5
    assert (strings["value"], strings["n"]) == (0.5, 8) and strings["low"] < 0.5 < strings["high"]
    wrong = subprocess.run([*command[:5], "even_pairs", log.location], capture_output=True, text=True)
    assert wrong.returncode == 2 and "humboldt score chomsky reverse_string" in " ".join(wrong.stderr.split())


@pytest.mark.parametrize("name", ["recognise", "minimal_pairs"])
def test_an_answer_that_ignores_the_string_is_right_half_of_the_time(name: str, tmp_path: Path):
    said = {"recognise": "The label is **yes**.", "minimal_pairs": "B"}[name]
    log = asked(name, lambda prompt: said, tmp_path, lengths=[6, 12], count=12, shots=4)
    expected = 0.5 if name == "recognise" else numbers(log, "strings")["all"]
    assert numbers(log, "strings")["all"] == expected and 0 < expected < 1
    suite, task = ("recognition", "parity") if name == "recognise" else ("syntax", "nested_dependency")
    card = score_logs(suite, task, [Path(log.location)])
    (reading,) = card.readings()
    assert reading["measure"] == "accuracy" and reading["value"] == expected and reading["n"] == 24
    assert "mockllm/model" in card.short()


def test_an_answer_by_the_oracle_is_always_right(tmp_path: Path):
    subject = Subject(Form.MINIMAL_PAIRS, "syntax", "cross_serial_dependency")

    def answer(prompt: str) -> str:
        lines = prompt.splitlines()
        return subject.target((lines[-3].removeprefix("A: "), lines[-2].removeprefix("B: ")))

    log = asked("minimal_pairs", answer, tmp_path, task="cross_serial_dependency", lengths=[10], count=6, shots=2)
    assert numbers(log, "strings") == {"10": 1.0, "all": 1.0}


def test_strings_follow_from_the_seed(tmp_path: Path):
    def strings(seed: int) -> list[Any]:
        log = asked("recognise", lambda prompt: "no", tmp_path, lengths=[8], count=8, shots=2, seed=seed)
        return [sample.input for sample in log.samples or []]

    assert strings(1) == strings(1) != strings(2)


def test_a_log_of_another_version_of_the_task_is_refused(tmp_path: Path):
    log = asked("transduce", reverses_up_to_ten, tmp_path, lengths=[5], count=2, shots=1)
    assert log.samples is not None
    log.samples[0].target = "b"
    inspect_ai.log.write_eval_log(log, str(tmp_path / "changed.json"))
    with pytest.raises(Exception, match="another version of the task"):
        score_logs("chomsky", "reverse_string", [tmp_path / "changed.json"])


def test_metadata_of_another_form_are_a_sentence(tmp_path: Path):
    log = asked("transduce", reverses_up_to_ten, tmp_path, lengths=[5], count=1, shots=1)
    assert log.samples is not None
    written = dict(log.samples[0].metadata)
    missing = [{key: value for key, value in written.items() if key != name} for name in written]
    others = [{**written, name: value} for name in written for value in (3, "x", None, [], {"a": [1]})]
    accepted = []
    for about in ({}, *missing, *others):
        log.samples[0].metadata = about
        inspect_ai.log.write_eval_log(log, str(tmp_path / "changed.json"))
        try:
            score_logs("chomsky", "reverse_string", [tmp_path / "changed.json"]).to_dict()
            accepted.append({name for name in written if about.get(name) != written[name]})
        except HumboldtError:
            continue
    assert all(names <= {"length", "shots", "seed"} for names in accepted), accepted


def test_wrong_arguments_are_named(tmp_path: Path):
    for arguments, text in (
        ({"task": "reverse"}, "reverse_string"),
        ({"suite": "pcfg_set"}, "chomsky, tracking"),
        ({"lengths": "many"}, "whole numbers"),
        ({"lengths": [1], "shots": 8}, "shots=8"),
    ):
        with pytest.raises(Exception, match=text):
            asked("transduce", lambda prompt: "", tmp_path, **arguments)
