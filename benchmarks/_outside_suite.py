"""A suite that was written from docs/own_task.md alone: `humboldt run delay --plugin benchmarks/_outside_suite.py`."""

from typing import ClassVar

import numpy as np

import humboldt
from humboldt.languages import AbstractTask, Alphabet, Batch, ProblemKind
from humboldt.settings import Role, setting, settings
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Contender, MemberScore, Preset
from humboldt.training.abilities import CountsRight, ability
from humboldt.training.base import AbstractProblem, Job, MemberRecipe, Recipe

LAG = 2


class Delay(AbstractTask):
    """What came two symbols before?   abbab -> aaabb (a before the first)"""

    problem = ProblemKind.TRANSDUCTION
    input_alphabet = output_alphabet = Alphabet(("a", "b"))
    chance = 0.5
    examples = (("b a b b a", "a a b a b"),)

    def oracle(self, symbols):
        return (["a"] * LAG + list(symbols))[: len(symbols)]


@settings
class Protocol:
    steps: int = setting(1000, "training steps", least=1)
    longest: int = setting(10, "longest training string", least=3)
    rate: float = setting(0.01, "learning rate", least=0.0)
    tests: tuple[int, ...] = setting((10, 20, 40), "lengths of test strings", role=Role.EVALUATION)
    seeds: int = setting(5, "seeds", role=Role.MEMBERS, least=1)


class Strings(AbstractProblem):
    kind = ProblemKind.TRANSDUCTION
    symbols, num_symbols, input_size, output_size, batch_size = ("a", "b"), 2, 2, 2, 32

    def __init__(self, longest):
        self.longest = longest

    def batch(self, step):
        rng = np.random.default_rng(step)
        return self.of(rng, int(rng.integers(3, self.longest + 1)))

    def of(self, rng, length):
        tokens = rng.integers(0, 2, (self.batch_size, length), np.int32)
        targets = np.zeros_like(tokens)
        targets[:, LAG:] = tokens[:, :-LAG]
        everywhere = np.ones(tokens.shape, bool)
        return Batch(tokens, everywhere, targets, everywhere, np.ones(len(tokens), np.float32))


class DelaySuite(AbstractSuite):
    name, paper, question, measure = "delay", "none", "Does it remember two symbols?", "share of right symbols"
    kind, protocol, printed_tasks = ProblemKind.TRANSDUCTION, Protocol, ("copy_late",)
    contenders: ClassVar = {
        "rnn": Contender("family/rnn", "RNN", {"hidden_size": 8}),
        "lstm": Contender("family/lstm", "LSTM", {"hidden_size": 8}),
    }
    presets: ClassVar = {
        "paper": Preset("paper", "all"),
        "quick": Preset("quick", "small", {"seeds": 1, "steps": 200}),
    }
    headline, evaluation, needs = "accuracy", ("by_length", 1), (CountsRight,)

    def job(self, resolved, members):
        protocol = resolved.protocol
        recipes = tuple(MemberRecipe(member["seed"], protocol.rate) for member in members)
        return Job(resolved.model, Strings(protocol.longest), Recipe(steps=protocol.steps), recipes)

    def score(self, scoring_input):
        protocol = scoring_input.resolved.protocol
        problem = Strings(max(protocol.tests))
        shares = []
        for length in protocol.tests:
            batch = problem.of(np.random.default_rng([7, length]), length)
            counts = ability(scoring_input.predictor, CountsRight).correct(batch)
            shares.append([float(right.mean()) / length for right in counts])
        names = [f"at_{length}" for length in protocol.tests]
        return [
            MemberScore({"accuracy": sum(each) / len(each), **dict(zip(names, each, strict=True))})
            for each in zip(*shares, strict=True)
        ]


humboldt.register("delay", version=1)(DelaySuite())
humboldt.register("delay/copy_late", version=1)(Delay)
