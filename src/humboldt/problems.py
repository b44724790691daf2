"""The kinds of problem that a learner can be given: what tasks pose, models fit and suites are about."""

import enum


class ProblemKind(enum.Enum):
    """What a learner is asked for."""

    NEXT_SYMBOL = "next symbol"
    TRANSDUCTION = "transduction"
    SEQUENCE_TO_SEQUENCE = "sequence to sequence"
    CLASSIFICATION = "classification"
