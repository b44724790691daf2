"""Trees drawn from a grammar by compiled code: freely, or conditional on a given size.

Trees are *skeletons* of token ids: every letter has the id of the first letter.
"""

import numpy as np

from humboldt.compiled import compiled

Choices = tuple[np.ndarray, np.ndarray]  # ids of functions, and their cumulative probabilities
Weights = tuple[np.ndarray, np.ndarray, np.ndarray]  # as returned by `tree_weights`


@compiled
def tree_weights(
    unary: np.ndarray, function: np.ndarray, string_weights: np.ndarray, longest: int, deepest: int
) -> Weights:
    """Returns the probability of each size of tree, in each of several grammars.

    **Arguments:** `unary` is P(unary | function), `function` is P(function | argument), both with one number per
    grammar; `string_weights[n]` is the probability that a string argument has n letters.

    **Returns:** arrays of shape `(grammars, deepest + 1, longest + 1)`, indexed by grammar, depth and length: for
    applications (from depth 1 on), for arguments, and for arguments of at most that depth.
    """
    shape = (len(unary), deepest + 1, longest + 1)
    applications, arguments, at_most = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for g in range(len(unary)):
        _fill(unary[g], function[g], string_weights, applications[g], arguments[g], at_most[g])
    return applications, arguments, at_most


@compiled
def _fill(
    unary: float,
    function: float,
    string_weights: np.ndarray,
    applications: np.ndarray,
    arguments: np.ndarray,
    at_most: np.ndarray,
) -> None:
    """Writes the tables of one grammar, from the smallest trees to the largest."""
    deepest, longest = applications.shape[0] - 1, applications.shape[1] - 1
    for n in range(min(len(string_weights), longest + 1)):
        arguments[0, n] = (1 - function) * string_weights[n]
        at_most[0, n] = arguments[0, n]
    for d in range(1, deepest + 1):
        # One of the two arguments of a binary function has depth d - 1. The other has at most that depth, or less where
        # the first has been counted already. Summed over all lengths, both orders give the same total.
        others = at_most[d - 1].copy()
        if d > 1:
            others += at_most[d - 2]
        for n in range(d + 1, longest + 1):
            total = 0.0
            for deep in range(d, n - 2):  # an argument of depth d - 1 has at least d tokens
                total += arguments[d - 1, deep] * others[n - 2 - deep]
            applications[d, n] = unary * arguments[d - 1, n - 1] + (1 - unary) * total
            arguments[d, n] = function * applications[d, n]
        for n in range(longest + 1):
            at_most[d, n] = at_most[d - 1, n] + arguments[d, n]


@compiled
def _pick(rng: np.random.Generator, cumulative: np.ndarray) -> int:
    """Draws an index by weight; `cumulative` ends with 1."""
    return min(int(np.searchsorted(cumulative, rng.random(), side="right")), len(cumulative) - 1)


@compiled
def _depth_at_most(rng: np.random.Generator, arguments: np.ndarray, n: int, deepest: int) -> int:
    """Draws the depth of an argument of length n, given that it is at most `deepest`."""
    total = 0.0
    for d in range(deepest + 1):
        total += arguments[d, n]
    rest = rng.random() * total
    last = 0
    for d in range(deepest + 1):
        if arguments[d, n] > 0:
            last = d
            rest -= arguments[d, n]
            if rest < 0:
                break
    return last


