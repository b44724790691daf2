"""The pseudo-languages of *Targeted syntactic evaluations with pseudo-languages*, section 2, and their splits."""

from humboldt.languages.syntax.base import AbstractPseudoLanguage as AbstractPseudoLanguage
from humboldt.languages.syntax.parts.splits import Split as Split
from humboldt.languages.syntax.parts.splits import SplitSettings as SplitSettings
from humboldt.languages.syntax.parts.splits import draw_split as draw_split
from humboldt.languages.syntax.parts.splits import splits as splits
