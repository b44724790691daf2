"""The three configurations of the sLSTM are those of the papers' rows, and the path between two changes one setting."""

import sys
from pathlib import Path

import pytest
from pages import script

import humboldt
from humboldt.suites.chomsky.other_papers import NETWORKS

SLSTM = script("reproductions/chomsky/slstm.py")


@pytest.mark.parametrize(("name", "members"), [("beck", 3 * 30), ("grazzi", 4 * 30), ("walker", 30)])
def test_configurations_have_the_networks_that_printed_numbers_stand_beside(name: str, members: int, tmp_path: Path):
    arguments = SLSTM.study(SLSTM.whole()[name], SLSTM.DATA["seeds"]["whole"], tmp_path, small=False, steps=10)
    (experiment,) = humboldt.plan(**arguments).experiments
    assert len(experiment.members) == members
    assert experiment.training.flat["steps"] == 10
    assert experiment.training.task == "modular_arithmetic_simple"
    networks = NETWORKS.get((arguments["preset"], "sLSTM"), ())  # numbers of Beck et al. are never compared
    assert any(network.is_that_of(experiment.training) for network in networks) == (name != "beck")


def test_the_path_changes_one_setting_at_a_time():
    beck, walker = SLSTM.whole()["beck"], SLSTM.whole()["walker"]
    path = SLSTM.path()
    for name, configuration in path.items():
        (changed,) = (key for key in beck if configuration[key] != beck[key])
        assert name == f"beck+{changed}" and configuration[changed] == walker[changed]
    differing = {key for key in beck if beck[key] != walker[key]} - {"preset"}
    assert {name.removeprefix("beck+") for name in path} == differing


@pytest.mark.slow
def test_a_small_run_gives_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    for part in ("whole", "table"):
        monkeypatch.setattr(sys, "argv", ["slstm.py", part, str(tmp_path), "--small", "--only", "walker"])
        SLSTM.main()
    assert '"members": 2' in capsys.readouterr().out
