"""Anybody's model, scored with our strings and our code: oracles, constants, stores, wrong answers. Without JAX."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pcfg_set_support import by_hand

import humboldt
from humboldt.errors import HumboldtError, RunError, UsageError
from humboldt.languages import tasks
from humboldt.measures.bliss import Oracle, Uniform
from humboldt.suites import catalogue, suites

CHOMSKY = {"test_lengths": (41, 44), "strings_per_length": 200}
SYNTAX = {"terminals": 2, "train": 50, "validation": 20, "test": 40, "long": 40}
PCFG = {"size": 1500, "letters": 60, "deepest": 3, "function_items": 20, "longer_items": 1}


def task(name: str, **options: Any) -> Any:
    return tasks.get(name)(**options)


def each(function: Callable[[list[str]], Any]) -> Callable[[list[list[str]]], list[Any]]:
    return lambda inputs: [function(symbols) for symbols in inputs]


def measures(suite: str, predict: Any, name: str, settings: Any, **options: Any) -> dict[str, float]:
    return humboldt.score(suite, predict, tasks=name, settings=settings, **options).measures()


@pytest.mark.parametrize("name", catalogue.tasks(suites.get("chomsky")))
def test_chomsky_an_oracle_is_perfect_and_a_constant_has_the_chance_level(name: str):
    language = task(f"chomsky/{name}")
    found = measures("chomsky", each(language.oracle), name, CHOMSKY)
    assert found == {"score": 1.0}
    constant = [language.output_alphabet.symbols[0]] * 600
    if name in ("parity_check", "even_pairs", "cycle_navigation", "modular_arithmetic_simple", "missing_duplicate"):
        assert measures("chomsky", each(lambda _: constant), name, CHOMSKY)["score"] == pytest.approx(
            language.chance, abs=0.06
        )


def test_syntax_an_oracle_is_perfect_and_a_constant_has_the_chance_level():
    language = task("syntax/adj_n_np", terminals=2)
    perfect = humboldt.score("syntax", each(language.accepts), tasks="adj_n_np", settings=SYNTAX)
    assert perfect.measures() == {"validation": 1.0, "in_dist": 1.0, "out_of_dist": 1.0}
    (validation, within, _) = perfect.readings()
    assert (within["n"], within["chance"], within["high"]) == (80, 0.5, 1.0) and 0.9 < within["low"] < 1
    assert set(within["breakdown"]["length"].values()) == {1.0} and validation["breakdown"] == {}
    assert {entry["model"] for entry in within["published"]} == {"Encoder", "Decoder", "BiLSTM", "LSTM"}
    for constant in (True, 0, "grammatical", ["ungrammatical"], np.int64(1)):
        assert set(measures("syntax", each(lambda _, c=constant: c), "adj_n_np", SYNTAX).values()) == {0.5}


def test_bliss_an_oracle_is_perfect_and_who_knows_nothing_fails():
    settings = {"factors": 1, "order": 1}
    language = task("bliss/an_bn")
    perfect = humboldt.score("bliss", Oracle(language), tasks="an_bn", settings=settings)
    found = perfect.measures()
    assert found["met_0"] == found["met_0.005"] == found["met_per_string_0"] == 1 and found["excess_bits"] < 1e-9
    b_index = {r["setting"]: r["value"] for r in perfect.records() if r["measure"] == "b_index"}
    assert set(b_index.values()) == {"1"}
    guess = measures("bliss", Uniform(3), "an_bn", settings)
    assert guess["met_0"] == guess["met_0.005"] == guess["largest_n"] == 0

    def prefixes(strings: list[list[str]]) -> np.ndarray:
        return np.stack([language.next_distribution(string[1:]) for string in strings])

    assert measures("bliss", prefixes, "an_bn", settings) == pytest.approx(found)

    def steps(strings: list[list[str]]) -> list[np.ndarray]:
        return [np.stack([language.next_distribution(s[1:n]) for n in range(1, len(s) + 1)]) for s in strings]

    assert measures("bliss", humboldt.NextSymbols(steps), "an_bn", settings) == pytest.approx(found)


@pytest.mark.parametrize("name", ["task_accuracy", "localism", "substitutivity_primitive", "overgeneralisation"])
def test_pcfg_set_an_oracle_is_perfect(name: str):
    settings = {**PCFG, **({"rates": 0.02} if name == "overgeneralisation" else {})}
    settings |= {"synonym_share": 0.02} if name == "substitutivity_primitive" else {}
    predict = {name: each(lambda symbols: by_hand(" ".join(symbols)))}
    card = humboldt.score("pcfg_set", predict, settings=settings)
    for one in card.scored:
        found = one.scores.results[0].measures
        main = {"accuracy": "sequence_accuracy", "overgeneralisation": "overgeneralised"}
        assert found.get(main.get(one.scores.evaluation.name, "consistency"), 1.0) == 1.0
    constant = humboldt.score("pcfg_set", each(lambda _: "A1"), tasks="task_accuracy", settings=PCFG)
    assert constant.measures(evaluation="accuracy")["sequence_accuracy"] < 0.02


def test_bias_a_rule_agrees_with_itself_alone():
    language, settings = task("bias/count_or_memorization", l=10), {"l": 10}
    count, mem = (each(lambda symbols, rule=rule: language.output(rule, symbols)) for rule in ("count", "mem"))
    card = humboldt.score("bias", [count, count, mem], tasks="count_or_memorization", settings=settings)
    found = {reading["measure"]: reading for reading in card.readings()}
    assert found["FPA-count"]["value"] == pytest.approx(2 / 3) and found["FPA-mem"]["n"] == 3
    assert 0 < found["FPA-count"]["low"] < 2 / 3 < found["FPA-count"]["high"] < 1 and found["fits"]["value"] == 1
    constant = humboldt.score("bias", each(lambda _: []), tasks="count_or_memorization", settings=settings)
    found = {reading["measure"]: reading["value"] for reading in constant.readings()}
    assert found["fits"] == 0 and "FPA-count" not in found  # nobody fits, so there is nobody to count


def test_syntax_by_probabilities():
    """Who finds grammatical strings more probable is right; who finds all equally probable is right half the time."""
    language = task("syntax/nested_dependency", terminals=2)
    symbols = ("#", *language.input_alphabet.symbols)

    def uniform(strings: list[list[str]]) -> list[np.ndarray]:
        return [np.full((len(string), len(symbols)), 1 / len(symbols)) for string in strings]

    def knows(strings: list[list[str]]) -> list[np.ndarray]:
        found = uniform(strings)
        for string, distributions in zip(strings, found, strict=True):
            if language.accepts(string[1:]):
                distributions[-1] = np.eye(len(symbols))[0]  # it ends here
        return found

    settings = {**SYNTAX, "lengths": (4, 12), "long_lengths": (13, 20)}
    perfect = humboldt.score("syntax", humboldt.NextSymbols(knows), tasks="nested_dependency", settings=settings)
    assert set(perfect.measures().values()) == {1.0} and perfect.readings()[1]["n"] == 40
    assert "pairs" in perfect.readings()[1]["note"] and "asked=probabilities" in perfect.table()
    guess = measures("syntax", humboldt.NextSymbols(uniform), "nested_dependency", settings)
    assert set(guess.values()) == {0.5}


def test_results_go_into_a_store_under_a_name(tmp_path: Path):
    language = task("chomsky/reverse_string")
    options = {"tasks": "reverse_string", "settings": CHOMSKY, "out": tmp_path}
    humboldt.score("chomsky", each(language.oracle), name="perfect", **options)
    again = humboldt.score("chomsky", each(language.oracle), name="perfect", **options)  # the same: nothing happens
    humboldt.score("chomsky", each(lambda x: ["a"] * len(x)), name="constant", **options)
    shown = subprocess.run(
        [sys.executable, "-m", "humboldt", "show", str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout
    header = next(line for line in shown.splitlines() if line.startswith("Level"))
    assert header.split()[4:] == ["constant", "(outside)", "paper", "perfect", "(outside)", "paper"]
    assert "trained outside Humboldt" in " ".join(shown.split())
    assert again.records()[0]["model"] == "outside/perfect" and again.records()[0]["value"] == 100
    with pytest.raises(UsageError, match=r"other results of 'perfect'.*another name, or another seed"):
        humboldt.score("chomsky", each(lambda x: x), name="perfect", **options)
    humboldt.score("chomsky", each(lambda x: x), name="perfect", seed=1, **options)
    everything = subprocess.run(
        [sys.executable, "-m", "humboldt", "show", str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout
    assert "Over 1 or 2 seeds" in everything


def explode(inputs: list[list[str]]) -> list[str]:
    if any(symbols[:2] == ["b", "b"] for symbols in inputs):
        raise ZeroDivisionError("no b b")
    return ["a"] * len(inputs)


@pytest.mark.parametrize(
    ("predict", "text"),
    [
        (explode, "The model failed on the input 'b b "),
        (lambda inputs: ["a"], "1 answers for 600 inputs"),
        (lambda inputs: None, "returned None for 600 inputs"),
        (each(lambda _: "c"), "'c' is not a symbol of the output alphabet a b"),
        (each(lambda _: ["a", 3]), "3 is not a symbol of the output alphabet"),
        (each(lambda _: 1.5), "answers 1.5, a float. Answer with a list of symbols"),
        ("no function", "cannot be called"),
    ],
)
def test_wrong_answers_name_the_example(predict: Any, text: str):
    with pytest.raises((UsageError, RunError)) as error:
        humboldt.score("chomsky", predict, tasks="parity_check", settings=CHOMSKY)
    assert text in str(error.value)


def broken(value: float) -> Callable[[list[list[str]]], np.ndarray]:
    def distributions(prefixes: list[list[str]]) -> np.ndarray:
        found = np.full((len(prefixes), 3), 1 / 3)
        found[[len(prefix) == 3 for prefix in prefixes]] = [value, 0.5, 0.5]
        return found

    return distributions


@pytest.mark.parametrize(("value", "text"), [(np.nan, "holds NaN"), (0.1, "sums to 1.1"), (-0.1, "negative")])
def test_wrong_distributions_name_the_prefix(value: float, text: str):
    with pytest.raises(UsageError) as error:
        humboldt.score("bliss", broken(value), tasks="an_bn", settings={"factors": 1, "order": 1})
    assert "After '# a a'" in str(error.value) and text in str(error.value)
    with pytest.raises(RunError, match="The model failed on the input '#'"):
        humboldt.score("bliss", each(lambda _: 1 / 0), tasks="an_bn", settings={"factors": 1, "order": 1})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "No task is named"),
        ({"tasks": "paritycheck"}, "Did you mean 'parity_check'"),
        ({"tasks": "parity_check", "name": "a/b"}, "not a valid model name"),
        ({"tasks": "parity_check", "settings": {"steps": 3}}, "how our own models are trained"),
        ({"tasks": "parity_check", "settings": {"test_length": 3}}, "Did you mean 'test_lengths'"),
        ({"tasks": "parity_check", "preset": "fast"}, "No preset named 'fast'"),
        ({"tasks": "parity_check", "evaluations": ["accuracy"]}, "No evaluation named 'accuracy'"),
    ],
)
def test_wrong_requests(arguments: dict[str, Any], text: str):
    with pytest.raises(HumboldtError) as error:
        humboldt.score("chomsky", each(lambda x: x), **arguments)
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("suite", "name", "text"),
    [
        ("bliss", "an_bn", "factor = 1, 2, 4, 10"),
        ("syntax", "adj_n_np", "--set terminals=2"),
        ("bias", "add_or_multiply", "--set l=20"),
        ("pcfg_set", "overgeneralisation", "--set rates=0.0001"),
    ],
)
def test_one_training_must_be_chosen(suite: str, name: str, text: str):
    with pytest.raises(UsageError) as error:
        humboldt.score(suite, each(lambda x: x), tasks=name)
    assert text in str(error.value) and "a model is trained for one of them" in str(error.value)
