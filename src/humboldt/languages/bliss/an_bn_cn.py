"""a^n b^n c^n (context-sensitive)."""

from humboldt.languages import Alphabet, tasks
from humboldt.languages.bliss.parts.blocks import AbstractEqualBlocks, equal_blocks


@tasks.register("bliss/an_bn_cn", version=1)
class AnBnCn(AbstractEqualBlocks):
    """As many `a` as `b` as `c`, at least one each: abc, aabbcc, ..."""

    input_alphabet = output_alphabet = Alphabet(("#", "a", "b", "c"))
    chance = 1 / 4
    examples = (("# a a b b c c", "a a b b c c #"), ("# a b c", "a b c #"))
    letters = "abc"
    automaton = equal_blocks(3)