@compiled
def draw_skeletons(
    rng: np.random.Generator,
    lengths: np.ndarray,
    depths: np.ndarray,
    unary: float,
    weights: Weights,  # of one grammar, without the axis for grammars
    unary_choices: Choices,
    binary_choices: Choices,
    comma: int,
) -> np.ndarray:
    """Draws trees from a grammar, conditional on the given lengths and depths.

    The condition is met exactly, by going down the tree with the weights of `tree_weights`; no tree is rejected. The
    distribution is that of generating without end and keeping, at random, trees of the given size.

    **Returns:** the tokens of all skeletons, one after the other.
    """
    applications, arguments, at_most = weights
    tokens = np.empty(lengths.sum(), np.int32)
    place = 0
    most = lengths.max() + 2 if len(lengths) else 0
    stack = np.empty((most, 2), np.int64)  # depth (-1 means a comma) and length of pending subtrees
    for item in range(len(lengths)):
        top = 0
        stack[0, 0], stack[0, 1] = depths[item], lengths[item]
        while top >= 0:
            d, n = stack[top, 0], stack[top, 1]
            top -= 1
            if d == -1:
                tokens[place] = comma
                place += 1
                continue
            if d == 0:
                tokens[place : place + n] = comma + 1
                place += n
                continue
            rest = rng.random() * applications[d, n] - unary * arguments[d - 1, n - 1]
            first, first_deep, found = 0, True, False
            is_unary = rest < 0
            if not is_unary:
                for length in range(1, n - 2):
                    second = n - 2 - length
                    weight = (1 - unary) * arguments[d - 1, length] * at_most[d - 1, second]
                    if weight > 0:
                        first, first_deep, found = length, True, True
                        rest -= weight
                        if rest < 0:
                            break
                    if d > 1:
                        weight = (1 - unary) * at_most[d - 2, length] * arguments[d - 1, second]
                        if weight > 0:
                            first, first_deep, found = length, False, True
                            rest -= weight
                            if rest < 0:
                                break
            if is_unary or not found:  # not found: a rounding error left a rest although unary is the only option
                tokens[place] = unary_choices[0][_pick(rng, unary_choices[1])]
                place += 1
                top += 1
                stack[top, 0], stack[top, 1] = d - 1, n - 1
                continue
            tokens[place] = binary_choices[0][_pick(rng, binary_choices[1])]
            place += 1
            second = n - 2 - first
            if first_deep:
                first_depth = d - 1
                second_depth = _depth_at_most(rng, arguments, second, d - 1)
            else:
                first_depth = _depth_at_most(rng, arguments, first, d - 2)
                second_depth = d - 1
            stack[top + 1, 0], stack[top + 1, 1] = second_depth, second
            stack[top + 2, 0] = -1
            stack[top + 3, 0], stack[top + 3, 1] = first_depth, first
            top += 3
    return tokens


@compiled
def draw_freely(
    rng: np.random.Generator,
    unary: np.ndarray,
    function: np.ndarray,
    unary_choices: Choices,
    binary_choices: Choices,
    string_cumulative: np.ndarray,
    comma: int,
    longest: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Draws trees from a grammar, tree `i` with the probabilities `unary[i]` and `function[i]`.

    A tree with more than `longest` tokens is dropped. **Returns:** tokens and offsets of the others.
    """
    count = len(unary)
    tokens = np.empty(1024, np.int32)
    offsets = np.zeros(count + 1, np.int64)
    kept, place = 0, 0
    waiting = np.empty(longest + 2, np.int8)  # 0: an argument; 1: a comma, then an argument
    for item in range(count):
        begin = place
        top = 0
        waiting[0] = 0
        is_root = True
        fits = True
        while top >= 0 and fits:
            if place + longest + 2 > len(tokens):
                larger = np.empty(2 * len(tokens) + longest, np.int32)
                larger[:place] = tokens[:place]
                tokens = larger
            after_comma = waiting[top] == 1
            top -= 1
            if after_comma:
                tokens[place] = comma
                place += 1
            if is_root or rng.random() < function[item]:
                if rng.random() < unary[item]:
                    tokens[place] = unary_choices[0][_pick(rng, unary_choices[1])]
                else:
                    tokens[place] = binary_choices[0][_pick(rng, binary_choices[1])]
                    top += 1
                    waiting[top] = 1
                place += 1
                top += 1
                waiting[top] = 0
            else:
                letters = _pick(rng, string_cumulative)
                fits = place - begin + letters <= longest
                if fits:
                    tokens[place : place + letters] = comma + 1
                    place += letters
            is_root = False
            # Each pending argument takes at least one token, and one more for its comma.
            fits = fits and place - begin + top + 1 <= longest
        if fits:
            kept += 1
            offsets[kept] = place
        else:
            place = begin
    return tokens[:place].copy(), offsets[: kept + 1].copy()
