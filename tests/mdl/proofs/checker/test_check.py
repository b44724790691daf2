"""The checker agrees with the suite's evaluator, and takes no forged certificate."""

import ast
import copy
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from humboldt.mdl.proofs import Proved, Rejected, check, checker, prove
from humboldt.mdl.proofs.checker.check import digest, logistic, value

from ..mutants import RIGHT, load, mutant, random_network, step_slow

FOLDER = Path(checker.__file__).parent
POINT = [(-1, 1), (1, -1)]  # one variable, which is 1


def certificate_of(name: str, language: str, **claim: object) -> dict:
    verdict = prove(load(name), language, **claim)  # pyright: ignore[reportArgumentType]
    assert isinstance(verdict, Proved)
    return copy.deepcopy(verdict.certificate)


def resealed(certificate: dict) -> dict:
    """A forgery: changed, with a hash that fits."""
    content = {key: item for key, item in certificate.items() if key != "sha256"}
    return {**content, "sha256": digest(content)}


def test_it_is_short_and_imports_nothing_of_the_prover():
    assert len((FOLDER / "check.py").read_text().splitlines()) <= 200
    allowed = {"humboldt.errors", "humboldt.mdl.proofs.network"}
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("humboldt"):
                assert node.module in allowed or str(node.module).startswith("humboldt.mdl.proofs.checker."), path


def test_the_page_says_how_long_it_is():
    parts = [FOLDER / f"{name}.py" for name in ("check", "elimination", "strings")]
    assert {*FOLDER.glob("*.py")} == {*parts, FOLDER / "__init__.py"}
    total = sum(len(path.read_text().splitlines()) for path in parts)
    code = sum(map(code_lines, parts))
    page = " ".join((FOLDER.parents[4] / "docs" / "proofs.md").read_text().split())
    assert f"Together that is {total} lines, of which {code} are code" in page


def code_lines(path: Path) -> int:
    """Lines that are neither blank nor part of a docstring or a comment."""
    text = path.read_text()
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(1 for number, line in lines if number not in prose and line.strip() and line.strip()[0] != "#")


@pytest.mark.parametrize("seed", range(30))
def test_its_steps_are_those_of_the_suite_on_random_networks(seed: int):
    rng = np.random.default_rng(seed)
    network = random_network(rng)
    before, floats = None, None
    for symbol in [0, *rng.integers(0, 3, 5).tolist()]:
        known: dict = {}
        bounds = {unit: value(network, POINT, before, symbol, unit, known) for unit in range(len(network.units))}
        floats, _ = step_slow(network, floats, symbol)
        if max(map(abs, floats)) > 1e6:
            break
        for unit, (low, high) in bounds.items():
            assert (low is None) or float(low[0] + low[1]) <= floats[unit] + 1e-9, network.to_json()
            assert (high is None) or float(high[0] + high[1]) >= floats[unit] - 1e-9, network.to_json()
            if not {"product", "tanh", "sigmoid"} & {x for u in network.units for x in (u.type, u.activation)}:
                assert low == high
        before = {unit: pair for unit, pair in bounds.items()}


def test_bounds_of_the_logistic_function_are_close_and_on_either_side():
    for x in (Fraction(0), Fraction(1, 3), Fraction(-7), Fraction(60), Fraction(-99), Fraction(500), Fraction(-500)):
        low, high = logistic(x)
        exact = 1 / (1 + np.exp(-np.longdouble(float(x))))
        assert float(low) - 1e-15 <= exact <= float(high) + 1e-15
        assert (low == high) == (x == 0)
        assert high - low < Fraction(1, 2**100)
    assert logistic(Fraction(500))[1] == 1
    assert logistic(Fraction(-500))[0] == 0


def leaves(data: object, path: tuple = ()):
    if isinstance(data, dict | list):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(item, (*path, key))
    else:
        yield path


def changed(item: object) -> object:
    if isinstance(item, int):
        return item - 1
    return "1" if item is None else f"{item}1"


@pytest.mark.parametrize(("name", "language"), [("an_bn_100_paper_seed_102", "an_bn"), ("dyck_1", "dyck_1")])
def test_damage_to_any_field_is_found(name: str, language: str):
    whole, network = certificate_of(name, language), load(name)
    for path in leaves(whole):
        damaged = copy.deepcopy(whole)
        place = damaged
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = changed(place[path[-1]])
        with pytest.raises(Rejected):
            check(damaged, network)
        del place[path[-1]]
        with pytest.raises(Rejected):
            check(damaged, network)


