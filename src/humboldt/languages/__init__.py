"""What is true: alphabets, strings, tasks and their oracles. NumPy and Numba only."""

from humboldt.languages._alphabet import Alphabet as Alphabet
from humboldt.languages._batch import Batch as Batch
from humboldt.languages._batch import frame_transduction as frame_transduction
from humboldt.languages._strings import Pairs as Pairs
from humboldt.languages._task import AbstractTask as AbstractTask
from humboldt.languages._task import tasks as tasks
from humboldt.problems import ProblemKind as ProblemKind
