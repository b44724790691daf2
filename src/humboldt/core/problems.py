"""The kinds of problem that tasks pose, models fit and suites consist of."""

import enum


class ProblemKind(enum.Enum):
    """The form of a problem: its input and output."""

    NEXT_SYMBOL = "next symbol"
    TRANSDUCTION = "transduction"
    SEQUENCE_TO_SEQUENCE = "sequence to sequence"
    CLASSIFICATION = "classification"
