"""Evaluation in one pass over a test set, which reads every shared prefix once."""

import bisect
from collections.abc import Sequence

import numpy as np

from humboldt.core.stepping import FromStrings, Stepper
from humboldt.errors import UsageError
from humboldt.languages.bliss.parts.test_set import AbstractTestSet
from humboldt.measures.bliss._ahead import ReadAhead
from humboldt.measures.bliss._kernel import Table, count_wrong, descend, divergences
from humboldt.measures.bliss._score import Assessment, Tally
from humboldt.measures.bliss._stepper import check_distributions

EPSILONS = (0.005, 0.0)  # section 5.3


def evaluate(
    test_set: AbstractTestSet,
    stepper: Stepper,
    *,
    epsilons: Sequence[float] = EPSILONS,
    exhaustive: bool = False,
    most_rows: int = 16_384,
) -> Assessment:
    """Computes M_det and M_cat of a model on a test set, at all margins at once.

    All prefixes of one length are one batch. Evaluation stops once every criterion has failed for certain (and the
    first failing string is known), unless it is `exhaustive`.

    **Arguments:**

    - `most_rows`: the largest batch. A larger test set is read in several parts, in test order, so that memory does
      not grow with it; prefixes that parts share are then read once for each part.
    """
    if most_rows < 1:
        raise UsageError(f"A batch of {most_rows} rows is empty. Use most_rows=1 or more.")
    tally = Tally(test_set, epsilons)
    count = len(test_set)
    for first in range(0, count, most_rows):
        part = Frontier(test_set, first, min(first + most_rows, count), stepper, tally)
        while part.advance():
            if not exhaustive and tally.settled and not part.drop_from(tally.cutoff):
                break
        if part.dropped or (not exhaustive and tally.settled):
            # Strings of later parts come later in test order as well.
            return tally.result(complete=not part.dropped and part.last == count)
    return tally.result(complete=True)


class Frontier:
    """All prefixes of one length of the strings of one part of a test set.

    Row r represents the strings `start[r]` to `end[r] - 1` of the trie, which share the prefix.
    """

    def __init__(self, test_set: AbstractTestSet, first: int, last: int, stepper: Stepper, tally: Tally) -> None:
        self.test_set = test_set
        self.first, self.last = first, last
        self.stepper = stepper
        self.tally = tally
        self.trie = test_set.trie(first, last)
        # `reduceat` reduces from each bound to the next; a bound after the last string needs an extra entry.
        self.places = np.append(self.trie.index, np.iinfo(np.int64).max)
        self.branching = np.argsort(self.trie.shared, kind="stable")  # strings by the depth at which they branch off
        self.branch_depths = self.trie.shared[self.branching].tolist()
        self.next_branch = bisect.bisect_left(self.branch_depths, 0)
        self.ending_depths = set(np.unique(self.trie.lengths).tolist())
        self.table = Table(test_set.language, test_set.p)
        self.automaton = test_set.language.automaton

        self.depth = 0
        self.start, self.end = np.array([0]), np.array([last - first])
        self.errors = np.zeros((tally.num_counters, 1), np.int32)  # along the path to each row
        self.ahead = ReadAhead(self.trie, stepper) if isinstance(stepper, FromStrings) else None
        self.state = None if self.ahead else stepper.init(1)
        self.known = self.automaton.init(1)
        self.symbols = np.array([0])
        self.dropped = False

    def advance(self) -> bool:
        """Reads one symbol in each row, counts, and extends the prefixes by one. Returns whether any are left."""
        if self.ahead:
            distributions = self.ahead.at(self.depth, self.start)
        else:
            self.state, distributions = self.stepper.step(self.state, self.symbols)
        if self.depth:
            self.known = self.automaton.advance(self.known, self.symbols)
        self._count(check_distributions(distributions, len(self.start), self.table.vocabulary, self._prefix))
        self._descend()
        if not len(self.start):
            return False
        self.symbols = self.trie.symbols(self.start, self.depth)
        self.depth += 1
        return True

    def drop_from(self, place: int) -> bool:
        """Drops rows whose strings are all from `place` of the test set on. Returns whether any are left."""
        keep = self._first_places(np.arange(len(self.start))) < place
        if not keep.all():
            self.dropped = True
            rows = np.flatnonzero(keep)
            self.start, self.end, self.symbols = self.start[rows], self.end[rows], self.symbols[rows]
            self._take(rows)
        return bool(keep.any())

    def _count(self, distributions: np.ndarray) -> None:
        kinds = self.automaton.kinds(self.known)
        tally, table = self.tally, self.table.covering(kinds)
        self.table = table
        weights = self.end - self.start
        tally.prefixes += len(kinds)
        tally.symbols += int(weights.sum())
        if tally.has_deterministic:
            tally.deterministic_seen += int(weights @ (table.targets >= 0)[kinds])
        tally.divergence += float(weights @ divergences(distributions, kinds, table.distributions, table.entropies))
        wrong, any_wrong = count_wrong(
            distributions,
            kinds,
            weights,
            table.distributions,
            table.targets,
            tally.margins,
            self.errors,
            tally.errors,
        )
        for counter in np.flatnonzero(any_wrong).tolist():
            if tally.may_fail_before(counter, self.first):
                tally.fail(counter, self._first_places(np.flatnonzero(wrong[counter])))

    def _descend(self) -> None:
        """Splits the rows whose strings differ from here on, and removes the strings that end here."""
        first = self.next_branch
        self.next_branch = bisect.bisect_right(self.branch_depths, self.depth, lo=first)
        if first == self.next_branch and self.depth not in self.ending_depths:
            return
        points = np.sort(self.branching[first : self.next_branch])
        parents, self.start, self.end, ended, ended_in = descend(
            self.start, self.end, points, self.trie.lengths, self.depth
        )
        if len(ended):
            self.tally.finish(self.trie.index[ended], self.errors[:, ended_in])
        if len(parents):
            self._take(parents)

    def _take(self, rows: np.ndarray) -> None:
        if not self.ahead:
            self.state = self.stepper.take(self.state, rows)
        self.known = self.automaton.take(self.known, rows)
        self.errors = np.take(self.errors, rows, 1)

    def _first_places(self, rows: np.ndarray) -> np.ndarray:
        """Returns the first string of each row, in test order, shape `(rows,)`."""
        bounds = np.stack([self.start[rows], self.end[rows]], 1).ravel()
        return np.minimum.reduceat(self.places, bounds)[::2]

    def _prefix(self, row: int) -> list[str]:
        string = self.test_set[int(self.trie.index[self.start[row]])]
        return ["#", *string[: self.depth]]
