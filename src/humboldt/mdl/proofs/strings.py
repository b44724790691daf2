"""The strings of each language, as the checker reads them: places, moves between them, and what can follow.

A *place* is the symbol just read: place 0 after `#`, place i after a letter of block i (Dyck-1: 1 after `(`, 2 after `)`).
Whole-numbered variables tell the rest: for blocks the lengths of the free blocks read so far (0 if not read yet), then k,
the letters read in the current block; for Dyck-1 the depth. A *row* `(c, a1, a2, ...)` says `c + a1 v1 + a2 v2 + ... >= 0`.
The checker imports this and the prover does not, so that a slip here or there is found by the other.
"""

from dataclasses import dataclass

Row = tuple[int, ...]
LANGUAGES = {  # version, letters, and how often each determined block repeats each free one (None: brackets)
    "bliss/an_bn": (1, "ab", [[1]]),
    "bliss/an_bn_cn": (1, "abc", [[1], [1]]),
    "bliss/an_bn_cn_dn": (1, "abcd", [[1], [1], [1]]),
    "bliss/an_bm_cn_plus_m": (1, "abc", [[1, 1]]),
    "bliss/dyck_1": (1, "()", None),
}


@dataclass(frozen=True)
class Place:
    """What is true right after a symbol.

    - `domain`: rows that hold here, and only here.
    - `moves`: (where, next place, the variables there as rows in those here).
    - `follow`: (where, ids of the symbols that can follow).
    """

    domain: list[Row]
    moves: list[tuple[list[Row], int, list[Row]]]
    follow: list[tuple[list[Row], frozenset[int]]]


def places(name: str) -> list[Place]:
    """The places of a language, that of `#` first."""
    _, letters, needs = LANGUAGES[name]
    return _brackets() if needs is None else _blocks(len(letters), needs)


def _brackets() -> list[Place]:
    moves: list = [([], 1, [(1, 1)]), ([(-1, 1)], 2, [(-1, 1)])]
    follow = [([(0, -1)], frozenset({0, 1})), ([(-1, 1)], frozenset({1, 2}))]
    return [Place([(0, 1), *rows], moves, follow) for rows in ([(0, -1)], [(-1, 1)], [])]


def _blocks(letters: int, needs: list[list[int]]) -> list[Place]:
    free, size = len(needs[0]), len(needs[0]) + 2
    one, *lengths, k = (tuple(int(i == j) for j in range(size)) for i in range(size))
    zero = (0,) * size
    onward = [*lengths, _plus(k, one)]
    result = [Place([row for v in (*lengths, k) for row in (v, _minus(zero, v))], [([], 1, [zero] * free + [one])], [])]
    result[0].follow.append(([], frozenset({1})))
    for block in range(1, letters + 1):
        read, unread = lengths[: block - 1], lengths[block - 1 :]
        domain = [_minus(v, one) for v in (*read, k)] + [row for v in unread for row in (v, _minus(zero, v))]
        if block <= free:
            begun = [*read, k, *[zero] * (free - block), one]
            moves = [([], block, onward), ([], block + 1, begun)]
            result.append(Place(domain, moves, [([], frozenset({block, block + 1}))]))
            continue
        left = _minus((0, *needs[block - 1 - free], 0), k)
        inside, ended = [_minus(left, one)], [_minus(zero, left)]
        after = (block + 1) % (letters + 1)
        moves = [(inside, block, onward), *([(ended, after, [*lengths, one])] if after else [])]
        result.append(Place([*domain, left], moves, [(inside, frozenset({block})), (ended, frozenset({after}))]))
    return result


def _plus(left: Row, right: Row) -> Row:
    return tuple(x + y for x, y in zip(left, right, strict=True))


def _minus(left: Row, right: Row) -> Row:
    return tuple(x - y for x, y in zip(left, right, strict=True))
