"""The declared versions: the lowest ones are those that `make test-lowest` installs."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTED = ("zoo", "report", "parquet")  # PyTorch and Ray are too large to be installed a second time


def pins(name: str) -> dict[str, str]:
    lines = [line for line in (ROOT / name).read_text().splitlines() if "==" in line]
    return {package.lower(): version for package, version in (line.split("==") for line in lines)}


def declared() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [requirement for extra in TESTED for requirement in project["optional-dependencies"][extra]]
    matches = [re.fullmatch(r"([A-Za-z0-9-]+)>=([0-9.]+)", text) for text in [*project["dependencies"], *extras]]
    return {match[1].lower(): match[2] for match in matches if match is not None}


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, [*re.findall(r"[0-9]+", version), "0", "0"][:3]))


def test_every_lowest_version_is_pinned_and_no_other():
    lowest = pins("constraints-lowest.txt")
    assert lowest.pop("jaxlib") == lowest["jax"]  # JAX itself accepts others
    assert {package: numbers(version) for package, version in lowest.items()} == {
        package: numbers(version) for package, version in declared().items()
    }


def test_the_versions_that_all_tests_use_are_at_least_the_lowest():
    newest = pins("constraints.txt")
    assert all(numbers(newest[package]) >= numbers(version) for package, version in declared().items())
