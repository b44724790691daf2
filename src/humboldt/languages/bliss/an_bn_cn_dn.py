"""a^n b^n c^n d^n (context-sensitive)."""

from humboldt.languages import Alphabet, tasks
from humboldt.languages.bliss.parts.blocks import AbstractEqualBlocks, equal_blocks


@tasks.register("bliss/an_bn_cn_dn", version=1)
class AnBnCnDn(AbstractEqualBlocks):
    """As many `a` as `b` as `c` as `d`, at least one each: abcd, aabbccdd, ..."""

    input_alphabet = output_alphabet = Alphabet(("#", "a", "b", "c", "d"))
    chance = 1 / 5
    examples = (("# a a b b c c d d", "a a b b c c d d #"), ("# a b c d", "a b c d #"))
    letters = "abcd"
    automaton = equal_blocks(4)
