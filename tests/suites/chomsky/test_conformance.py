import json
from collections.abc import Callable

import pytest

from humboldt.errors import UsageError
from humboldt.languages import tasks
from humboldt.suites.chomsky.conformance import golden
from humboldt.suites.chomsky.conformance.check import Report, check_file
from humboldt.suites.chomsky.conformance.forms import FORMS
from humboldt.suites.chomsky.conformance.readings import READINGS, Symbols

NAMES = [name.removeprefix("chomsky/") for name in tasks.names("chomsky/")]
GOLDEN = {
    name: [json.loads(line) for line in golden.path(name).read_text(encoding="utf-8").splitlines()] for name in NAMES
}


def check(name: str, change: Callable[[Symbols, Symbols], Symbols]) -> Report:
    """The report on the golden inputs with targets that `change` makes of an input and its right target."""

    def changed(record: dict[str, str]) -> str:
        target = change(record["input"].split(" "), record["target"].split(" "))
        return json.dumps({"input": record["input"], "target": " ".join(target)})

    return check_file(name, map(changed, GOLDEN[name]))


@pytest.mark.parametrize("name", NAMES)
def test_golden_vectors_agree(name: str):
    report = check_file(name, golden.path(name).read_text(encoding="utf-8").splitlines(keepends=True))
    assert report.agrees and not report.explanations
    assert str(report) == f"chomsky/{name}: all {len(GOLDEN[name])} examples agree with the definition."


@pytest.mark.parametrize("name", NAMES)
def test_one_wrong_target_is_found(name: str):
    wrong = {"input": GOLDEN[name][3]["input"], "target": "nonsense"}
    report = check_file(f"chomsky/{name}", map(json.dumps, [*GOLDEN[name][:3], wrong, *GOLDEN[name][4:]]))
    (found,) = report.disagreements
    assert (found.line, found.input, found.target) == (4, wrong["input"], "nonsense")
    assert found.expected == GOLDEN[name][3]["target"]
    assert "No alternative definition that we know" in str(report)


@pytest.mark.parametrize(
    ("name", "says"), [(name, reading.says) for name in NAMES for reading in READINGS[name]], ids=lambda text: text[:40]
)
def test_every_reading_is_recognised_by_the_golden_inputs(name: str, says: str):
    reading = next(reading for reading in READINGS[name] if reading.says == says)
    report = check(name, lambda symbols, _: reading.target(symbols))
    assert [diagnosis.says for diagnosis in report.diagnoses] == [says]
    assert report.diagnoses[0].disagreements == len(report.disagreements) > 0
    assert report.diagnoses[0].examples == report.examples
    assert f"Looks as if {says}: " in str(report)


def translated(**table: str) -> Callable[[Symbols, Symbols], Symbols]:
    return lambda _, target: [table[symbol] for symbol in target]


def in_front(zeros: int) -> Callable[[Symbols, Symbols], Symbols]:
    """For the result alone big-endian, with some zeros more than needed."""
    return lambda _, target: [*"0" * zeros, *target[-2::-1], "#"]


LATER = " most significant digit first, and "
WRITTEN: list[tuple[str, Callable[[Symbols, Symbols], Symbols], str]] = [
    ("parity_check", translated(a="0", b="1"), "the labels are written as 0 for 'a' and 1 for 'b'"),
    ("even_pairs", translated(a="1", b="0"), "the labels are written as 1 for 'a' and 0 for 'b'"),
    ("parity_check", translated(a="False", b="True"), "the labels are written as True for 'b' and False for 'a'"),
    ("cycle_navigation", lambda s, _: [str(s.count("1") - s.count("2"))], "the value is not reduced modulo 5"),
    ("modular_arithmetic_simple", lambda s, _: [str(eval("".join(s)))], "the value is not reduced modulo 5"),
    ("modular_arithmetic", lambda s, _: [str(eval("".join(s)))], "the value is not reduced modulo 5"),
    ("stack_manipulation", lambda _, t: t[:-1], "the terminator '#' is missing"),
    ("stack_manipulation", lambda s, t: t + ["a"] * (len(s) + 1 - len(t)), "the target is padded after the terminator"),
    ("reverse_string", lambda _, t: [*t, "#"], "the target ends with a terminator '#' that the task does not have"),
    ("bucket_sort", lambda _, t: ["".join(t)], "the symbols of the target are not separated by spaces"),
    ("binary_addition", lambda _, t: t[:-1], "the terminator '#' is missing"),
    ("binary_addition", lambda _, t: [*t, "0", "0"], "the target is padded after the terminator '#'"),
    ("binary_addition", lambda _, t: [*t[:-1], "0", "#"], "leading zeros (here the last ones) are kept"),
    ("binary_multiplication", lambda _, t: [*t[:-1], "0"], "leading zeros (here the last ones) are kept and the term"),
    ("binary_addition", in_front(2), f"the result alone is written{LATER}leading zeros are kept at the beginning"),
    (
        "binary_multiplication",
        lambda _, t: ["0", *t[-2::-1]],
        f"the result alone is written{LATER}leading zeros are kept at the beginning and the terminator '#' is missing",
    ),
    (
        "compute_sqrt",
        lambda _, t: list("".join(t).rstrip("0") or "0"),
        "leading zeros (here the last ones) are dropped",
    ),
    (
        "compute_sqrt",
        lambda _, t: list("".join(t[::-1]).lstrip("0") or "0"),
        f"the root alone is written{LATER}leading zeros are dropped at the beginning",
    ),
]


@pytest.mark.parametrize(("name", "change", "says"), WRITTEN, ids=lambda part: part[:40] if type(part) is str else "")
def test_forms_are_recognised(name: str, change: Callable[[Symbols, Symbols], Symbols], says: str):
    report = check(name, change)
    (diagnosis,) = report.diagnoses
    assert diagnosis.says.startswith(says)
    assert diagnosis.examples == report.examples


