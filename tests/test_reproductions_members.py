"""The committed reproductions are a store of members, from which all numbers are made."""

from pages import ROOT, measured, script

from humboldt.storage.exports import as_lines
from humboldt.suites import suites
from humboldt.suites.reading import records, stored

FOLDER = ROOT / "reproductions"


def test_the_searches_are_those_of_the_earlier_exports():
    entries = script("reproductions/members.py").searches()
    assert (FOLDER / "bliss" / "members.jsonl").read_text(encoding="utf-8") == as_lines(entries)


def test_no_other_file_repeats_what_members_give():
    """Flat records and curves are made from members, and so are not committed beside them."""
    assert not [path for name in ("records.json", "curves.json") for path in FOLDER.glob(f"*/{name}")]
    counts = {name: len(measured(name)) for name in ("chomsky", "syntax", "bias", "pcfg_set")}
    least = {"chomsky": 310, "syntax": 410, "bias": 632, "pcfg_set": 600}
    assert all(counts[name] >= least[name] for name in least), counts


def test_what_later_versions_superseded_is_told_apart():
    told = {r.model for r in records(suites.get("syntax"), stored(FOLDER, "syntax")) if "superseded" in r.setting}
    assert told == {"lstm", "bilstm"}  # whose initialiser differs in its last bits since
