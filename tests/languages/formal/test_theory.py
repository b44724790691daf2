import numpy as np
import pytest
from languages.formal.regular_support import group_automaton

from humboldt.languages.formal.algebra import classify
from humboldt.languages.formal.automaton import Automaton
from humboldt.languages.formal.regex import parse_regex
from humboldt.languages.formal.theory import ARCHITECTURES, THEOREMS, predictions


def verdicts(automaton: Automaton) -> dict[str, str]:
    found = predictions(classify(automaton))
    assert len({prediction.architecture for prediction in found}) == len(found)  # theorems do not contradict
    return {prediction.architecture: prediction.verdict for prediction in found}


def test_parity() -> None:
    assert verdicts(parse_regex("( 0* 1 0* 1 )* 0*")) == {
        "recurrent": "can",
        "hard_attention_transformer": "cannot",
        "fixed_precision_transformer": "cannot",
        "log_precision_transformer": "can",
        "nonnegative_diagonal_ssm": "cannot",
        "positive_linear_rnn": "cannot",
        "householder_linear_rnn": "can",
    }


def test_the_word_problem_of_a5_needs_nc1() -> None:
    found = verdicts(group_automaton({"a": [1, 2, 0, 3, 4], "b": [0, 1, 3, 4, 2]}))
    assert found["log_precision_transformer"] == found["log_precision_ssm"] == "cannot unless TC0 = NC1"
    assert found["recurrent"] == "can" and found["nonnegative_diagonal_ssm"] == "cannot"
    assert "positive_linear_rnn" not in found  # the theorem is about parity


@pytest.mark.parametrize(("regex", "fixed"), [("( a b )*", "cannot"), ("a* b", "can"), ("( a | b )* a", "cannot")])
def test_star_free_languages(regex: str, fixed: str) -> None:
    found = verdicts(parse_regex(regex))
    assert found["hard_attention_transformer"] == found["nonnegative_diagonal_ssm"] == "can"
    assert found["fixed_precision_transformer"] == fixed
    assert "log_precision_ssm" not in found and "positive_linear_rnn" not in found


def test_nothing_is_predicted_from_what_is_not_decided() -> None:
    rng = np.random.default_rng(0)
    large = Automaton(("a", "b"), rng.integers(0, 50, (50, 2)), rng.random(50) < 0.5)
    assert set(verdicts(large)) == {"recurrent", "fixed_precision_transformer", "householder_linear_rnn"}


def test_every_theorem_names_its_source_and_conditions() -> None:
    assert {theorem.architecture for theorem in THEOREMS} == set(ARCHITECTURES)
    for theorem in THEOREMS:
        assert any(year.isdigit() and len(year) == 4 for year in theorem.source.replace(",", " ").split())
        assert theorem.statement.endswith(".") and len(theorem.conditions) >= 2
