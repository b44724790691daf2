"""Words that make the source hard to read do not come back."""

import re
from pathlib import Path

import pytest

import humboldt

FILES = sorted(Path(humboldt.__file__).parent.rglob("*.py"))
ODD = re.compile(
    r"\b([Mm]end(s|ed)?|[Ww]hoever|its company|as asked|asked of|so many times as|(is|are|was|were) told"
    r"|speaks? (of|for)|the due one|has to say|tells too|[Ss]omebody|looked into)\b"
)
RIDDLE = re.compile(r'"""(What|Who) .*[^?]$', re.MULTILINE)  # a question that a task asks ends in a question mark
TITLES = ("What they do when in doubt", "What is left on a stack")


@pytest.mark.parametrize("pattern", [ODD, RIDDLE], ids=["odd words", "riddles"])
def test_the_source_is_in_plain_english(pattern: re.Pattern[str]):
    lines = [
        f"{path.name}: {match.group(0)}"
        for path in FILES
        for match in pattern.finditer(path.read_text(encoding="utf-8"))
        if not any(title in match.group(0) for title in TITLES)
    ]
    assert not lines
