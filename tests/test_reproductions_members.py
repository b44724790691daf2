"""The committed reproductions are a store: what their members say is what their records say."""

import pytest
from pages import ROOT, load, script

from humboldt.storage.exports import as_lines
from humboldt.suites import suites
from humboldt.suites.reading import records, stored

FOLDER = ROOT / "reproductions"


@pytest.mark.parametrize("name", ["chomsky", "syntax", "bliss"])
def test_the_members_are_those_of_the_earlier_exports(name: str):
    made = script("reproductions/members.py")
    entries = made.searches() if name == "bliss" else made.curves(name)
    assert (FOLDER / name / "members.jsonl").read_text(encoding="utf-8") == as_lines(entries)


def test_members_give_the_numbers_on_record():
    suite = suites.get("chomsky")
    best = [r for r in load("reproductions/chomsky/records.json") if r["statistic"] == "max"]
    recorded = sorted((r["task"], r["model"], r["members"], r["published"], r["value"]) for r in best)
    own = [r for r in records(suite, stored(FOLDER, "chomsky")) if r.statistic == "max"]
    found = sorted((r.task, r.model, r.members, r.published, r.value) for r in own)  # pyright: ignore[reportArgumentType]
    assert [row[:4] for row in found] == [row[:4] for row in recorded] and len(found) == 20
    values = [float(row[4]) for row in found]
    assert values == pytest.approx([row[4] for row in recorded], abs=0.006)  # two digits were exported


def test_what_later_versions_superseded_is_told_apart():
    told = {r.model for r in records(suites.get("syntax"), stored(FOLDER, "syntax")) if "superseded" in r.setting}
    assert told == {"lstm", "bilstm"}  # whose initialiser differs in its last bits since
