"""Files appear whole, in place of plain files only."""

import os
import stat
from pathlib import Path

import pytest

from humboldt.errors import UsageError
from humboldt.storage.output import appearing, check_output, write_file


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
    assert target.read_text() == "mine" and not (tmp_path / "nowhere").exists()


def test_no_device_is_replaced(tmp_path: Path):
    path = tmp_path / "device"
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")
    with pytest.raises(UsageError, match="that is a device"):
        write_file(path, "x")
    assert path.is_char_device()


def test_outputs_are_checked_before_work_begins(tmp_path: Path):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    check_output(tmp_path / "new.html")
    check_output(tmp_path / "file")
    for name, message in {
        "link": "that is a link",
        "nowhere/x.html": "No such file or directory. Give a file in a folder that exists",
        "file/x.html": "Not a directory",
        "x" * 300: "too long",
        "a\0b": "null",
    }.items():
        with pytest.raises(UsageError, match=f"^--certificate .*{message}"):
            check_output(tmp_path / name, "--certificate")


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
