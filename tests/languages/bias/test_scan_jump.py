"""The split that adds a primitive."""

from collections import Counter

from humboldt.languages.bias.scan_jump import ScanJump

TASK = ScanJump()


def test_the_sizes_of_the_released_split():
    lines = Counter(source for source, _ in TASK.training_pairs)
    assert sum(lines.values()) == 14_670
    assert lines[("jump",)] == 1_467
    assert len(lines) == 13_204 and all(count == 1 for source, count in lines.items() if source != ("jump",))
    assert len(TASK.holdout_inputs) == 7_706
    assert len({*lines, *TASK.holdout_inputs}) == 20_910


def test_memorization_is_a_single_jump():
    assert {target for _, target in TASK.holdout_pairs("mem")} == {("I_JUMP",)}
    assert all("jump" in source for source in TASK.holdout_inputs)


def test_figure_2():
    figure = "jump opposite left after walk around left"
    assert TASK.output("comp", figure) == (*(("I_TURN_LEFT", "I_WALK") * 4), "I_TURN_LEFT", "I_TURN_LEFT", "I_JUMP")
