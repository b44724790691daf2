"""`humboldt prove`: verdicts, certificates, and what is said about bad files."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from humboldt import cli
from humboldt.mdl import published_networks

FOUND = Path(__file__).parents[2] / "reproductions" / "bliss" / "mdlrnn"
WRONG = str(FOUND / "an_bn_cn_100_paper_seed_101.json")
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def prove(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["humboldt", "prove", *arguments])
        with pytest.raises(SystemExit) as leaving:
            cli.main()
        said = capsys.readouterr()
        return int(leaving.value.code or 0), said.out, said.err

    return call


@pytest.fixture
def figure_4(tmp_path: Path) -> str:
    path = tmp_path / "figure_4.json"
    path.write_text(published_networks()["an_bn_figure_4"].to_json(), encoding="utf-8")
    return str(path)


def test_a_proof_is_written_and_can_be_checked(prove: Call, figure_4: str, tmp_path: Path):
    file = tmp_path / "certificate.json"
    code, out, _ = prove("bliss", "an_bn", figure_4, "--certificate", str(file))
    assert code == 0
    assert "an_bn, M_det at ε = 0: proved" in out
    assert "up to size 1,125,899,906,842,624" in out
    assert json.loads(file.read_text())["claim"]["language"] == "bliss/an_bn"
    code, out, _ = prove("bliss", "an_bn", figure_4, "--check", str(file), "--json")
    assert code == 0
    assert json.loads(out) == {
        "suite": "bliss",
        "task": "an_bn",
        "network": figure_4,
        "measure": "M_det",
        "epsilon": "0",
        "verdict": "Proved",
        "float_size": 2**50,
        "certificate": str(file),
    }


def test_a_refutation_tells_the_string_and_what_is_said_there(prove: Call, tmp_path: Path):
    file = tmp_path / "certificate.json"
    code, out, _ = prove("bliss", "an_bn_cn", WRONG, "--certificate", str(file))
    assert code == 1
    assert "refuted" in out
    assert f"Wrong about: {'a' * 15}{'b' * 15}{'c' * 15}\n" in out
    assert "what can follow" in out
    assert not file.exists()
    code, out, _ = prove("bliss", "an_bn_cn", WRONG, "--json")
    record = json.loads(out)
    assert code == 1
    assert (record["verdict"], record["string"]) == ("Refuted", "a" * 15 + "b" * 15 + "c" * 15)
    assert sum(record["says"].values()) == pytest.approx(1)


def test_measure_and_margin_can_be_chosen(prove: Call):
    network = str(FOUND / "dyck_1_100_paper_seed_100.json")
    assert prove("bliss", "dyck_1", network)[0] == 0
    code, out, _ = prove("bliss", "dyck_1", network, "--measure", "M_cat", "--epsilon", "0.005", "--json")
    assert code == 1
    assert json.loads(out)["string"] == "(" * 100 + ")" * 100


def test_what_is_unknown_is_said(prove: Call, monkeypatch: pytest.MonkeyPatch, figure_4: str):
    import humboldt.mdl.proofs as proofs

    unknown = proofs.Unknown("hidden 7 is not an affine form after a", "hidden 7", "a", 300)
    monkeypatch.setattr(proofs, "prove", lambda *arguments: unknown)
    code, out, _ = prove("bliss", "an_bn", figure_4)
    assert code == 1
    assert "unknown. Hidden 7 is not an affine form after a.\nIt is right about every string up to size 300." in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chomsky", "an_bn", "FIGURE"), "No suite with proofs named 'chomsky'. Known: bliss."),
        (("bliss", "dyck_2", "FIGURE"), "No language with proofs named 'dyck_2'"),
        (("bliss", "an_bn", "missing.json"), "Cannot read network file missing.json: No such file"),
        (("bliss", "an_bn", "BINARY"), "it is not text"),
        (("bliss", "an_bn", "BROKEN"), "not JSON (Expecting"),
        (("bliss", "an_bn", "OTHER"), "expected an object with"),
        (("bliss", "an_bn_cn", "FIGURE"), "The network reads 3 symbols (# a b)"),
        (("bliss", "an_bn", "FIGURE", "--measure", "M_dot"), "No measure named 'M_dot'. Did you mean"),
        (("bliss", "an_bn", "FIGURE", "--epsilon", "small"), "epsilon = 'small' is not a number"),
        (("bliss", "an_bn", "FIGURE", "--epsilon", "nan"), "is not a number"),
        (("bliss", "an_bn", "FIGURE", "--epsilon", ""), "epsilon = '' is not a number"),
        (("bliss", "an_bn", "FIGURE", "--measure", ""), "No measure named ''"),
        (("bliss", "an_bn", "FIGURE", "--epsilon", "1"), "epsilon = 1 is not in [0, 1)"),
        (("bliss", "an_bn", "FIGURE", "--certificate", "no/such/folder/x"), "Give a file in a folder that exists"),
        (("bliss", "an_bn", "FIGURE", "--certificate", "."), "that is a folder, and only plain files are replaced"),
        (("bliss", "an_bn", "FIGURE", "--check", "missing.json"), "Cannot read certificate missing.json"),
        (("bliss", "an_bn", "FIGURE", "--check", "BROKEN"), "Cannot read certificate"),
        (("bliss", "an_bn", "FIGURE", "--check", "OTHER"), "The certificate is not valid: it is damaged"),
        (("bliss", "an_bn", "FIGURE", "--check", "a", "--certificate", "b"), "both given"),
    ],
)
def test_bad_requests_say_what_is_wrong(prove: Call, figure_4: str, tmp_path: Path, arguments: tuple, said: str):
    (tmp_path / "BINARY").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "BROKEN").write_text("{")
    (tmp_path / "OTHER").write_text("[1, 2]")
    own = {name: str(tmp_path / name) for name in ("BINARY", "BROKEN", "OTHER")} | {"FIGURE": figure_4}
    code, out, err = prove(*(own.get(argument, argument) for argument in arguments))
    assert (code, out) == (2, "")
    assert said in err


def test_a_certificate_of_something_else_is_refused(prove: Call, figure_4: str, tmp_path: Path):
    certificate = str(FOUND / "proofs" / "published_an_bn_figure_4.M_cat_0.005.json")
    assert prove("bliss", "an_bn", figure_4, "--check", certificate, "--epsilon", "0.005")[0] == 0
    code, _, err = prove("bliss", "an_bn", figure_4, "--check", certificate, "--measure", "M_det")
    assert code == 2
    assert "it is about measure M_cat, and M_det was asked for" in err
    code, _, err = prove("bliss", "an_bn", figure_4, "--check", certificate, "--epsilon", "0")
    assert "it is about epsilon 1/200, and 0 was asked for" in err
    own = str(FOUND / "an_bn_100_paper_seed_100.json")
    assert "it is about another network" in prove("bliss", "an_bn", own, "--check", certificate)[2]
