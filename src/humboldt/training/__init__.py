"""Ensembles: many members in one compiled program. Knows models and batches, no suites."""

from humboldt.environment import environment as environment
from humboldt.training._evaluate import evaluate as evaluate
from humboldt.training._recipe import Recipe as Recipe
from humboldt.training._train import Ensemble as Ensemble
from humboldt.training._train import MemberKnobs as MemberKnobs
from humboldt.training._train import Trained as Trained
from humboldt.training._train import Watcher as Watcher
