"""Questions to language models: strings from a seed, answers judged as those of all other models."""

from typing import Any

import numpy as np
import pytest

from humboldt.errors import UsageError
from humboldt.languages import ProblemKind, tasks
from humboldt.outside.predictor import OutsidePredictor
from humboldt.outside.prompts import Form, Question, Subject
from humboldt.suites import suites
from humboldt.suites.plans import outside_trainings

TRANSDUCTIONS = [
    (suite, task)
    for suite in suites.names()
    if suites.get(suite).kind is ProblemKind.TRANSDUCTION
    for task in suites.get(suite).printed_tasks
]
RECOGNISED = [(suite, task) for suite in ("recognition", "syntax") for task in suites.get(suite).printed_tasks]
SLOW = {"compute_sqrt", "binary_multiplication", "dyck_2_3", "unmarked_reversal"}  # charts of long strings


def shown(question: Question, title: str) -> list[str]:
    return [line.removeprefix(title) for line in question.prompt.splitlines() if line.startswith(title)]


@pytest.mark.parametrize(("suite", "task"), TRANSDUCTIONS)
def test_transductions(suite: str, task: str):
    subject = Subject(Form.TRANSDUCE, suite, task)
    oracle = subject.language.oracle
    assert type(subject.language) is tasks.get(f"{suite}/{task}")
    questions = subject.questions((12, 20), count=3, shots=5, seed=7)
    assert [question.length for question in questions] == [12] * 3 + [20] * 3
    for question in questions:
        *examples, asked = shown(question, "Input: ")
        outputs = shown(question, "Output: ")
        assert (asked,) == question.strings and question.target == " ".join(oracle(asked.split()))
        assert len(examples) == 5 == len(set(examples)) and asked not in examples
        longest = getattr(subject.language, "length_of", int)(12)
        assert all(len(example.split()) <= longest for example in examples)
        assert outputs == [" ".join(oracle(example.split())) for example in examples]
        assert subject.judge(question.strings, f"Output: {question.target}").is_right
    assert questions == Subject(Form.TRANSDUCE, suite, task).questions((12, 20), count=3, shots=5, seed=7)
    assert questions != subject.questions((12, 20), count=3, shots=5, seed=8)


@pytest.mark.parametrize(("suite", "task"), [pair for pair in RECOGNISED if pair[1] not in SLOW])
def test_recognition(suite: str, task: str):
    subject = Subject(Form.RECOGNISE, suite, task)
    questions = subject.questions((10, 20), count=6, shots=6, seed=7)
    for number, question in enumerate(questions):
        *examples, asked = shown(question, "String: ")
        low, high = (0, 10) if number < 6 else (10, 20)
        assert low < len(asked.split()) <= high == question.length
        labels = shown(question, "Label: ")
        assert [" ".join(subject.language.oracle(example.split())) for example in examples] == labels
        assert len(examples) == 6 and labels.count(labels[0]) == 3 and asked not in examples
    targets = [question.target for question in questions]
    assert all(targets[i : i + 6].count(label) == 3 for i in (0, 6) for label in subject.labels)


@pytest.mark.parametrize("task", suites.get("syntax").printed_tasks)
def test_minimal_pairs(task: str):
    subject = Subject(Form.MINIMAL_PAIRS, "syntax", task)
    questions = subject.questions((12,), count=12, shots=4, seed=7)
    for question in questions:
        first, second = (subject.language.oracle(string.split()) == ["grammatical"] for string in question.strings)
        assert first is not second and question.target == ("A" if first else "B")
        assert subject.judge(question.strings, f"**{question.target}**.").is_right
    assert {question.target for question in questions} == {"A", "B"}


def test_symbols_are_counted_as_in_the_suite():
    """The share of right symbols of any answer equals what the suite counts for a model that gives it."""
    suite = suites.get("chomsky")
    (resolved,) = outside_trainings(suite, "duplicate_string", "any", "quick", {})
    problem: Any = suite.problem(resolved, [{"seed": 0}])
    subject, rng = Subject(Form.TRANSDUCE, "chomsky", "duplicate_string"), np.random.default_rng(0)
    pairs = resolved.task.sample(rng, 40, 6)
    sources = [
        tuple(source) for source, _ in pairs.symbols(resolved.task.input_alphabet, resolved.task.output_alphabet)
    ]
    answer_of = {source: rng.choice(["a", "b"], rng.integers(0, 16)).tolist() for source in sources}
    predictor = OutsidePredictor(
        problem, resolved.task.output_alphabet, [lambda inputs: [answer_of[tuple(source)] for source in inputs]]
    )
    counted = predictor.correct(problem.frame(pairs))[0] / pairs.target_lengths
    judged = [subject.judge((" ".join(source),), " ".join(answer_of[source])).symbols for source in sources]
    assert judged == pytest.approx(counted.tolist()) and 0 < np.mean(judged) < 1


@pytest.mark.parametrize(
    ("text", "answer", "is_right"),
    [
        ("b b a", "b b a", True),
        ("bba", "b b a", True),
        ("The rule reverses.\n\nOutput: b b a\n", "b b a", True),
        ("`b b a`", "b b a", True),
        ("b b a a", "b b a a", False),  # one too many: the symbols are right, the answer is not
        ("b a a", "b a a", False),
        ("", "", False),
    ],
)
def test_answers_are_read(text: str, answer: str, is_right: bool):
    judged = Subject(Form.TRANSDUCE, "chomsky", "reverse_string").judge(("a b b",), text)
    assert (judged.answer, judged.is_right) == (answer, is_right)


@pytest.mark.parametrize(
    ("text", "answer"), [("Yes.", "yes"), ("It is not in the language: **no**", "no"), ("perhaps", ""), ("", "")]
)
def test_labels_are_read(text: str, answer: str):
    judged = Subject(Form.RECOGNISE, "recognition", "parity").judge(("1 0",), text)
    assert judged.answer == answer and judged.is_right is (answer == "yes")


def test_wrong_requests_say_what_there_is():
    with pytest.raises(UsageError, match="chomsky, tracking"):
        Subject(Form.TRANSDUCE, "pcfg_set", "task_accuracy")
    with pytest.raises(UsageError, match="reverse_string"):
        Subject(Form.TRANSDUCE, "chomsky", "reverse")
    with pytest.raises(UsageError, match="has 1 other example of"):
        Subject(Form.TRANSDUCE, "chomsky", "reverse_string").questions((1,), count=1, shots=3)
    with pytest.raises(UsageError, match="too few strings of 1 to 1 symbols"):
        Subject(Form.RECOGNISE, "recognition", "dyck_2_3").questions((1, 9), count=4, shots=0)
