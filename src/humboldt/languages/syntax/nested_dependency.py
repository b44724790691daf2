"""Nested Dependency (context-free)."""

import numpy as np

from humboldt.languages import tasks
from humboldt.languages.syntax.parts.agreement import AbstractAgreement


@tasks.register("syntax/nested_dependency", version=1)
class NestedDependency(AbstractAgreement):
    """Nouns, then verbs that agree with them in reverse order.   NP1_0 NP3_2 VP3_0 VP1_5 -> grammatical"""

    examples = (
        ("NP1_0 NP3_2 NP4_0 VP4_1 VP3_0 VP1_5", "grammatical"),
        ("", "grammatical"),
        ("NP1_0 NP3_2 NP4_0 VP2_1 VP3_0 VP1_5", "ungrammatical"),
        ("NP1_0 NP3_2 VP1_0 VP3_0", "ungrammatical"),
        ("NP1_0 NP3_2 VP3_0", "ungrammatical"),
    )

    next_noun = "last"

    def partners(self, verbs: np.ndarray, halves: np.ndarray) -> np.ndarray:
        """Returns the nouns in reverse order."""
        return halves - 1 - verbs
