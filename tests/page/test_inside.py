"""Members that nobody has trained: what is drawn of them does not depend on that."""

from pathlib import Path

import numpy as np
import pytest
from kept_support import fill

import humboldt
from humboldt.commands.report import write_report
from humboldt.core.internals import Internal
from humboldt.errors import UsageError
from humboldt.inspecting.inspection import Inspection
from humboldt.inspecting.kept import kept_members
from humboldt.page import inside
from humboldt.page.inside import draw, figures_of, look_inside
from humboldt.report.figures import Figure, Kind
from humboldt.suites import suites
from humboldt.suites.capabilities import OffersWrongStrings

SMALL = {"hidden_size": 6, "learning_rates": (1e-3,), "train_lengths": (1, 4), "test_lengths": (5, 6)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("kept")
    fill(out, "chomsky", "parity_check", "stack_rnn", {**SMALL, "cell_size": 2})
    return out


@pytest.fixture(scope="module")
def found(folder: Path) -> Inspection:
    return humboldt.load(folder).inspect("a b b a")


def test_what_a_string_does_inside_is_drawn(found: Inspection):
    figures = {figure.name: figure for figure in figures_of(found) if isinstance(figure, Figure)}
    assert {"answers", "actions", "stack", "hidden"} <= figures.keys()
    actions = figures["actions"]
    assert actions.kind is Kind.HEAT and {row["symbol"] for row in actions.rows} == {"push", "pop", "no-op"}
    by_step: dict[str, float] = {}
    for row in actions.rows:
        by_step[row["step"]] = by_step.get(row["step"], 0.0) + row["value"]
    assert list(by_step) == ["0 a", "1 b", "2 b", "3 a", "4 ∅"]
    assert list(by_step.values()) == pytest.approx([1.0] * 5, abs=1e-3)


def test_states_in_a_plane_are_their_first_components(folder: Path):
    member = humboldt.load(folder)
    strings = inside._strings(member)
    planes = {figure.name: figure for figure in inside._planes(member, strings)}
    rows = planes["plane-hidden"].rows
    states = np.concatenate([np.asarray(member.inspect(s).internals["hidden"].values)[: len(s)] for s in strings])
    centred = states - states.mean(0)
    variances = np.sort(np.linalg.eigvalsh(centred.T @ centred))[::-1]
    plane = np.array([[row["x"], row["y"]] for row in rows])
    assert np.square(plane).sum(0) == pytest.approx(variances[:2], rel=1e-2)
    by_parity: dict[int, set[str]] = {}
    for row in rows:
        read = row["string"].partition(": ")[2][: row["step"] + 1]
        by_parity.setdefault(read.count("b") % 2, set()).add(row["state"])
    assert all(len(states) == 1 for states in by_parity.values()) and len(by_parity) == 2  # a state for each parity


def test_the_shortest_wrong_string_is_wrong_and_none_before_it_is(folder: Path):
    (file,) = kept_members(folder)
    member, suite = file.load(), suites.get("chomsky")
    assert isinstance(suite, OffersWrongStrings)
    found = inside._first_wrong(file, member)
    assert found is not None and found.input is not None
    assert found.answer != found.expected and list(found.answer or ()) == member.predict(found.input)
    for length in range(1, len(found.input)):  # an untrained network fails on one symbol, or on two
        assert member.inspect(["a"] * length).is_right


def test_a_page_looks_inside_and_says_what_it_left_out(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = write_report(folder, tmp_path / "page.html", inside=1).read_text(encoding="utf-8")
    assert "Look inside" in text and "First failures of kept members" in text and "in a plane" in text
    monkeypatch.setattr(inside, "SECONDS", -1.0)
    members, remarks = look_inside(folder, 1)
    assert members == [] and "1 saved member not inspected" in remarks[0]
    assert look_inside(folder, 0) == ([], [])


def test_one_string_is_drawn_as_a_page_or_a_figure(found: Inspection, tmp_path: Path):
    draw(found, tmp_path / "string.html")
    text = (tmp_path / "string.html").read_text(encoding="utf-8")
    assert "Read: a b b a ∅" in text and "Actions over time" in text and "Overview" not in text
    draw(found, tmp_path / "string.svg")
    assert (tmp_path / "string.svg").read_text().startswith("<svg")
    with pytest.raises(UsageError, match=r"ends in \.jpeg"):
        draw(found, tmp_path / "string.jpeg")


def test_attention_has_tokens_on_both_sides():
    weights = np.full((2, 3, 4, 4), 0.25)
    internal = Internal(weights, ("layer", "head", "time", "seen"))
    (figure,) = inside._pictures("attention", internal, ["a", "b", "b", "∅"])
    assert figure.panel == "panel" and len({row["panel"] for row in figure.rows}) == 6
    assert set(figure.y.order) == set(figure.x.order) == {"0 a", "1 b", "2 b", "3 ∅"}


def test_a_task_whose_examples_follow_from_its_settings_is_looked_into(tmp_path: Path):
    fill(tmp_path, "bias", "hierarchical_or_linear", "cnn_s2s", {"hidden_size": 4, "description_length": False})
    members, _ = look_inside(tmp_path, 1)
    assert any("hierarchical_or_linear" in member.title for member in members)


def test_memories_are_coloured_by_the_first_component_of_their_cells():
    rng = np.random.default_rng(0)
    direction = np.array([3.0, 4.0]) / 5
    sizes = rng.normal(size=(5, 1, 4))
    values = sizes[..., None] * direction + 0.001 * rng.normal(size=(5, 1, 4, 2))
    component = inside.first_component(values)
    assert abs(np.corrcoef(component.ravel(), sizes.ravel())[0, 1]) > 0.999
    assert component.max() == np.abs(component).max()
    assert component.std() == pytest.approx(sizes.std(), rel=0.01)
    (figure,) = inside._pictures("stack", Internal(values, ("time", "stack", "depth", "cell")), list("aabb∅"))
    assert "first principal component" in figure.title and {row["symbol"] for row in figure.rows} == {
        "0",
        "1",
        "2",
        "3",
    }


def test_all_heads_of_the_papers_transformer_are_drawn():
    """Five layers of eight heads, for a string of eight symbols and the place of the answer: Figure B.3."""
    internal = Internal(np.full((5, 8, 9, 9), 1 / 9), ("layer", "head", "time", "seen"))
    (figure,) = inside._pictures("attention", internal, [*"01201201", "∅"])
    assert len({row["panel"] for row in figure.rows}) == 40 and not figure.left_out
    (long,) = inside._pictures(
        "attention", Internal(np.full((5, 8, 60, 60), 1 / 60), ("layer", "head", "time", "seen")), ["0"] * 60
    )
    assert len({row["panel"] for row in long.rows}) == 5 and long.left_out == "35 more panels."


def test_layers_of_longer_strings_lie_in_planes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Figures 4b, B.4 and B.5: all tokens by length, and the token of the answer by what is right."""
    small = {"width": 4, "num_heads": 1, "num_layers": 2, "positions": "none", "learning_rates": (1e-3,)}
    fill(tmp_path, "chomsky", "cycle_navigation", "transformer_encoder", small)
    monkeypatch.setattr(inside, "LENGTHS", (3, 5))
    member = humboldt.load(tmp_path)
    planes = {figure.name: figure for figure in inside._layer_planes(member)}
    assert set(planes) == {"plane-lengths", "plane-first-layer", "plane-last-layer"}
    assert len(planes["plane-lengths"].rows) == inside.STRINGS * (4 + 6)
    strings = inside._strings_of(member, 3)
    states = member.states_of(strings)
    one = member.inspect(strings[1]).internals["states"].values
    assert states is not None and np.allclose(states[1], one, atol=1e-5)
    rights = [row["state"] for row in planes["plane-last-layer"].rows][: len(strings)]
    assert rights == [member.resolved.task.oracle(list(symbols))[0] for symbols in strings]
