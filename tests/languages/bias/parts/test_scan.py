"""SCAN three ways: our functions, its grammar and rewrite rules written a second time, and the released file."""

import gzip
import re
from pathlib import Path

import pytest

from humboldt.languages.bias.parts.scan import actions, commands
from humboldt.languages.grammar import Grammar

RELEASED = [folder / "shared/data/scan/tasks.txt.gz" for folder in Path(__file__).resolve().parents]

GRAMMAR = """
S -> V twice [0.3] | V thrice [0.3] | V [0.4]
V -> A X [0.2] | A opposite X [0.2] | A around X [0.2] | U [0.4]
A -> U [0.5] | turn [0.5]
X -> left [0.5] | right [0.5]
U -> walk [0.25] | look [0.25] | run [0.25] | jump [0.25]
"""

REWRITES = [  # the double brackets of Lake and Baroni's appendix, innermost first, as rewriting of text
    (r"turn (opposite|around) (left|right)", r"\1 \2 nothing"),
    (r"turn (left|right)", r"plain \1 nothing"),
    (r"(walk|look|run|jump) (opposite|around) (left|right)", r"\2 \3 \1"),
    (r"(walk|look|run|jump) (left|right)", r"plain \2 \1"),
    (r"plain (left|right) (\w+)", r"TURN_\1 \2"),
    (r"opposite (left|right) (\w+)", r"TURN_\1 TURN_\1 \2"),
    (r"around (left|right) (\w+)", " ".join([r"TURN_\1 \2"] * 4)),
    (r" ?nothing", ""),
    (r"^(.*) after (.*)$", r"\2 and \1"),
    (r"([^&]+) twice", r"\1 \1"),
    (r"([^&]+) thrice", r"\1 \1 \1"),
]


def rewrite(command: str) -> str:
    for pattern, replacement in REWRITES:
        command = re.sub(pattern, replacement, command).replace(" and ", " & ")
    return " ".join(f"I_{word.upper()}" for word in command.replace("&", " ").split())


def test_the_commands_are_those_of_the_grammar():
    sentences = {" ".join(string) for string in Grammar.parse(GRAMMAR).strings(longest=4)}
    pairs = {f"{x} {word} {y}" for x in sentences for y in sentences for word in ("and", "after")}
    assert len(sentences) == 102 and len(commands()) == 20_910
    assert {" ".join(command) for command in commands()} == sentences | pairs


def test_the_meaning_equals_the_rewriting():
    for command in (*commands()[:102], *commands()[102::11]):  # every sentence, and a part of their pairs
        assert " ".join(actions(command)) == rewrite(" ".join(command))


def test_all_released_commands_mean_what_we_say():
    path = next((path for path in RELEASED if path.is_file()), None)
    if path is None:
        pytest.skip("The released SCAN data are not on this machine.")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        released = dict(re.fullmatch(r"IN: (.*) OUT: (.*)", line.strip()).groups() for line in file)  # pyright: ignore
    assert len(released) == 20_910
    assert released == {" ".join(command): " ".join(actions(command)) for command in commands()}
