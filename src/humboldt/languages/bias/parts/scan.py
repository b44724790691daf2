"""SCAN (Lake and Baroni 2018): all commands of its grammar, and their action sequences.

C -> S and S | S after S | S
S -> V twice | V thrice | V
V -> A X | A opposite X | A around X | U
A -> U | turn
X -> left | right
U -> walk | look | run | jump
"""

from collections.abc import Iterator
from functools import cache

Symbols = tuple[str, ...]

PRIMITIVES = ("walk", "look", "run", "jump")
TURNS = {"left": "I_TURN_LEFT", "right": "I_TURN_RIGHT"}
TIMES = {"twice": 2, "thrice": 3}


@cache
def commands() -> tuple[Symbols, ...]:
    """Returns all 20,910 commands: single sentences first, then pairs joined by `and` and by `after`."""
    sentences = list(_sentences())
    pairs = [(*x, word, *y) for word in ("and", "after") for x in sentences for y in sentences]
    return (*sentences, *pairs)


def _sentences() -> Iterator[Symbols]:
    verbs: list[Symbols] = [(primitive,) for primitive in PRIMITIVES]
    for manner in ((), ("opposite",), ("around",)):
        verbs += [(action, *manner, direction) for action in (*PRIMITIVES, "turn") for direction in TURNS]
    for verb in verbs:
        yield verb
        for times in TIMES:
            yield (*verb, times)


def actions(command: Symbols) -> Symbols:
    """Returns the action sequence of a command.

    >>> " ".join(actions(("jump", "left", "twice", "after", "walk")))
    'I_WALK I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP'
    """
    for word in ("and", "after"):
        if word in command:
            place = command.index(word)
            first, second = actions(command[:place]), actions(command[place + 1 :])
            return first + second if word == "and" else second + first
    if command[-1] in TIMES:
        return actions(command[:-1]) * TIMES[command[-1]]
    action: Symbols = () if command[0] == "turn" else (f"I_{command[0].upper()}",)
    if len(command) == 1:
        return action
    turn = (TURNS[command[-1]],)
    if "opposite" in command:
        return turn + turn + action
    return (turn + action) * (4 if "around" in command else 1)
