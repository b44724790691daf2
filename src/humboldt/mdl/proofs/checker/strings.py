"""The strings of each language, for the checker: places, moves between them, and the symbols that can follow.

A *place* is the symbol just read: place 0 after `#`, place i after a letter of block i (Dyck-1: 1 after `(`, 2 after
`)`). Whole-numbered variables hold the rest: for blocks the lengths of the free blocks read so far (0 if not read yet),
then k, the letters read in the current block; for Dyck-1 the depth. A *row* `(c, a1, a2, ...)` means
`c + a1 v1 + a2 v2 + ... >= 0`. The prover does not import this, so that an error in either is detected by the other.
"""

from typing import NamedTuple

Row = tuple[int, ...]
LANGUAGES = {  # version, letters, and how often each determined block repeats each free one (None: brackets)
    "bliss/an_bn": (1, "ab", [[1]]),
    "bliss/an_bn_cn": (1, "abc", [[1], [1]]),
    "bliss/an_bn_cn_dn": (1, "abcd", [[1], [1], [1]]),
    "bliss/an_bm_cn_plus_m": (1, "abc", [[1, 1]]),
    "bliss/dyck_1": (1, "()", None),
}


class Place(NamedTuple):
    """The facts right after a symbol.

    - `domain`: rows that hold here, and only here.
    - `moves`: (where, next place, the variables there as rows in those here).
    - `follow`: (where, ids of the symbols that can follow); these parts cover the domain.
    """

    domain: list[Row]
    moves: list[tuple[list[Row], int, list[Row]]]
    follow: list[tuple[list[Row], set[int]]]


def places(name: str) -> list[Place]:
    """Returns the places of a language, that of `#` first."""
    _, letters, needs = LANGUAGES[name]
    if needs is None:
        moves, follow = [([], 1, [(1, 1)]), ([(-1, 1)], 2, [(-1, 1)])], [([(0, -1)], {0, 1}), ([(-1, 1)], {1, 2})]
        return [Place([(0, 1), *rows], moves, follow) for rows in ([(0, -1)], [(-1, 1)], [])]
    free = len(needs[0])
    one, *lengths, k = (tuple(int(i == j) for j in range(free + 2)) for i in range(free + 2))
    zero, onward = (0,) * (free + 2), [*lengths, (1, *k[1:])]
    result = [
        Place([row for v in (*lengths, k) for row in (v, less(zero, v))], [([], 1, [zero] * free + [one])], [([], {1})])
    ]
    for block in range(1, len(letters) + 1):
        read, unread = lengths[: block - 1], lengths[block - 1 :]
        domain = [less(v, one) for v in (*read, k)] + [row for v in unread for row in (v, less(zero, v))]
        if block <= free:
            begun = [*read, k, *[zero] * (free - block), one]
            result.append(Place(domain, [([], block, onward), ([], block + 1, begun)], [([], {block, block + 1})]))
            continue
        left, after = less((0, *needs[block - 1 - free], 0), k), (block + 1) % (len(letters) + 1)
        inside, ended = [less(left, one)], [less(zero, left)]
        moves = [(inside, block, onward)] + ([(ended, after, [*lengths, one])] if after else [])
        result.append(Place([*domain, left], moves, [(inside, {block}), (ended, {after})]))
    return result


def less(left: Row, right: Row) -> Row:
    """Returns the difference."""
    return tuple(x - y for x, y in zip(left, right, strict=True))
