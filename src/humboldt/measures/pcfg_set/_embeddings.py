"""Distances between a model's embeddings of functions (Table 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.errors import UsageError
from humboldt.languages.pcfg_set import FUNCTIONS_WITH_SYNONYMS, PCFG_SET, SYNONYM_ENDINGS, Language


@dataclass(frozen=True)
class EmbeddingDistances:
    """Cosine distances, 0 for the same direction, 1 for a right angle, 2 for opposite ones.

    - `synonyms`: from each function to its synonym. `others`: from each function to the other functions, on average.
    - `mean_synonym`, `mean_other`: the means of these over the functions.
    """

    synonyms: Mapping[str, float]
    others: Mapping[str, float]
    mean_synonym: float
    mean_other: float

    @property
    def n(self) -> int:
        """The number of functions with synonyms."""
        return len(self.synonyms)


def cosine_distance(first: np.ndarray, second: np.ndarray) -> float:
    """Returns one minus the cosine of the angle between two vectors.

    >>> cosine_distance(np.array([1.0, 0.0]), np.array([0.0, 2.0]))
    1.0
    """
    norms = float(np.linalg.norm(first) * np.linalg.norm(second))
    if norms == 0:
        raise UsageError("A vector of zeros has no direction, so it has no cosine distance from any other.")
    return 1 - float(np.dot(first, second)) / norms


def embedding_distances(
    embeddings: Mapping[str, np.ndarray],
    *,
    functions: Sequence[str] = FUNCTIONS_WITH_SYNONYMS,
    language: Language = PCFG_SET,
) -> EmbeddingDistances:
    """Returns distances of functions from their synonyms, and from the other (nine) functions, without synonyms.

    **Arguments:** `embeddings` holds the vector of every function and of each synonym, in any spelling.
    """
    vectors: dict[str, np.ndarray] = {}
    synonyms: dict[str, np.ndarray] = {}
    for token, vector in embeddings.items():
        if token in language.by_spelling:
            name = language.function(token).name
            is_synonym = token.endswith(SYNONYM_ENDINGS)
            (synonyms if is_synonym else vectors)[name] = np.asarray(vector, np.float64)
    names = [function.name for function in language.functions]
    missing = [name for name in names if name not in vectors] + [f"{f}_syn" for f in functions if f not in synonyms]
    if missing:
        raise UsageError(f"There is no embedding of {', '.join(missing)}. Give one for each function and synonym.")
    to_synonym = {name: cosine_distance(vectors[name], synonyms[name]) for name in functions}
    to_others = {
        name: float(np.mean([cosine_distance(vectors[name], vectors[f]) for f in names if f != name]))
        for name in functions
    }
    return EmbeddingDistances(
        to_synonym, to_others, float(np.mean(list(to_synonym.values()))), float(np.mean(list(to_others.values())))
    )
