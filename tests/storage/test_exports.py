"""Members as lines of JSON."""

import json
import os
import timeit
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from humboldt import references
from humboldt.core.identity import Evaluation, Training
from humboldt.core.results import Result, Scores, State
from humboldt.errors import HumboldtError, UsageError
from humboldt.storage.exports import add_reported, exported, num_reported, read_members, scores_of
from humboldt.storage.store import as_written
from humboldt.suites import suites
from humboldt.suites.reading import explained, stored, tables

TRAINING = Training("chomsky", "parity_check", "rnn", "jax", {}, {})

CURVE = {"steps": [1, 2], "loss": [3.0, 1.0], "accuracy": [0.5, 0.75]}
END = {"loss": 2.0, "accuracy": 0.625}


def result(seed: int, environment: dict[str, str], score: float = 0.5) -> Result:
    detail = {"training": CURVE, "shortcuts": 1, "kept": seed}
    return Result({"seed": seed}, State.FINISHED, {"score": score}, 1.0, detail, environment)


def test_equal_environments_are_written_once_and_curves_of_the_best_alone():
    first, second = {"device": "a", "python": "3"}, {"device": "b"}
    results = (
        result(0, first),
        result(1, dict(reversed(first.items())), 0.9),
        result(2, second),
        result(3, dict(first)),
    )
    entry = exported(Scores(TRAINING, Evaluation("score"), results), format=2, headline="score")
    assert entry["environments"] == [first, second]
    assert [one["environment"] for one in entry["results"]] == [0, 0, 1, 0]
    assert [one["detail"] for one in entry["results"]] == [
        {"shortcuts": 1, "kept": 0, "end": END},
        {"training": CURVE, "kept": 1},
        {"kept": 2, "end": END},
        {"kept": 3, "end": END},
    ]


def test_the_time_grows_with_the_number_of_members():
    def seconds(members: int) -> float:
        results = tuple(result(seed, {"device": "cpu"}) for seed in range(members))
        scores = Scores(TRAINING, Evaluation("score"), results)
        return min(timeit.repeat(lambda: exported(scores, format=2, headline="score"), number=1, repeat=3))

    seconds(100)
    assert seconds(8_000) < 40 * max(seconds(800), 1e-3)  # the square would be a hundred times as much


WRONG = (None, 3, -1, 2.5, True, "x", [], {}, [1, 2], {"a": 1}, float("nan"), float("inf"), 10**400, [[[[[1]]]]])


def entry() -> dict[str, Any]:
    """A training of a reference, with two of its members."""
    line = next(line for _, line in references.entries() if line["training"]["suite"] == "chomsky")
    return {**line, "results": line["results"][:2]}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*path, key))


def changed(path: tuple[Any, ...], value: Any) -> Any:
    """The entry with another value at one place."""
    result: Any = json.loads(json.dumps(entry()))
    if not path:
        return value
    inner = result
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return result


@pytest.mark.parametrize("value", WRONG, ids=[f"{value!r:.20}" for value in WRONG])
def test_a_line_from_elsewhere_is_read_or_refused(value: Any):
    for path in places(entry()):
        try:
            scores = scores_of(changed(path, value), as_written, "mine.jsonl, line 1")
        except UsageError as error:
            assert "mine.jsonl, line 1 is not an exported training" in str(error)
            continue
        assert len(scores.training.key) == len(scores.evaluation.key_for(scores.training)) == 16
        assert all(hash(part) is not None for result in scores.results for part in result.member.values())


@pytest.mark.parametrize("value", WRONG, ids=[f"{value!r:.20}" for value in WRONG])
def test_wrong_details_are_shown_or_named(value: Any, tmp_path: Path):
    (tmp_path / "exports.json").write_text('{"members": ["members.jsonl"]}')
    for path in places(entry()):
        if "detail" not in path and "training" not in path:
            continue
        (tmp_path / "members.jsonl").write_text(json.dumps(changed(path, value)) + "\n")
        try:
            with explained(tmp_path):
                results = stored(tmp_path)
                tables(suites.get("chomsky"), [scores for scores in results if scores.training.suite == "chomsky"])
        except HumboldtError as error:
            assert "Restore the file" in str(error) or "No " in str(error), (path, str(error))


def test_an_index_names_plain_files_of_its_folder(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for name, why in {
        "/dev/zero": "which is not in its folder",
        "../other.jsonl": "which is not in its folder",
        "pipe": "is not a file",
        "a\0b": "cannot be read",
        "missing": "cannot be read",
        3: "does not name exports",
    }.items():
        (tmp_path / "exports.json").write_text(json.dumps({"members": [name]}))
        with pytest.raises(UsageError, match=why):
            read_members(tmp_path, as_written)


def test_reported_members_of_one_name_do_not_replace_others(tmp_path: Path):
    line, other = json.dumps(entry()), json.dumps({**entry(), "results": []})
    for folder, text in (("a", line), ("b", other)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "members.jsonl").write_text(text + "\n")
    assert num_reported(tmp_path / "a/members.jsonl", as_written) == 2
    add_reported(tmp_path / "a/members.jsonl", tmp_path)
    add_reported(tmp_path / "a/members.jsonl", tmp_path)  # the same again
    with pytest.raises(UsageError, match=r"has other members\. Rename"):
        add_reported(tmp_path / "b/members.jsonl", tmp_path)
    assert (tmp_path / "reported/members.jsonl").read_text() == line + "\n"


@pytest.mark.parametrize(
    "content", [b"", b"x", b"\x1f\x8b\x08\x00", b"\x1f\x8b" + b"\xff" * 40], ids=["empty", "text", "cut", "damaged"]
)
def test_damaged_references_are_refused(content: bytes, tmp_path: Path):
    (tmp_path / "chomsky.jsonl.gz").write_bytes(content)
    if not content:
        assert list(references.entries(tmp_path)) == []
        return
    with pytest.raises(UsageError, match="is not a file of references"):
        list(references.entries(tmp_path))


def test_references_are_neither_bombs_nor_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    references.write(tmp_path, "chomsky", [entry()])
    assert [line for _, line in references.entries(tmp_path)] == [entry()]
    monkeypatch.setattr(references, "MOST_BYTES", 100)
    with pytest.raises(UsageError, match="more than 100 bytes"):
        list(references.entries(tmp_path))
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "syntax.jsonl.gz").symlink_to(tmp_path / "victim")
    with pytest.raises(UsageError, match="that is a link"):
        references.write(tmp_path, "syntax", [])
    assert (tmp_path / "victim").read_text() == "mine"
