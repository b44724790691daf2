"""SCAN, the random split (appendix D: the i.i.d. split)."""

import numpy as np

from humboldt.languages import tasks
from humboldt.languages.bias.base import AbstractBiasTask, Pair, Rule, Symbols
from humboldt.languages.bias.parts.scan import actions, commands

TRAINING = 16_728  # commands of the released split "simple", four fifths of all
SEED = 0  # of our split; the released one is another random split of the same commands


@tasks.register("bias/scan_simple", version=1)
class ScanSimple(AbstractBiasTask):
    """After four fifths of all commands, drawn at random: what do the others mean?

    There is one rule, `comp`, their meaning in SCAN: the question is whether a learner knows the language at all. The
    paper uses this split to choose its learners for `scan_jump`.
    """

    block_size = 1024
    least_rules = 1
    training_examples = (("look left after walk twice", "I_WALK I_WALK I_TURN_LEFT I_LOOK"),)
    rule_examples = (("comp", "jump around right", " ".join(["I_TURN_RIGHT", "I_JUMP"] * 4)),)

    def training(self) -> list[Pair]:
        return [(command, actions(command)) for command in self._split()[0]]

    def holdout(self) -> list[Symbols]:
        return self._split()[1]

    @property
    def rules(self) -> dict[str, Rule]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The rule by name."""
        return {"comp": actions}

    def _split(self) -> tuple[list[Symbols], list[Symbols]]:
        every = commands()
        order = np.random.default_rng(SEED).permutation(len(every)).tolist()
        return [every[i] for i in sorted(order[:TRAINING])], [every[i] for i in sorted(order[TRAINING:])]