CASES = [
    ("an_bn_100_paper_seed_102", "an_bn"),
    ("an_bm_cn_plus_m_250_paper_seed_101", "an_bm_cn_plus_m"),
    ("dyck_1", "dyck_1"),
]


@pytest.mark.parametrize(("name", "language"), CASES)
def test_forged_invariants_are_rejected(name: str, language: str):
    whole, network = certificate_of(name, language), load(name)
    assert check(resealed(whole), network) == whole["claim"]
    for index, cell in enumerate(whole["cells"]):
        for unit in cell["values"]:
            for entry in range(len(whole["cells"][index]["values"][unit][0])):
                forged = copy.deepcopy(whole)
                for bound in forged["cells"][index]["values"][unit]:
                    bound[entry] = str(Fraction(bound[entry]) + Fraction(1, 7))
                if _changes_a_value(forged["cells"][index], entry):
                    with pytest.raises(Rejected, match=r"leaves its bounds|may be wrong"):
                        check(resealed(forged), network)
        missing = copy.deepcopy(whole)
        del missing["cells"][index]
        with pytest.raises(Rejected, match="cover"):
            check(resealed(missing), network)
        elsewhere = copy.deepcopy(whole)
        size = len(next(iter(cell["values"].values()))[0]) - 1
        elsewhere["cells"][index]["where"].append([-1000, *[1] * size])
        with pytest.raises(Rejected, match="cover"):
            check(resealed(elsewhere), network)


def _changes_a_value(cell: dict, entry: int) -> bool:
    """Whether an entry matters: a coefficient does only if its variable is not 0 in the cell."""
    last = len(next(iter(cell["values"].values()))[0]) - 1
    is_zero = [0, *[0] * (last - 1), -1] in cell["where"]
    return entry == 0 or (entry == last and not is_zero)


def test_a_false_claim_is_rejected_however_it_is_sealed():
    network = load("an_bn_100_paper_seed_102")  # M_det holds, M_cat does not
    for change in (
        {"measure": "M_cat"},
        {"measure": "M_cat", "epsilon": "1/200"},
        {"language": "bliss/an_bn_cn"},
        {"language": "bliss/dyck_1", "measure": "M_cat"},
        {"language": "bliss/dyck_2"},
        {"measure": "M_dot"},
        {"epsilon": "1"},
        {"epsilon": "-1"},
        {"definition": "0"},
    ):
        forged = certificate_of("an_bn_100_paper_seed_102", "an_bn")
        forged["claim"].update(change)
        with pytest.raises(Rejected):
            check(resealed(forged), network)
    for malformed in (None, [], {}, {"claim": {}}, {"claim": None, "cells": [], "sha256": ""}):
        with pytest.raises(Rejected):
            check(malformed, network)


@pytest.mark.parametrize("language", ["an_bn", "an_bn_cn", "dyck_1"])
def test_the_certificate_of_another_network_is_rejected(language: str):
    """A certificate bound anew to a changed network passes only if that network is proved right on its own."""
    rng = np.random.default_rng(3)
    name = RIGHT[language][0]
    whole = certificate_of(name, language)
    for _ in range(15):
        other = mutant(load(name), rng)
        if other == load(name):
            continue
        with pytest.raises(Rejected, match="another network"):
            check(whole, other)
        forged = copy.deepcopy(whole)
        forged["claim"]["network"] = digest_of(other)
        try:
            check(resealed(forged), other)
        except Rejected:
            continue
        assert isinstance(prove(other, language), Proved), other.to_json()


def digest_of(network) -> str:
    return digest(json.loads(network.to_json()))


def test_outputs_that_are_all_zero_are_equal_and_so_never_right():
    network = load("an_bn_100_paper_seed_102")
    silent = type(network)(
        network.symbols, network.units[:3] + tuple([type(network.units[0])()] * 3) + network.units[6:], ()
    )
    forged = certificate_of("an_bn_100_paper_seed_102", "an_bn")
    forged["claim"]["network"] = digest_of(silent)
    with pytest.raises(Rejected, match="may be wrong"):
        forged["cells"] = [{**cell, "values": {}} for cell in forged["cells"]]
        check(resealed(forged), silent)
