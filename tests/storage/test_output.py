"""Files appear whole, in place of plain files only."""

import os
import stat
from pathlib import Path

import pytest

from humboldt.errors import UsageError
from humboldt.storage.output import appearing, write_file


def test_a_file_appears_when_it_is_complete(tmp_path: Path):
    path = tmp_path / "x.txt"
    path.write_text("before")
    with appearing(path) as file:
        file.write(b"after")
        assert path.read_text() == "before"
    assert path.read_text() == "after" and [one.name for one in tmp_path.iterdir()] == ["x.txt"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_an_error_leaves_the_file_before_and_nothing_else(tmp_path: Path):
    path = tmp_path / "x.txt"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), appearing(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_text() == "before" and [one.name for one in tmp_path.iterdir()] == ["x.txt"]


def test_only_plain_files_are_replaced(tmp_path: Path):
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, kind in (("link", "a link"), ("lost", "a link"), ("folder", "a folder"), ("pipe", "a pipe")):
        with pytest.raises(UsageError, match=f"that is {kind}, and only plain files are replaced"):
            write_file(tmp_path / name, "x")
    with pytest.raises(UsageError, match="that is a device"):
        write_file(Path("/dev/null"), "x")
    assert Path("/dev/null").is_char_device() and target.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_planted_link_is_not_followed(tmp_path: Path):
    target = tmp_path / "target"
    target.write_text("mine")
    for planted in (".x.html.part", ".x.html", ".humboldt-"):
        (tmp_path / planted).symlink_to(target)
    write_file(tmp_path / "x.html", "page")
    assert target.read_text() == "mine" and (tmp_path / "x.html").read_text() == "page"


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "nowhere/x.txt"])
def test_names_that_no_file_can_have_are_sentences(name: str, tmp_path: Path):
    with pytest.raises(UsageError, match="cannot be written") as caught:
        write_file(tmp_path / name, "x")
    assert len(str(caught.value)) < 300


def test_a_long_name_that_a_file_can_have(tmp_path: Path):
    write_file(tmp_path / ("x" * 250), "content")
    assert (tmp_path / ("x" * 250)).read_text() == "content"
