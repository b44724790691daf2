"""The four context-free languages of BLISS as files, and their verdicts about random networks beside the built-in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from humboldt.languages import tasks
from humboldt.languages.bliss import AbstractLanguage, get
from humboldt.languages.bliss.parts.own import OwnLanguage, OwnTestSet
from humboldt.measures.bliss import Oracle, evaluate
from humboldt.suites import suites
from humboldt.suites.own_tasks import register_language

FILES = {
    "an_bn": "S -> a X b\nX -> a X b [0.7] | [0.3]",
    "an_bm_cn_plus_m": "S -> a X c\nX -> a X c [0.7] | Y [0.3]\nY -> b Z c\nZ -> b Z c [0.7] | [0.3]",
    "dyck_1": "S -> '(' S ')' S [0.3] | [0.7]",
    "dyck_2": "S -> '(' S ')' S [0.15] | '[' S ']' S [0.15] | [0.7]",
}
TRAINED, TESTED = 30, 40  # strings


def own_task(text: str, folder: Path, name: str = "my.grammar", suite: str = "bliss") -> Any:
    """The task of a file with this text."""
    (folder / name).write_text(text, encoding="utf-8")
    key = f"{suite}/{register_language(suites.get(suite), str(folder / name))}"
    task = tasks.get(key)()
    tasks.forget(key)  # so that another test can use the name
    return task


class RandomNetwork:
    """A recurrent network with random weights, whose distributions are mixed with those of the language."""

    def __init__(self, language: AbstractLanguage, seed: int) -> None:
        rng = np.random.default_rng(seed)
        symbols, units = len(language.input_alphabet), int(rng.integers(1, 4))
        self.inputs, self.outputs = rng.normal(0, 2, (symbols, units)), rng.normal(0, 3, (units, symbols))
        self.recurrent = rng.normal(0, 1.5, (units, units))
        self.share = float(rng.choice([0.001, 0.004, 0.01, 0.1, 0.5, 1.0]))
        self.oracle = Oracle(language)

    def init(self, count: int) -> Any:
        return np.zeros((count, len(self.recurrent))), self.oracle.init(count)

    def step(self, state: Any, symbols: np.ndarray) -> tuple[Any, np.ndarray]:
        hidden = np.tanh(state[0] @ self.recurrent + self.inputs[symbols])
        logits = hidden @ self.outputs
        odds = np.exp(logits - logits.max(1, keepdims=True))
        known, truth = self.oracle.step(state[1], symbols)
        mixed = self.share * odds / odds.sum(1, keepdims=True) + (1 - self.share) * truth
        return (hidden, known), mixed

    def take(self, state: Any, rows: np.ndarray) -> Any:
        return state[0][rows], self.oracle.take(state[1], rows)


def random_network(name: str, seed: int) -> RandomNetwork:
    """A network for a built-in language."""
    return RandomNetwork(get(name), seed)


def compared(name: str, folder: Path) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Functions from a network to its verdicts: by the language of the file, and by the built-in one.

    Of `an_bm_cn_plus_m`, whose built-in test set is a square, the file is given the strings of the built-in one.
    """
    own, built = own_task(FILES[name], folder, f"{name}.grammar"), get(name)
    assert isinstance(own, OwnLanguage)
    test_sets: list[Any] = [
        language.test_set(after=language.corpus(TRAINED, 7), count=TESTED) for language in (own, built)
    ]
    if name == "an_bm_cn_plus_m":
        test_sets[0] = OwnTestSet(own, tuple(map(own._coded, test_sets[1])))
    assert list(test_sets[0]) == list(test_sets[1])

    def verdicts(test_set: Any) -> Callable[[Any], Any]:
        def of(network: Any) -> Any:
            scores = evaluate(test_set, network, exhaustive=True).scores
            return [
                (s.measure, s.epsilon, s.errors, s.steps, s.met_per_string, s.met_over_test_set, s.first_failure)
                for s in scores
            ]

        return of

    return verdicts(test_sets[0]), verdicts(test_sets[1])
