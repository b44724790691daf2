"""The files about the project agree: version, authors, supported Python versions, platforms."""

import importlib.util
import json
import re
import subprocess
import sys
import tomllib

import pytest
from pages import ROOT

import humboldt
from humboldt import starting

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
ZENODO = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))


def test_citations_are_of_this_version():
    assert re.findall(r"^version: (.+)$", CITATION, re.MULTILINE) == [humboldt.__version__]
    assert ZENODO["version"] == humboldt.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.findall(r"^## (\S+)", changelog, re.MULTILINE)[0]
    assert first == humboldt.__version__


def test_authors_and_licence_are_the_same_everywhere():
    authors = [author["name"] for author in PROJECT["authors"]]
    assert re.findall(r'^  - name: "(.+)"$', CITATION, re.MULTILINE) == authors
    assert [creator["name"] for creator in ZENODO["creators"]] == authors
    assert PROJECT["license"] == ZENODO["license"] == re.findall(r"^license: (.+)$", CITATION, re.MULTILINE)[0]


def test_the_changelog_is_ordered():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for release in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        assert re.match(r"\d+\.\d+\.\d+ \((unreleased|\d{4}-\d\d-\d\d)\)\n\n### ", release)
        kinds = re.findall(r"^### (.+)$", release, re.MULTILINE)
        assert kinds == [kind for kind in ("Added", "Changed", "Fixed") if kind in kinds]


def test_every_supported_python_is_checked():
    prefix = "Programming Language :: Python :: 3."
    supported = [name.removeprefix(prefix) for name in PROJECT["classifiers"] if name.startswith(prefix)]
    workflow = (ROOT / ".github/workflows/checks.yml").read_text(encoding="utf-8")
    assert re.findall(r'"3\.(\d+)"', workflow) == supported
    assert PROJECT["requires-python"] == f">=3.{supported[0]}"


def test_every_extra_of_the_messages_exists():
    named = set()
    for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for extras in re.findall(r"humboldt\[([a-z,-]+)\]", path.read_text(encoding="utf-8")):
            named |= set(extras.split(","))
    assert named and named <= PROJECT["optional-dependencies"].keys()


def test_a_platform_without_fcntl_gets_one_sentence():
    """As on Windows: the module is not there."""
    hidden = (
        "import importlib.util as u, sys; f = u.find_spec; u.find_spec = lambda n, *a: None if n == 'fcntl' else f(n)"
    )
    code = f"{hidden}\nsys.argv = [ARGV]\ntry:\n    import humboldt\nexcept ImportError as error:\n    print(error)"
    for argv, stream, status in (("script.py", "stdout", 0), ("humboldt", "stderr", 1)):
        done = subprocess.run([sys.executable, "-c", code.replace("ARGV", repr(argv))], capture_output=True, text=True)
        said = getattr(done, stream)
        assert done.returncode == status and said.count("\n") == 1
        assert "Humboldt does not run on this platform" in said and "WSL" in said


def test_this_platform_is_supported(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "argv", ["pytest"])  # not the command `humboldt`
    starting.check_platform()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="fcntl"):
        starting.check_platform()
