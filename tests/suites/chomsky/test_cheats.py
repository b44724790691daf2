"""Networks that cheat, through the real training, scoring and answers of a suite: they land where they should."""

import textwrap
from pathlib import Path
from typing import Any

import humboldt
from humboldt.suites import suites
from humboldt.suites.answers import ModelAnswers, Progress, TaskAnswer
from humboldt.suites.bench import QUICK

# The tokens are the input, then a mark where an answer is due.
CHEATS = '''
import equinox as eqx
import jax
import jax.numpy as jnp


class Cheat(eqx.Module):
    sureness: jax.Array  # all that is trained
    marks: int = eqx.field(static=True)
    symbols: int = eqx.field(static=True)

    def __init__(self, input_size, output_size, *, key):
        self.sureness = jax.random.normal(key, ())
        self.marks, self.symbols = input_size - 1, output_size

    def __call__(self, tokens, mask, *, key=None):
        length = jnp.cumsum(tokens < self.marks)  # of the input, where an answer is due
        place = jnp.arange(len(tokens)) - length  # of the answer
        return jnp.exp(self.sureness) * jax.nn.one_hot(self.answer(tokens, length, place), self.symbols)


class Memorises(Cheat):
    """Knows the parity of every string up to the training lengths, and guesses beyond."""

    def answer(self, tokens, length, place):
        return jnp.where(length <= 40, 1 - jnp.cumsum(tokens == 1) % 2, 0)


class ByLength(Cheat):
    """Sorts without reading: the place of an answer in the string decides."""

    def answer(self, tokens, length, place):
        share = (2 * place + 1) * self.symbols // jnp.maximum(2 * length, 1)
        return share.clip(0, self.symbols - 1)
'''


def answered(tmp_path: Path, name: str, task: str) -> TaskAnswer:
    """Trains for some steps, scores on the strings of the bench preset, some of each length, and answers."""
    path = tmp_path / "cheats.py"
    path.write_text(textwrap.dedent(CHEATS))
    study = humboldt.run(
        "chomsky",
        tasks=[task],
        models=[f"{path}:{name}"],
        preset=QUICK,
        seeds=2,
        settings={"steps": 40, "strings_per_length": 16},
        out=tmp_path / "results",
    )
    suite: Any = suites.get("chomsky")
    (answer,) = suite.presentation.answers(study.scores())
    return answer


def test_a_network_that_memorises_learns_and_does_not_extend(tmp_path: Path):
    answer = answered(tmp_path, "Memorises", "parity_check")
    assert answer.learnt == (True, True) and answer.progress is Progress.LEARNT
    assert abs(answer.mean - answer.floor) < 0.04 and max(answer.scaled) < 0.08
    assert ModelAnswers("chomsky", "cheat", QUICK, (answer,)).solved == {"regular": (0, 1)}


def test_a_network_that_answers_from_the_length_alone_is_at_the_floor(tmp_path: Path):
    answer = answered(tmp_path, "ByLength", "bucket_sort")
    assert answer.mean > 0.88 and abs(answer.mean - answer.floor) < 0.01, "high, and no higher than the floor"
    assert max(answer.scaled) < 0.1
    assert not any(map(answer.is_solved, answer.values)) and answer.progress is Progress.NOT_LEARNT
    assert ModelAnswers("chomsky", "cheat", QUICK, (answer,)).solved == {"cs": (0, 1)}
