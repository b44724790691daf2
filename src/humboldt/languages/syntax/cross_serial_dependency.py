"""Cross Serial Dependency (context-sensitive)."""

import numpy as np

from humboldt.languages import tasks
from humboldt.languages.syntax.parts.agreement import AbstractAgreement


@tasks.register("syntax/cross_serial_dependency", version=1)
class CrossSerialDependency(AbstractAgreement):
    """Nouns, then verbs that agree with them in the same order.   NP1_0 NP3_2 VP1_0 VP3_5 -> grammatical"""

    examples = (
        ("NP3_0 NP2_2 NP1_0 VP3_1 VP2_0 VP1_5", "grammatical"),
        ("", "grammatical"),
        ("NP3_0 NP2_2 NP1_0 VP1_1 VP2_0 VP1_5", "ungrammatical"),
        ("NP1_0 NP3_2 VP3_0 VP1_0", "ungrammatical"),
        ("NP1_0 NP3_2 VP1_0", "ungrammatical"),
    )

    next_noun = "first"

    def partners(self, verbs: np.ndarray, halves: np.ndarray) -> np.ndarray:
        """Returns the nouns in their own order."""
        del halves  # the order does not depend on the number of nouns
        return verbs
