import sys
from pathlib import Path
from types import ModuleType

import pytest

from humboldt.errors import MissingExtra, UsageError
from humboldt.languages import tasks
from humboldt.models import models
from humboldt.registry import Registry
from humboldt.suites import suites


def test_names_are_files():
    assert "chomsky/parity_check" in tasks.names()
    assert not any("_base" in name for name in tasks.names())
    assert {"rnn", "lstm"} <= set(models.names())
    assert {"bliss", "chomsky", "syntax"} <= set(suites.names()) and "base" not in suites.names()
    assert tasks.names("bliss/") and all(name.startswith("bliss/") for name in tasks.names("bliss/"))


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="Did you mean 'chomsky/parity_check'"):
        tasks.get("chomsky/paritycheck")
    assert "chomsky/paritycheck" not in tasks and "chomsky/parity_check" in tasks


def defined_in(path: Path, source: str = "class Thing:\n    pass\n"):
    """A class whose source file is `path`."""
    path.write_text(source)
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    exec(compile(source, str(path), "exec"), module.__dict__)
    return module.Thing


def test_a_name_is_bound_once_and_both_places_are_named(tmp_path: Path):
    registry: Registry[object] = Registry("thing")
    first, second = (defined_in(tmp_path / f"{name}_place.py") for name in ("first", "second"))
    registry.register("mine", version=1)(first)
    with pytest.raises(UsageError, match=r"'mine' is registered twice: by .*first_place\.py and by .*second_place\.py"):
        registry.register("mine", version=2)(second)
    assert registry.names() == ["mine"] and registry.entry("mine").version == 1


def test_our_own_names_are_taken(tmp_path: Path):
    with pytest.raises(UsageError, match=r"'rnn' is .*rnn.*mine_file\.py"):
        models.register("rnn", version=1)(defined_in(tmp_path / "mine_file.py"))


def test_who_declares_no_version_is_given_that_of_the_source(tmp_path: Path):
    versions = []
    for text in ("class Thing:\n    pass\n", "class Thing:\n    a = 1\n", "class Thing:\n    pass\n"):
        registry: Registry[object] = Registry("thing")
        registry.register("mine")(defined_in(tmp_path / "edited.py", text))
        versions.append(registry.entry("mine").version)
    assert versions[0] == versions[2] != versions[1]
    assert all(str(version).startswith("sha256:") for version in versions)


def test_an_edit_to_any_file_of_a_package_counts(tmp_path: Path):
    package = tmp_path / "my_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    versions = set()
    for text in ("x = 1\n", "x = 2\n"):
        (package / "helper.py").write_text(text)
        registry: Registry[object] = Registry("thing")
        registry.register("mine")(defined_in(package / "thing_of_package.py"))
        versions.add(registry.entry("mine").version)
    assert len(versions) == 2


def test_what_has_no_source_needs_a_version():
    registry: Registry[object] = Registry("thing")
    namespace: dict = {"__name__": "typed_at_a_prompt"}
    exec("class Thing:\n    pass\n", namespace)
    with pytest.raises(UsageError, match=r"has no source file.*register\(\.\.\., version=1\)"):
        registry.register("mine")(namespace["Thing"])
    registry.register("mine", version=3)(namespace["Thing"])
    assert registry.entry("mine").version == 3


def test_what_comes_from_outside_can_be_checked():
    def check(name: str, value: object) -> None:
        raise UsageError(f"{name} will not do")

    registry: Registry[object] = Registry("thing", check=check)
    with pytest.raises(UsageError, match="mine will not do"):
        registry.register("mine", version=1)(type("Thing", (), {}))
    assert registry.names() == []


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package whose files are entries."""
    folder = tmp_path / "package_of_things"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "without_jax.py").write_text("raise ModuleNotFoundError(\"No module named 'jax'\", name='jax')")
    (folder / "broken.py").write_text("import no_such_package_anywhere")
    (folder / "forgetful.py").write_text("")
    (folder / "_part.py").write_text("raise AssertionError('listing imports nothing')")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder.name


def test_files_that_cannot_be_imported(package: str):
    registry: Registry[object] = Registry("thing", package)
    assert registry.names() == ["broken", "forgetful", "without_jax"]
    with pytest.raises(MissingExtra, match=r"pip install 'humboldt\[zoo\]'"):
        registry.get("without_jax")
    with pytest.raises(ModuleNotFoundError, match="no_such_package_anywhere"):
        registry.get("broken")
    with pytest.raises(ValueError, match="'forgetful' does not register that name"):
        registry.get("forgetful")