def test_no_form_is_untested():
    known = {form.says for forms in FORMS.values() for form in forms}
    assert {form for form in known if not any(form.startswith(says.split(LATER)[-1]) for *_, says in WRITTEN)} == set()


def test_every_task_has_alternatives():
    assert set(READINGS) == set(FORMS) == set(NAMES)


def test_reading_and_form_together():
    from_left = next(reading for reading in READINGS["binary_addition"] if "in input and target" in reading.says)
    report = check("binary_addition", lambda symbols, _: from_left.target(symbols)[:-1])
    assert [each.says for each in report.diagnoses] == [f"{from_left.says}, and the terminator '#' is missing"]


def test_a_few_slips_in_a_good_file():
    lines = [json.dumps(record) for record in GOLDEN["binary_addition"]]
    lines[7] = lines[7].replace(' #"', '"')
    report = check_file("binary_addition", lines)
    (diagnosis,) = report.diagnoses
    assert (diagnosis.says, diagnosis.disagreements) == ("the terminator '#' is missing", 1)
    assert [each.line for each in report.disagreements] == [8]


def test_a_file_of_two_minds():
    swapped = READINGS["odds_first"][0]
    records = [dict(record) for record in GOLDEN["odds_first"]]
    for record in records[::2]:
        record["target"] = " ".join(swapped.target(record["input"].split(" ")))
    report = check_file("odds_first", map(json.dumps, records))
    assert report.diagnoses[0].disagreements == len(report.disagreements)
    assert report.diagnoses[0].examples < report.examples
    assert f"Perhaps {swapped.says}: this gives" in str(report)


def test_long_reports_are_cut():
    report = check("parity_check", lambda _, target: ["b" if target == ["a"] else "a"])
    lines = list(report.lines(show=3))
    assert len(lines) == 2 + 3 + 1
    assert lines[-1] == f"... and {len(report.disagreements) - 3} more."


def test_for_machines():
    report = check_file("odds_first", ['{"input": "a b", "target": "b a"}'])
    explanation = {
        "says": "even places come first, as in the paper's released code",
        "disagreements": 1,
        "examples": 1,
    }
    assert json.loads(json.dumps(report.to_dict())) == {
        "task": "chomsky/odds_first",
        "version": 1,
        "examples": 1,
        "chance": 0.25,
        "disagreeing": 1,
        "agrees": False,
        "disagreements": [{"line": 1, "input": "a b", "target": "b a", "expected": "a b"}],
        "explanations": [explanation],
        "diagnoses": [explanation],
    }


@pytest.mark.parametrize(
    ("name", "line", "what"),
    [
        ("parity_check", "a b -> a", "Line 2: 'a b -> a' is not JSON .* Every line is a JSON object like"),
        ("parity_check", '["a b", "a"]', "Line 2: .* is not a JSON object"),
        ("parity_check", '{"input": "a b"}', "Line 2: the key 'target' is missing; there is 'input'"),
        ("parity_check", '{"input": [0, 1], "target": "a"}', "Line 2: the value of 'input' is .0, 1., not a string"),
        ("parity_check", '{"input": "ab", "target": "a"}', "Line 2: Symbol 'ab' at position 0 .* single spaces"),
        ("parity_check", '{"input": "a  b", "target": "a"}', "Line 2: Symbol '' at position 1"),
        ("parity_check", '{"input": "", "target": "a"}', "Line 2: the input '' is too short: .* at least 1 symbols"),
        ("parity_check", '{"input": "0 1", "target": "a"}', "Line 2: Symbol '0' .* '0' may be what we write 'a'"),
        ("solve_equation", '{"input": "x = 1", "target": "1"}', "Line 2: Symbol 'x' .* may be what we write 'z'"),
        ("solve_equation", '{"input": "z * 1 = 1", "target": "1"}', "Line 2: .* Our equations have no product"),
        ("stack_manipulation", '{"input": "a POP a", "target": "a #"}', "Line 2: Symbol 'a' at position 2 follows"),
        ("binary_addition", '{"input": "1 +", "target": "1 #"}', "Line 2: .* at least 3 symbols"),
        ("odds_first", '{"task": "chomsky/parity_check", "input": "a", "target": "a"}', "Line 2: .*of the task 'chom"),
    ],
)
def test_malformed_lines(name: str, line: str, what: str):
    with pytest.raises(UsageError, match=what):
        check_file(name, [json.dumps(GOLDEN[name][0]), line])


def test_nothing_to_check():
    with pytest.raises(UsageError, match="There is no example of chomsky/parity_check to check"):
        check_file("parity_check", ["\n", ""])


def test_unknown_task():
    with pytest.raises(UsageError, match="Did you mean 'chomsky/parity_check'"):
        check_file("paritycheck", [])


def test_a_few_wrong_labels_are_not_called_swapped():
    records = [dict(record) for record in GOLDEN["parity_check"]]
    for record in records[:5]:
        record["target"] = "a" if record["target"] == "b" else "b"
    report = check_file("parity_check", map(json.dumps, records))
    assert len(report.disagreements) == 5 and report.diagnoses == ()


def test_disagreements_in_json_are_bounded():
    lines = ['{"input": "a b", "target": "b b"}'] * 300
    found = check_file("reverse_string", lines).to_dict()
    assert len(found["disagreements"]) == 100 and found["disagreeing"] == 300


def test_too_many_brackets():
    with pytest.raises(UsageError, match=r"Line 1: .* is not JSON \(maximum recursion"):
        check_file("parity_check", ["[" * 100_000])
