"""Ground truth: alphabets, strings, tasks and oracles. NumPy and Numba only."""

from humboldt.core.problems import ProblemKind as ProblemKind
from humboldt.languages.alphabet import Alphabet as Alphabet
from humboldt.languages.batch import Batch as Batch
from humboldt.languages.batch import frame_steps as frame_steps
from humboldt.languages.batch import frame_transduction as frame_transduction
from humboldt.languages.strings import Drawn as Drawn
from humboldt.languages.strings import Pairs as Pairs
from humboldt.languages.task import AbstractTask as AbstractTask
from humboldt.languages.task import tasks as tasks
