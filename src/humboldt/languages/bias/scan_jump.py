"""SCAN, the split that adds a primitive (appendix D)."""

from humboldt.languages import tasks
from humboldt.languages.bias.base import AbstractBiasTask, Pair, Rule, Symbols
from humboldt.languages.bias.parts.scan import actions, commands

JUMPS = 1_467  # repetitions of the line `jump` in the released split, a tenth of its 14,670 training lines


@tasks.register("bias/scan_jump", version=1)
class ScanJump(AbstractBiasTask):
    """After all commands without jump, and jump alone: what do the commands with jump mean?

    `comp` gives their meaning in SCAN; `mem` gives a single I_JUMP, as for jump alone. The training set is that of the
    released split "add jump": 13,203 commands without jump and the command `jump` 1,467 times. The other 7,706
    commands with jump are the hold-out inputs.
    """

    block_size = 1024
    training_examples = (("jump", "I_JUMP"), ("run left after walk twice", "I_WALK I_WALK I_TURN_LEFT I_RUN"))
    rule_examples = (
        ("comp", "jump around right", " ".join(["I_TURN_RIGHT", "I_JUMP"] * 4)),  # Figure 2
        ("comp", "jump opposite left and turn opposite left", "I_TURN_LEFT I_TURN_LEFT I_JUMP I_TURN_LEFT I_TURN_LEFT"),
        ("mem", "jump around right", "I_JUMP"),
        ("mem", "turn left twice", "I_TURN_LEFT I_TURN_LEFT"),
    )

    def training(self) -> list[Pair]:
        without = [(command, actions(command)) for command in commands() if "jump" not in command]
        return without + [(("jump",), actions(("jump",)))] * JUMPS

    def holdout(self) -> list[Symbols]:
        return [command for command in commands() if "jump" in command and command != ("jump",)]

    @property
    def rules(self) -> dict[str, Rule]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The rules by name."""
        return {"comp": actions, "mem": _memorize}


def _memorize(command: Symbols) -> Symbols:
    return ("I_JUMP",) if "jump" in command else actions(command)
