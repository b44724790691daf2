"""The languages that the prover supports."""

from dataclasses import dataclass

from humboldt.errors import UsageError, unknown_name

MEASURES = ("M_det", "M_cat")


@dataclass(frozen=True)
class Described:
    """A language of blocks of letters, or of brackets.

    - `needs`: for each block that is determined by the free ones, how often it repeats each of them. Dyck-1 has none.
    """

    name: str
    version: int
    letters: str
    needs: tuple[tuple[int, ...], ...] = ()

    @property
    def symbols(self) -> tuple[str, ...]:
        """The boundary and the letters."""
        return ("#", *self.letters)

    @property
    def is_brackets(self) -> bool:
        """Whether this is Dyck-1."""
        return not self.needs

    @property
    def free(self) -> int:
        """The number of blocks of arbitrary length."""
        return len(self.needs[0])

    @property
    def measure(self) -> str:
        """The measure by which the paper scores the language."""
        return "M_cat" if self.is_brackets else "M_det"

    def definition(self) -> list:
        """Returns the definition of the language, as JSON data."""
        return [self.version, self.letters, [list(row) for row in self.needs] or None]


DESCRIBED = {
    described.name: described
    for described in (
        Described("bliss/an_bn", 1, "ab", ((1,),)),
        Described("bliss/an_bn_cn", 1, "abc", ((1,), (1,))),
        Described("bliss/an_bn_cn_dn", 1, "abcd", ((1,), (1,), (1,))),
        Described("bliss/an_bm_cn_plus_m", 1, "abc", ((1, 1),)),
        Described("bliss/dyck_1", 1, "()"),
    )
}


def described(language: str) -> Described:
    """Returns the language of that name, with or without `bliss/`.

    >>> described("an_bn").letters
    'ab'
    """
    name = language if "/" in language else f"bliss/{language}"
    if name not in DESCRIBED:
        raise unknown_name("language with proofs", language, [name.removeprefix("bliss/") for name in DESCRIBED])
    return DESCRIBED[name]


def check_measure(language: Described, measure: str) -> None:
    """Raises an error for a measure that the language does not have."""
    if measure not in MEASURES:
        raise unknown_name("measure", measure, MEASURES)
    if measure == "M_det" and language.is_brackets:
        raise UsageError(f"{language.name} has no deterministic steps, so M_det counts nothing. Use measure='M_cat'.")
