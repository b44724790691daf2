"""Profiles of overgeneralisation: by hand, for the perfect model, and for the authors' own record."""

import gzip
import json
import re

import pytest
from pcfg_set_support import oracle, released

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import CorpusSettings, corpus, overgeneralisation_splits
from humboldt.measures.pcfg_set import Share, overgeneralisation_profile

ORIGINAL = ["A B", "C D", "E"]
EXCEPTION = ["B A", "D C", "F"]


def test_by_hand():
    epochs = [["", "C D", "E"], ["A B", "C D", "F"], ["B A", "C D", "F"], ["B A", "D C", "X"]]
    profile = overgeneralisation_profile(ORIGINAL, EXCEPTION, epochs, by={"kind": ["p", "c", "p"]})
    assert [epoch.overgeneralised.count for epoch in profile.epochs] == [2, 2, 1, 0]
    assert [epoch.memorised.count for epoch in profile.epochs] == [0, 1, 2, 2]
    assert [epoch.neither.count for epoch in profile.epochs] == [1, 0, 0, 1]
    assert (profile.peak, profile.peak_epoch, profile.n) == (Share(2, 3), 1, 3)  # the first of two equal peaks
    assert profile.breakdowns["kind"] == {"c": Share(1, 1), "p": Share(1, 2)}
    record = json.loads(json.dumps(profile.to_json()))
    assert record["epochs"][3] == {"epoch": 4, "overgeneralised": 0, "memorised": 2 / 3, "neither": 1 / 3}


def test_one_that_follows_the_rules_and_one_that_learns_by_heart():
    data = overgeneralisation_splits(corpus(3, CorpusSettings(size=2_000)), 0.02)
    rules, heart = oracle(list(data.test.sources)), list(data.test.targets)
    profile = overgeneralisation_profile(
        data.original_targets, data.test.targets, [rules, heart], by={"pair": data.pairs, "primitive": data.primitive}
    )
    assert profile.value == 1 and profile.peak_epoch == 1 and profile.n == len(data.test) >= 8
    assert [epoch.memorised.value for epoch in profile.epochs] == [0, 1]
    assert all(share.value == 1 for breakdown in profile.breakdowns.values() for share in breakdown.values())


@pytest.mark.parametrize("rate", ["0.0001", "0.0005", "0.001", "0.005"])
def test_the_authors_record(rate):
    """Their log gives accuracies only. Outputs with these accuracies get the same profile and peak."""
    with gzip.open(released(f"predictions/transformer_overgeneralisation_{rate}.txt.gz"), "rt") as file:
        text = file.read()
    adapted = [float(value) for value in re.findall(r"Adapted - Sequence Accuracy: (\S+)", text)]
    original = [float(value) for value in re.findall(r"Original - Sequence Accuracy: (\S+)", text)]
    # How many exceptions they scored: 9, 59, 125 and 554 were trained, of which so many are primitive.
    n = {"0.0001": 5, "0.0005": 32, "0.001": 66, "0.005": 253}[rate]
    assert len(adapted) == len(original) == 25
    assert all(abs(value * n - round(value * n)) < 1e-9 for value in adapted + original)
    rules, exceptions = [f"R{i}" for i in range(n)], [f"E{i}" for i in range(n)]
    epochs = []
    for heart, rule in zip(adapted, original, strict=True):
        by_rule, by_heart = round(rule * n), round(heart * n)
        epochs.append(rules[:by_rule] + exceptions[by_rule : by_rule + by_heart] + ["?"] * (n - by_rule - by_heart))
    profile = overgeneralisation_profile(rules, exceptions, epochs)
    assert profile.value == pytest.approx(max(original)) and profile.peak_epoch == original.index(max(original)) + 1
    assert [epoch.memorised.value for epoch in profile.epochs] == pytest.approx(adapted)


@pytest.mark.parametrize(
    ("exceptions", "epochs", "text"),
    [
        (EXCEPTION, [], "no outputs of any epoch"),
        (EXCEPTION, [["A B"]], "1 outputs"),
        (["B A", "C D", "F"], [["", "", ""]], "Exception 2 has the same target, 'C D'"),
    ],
)
def test_what_is_refused(exceptions, epochs, text):
    with pytest.raises(UsageError) as error:
        overgeneralisation_profile(ORIGINAL, exceptions, epochs)
    assert text in str(error.value)
