"""Does a sequence model make infinite use of finite means?"""

__version__ = "0.2.0"

import humboldt.starting  # noqa: F401  first, because the others take a second

# isort: split

from humboldt.core.problems import ProblemKind as ProblemKind
from humboldt.inspecting.kept import load as load
from humboldt.outside.batching import batches as batches
from humboldt.outside.batching import symbols as symbols
from humboldt.outside.predictor import NextSymbols as NextSymbols
from humboldt.outside.scoring import Scorecard as Scorecard
from humboldt.outside.scoring import score as score
from humboldt.plugins import register as register
from humboldt.running.bench import Bench as Bench
from humboldt.running.bench import bench as bench
from humboldt.running.run import run as run
from humboldt.running.study import Study as Study
from humboldt.running.study import plan as plan
from humboldt.suites.reproduced import reproduced as reproduced
