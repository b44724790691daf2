"""PCFG SET, the language of Hupkes et al. (2020), *Compositionality decomposed*, with corpora for its five tests.

>>> from humboldt.languages import pcfg_set
>>> pcfg_set.interpret("append swap F G H , repeat I J")
'H G F I J I J'
"""

from humboldt.languages.pcfg_set.parts.auxiliary import LongerStrings as LongerStrings
from humboldt.languages.pcfg_set.parts.auxiliary import function_difficulty as function_difficulty
from humboldt.languages.pcfg_set.parts.auxiliary import longer_strings as longer_strings
from humboldt.languages.pcfg_set.parts.corpus import VERSION as VERSION
from humboldt.languages.pcfg_set.parts.corpus import Corpus as Corpus
from humboldt.languages.pcfg_set.parts.corpus import CorpusSettings as CorpusSettings
from humboldt.languages.pcfg_set.parts.corpus import Examples as Examples
from humboldt.languages.pcfg_set.parts.corpus import corpus as corpus
from humboldt.languages.pcfg_set.parts.corpus import with_meanings as with_meanings
from humboldt.languages.pcfg_set.parts.functions import PCFG_SET as PCFG_SET
from humboldt.languages.pcfg_set.parts.functions import SYNONYM as SYNONYM
from humboldt.languages.pcfg_set.parts.functions import SYNONYM_ENDINGS as SYNONYM_ENDINGS
from humboldt.languages.pcfg_set.parts.functions import Function as Function
from humboldt.languages.pcfg_set.parts.functions import Language as Language
from humboldt.languages.pcfg_set.parts.functions import parse_functions as parse_functions
from humboldt.languages.pcfg_set.parts.interpret import depth as depth
from humboldt.languages.pcfg_set.parts.interpret import interpret as interpret
from humboldt.languages.pcfg_set.parts.interpret import length as length
from humboldt.languages.pcfg_set.parts.interpret import num_functions as num_functions
from humboldt.languages.pcfg_set.parts.interpret import string_arguments as string_arguments
from humboldt.languages.pcfg_set.parts.interpret import to_paper_spelling as to_paper_spelling
from humboldt.languages.pcfg_set.parts.interpret import to_released_spelling as to_released_spelling
from humboldt.languages.pcfg_set.parts.naturalise import Naturalisation as Naturalisation
from humboldt.languages.pcfg_set.parts.naturalise import naturalise as naturalise
from humboldt.languages.pcfg_set.parts.overgeneralisation import EXCEPTIONS as EXCEPTIONS
from humboldt.languages.pcfg_set.parts.overgeneralisation import RATES as RATES
from humboldt.languages.pcfg_set.parts.overgeneralisation import Overgeneralisation as Overgeneralisation
from humboldt.languages.pcfg_set.parts.overgeneralisation import exception_places as exception_places
from humboldt.languages.pcfg_set.parts.overgeneralisation import exception_targets as exception_targets
from humboldt.languages.pcfg_set.parts.overgeneralisation import overgeneralisation_splits as overgeneralisation_splits
from humboldt.languages.pcfg_set.parts.parse import ExpressionError as ExpressionError
from humboldt.languages.pcfg_set.parts.parse import parse as parse
from humboldt.languages.pcfg_set.parts.productions import JointHistogram as JointHistogram
from humboldt.languages.pcfg_set.parts.productions import Productions as Productions
from humboldt.languages.pcfg_set.parts.productions import RandomProductions as RandomProductions
from humboldt.languages.pcfg_set.parts.productions import Statistics as Statistics
from humboldt.languages.pcfg_set.parts.productions import authors_productions as authors_productions
from humboldt.languages.pcfg_set.parts.productions import estimate as estimate
from humboldt.languages.pcfg_set.parts.productions import released_histogram as released_histogram
from humboldt.languages.pcfg_set.parts.productions import released_productions as released_productions
from humboldt.languages.pcfg_set.parts.productions import statistics as statistics
from humboldt.languages.pcfg_set.parts.productions import uniform_productions as uniform_productions
from humboldt.languages.pcfg_set.parts.splits import HELD_OUT_PAIRS as HELD_OUT_PAIRS
from humboldt.languages.pcfg_set.parts.splits import Splits as Splits
from humboldt.languages.pcfg_set.parts.splits import localism_splits as localism_splits
from humboldt.languages.pcfg_set.parts.splits import pairs_in as pairs_in
from humboldt.languages.pcfg_set.parts.splits import productivity_splits as productivity_splits
from humboldt.languages.pcfg_set.parts.splits import systematicity_splits as systematicity_splits
from humboldt.languages.pcfg_set.parts.substitutivity import FUNCTIONS_WITH_SYNONYMS as FUNCTIONS_WITH_SYNONYMS
from humboldt.languages.pcfg_set.parts.substitutivity import Substitutivity as Substitutivity
from humboldt.languages.pcfg_set.parts.substitutivity import Unit as Unit
from humboldt.languages.pcfg_set.parts.substitutivity import equally_distributed as equally_distributed
from humboldt.languages.pcfg_set.parts.substitutivity import primitive as primitive
from humboldt.languages.pcfg_set.parts.substitutivity import with_synonym as with_synonym
from humboldt.languages.pcfg_set.parts.tree import Application as Application
from humboldt.languages.pcfg_set.parts.tree import String as String
from humboldt.languages.pcfg_set.parts.tree import Tree as Tree
from humboldt.languages.pcfg_set.parts.tree import innermost as innermost
from humboldt.languages.pcfg_set.parts.tree import meaning as meaning
from humboldt.languages.pcfg_set.parts.tree import reduce as reduce
from humboldt.languages.pcfg_set.parts.tree import reductions as reductions
from humboldt.languages.pcfg_set.parts.tree import show as show
