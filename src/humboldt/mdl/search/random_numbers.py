"""Random numbers for compiled search code: splitmix64 with its whole state in one word of an array.

Numba's own `np.random` has a hidden per-process state; here the state is an argument, so that an island's stream
depends on its seed alone and can be saved and restored.
"""

import numpy as np
from numpy.typing import NDArray

from humboldt.mdl.jit import inner

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S11, _S27, _S30, _S31, _S32 = (np.uint64(s) for s in (11, 27, 30, 31, 32))


def seed_states(seed: int, count: int) -> NDArray[np.uint64]:
    """Returns (count, 1) independent states; state i depends on (seed, i) alone."""
    states = [np.random.SeedSequence((seed, i)).generate_state(1, np.uint64) for i in range(count)]
    return np.array(states, dtype=np.uint64)


@inner
def next_word(state):
    """Returns the next 64 random bits."""
    state[0] += _GAMMA
    z = state[0]
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@inner
def uniform(state):
    """Draws a float in [0, 1)."""
    return np.float64(next_word(state) >> _S11) * (1.0 / 9007199254740992.0)


@inner
def below(state, n):
    """Draws a whole number from 0 to n - 1."""
    return np.int64(((next_word(state) >> _S32) * np.uint64(n)) >> _S32)


@inner
def geometric(state):
    """Draws 1 with probability 1/2, 2 with 1/4, 3 with 1/8 ..."""
    count = 1
    word = next_word(state)
    while count < 60 and word & np.uint64(1):
        word >>= np.uint64(1)
        count += 1
    return count


@inner
def by_code_length(state):
    """Draws 1 with probability 1/2, 2 or 3 with 1/4, 4 to 7 with 1/8 ...

    This is the distribution that suits the self-delimiting code of numbers.
    """
    length = min(geometric(state), 20)
    high = 1 << (length - 1)
    return high + below(state, high)


@inner
def random_bit(word, n):
    """Returns the position of the n-th (from 0) set bit of `word`."""
    place = 0
    while True:
        if (word >> place) & 1:
            if n == 0:
                return place
            n -= 1
        place += 1


@inner
def count_bits(word):
    """Returns the number of set bits in a non-negative `word`."""
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count
