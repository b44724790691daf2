"""The texts of the kernels in the package belong to their sources."""

import re
import shutil
from pathlib import Path

import pytest

from humboldt.models.loop.fused import build
from humboldt.models.loop.fused.launch import TEXTS, read

VARIANTS = build.variants()


def test_there_is_one_text_for_every_variant():
    assert sorted(path.name for path in TEXTS.iterdir()) == sorted(f"{name}.ptx.gz" for name in VARIANTS)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_text_belongs_to_its_source(name: str):
    head, _, text = read(name).partition("\n")
    assert head == f"// sources {build.digest(*VARIANTS[name])}", f"build again: python -m {build.__name__}"
    entry = VARIANTS[name][0] + ("_backward" if "BACKWARD" in VARIANTS[name][1] else "_forward")
    assert re.findall(r"\.visible \.entry (\w+)\(", text) == [entry]
    assert ".target sm_90a" in text


@pytest.mark.parametrize("changed", ["rnn.cu", "layout.cuh", "instructions.cuh"])
def test_a_changed_source_has_another_digest(changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    before = build.digest("rnn", ("HIDDEN=256",))
    folder = shutil.copytree(build.FOLDER, tmp_path / "cuda")
    monkeypatch.setattr(build, "FOLDER", folder)
    assert build.digest("rnn", ("HIDDEN=256",)) == before != build.digest("rnn", ("HIDDEN=128",))
    (folder / changed).write_text((folder / changed).read_text() + "\n// changed")
    assert build.digest("rnn", ("HIDDEN=256",)) != before


def test_the_command_gives_the_same_text_again():
    """Where there is no compiler, that of the digest is all that can be tested."""
    name = "relu_backward_64"
    if shutil.which("nvcc"):
        assert build.compiled(*VARIANTS[name]) == read(name)
    else:
        assert build.digest(*VARIANTS[name]) in read(name)


def test_texts_are_small():
    assert sum(path.stat().st_size for path in TEXTS.iterdir()) < 700_000
