"""Does a sequence model make infinite use of finite means?"""

__version__ = "0.2.0"

from humboldt.batching import batches as batches
from humboldt.batching import symbols as symbols
from humboldt.kept import load as load
from humboldt.plugins import register as register
from humboldt.scoring import Scorecard as Scorecard
from humboldt.scoring import score as score
from humboldt.study import Study as Study
from humboldt.study import plan as plan
from humboldt.study import run as run
from humboldt.suites.outside import NextSymbols as NextSymbols
