"""Table 2 of Lan et al. (2023), ours beside theirs."""

from suite_support import result, scores_of

from humboldt.core.results import Scores, State
from humboldt.suites import plans, suites
from humboldt.suites.experiments import Experiment, Request
from humboldt.suites.reading import records, tables

SUITE = suites.get("bliss")
FAILS = {"scores": [{"measure": "M_det", "epsilon": 0.0, "first_failure": "aaabbb"}]}


def plan(model: str, **settings: str) -> list[Experiment]:
    return plans.plan(SUITE, Request(("an_bn",), (model,), "paper", None, settings))


def index_of(met: dict[int, tuple[int, ...]]) -> list[Scores]:
    found = []
    for experiment in plan("lstm", hidden_size="32", penalties="none"):
        verdicts = met[experiment.training.setting["factor"]]
        results = [
            result(
                member,
                {"met_0.005": float(value), "met_0": 0.0, "met_per_string_0": 0.0, "largest_n": 20 + i},
                detail=FAILS,
            )
            for i, (member, value) in enumerate(zip(experiment.members, verdicts, strict=False))
        ]
        found.append(scores_of(experiment, results))
    return found


def test_the_index_takes_the_best_member_of_each_size():
    found = index_of({1: (0, 1), 2: (0, 0), 4: (1, 0), 10: (0, 0)})
    (table,) = tables(SUITE, found)
    (row,) = table.texts
    assert row[:9] == ("an_bn", "LSTM", "4", "1/2", "10", "<1", "<1", "0/2", "<1")
    shown = dict(zip(table.columns, row, strict=True))  # of columns with one name, the last
    assert shown["largest n"] == "21, 21, 21, 21" and shown["fails first at"] == "a^3 b^3"
    assert shown["|C|"] == "1000, 500, 250, 100" and shown["members"] == "8"
    shown = {
        (r.setting, r.measure, r.statistic): (r.value, r.members, r.published)
        for r in records(SUITE, found)
        if r.statistic in ("max", "count")
    }
    assert shown["paper epsilon=0.005", "b_index", "max"] == ("4", 8, "10")
    assert shown["paper epsilon=0", "b_index", "max"] == ("<1", 8, "<1")
    assert shown["paper epsilon=0.005 per_string", "b_index", "max"] == ("<1", 8, None)
    assert shown["paper train_size=100", "largest_n", "max"] == (21, 2, None)
    assert shown["paper train_size=1000 epsilon=0.005", "met", "count"] == (1, 2, None)


def test_shares_have_intervals():
    found = records(SUITE, index_of({1: (1, 1, 1), 2: (0, 0), 4: (0, 0), 10: (0, 0)}))
    bounds = {
        r.statistic: float(r.value)
        for r in found
        if r.setting == "paper train_size=1000 epsilon=0.005" and r.statistic.startswith("share")
    }
    assert 0 < bounds["share_low"] < 1 and bounds["share_high"] >= 0.999


def test_the_network_that_description_length_prefers_has_a_row_of_its_own():
    (experiment,) = plan("mdlrnn", factors="10")
    longer, shorter = {"seed": 100}, {"seed": 101}
    results = [
        result(longer, {"met_0": 1.0, "met_0.005": 1.0, "mdl": 200.0, "largest_n": 9}, detail=FAILS),
        result(shorter, {"met_0": 0.0, "met_0.005": 0.0, "mdl": 100.0, "largest_n": 3}, detail=FAILS),
    ]
    (table,) = tables(SUITE, [scores_of(experiment, results)])
    assert [(row[1], row[2]) for row in table.texts] == [("MDLRNN", "10"), ("MDLRNN (shortest)", "<10")]
    assert any("another search than the paper's" in note for note in table.notes)
    settings = {r.setting: r.value for r in records(SUITE, [scores_of(experiment, results)]) if r.measure == "b_index"}
    assert settings["paper epsilon=0"] == "10" and settings["paper epsilon=0 shortest"] == "<10"


PROVED = {"verdict": "Proved", "float_size": 2**50}
REFUTED = {"verdict": "Refuted", "string": "a" * 15 + "b" * 15}
UNKNOWN = {"verdict": "Unknown", "examined": 300}


def proved_table(*members: tuple[dict, dict]) -> list[dict[str, str]]:
    """The rows, with the two columns `all n` under the names of their margins."""
    (experiment,) = plan("mdlrnn", factors="10")
    found = [
        result(
            {"seed": 100 + i},
            {"met_0": 1.0, "met_0.005": 1.0, "mdl": 100.0 + i, "largest_n": 9 + i, **measures},
            detail={**FAILS, "proofs": proofs} if proofs else FAILS,
        )
        for i, (measures, proofs) in enumerate(members)
    ]
    (table,) = tables(SUITE, [scores_of(experiment, found)])
    names = list(table.columns)
    if "all n" in names:
        assert any("`all n`" in note for note in table.notes)
        for margin in ("0.005", "0"):
            names[names.index("all n")] = f"all n {margin}"
    return [dict(zip(names, row, strict=True)) for row in table.texts]


def test_who_is_proved_stands_beside_the_index():
    both = {"0": REFUTED, "0.005": UNKNOWN}
    row, shortest = proved_table(({}, both), ({"proved_mdl": 101.0}, {"0": PROVED, "0.005": PROVED}))
    assert (row["all n 0"], row["all n 0.005"], row["bits, proved"]) == ("∞", "∞", "100.0 (101.0)")
    assert (shortest["all n 0"], shortest["all n 0.005"]) == ("a^15 b^15", "?")
    assert shortest["bits, proved"] == "100.0 (–)"


def test_who_goes_furthest_speaks_where_nobody_is_proved():
    row, shortest = proved_table(({}, {"0": REFUTED, "0.005": REFUTED}), ({}, {"0": UNKNOWN, "0.005": UNKNOWN}))
    assert (row["all n 0"], shortest["all n 0"]) == ("?", "a^15 b^15")


def test_a_store_without_proofs_shows_no_column_for_them():
    for row in proved_table(({}, {})):
        assert not {"all n 0", "bits, proved"} & row.keys()
    mixed, _ = proved_table(({}, {}), ({}, {"0": UNKNOWN, "0.005": UNKNOWN}))
    assert mixed["all n 0"] == "?"


def test_members_without_a_score_are_counted():
    (experiment,) = plan("lstm", hidden_size="2", factors="1")
    found = [scores_of(experiment, [result(experiment.members[0], state=State.DIVERGED)])]
    assert [(r.statistic, r.value) for r in records(SUITE, found)] == [("diverged", 1)]
    (table,) = tables(SUITE, found)
    assert "diverged" in " ".join(table.texts[0])
