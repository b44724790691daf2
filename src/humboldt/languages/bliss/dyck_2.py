"""Dyck-2 (context-free)."""

from humboldt.languages import Alphabet, tasks
from humboldt.languages.bliss.parts.dyck import AbstractDyck


@tasks.register("bliss/dyck_2", version=1)
class Dyck2(AbstractDyck):
    """Well balanced brackets of two kinds: (), [], ([]), ()[], ..."""

    input_alphabet = output_alphabet = Alphabet(("#", "(", ")", "[", "]"))
    chance = 1 / 5
    examples = (("# ( [ ] ) [ ]", "( [ ] ) [ ] #"), ("#", "#"))
    brackets = ("()", "[]")
    rules = "S -> ( S ) S [{half}] | [ S ] S [{half}] | [{q}]"
