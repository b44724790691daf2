"""How one trained member is scored: learners that are known to be right, and to be wrong in a known way."""

import pytest

from humboldt.languages.bliss import Measure, get
from humboldt.measures.bliss import Oracle, Persistent, Uniform
from humboldt.suites.bliss.problem import NextSymbol
from humboldt.suites.bliss.protocol import Induction
from humboldt.suites.bliss.scoring import Scorer, name, proofs
from humboldt.training.abilities import CanBeProved
from humboldt.training.base import AbstractPredictor


def scorer(task: str = "an_bn", order: int = 2) -> Scorer:
    return Scorer(NextSymbol(get(task), Induction(factors=(1,), order=order)))


@pytest.mark.parametrize("task", ["an_bn", "dyck_1"])
def test_the_oracle_meets_everything(task: str):
    found, detail = scorer(task).score(lambda longest: (Oracle(get(task)), 64))
    met = {key: value for key, value in found.items() if key.startswith("met")}
    assert met == {"met_0": 1, "met_per_string_0": 1, "met_0.005": 1, "met_per_string_0.005": 1}
    assert found["excess_bits"] == 0 and found["largest_n"] >= 8
    assert all(score["first_failure"] is None for score in detail["scores"])


def test_a_margin_over_the_test_set_forgives_what_a_margin_per_string_does_not():
    shared = scorer(order=3)  # n >= 26: saying `b` for ever is within 0.005
    first, detail = shared.score(lambda longest: (Persistent(3, symbol=2), 512))
    assert (first["met_0.005"], first["met_per_string_0.005"], first["met_0"]) == (1, 0, 0)
    assert detail["scores"][0]["first_failure"] is not None
    second, _ = shared.score(lambda longest: (Uniform(3), 512))
    assert (second["met_0.005"], second["met_0"], second["largest_n"]) == (0, 0, 0)
    verdicts = {"met_0", "met_0.005", "met_per_string_0", "met_per_string_0.005", "largest_n"}
    assert verdicts <= set(first) and verdicts <= set(second)  # no member is spared for another's sake
    assert "excess_bits" in second and "excess_bits" not in first  # who rules out what comes has infinitely many


def test_what_the_next_member_scores_does_not_depend_on_the_one_before():
    alone, _ = scorer().score(lambda longest: (Uniform(3), 64))
    shared = scorer()
    shared.score(lambda longest: (Oracle(get("an_bn")), 64))
    assert shared.score(lambda longest: (Uniform(3), 64))[0] == alone


class Decided(AbstractPredictor, CanBeProved):
    """Knows what is proved of it."""

    num_members = 1

    def __init__(self, strict: str | None, lenient: str | None) -> None:
        self.verdicts = {0.0: strict, 0.005: lenient}

    def take(self, members):
        return self

    def verdict(self, member: int, *, language: str, measure: str, epsilon: float) -> dict[str, str] | None:
        assert (member, language, measure) == (0, "bliss/an_bn", "M_det")
        verdict = self.verdicts[epsilon]
        return None if verdict is None else {"verdict": verdict}


def test_proofs_are_measures_where_they_decide_and_details_where_they_were_tried():
    assert proofs(Decided("Refuted", "Proved"), 0, "an_bn", Measure.DETERMINISTIC) == (
        {"proved_0": 0.0, "proved_0.005": 1.0},
        {"proofs": {"0": {"verdict": "Refuted"}, "0.005": {"verdict": "Proved"}}},
    )
    measures, detail = proofs(Decided("Unknown", "Unknown"), 0, "an_bn", Measure.DETERMINISTIC)
    assert (measures, set(detail["proofs"])) == ({}, {"0", "0.005"})
    assert proofs(Decided(None, None), 0, "an_bn", Measure.DETERMINISTIC) == ({}, {})


def test_names_of_verdicts():
    assert name("met", 0.005) == "met_0.005" and name("met_per_string", 0.0) == "met_per_string_0"
