"""The base class of the `bias` tasks: a training set that several rules explain, and inputs on which they differ."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import ClassVar

from humboldt.errors import UsageError, unknown_name
from humboldt.languages import AbstractTask, Alphabet, Drawn, ProblemKind
from humboldt.settings import fields

CHECKED_PAIRS = 100
Symbols = tuple[str, ...]
Pair = tuple[Symbols, Symbols]
Text = str | Sequence[str]  # "a a b" or a sequence of symbols
Rule = Callable[[Symbols], Text]


class AbstractBiasTask(AbstractTask):
    """A few training pairs, hold-out inputs, and rules that agree on the first and differ on the second.

    A task defines `training()`, `holdout()` and `rules`. Strings are sequences of symbols, or text with spaces between
    symbols. The alphabets are derived from them.

    There is no true output for a hold-out input: the question is which rule a learner follows. So `oracle` accepts
    training inputs only.

    - `training_examples`, as `(input, target)`, and `rule_examples`, as `(rule, input, output)`, are worked by hand for
      the default settings. A contract test checks the task against them and calls `verify`.
    - `block_size`: the number of hold-out examples in one block when description length is measured.
    - `least_rules`: how many rules it needs; with one, nothing is preferred, and only accuracy is of interest.
    - `sizes`: a setting and its values in the paper, such as `("l", (40, 30, 20, 10))`, or `None`.

    >>> class FirstOrLast(AbstractBiasTask):
    ...     rules = {"first": lambda symbols: symbols[0].upper(), "last": lambda symbols: symbols[-1].upper()}
    ...     def training(self):
    ...         return [("a b a", "A"), ("b b", "B")]
    ...     def holdout(self):
    ...         return ["a b", "b a"]
    >>> task = FirstOrLast()
    >>> task.verify()
    >>> task.holdout_pairs("last")
    ((('a', 'b'), ('B',)), (('b', 'a'), ('A',)))
    """

    problem = ProblemKind.SEQUENCE_TO_SEQUENCE
    rules: Mapping[str, Rule]
    training_examples: ClassVar[tuple[tuple[str, str], ...]] = ()
    rule_examples: ClassVar[tuple[tuple[str, str, str], ...]] = ()
    block_size: ClassVar[int] = 1
    least_rules: ClassVar[int] = 2
    sizes: ClassVar[tuple[str, tuple[int, ...]] | None] = None

    @abstractmethod
    def training(self) -> Sequence[tuple[Text, Text]]:
        """Returns the training set as pairs of an input and its output. A repeated pair is trained on more often."""

    @abstractmethod
    def holdout(self) -> Sequence[Text]:
        """Returns the hold-out inputs, without duplicates; none is in the training set."""

    @cached_property
    def training_pairs(self) -> tuple[Pair, ...]:
        """`training()` as tuples of symbols, computed once."""
        return tuple((as_symbols(source), as_symbols(target)) for source, target in self.training())

    @cached_property
    def training_targets(self) -> dict[Symbols, Symbols]:
        """The target of every distinct training input."""
        return dict(self.training_pairs)

    @cached_property
    def holdout_inputs(self) -> tuple[Symbols, ...]:
        """`holdout()` as tuples of symbols, computed once."""
        return tuple(as_symbols(source) for source in self.holdout())

    def holdout_pairs(self, rule: str) -> tuple[Pair, ...]:
        """Returns the hold-out inputs, each with its output under a rule."""
        return self._holdout_pairs[self._known(rule)]

    def output(self, rule: str, symbols: Text) -> Symbols:
        """Returns the output of a rule for any input."""
        return as_symbols(self.rules[self._known(rule)](as_symbols(symbols)))

    @cached_property
    def input_alphabet(self) -> Alphabet:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All input symbols, in order of appearance."""
        return _alphabet([*self.training_targets, *self.holdout_inputs])

    @cached_property
    def output_alphabet(self) -> Alphabet:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All symbols of training targets and of rules' outputs, in order of appearance. There is no end symbol."""
        outputs = [target for rule in self.rules for _, target in self._holdout_pairs[rule]]
        return _alphabet([*self.training_targets.values(), *outputs])

    @property
    def chance(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The accuracy of a uniform guess of one output symbol or the end."""
        return 1 / (len(self.output_alphabet) + 1)

    @property
    def examples(self) -> tuple[tuple[str, str], ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The examples worked by hand, or the first training pairs if there are none."""
        return self.training_examples or tuple(
            (" ".join(source), " ".join(target)) for source, target in self.training_pairs[:3]
        )

    def oracle(self, symbols: Sequence[str]) -> list[str]:
        """Returns the target of a training input; raises an error for all others, which have no true output."""
        for source, target in self.training_pairs:
            if source == tuple(symbols):
                return list(target)
        raise UsageError(
            f"The input {' '.join(symbols)!r} is not a training input, so no output is the true one. "
            f"Ask for the output of a rule: {', '.join(self.rules)}."
        )

    def drawn_examples(self, seed: int) -> Iterator[Drawn]:
        del seed
        pairs = list(self.training_targets.items())[:CHECKED_PAIRS]  # the oracle searches all pairs for each
        sources = [self.input_alphabet.encode(source).tolist() for source, _ in pairs]
        targets = [self.output_alphabet.encode(target).tolist() for _, target in pairs]
        yield Drawn(sources, targets, is_random=False)

    def verify(self) -> None:
        """Raises an error unless the task has the properties that the measures rely on (section 2 of the paper)."""
        if not self.training_pairs or not self.holdout_inputs or len(self.rules) < self.least_rules:
            raise UsageError(
                f"The task has {len(self.training_pairs)} training pairs, {len(self.holdout_inputs)} hold-out inputs "
                f"and {len(self.rules)} rules. It needs at least one, one and {_number(self.least_rules)} of them."
            )
        targets = self.training_targets
        for source, target in self.training_pairs:
            if target != targets[source]:
                raise UsageError(
                    f"The training set gives the input {_show(source)} two targets, {_show(target)} and "
                    f"{_show(targets[source])}. Give every input one target."
                )
        seen: set[Symbols] = set()
        for source in self.holdout_inputs:
            if source in targets or source in seen:
                place = "in the training set" if source in targets else "twice in the hold-out set"
                raise UsageError(f"The hold-out input {_show(source)} is {place}. Give every hold-out input once only.")
            seen.add(source)
        for rule in self.rules:
            for source, target in targets.items():
                if (given := self.output(rule, source)) != target:
                    raise UsageError(
                        f"The rule {rule!r} gives {_show(given)} for the training input {_show(source)}, whose target "
                        f"is {_show(target)}. Every rule must explain the whole training set."
                    )
        is_default = all(getattr(self, field.name) == field.default for field in fields(type(self)))
        for rule, source, target in self.rule_examples if is_default else ():
            if (given := self.output(rule, source)) != as_symbols(target):
                raise UsageError(
                    f"The rule {rule!r} gives {_show(given)} for {source!r}, and `rule_examples` has {target!r}. "
                    "Correct the one that is wrong."
                )
        for left, right in combinations(self.rules, 2):
            if self._holdout_pairs[left] == self._holdout_pairs[right]:
                raise UsageError(
                    f"The rules {left!r} and {right!r} have the same output for every hold-out input. "
                    "Add an input on which they differ, or leave one of them out."
                )
        if shared := set(self.input_alphabet.symbols) & set(self.output_alphabet.symbols):
            raise UsageError(
                f"The symbols {' '.join(sorted(shared))} are in inputs and in outputs. "
                "The two alphabets are disjoint in this suite: rename the output symbols."
            )

    @cached_property
    def _holdout_pairs(self) -> dict[str, tuple[Pair, ...]]:
        return {
            rule: tuple((source, as_symbols(function(source))) for source in self.holdout_inputs)
            for rule, function in self.rules.items()
        }

    def _known(self, rule: str) -> str:
        if rule not in self.rules:
            raise unknown_name("rule", rule, self.rules)
        return rule


def as_symbols(text: Text) -> Symbols:
    """Returns a tuple of symbols, given a sequence of them or text with spaces.

    >>> as_symbols("a a b"), as_symbols(["a", "b"]), as_symbols("")
    (('a', 'a', 'b'), ('a', 'b'), ())
    """
    return tuple(text.split()) if isinstance(text, str) else tuple(text)


def _alphabet(strings: Iterable[Symbols]) -> Alphabet:
    return Alphabet(tuple(dict.fromkeys(symbol for string in strings for symbol in string)))


def _number(count: int) -> str:
    return {1: "one", 2: "two"}.get(count, str(count))


def _show(symbols: Symbols) -> str:
    return repr(" ".join(symbols))
