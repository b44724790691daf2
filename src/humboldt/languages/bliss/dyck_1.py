"""Dyck-1 (context-free)."""

from humboldt.languages import Alphabet, tasks
from humboldt.languages.bliss.parts.dyck import AbstractDyck


@tasks.register("bliss/dyck_1", version=1)
class Dyck1(AbstractDyck):
    """Well balanced brackets of one kind: (), (()), ()(), ..."""

    input_alphabet = output_alphabet = Alphabet(("#", "(", ")"))
    chance = 1 / 3
    examples = (("# ( ( ) ( ) )", "( ( ) ( ) ) #"), ("#", "#"))
    brackets = ("()",)
    rules = "S -> ( S ) S [{p}] | [{q}]"
