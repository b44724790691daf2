"""The random split of SCAN."""

from humboldt.languages.bias.parts.scan import commands
from humboldt.languages.bias.scan_simple import ScanSimple


def test_the_sizes_are_those_of_the_released_split_and_all_commands_are_in_one_part():
    task = ScanSimple()
    train, test = [source for source, _ in task.training_pairs], list(task.holdout_inputs)
    assert (len(train), len(test)) == (16_728, 4_182)
    assert set(train) | set(test) == set(commands()) and not set(train) & set(test)
    shares = [sum("jump" in command for command in part) / len(part) for part in (train, test)]
    assert abs(shares[0] - shares[1]) < 0.03  # as alike as random parts are
