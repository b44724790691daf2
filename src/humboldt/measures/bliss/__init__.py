"""Measures of next-symbol models: M_det, M_cat, the B-index, and excess cross-entropy."""

from humboldt.measures.bliss._evaluate import evaluate as evaluate
from humboldt.measures.bliss._excess import Excess as Excess
from humboldt.measures.bliss._excess import excess_cross_entropy as excess_cross_entropy
from humboldt.measures.bliss._index import BIndex as BIndex
from humboldt.measures.bliss._index import Sizes as Sizes
from humboldt.measures.bliss._index import b_index as b_index
from humboldt.measures.bliss._index import sizes as sizes
from humboldt.measures.bliss._reach import LONGEST as LONGEST
from humboldt.measures.bliss._reach import Reach as Reach
from humboldt.measures.bliss._reach import accepts_each as accepts_each
from humboldt.measures.bliss._reach import reach as reach
from humboldt.measures.bliss._score import Assessment as Assessment
from humboldt.measures.bliss._score import Scope as Scope
from humboldt.measures.bliss._score import Score as Score
from humboldt.measures.bliss._stepper import Oracle as Oracle
from humboldt.measures.bliss._stepper import Persistent as Persistent
from humboldt.measures.bliss._stepper import Uniform as Uniform
from humboldt.measures.bliss._stepper import check_distributions as check_distributions
