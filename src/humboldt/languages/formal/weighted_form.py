"""The form of a grammar in which its probabilities are summed: of strings that are not empty, and that end.

A derivation that never ends has no string, so probabilities here are those given that a derivation ends.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humboldt.languages.formal.binary_form import BinaryForm, followers
from humboldt.languages.formal.counting import strongly_connected

DENSE = 60  # nonterminals up to which eigenvalues are computed directly
LARGEST = 300  # nonterminals of a component up to which Newton's method is used
PATIENCE = 20_000  # steps of the plain iteration that replaces it


@dataclass(frozen=True)
class WeightedForm:
    """Rules A -> B C and A -> a, and A -> B, with the probabilities that they have in derivations of strings of one
    symbol or more: for each A that has such strings they sum to 1, and every derivation ends.

    - `ends`: the probability that a derivation from the start ends, under the weights of the file.
    - `empty`: the probability of the empty string, given that.
    - `binary`: `(A, B, C, probability)`. `lexical`: shape `(nonterminals, symbols)`.
    - `star`: shape `(nonterminals, nonterminals)`: how often A becomes B alone, on average; A itself counts.
    - `corners`: how often A begins with B, on average, B being the leftmost nonterminal; A itself counts.
    """

    ends: float
    empty: float
    binary: list[tuple[int, int, int, float]]
    lexical: np.ndarray
    star: np.ndarray
    corners: np.ndarray


def weighted_form(form: BinaryForm) -> WeightedForm:
    """Leaves out empty strings and derivations without end, and makes the weights of the rest sum to one."""
    rules = [(head, body, float(weight)) for head, body, weight in form.rules]
    nullable, nonempty = form.nullable, form.nonempty
    ends = ending(form)
    empty = least_solution(form.size, [rule for rule in rules if nullable.issuperset(rule[1])])
    full = np.where([symbol in nonempty for symbol in range(form.size)], ends - empty, 0.0)
    scale = 1 / np.where(full > 0, full, 1.0)
    binary = [
        (head, body[0], body[1], weight * full[body[0]] * full[body[1]] * scale[head])
        for head, body, weight in rules
        if len(body) == 2 and nonempty.issuperset(body)
    ]
    lexical = np.zeros((form.size, len(form.alphabet)))
    for head, symbol, weight in form.lexical:
        lexical[head, symbol] = float(weight) * scale[head]
    units = np.zeros((form.size, form.size))
    for (head, kept), ways in form.units().items():
        if kept in nonempty:
            alone = sum(float(weight) * (1.0 if other is None else empty[other]) for weight, other in ways)
            units[head, kept] += alone * full[kept] * scale[head]
    first = units.copy()
    for head, symbol, _, weight in binary:
        first[head, symbol] += weight
    total = float(ends[0])
    return WeightedForm(total, float(empty[0]) / total if total else 0.0, binary, lexical, _star(units), _star(first))


def ending(form: BinaryForm) -> np.ndarray:
    """Returns the probability that a derivation from each nonterminal ends."""
    rules = [(head, body, float(weight)) for head, body, weight in form.rules]
    return least_solution(form.size, rules, [(head, float(weight)) for head, _, weight in form.lexical])


def _star(matrix: np.ndarray) -> np.ndarray:
    """Returns I + M + M² + ..., with exact zeros where no power has an entry: rounding must not make a symbol
    possible."""
    size = len(matrix)
    graph = followers(size, zip(*(axis.tolist() for axis in np.nonzero(matrix)), strict=True))
    reached = [0] * size  # as the bits of an integer
    for nodes in strongly_connected(graph):
        bits = 0
        for node in nodes:
            bits |= 1 << node
            for after in graph[node]:
                bits |= reached[after]
        for node in nodes:
            reached[node] = bits
    possible = np.array([[bits >> column & 1 for column in range(size)] for bits in reached], bool)
    return np.where(possible, np.maximum(np.linalg.inv(np.eye(size) - matrix), 0.0), 0.0)


def least_solution(
    size: int, rules: Sequence[tuple[int, tuple[int, ...], float]], known: Sequence[tuple[int, float]] = ()
) -> np.ndarray:
    """Returns the least non-negative x with x_A = Σ w x_B x_C over the rules A -> B C of weight w, plus what is
    `known`.

    With all rules: the probabilities that nonterminals derive a finite string; with those of empty strings alone: that
    they derive the empty string. Infinite where there is no solution. Component by component, by Newton's method from
    0, which climbs to the solution (Etessami and Yannakakis 2009); in large ones by plain iteration. It comes only
    within about 1e-8 of a solution at the edge of being improper, so where the weights of a component sum to one and
    its mean matrix has no eigenvalue above 1, the solution is set to its known value, 1.
    """
    constant = np.zeros(size)
    for head, weight in known:
        constant[head] += weight
    by_head: dict[int, list[tuple[tuple[int, ...], float]]] = {}
    total = constant.copy()
    for head, body, weight in rules:
        by_head.setdefault(head, []).append((body, weight))
        total[head] += weight
    values = np.zeros(size)
    graph = followers(size, ((head, symbol) for head, body, _ in rules for symbol in body))
    for nodes in strongly_connected(graph):
        place = {node: row for row, node in enumerate(nodes)}
        below = {symbol for node in nodes for symbol in graph[node] if symbol not in place}
        mean = np.zeros((len(nodes), len(nodes)))
        for node in nodes:
            for body, weight in by_head.get(node, ()):
                for symbol in body:
                    if symbol in place:
                        mean[place[node], place[symbol]] += weight
        sure = all(abs(total[node] - 1) < 1e-12 for node in nodes) and all(values[symbol] == 1 for symbol in below)
        if sure and spectral_radius(mean) <= 1 + 1e-12:
            values[nodes] = 1
        elif not np.isfinite(values[list(below)]).all() or not _climb(values, nodes, by_head, constant):
            values[nodes] = np.inf
    return values


def _climb(
    values: np.ndarray, nodes: list[int], by_head: dict[int, list[tuple[tuple[int, ...], float]]], constant: np.ndarray
) -> bool:
    """Sets `values[nodes]` to the least solution, given those of other nodes. Returns whether there is one."""
    size = len(nodes)
    place = {node: row for row, node in enumerate(nodes)}
    rules = [(place[node], body, weight) for node in nodes for body, weight in by_head.get(node, ())]
    # Each body has two factors; what is missing is 1, and what is known already is a factor of the weight.
    heads = np.array([head for head, _, _ in rules], np.int64)
    inner = [[place[symbol] for symbol in body if symbol in place] for _, body, _ in rules]
    ones, twos = (np.array([[*row, size, size][at] for row in inner], np.int64) for at in (0, 1))
    weights = np.array(
        [weight * math.prod(values[symbol] for symbol in body if symbol not in place) for _, body, weight in rules]
    )
    current = np.append(np.zeros(size), 1.0)
    for _ in range(PATIENCE if size > LARGEST else 0):  # steps without Newton's matrix, which would be too large
        image = constant[nodes] + np.bincount(heads, weights * current[ones] * current[twos], size)
        change, current[:size] = image - current[:size], image
        if change.max() <= 1e-15 * image.max():
            break
    for _ in range(100 if size <= LARGEST else 0):
        image = constant[nodes] + np.bincount(heads, weights * current[ones] * current[twos], size)
        slope = np.zeros((size, size + 1))
        np.add.at(slope, (heads, ones), weights * current[twos])
        np.add.at(slope, (heads, twos), weights * current[ones])
        try:
            change = np.linalg.solve(np.eye(size) - slope[:, :size], image - current[:size])
        except np.linalg.LinAlgError:  # at the double root at the edge, or beyond all solutions
            values[nodes] = current[:size]
            return bool(np.abs(image - current[:size]).max() <= 1e-12 * current[:size].max())
        largest = max(current[:size].max(), 1e-300)
        if change.min() < -1e-6 * largest:  # only a step beyond the last solution turns back
            return False
        current[:size] += np.maximum(change, 0.0)
        if np.abs(change).max() <= 1e-16 * largest:
            break
    values[nodes] = current[:size]
    return True


def spectral_radius(matrix: np.ndarray) -> float:
    """Returns the largest absolute value of an eigenvalue of a matrix without negative entries that is one component.

    Of a large matrix from bounds, if they meet soon: with loops added, the quotients of a positive vector and its image
    enclose it (Collatz 1942; Wielandt 1950).
    """
    vector = np.ones(len(matrix))
    for _ in range(1_000 if len(matrix) > DENSE else 0):
        image = matrix @ vector + vector
        low, high = float((image / vector).min()), float((image / vector).max())
        if high - low < 1e-12 * high:
            return (low + high) / 2 - 1
        vector = image / image.sum()
    return float(np.abs(np.linalg.eigvals(matrix)).max())
