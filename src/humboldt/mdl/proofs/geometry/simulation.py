"""Runs a network in exact arithmetic: the slow, obvious form of the steps that the prover reasons about.

States and steps are numbered as they are met, and a step from a known state is looked up: a counting network meets few.
"""

from fractions import Fraction

from humboldt.mdl.proofs.geometry.reals import NOUGHT, Real, Reals, Undecided
from humboldt.mdl.proofs.geometry.symbolic import influential_units, memory_units
from humboldt.mdl.proofs.network import Network

START = -1  # the state before the first symbol
MOST_BITS = 8192  # of a number: repeated squares would take all memory


class Simulation:
    """A network as states and steps between them."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.reals = Reals()
        self.memory = memory_units(network)
        needed = influential_units(network)
        self._needed = [
            (
                number,
                network.units[number],
                [(edge, _simplest(edge.weight.as_fraction())) for edge in network.incoming[number]],
            )
            for number in network.topological_order
            if number in needed
        ]
        self.states: list[dict[int, Real]] = []
        self.outputs: list[tuple[Real, ...]] = []  # of each step, with negative ones as 0
        self._numbers: dict[tuple[Real, ...], int] = {}
        self._steps: dict[tuple[int, int], tuple[int, int]] = {}
        self._verdicts: dict[tuple[int, frozenset[int], str, Fraction], bool] = {}

    @property
    def num_steps(self) -> int:
        """The number of distinct steps computed so far."""
        return len(self.outputs)

    def step(self, state: int, symbol: int) -> tuple[int, int]:
        """Returns the state after reading a symbol, and the number of the step."""
        known = self._steps.get((state, symbol))
        if known is None:
            values = self.values(None if state == START else self.states[state], symbol)
            kept = tuple(values[unit] for unit in self.memory)
            number = self._numbers.setdefault(kept, len(self.states))
            if number == len(self.states):
                self.states.append(dict(zip(self.memory, kept, strict=True)))
            outputs = (values[unit] for unit in self.network.outputs)
            self.outputs.append(tuple(value if self.reals.sign(value) > 0 else NOUGHT for value in outputs))
            known = self._steps[state, symbol] = (number, len(self.outputs) - 1)
        return known

    def values(self, before: dict[int, Real] | None, symbol: int) -> dict[int, Real]:
        """Returns the values of all units that can change an output."""
        reals, values = self.reals, {}
        for number, unit, incoming in self._needed:
            terms = [Real(Fraction(number == symbol))] if number in self.network.inputs else []
            for edge, weight in incoming:
                if not edge.recurrent:
                    terms.append(reals.scale(values[edge.source], weight))
                elif before is not None:
                    terms.append(reals.scale(before[edge.source], weight))
            total = NOUGHT
            for place, term in enumerate(terms):
                joined = reals.multiply if unit.type == "product" else reals.add
                total = joined(total, term) if place else term
            if unit.bias is not None:
                total = reals.add(total, Real(unit.bias.as_fraction()))
            values[number] = reals.activate(unit.activation, total)
            if values[number].constant.numerator.bit_length() > MOST_BITS:
                raise Undecided
        return values

    def is_right(self, step: int, follow: frozenset[int], measure: str, epsilon: Fraction) -> bool:
        """Returns whether a step passes if these symbols can follow: M_det where only one can, M_cat anywhere."""
        key = (step, follow, measure, epsilon)
        if key not in self._verdicts:
            self._verdicts[key] = self._judge(self.outputs[step], follow, measure, epsilon)
        return self._verdicts[key]

    def _judge(self, outputs: tuple[Real, ...], follow: frozenset[int], measure: str, epsilon: Fraction) -> bool:
        reals = self.reals
        if all(output == NOUGHT for output in outputs):
            outputs = (Real(Fraction(1)),) * len(outputs)  # uniform
        if measure == "M_det":
            (target,) = follow
            others = (output for symbol, output in enumerate(outputs) if symbol != target)
            return all(reals.sign(reals.add(outputs[target], reals.scale(x, -1))) > 0 for x in others)
        total = NOUGHT
        for output in outputs:
            total = reals.add(total, output)
        threshold = reals.scale(total, -epsilon)
        signs = [reals.sign(reals.add(output, threshold)) for output in outputs]
        return all((sign > 0) == (symbol in follow) for symbol, sign in enumerate(signs))

    def distribution(self, step: int) -> tuple[float, ...]:
        """Returns the outputs of a step divided by their sum, to float precision."""
        middles = [float(sum(self.reals.bounds(output)) / 2) for output in self.outputs[step]]
        total = sum(middles)
        return tuple(x / total for x in middles) if total else (1 / len(middles),) * len(middles)


def _simplest(number: Fraction) -> Fraction | int:
    """Returns an `int` if the number is whole: its arithmetic is ten times as fast."""
    return int(number) if number.denominator == 1 else number
