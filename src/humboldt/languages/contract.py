"""Checks a task against its contract before anything is trained on it: declaration, examples, alphabet, lengths, seed,
oracle. A check takes a second or two.

`humboldt check task` prints the findings, a run of a task from outside begins with them, and `humboldt.testing` makes
tests of them for a plugin's own test suite.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from humboldt.core.findings import Finding, listed
from humboldt.errors import NotAnException, contained
from humboldt.languages.alphabet import Alphabet
from humboldt.languages.strings import Drawn
from humboldt.languages.task import AbstractTask

SEED = 0
ENOUGH = 8  # symbols of a string; if all strings are shorter, two seeds may give the same ones by chance
SHOWN = 60  # characters of a string in a message


@dataclass(frozen=True)
class TaskCheck:
    """All findings about a task. `str()` returns a readable text."""

    task: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether all checks have passed."""
        return all(finding.passed for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {**asdict(self), "passed": self.passed}

    def __str__(self) -> str:
        end = "Ready to be trained on." if self.passed else "Fix what failed, and check again."
        return f"{self.task}:\n{listed(self.findings)}\n{end}"


def check_task(name: str, task: AbstractTask) -> TaskCheck:
    """Checks a task, by all of `CHECKS`. Stops at a check without which the others make no sense."""
    findings = []
    for check in CHECKS:
        finding = checked(check, task)
        findings.append(finding)
        if not finding.passed and check in NEEDED:
            break
    return TaskCheck(name, tuple(findings))


def checked(check: Callable[[AbstractTask], Finding], task: AbstractTask) -> Finding:
    """Returns the finding of one check. An exception of the task is a finding, too."""
    try:
        with contained():
            return check(task)
    except (Exception, NotAnException) as error:
        name = check.__name__.replace("_", " ")
        return Finding(name, False, f"{type(error).__name__}: {_ended(error)}", "Correct the task, and check it again.")


def declaration(task: AbstractTask) -> Finding:
    """Checks that the attributes of a task exist and have sensible values."""
    check = "declaration"
    for name in ("input_alphabet", "output_alphabet"):
        value = getattr(task, name, None)
        if not isinstance(value, Alphabet) or not len(value):
            text = f"`{name}` is {value!r}"
            return Finding(check, False, text, f"Write {name} = Alphabet(('a', 'b')), with the symbols of the task.")
    chance = getattr(task, "chance", None)
    if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 < chance < 1:
        return Finding(check, False, f"`chance` is {chance!r}", "It is the accuracy of guessing, between 0 and 1.")
    if not getattr(task, "examples", ()):
        return Finding(
            check, False, "`examples` is empty", "Work two or three by hand: examples = (('a b b', 'b'), ...)."
        )
    sizes = f"{len(task.input_alphabet)} input and {len(task.output_alphabet)} output symbols"
    return Finding(check, True, f"{sizes}, chance {chance:.3g}, {len(task.examples)} examples")


def examples(task: AbstractTask) -> Finding:
    """Checks the oracle against the examples that were worked by hand."""
    for example in task.examples:
        if not isinstance(example, tuple) or len(example) != 2 or not all(isinstance(part, str) for part in example):
            text = f"{example!r} is not a pair of an input and its target"
            return Finding("examples", False, text, "Write it as ('a b b', 'b'), with spaces between symbols.")
        source, target = example
        try:
            answer = list(task.oracle(source.split()))
            task.output_alphabet.encode(target.split())
        except Exception as error:
            text = f"{source!r} -> {target!r}: {type(error).__name__}: {_ended(error)}"
            return Finding("examples", False, text, "Correct the example or the oracle.")
        if answer != target.split():
            text = f"for {source!r} the oracle answers {_shown(answer)}, and the example says {target!r}"
            return Finding("examples", False, text, "Correct the one that is wrong.")
    return Finding("examples", True, f"the oracle agrees with all {len(task.examples)} examples worked by hand")


def properties(task: AbstractTask) -> Finding:
    """Checks what the suite relies on beside the oracle; see `AbstractTask.verify`."""
    task.verify()
    return Finding("properties", True, "those that the suite relies on")


def alphabet(task: AbstractTask) -> Finding:
    """Checks that the sampler draws ids of the alphabets."""
    num_strings = 0
    for drawn in task.drawn_examples(SEED):
        for kind, strings, size in (
            ("input", drawn.sources, len(task.input_alphabet)),
            ("target", drawn.targets, len(task.output_alphabet)),
        ):
            for string in strings:
                wrong = [i for i, symbol in enumerate(string) if not 0 <= symbol < size or symbol != int(symbol)]
                if wrong:
                    text = (
                        f"the sampler drew the id {string[wrong[0]]} at position {wrong[0]} of {_article(kind)} of "
                        f"{len(string)} symbols. The {kind} alphabet has {size} symbols, with the ids 0 to {size - 1}"
                    )
                    return Finding(
                        "alphabet", False, text, "Draw ids of the alphabet, or add the missing symbols to it."
                    )
        num_strings += len(drawn.sources)
    text = f"{num_strings} strings, all of symbols of the alphabets" if num_strings else NOTHING_DRAWN
    return Finding("alphabet", True, text)


def lengths(task: AbstractTask) -> Finding:
    """Checks that inputs have the length that is asked for, and that no target is empty."""
    wanted = []
    for drawn in task.drawn_examples(SEED):
        for source, target in zip(drawn.sources, drawn.targets, strict=True):
            if drawn.length is not None and len(source) != drawn.length:
                text = f"a length of {drawn.length} was asked for, and the sampler drew {len(source)} symbols"
                return Finding("lengths", False, text, "Scores are by length: return inputs of exactly that length.")
            if not target:
                text = f"the target of an input of {len(source)} symbols is empty"
                return Finding("lengths", False, text, "Every input needs at least one symbol to answer.")
        wanted += [drawn.length] if drawn.length is not None else [len(source) for source in drawn.sources]
    if not wanted:
        return Finding("lengths", True, NOTHING_DRAWN)
    return Finding("lengths", True, f"{min(wanted)} to {max(wanted)} symbols")


def seed(task: AbstractTask) -> Finding:
    """Checks that equal seeds give equal strings, and different seeds different ones."""
    first, again, other = (_strings(task.drawn_examples(number)) for number in (SEED, SEED, SEED + 1))
    if first != again:
        return Finding(
            "seed",
            False,
            "the same seed gave different strings the second time",
            "Draw from the generator that `draw` is given, and from nothing else: not np.random, random or a counter.",
        )
    if not first:
        return Finding("seed", True, NOTHING_DRAWN)
    is_random = any(drawn.is_random for drawn in task.drawn_examples(SEED))
    longest = max(len(source) for source, _ in first)
    if is_random and longest >= ENOUGH and first == other:
        return Finding(
            "seed",
            False,
            "two seeds gave the same strings",
            "Draw from the generator that `draw` is given: every batch of a training has a seed of its own.",
        )
    return Finding(
        "seed", True, "the same strings for the same seed" + (", different ones for another" if is_random else "")
    )


def oracle(task: AbstractTask) -> Finding:
    """Checks the targets of the sampler against the oracle, and that there is more than one answer."""
    wrong, total, answers, is_random = [], 0, set(), False
    for drawn in task.drawn_examples(SEED):
        is_random |= drawn.is_random
        for source, target in zip(drawn.sources, drawn.targets, strict=True):
            symbols, wanted = task.input_alphabet.decode(source), task.output_alphabet.decode(target)
            try:
                answer = list(task.oracle(symbols))
            except Exception as error:
                text = f"the oracle raised {type(error).__name__} for {_shown(symbols)}: {_ended(error)}"
                return Finding("oracle", False, text, "Correct the oracle, or draw only strings that it accepts.")
            total += 1
            answers.add(tuple(answer))
            if answer != wanted:
                wrong.append((symbols, wanted, answer))
    if wrong:
        symbols, wanted, answer = min(wrong, key=lambda each: len(each[0]))
        text = (
            f"for {_shown(symbols)} the sampler gives {_shown(wanted)} and the oracle {_shown(answer)}; they differ on "
            f"{len(wrong)} of {total} strings"
        )
        return Finding("oracle", False, text, "Correct the one that is wrong; the examples worked by hand decide.")
    if is_random and len(answers) == 1:
        text = f"the answer to all {total} strings is {_shown(list(answers.pop()))}"
        return Finding(
            "oracle", False, text, "A task needs at least two answers: a model that never reads would solve it."
        )
    return Finding("oracle", True, f"agrees with the sampler on {total} strings" if total else NOTHING_DRAWN)


CHECKS = (declaration, examples, properties, alphabet, lengths, seed, oracle)
"""All checks, in order. Each takes a task and returns a `Finding`."""
NEEDED = (declaration, alphabet)  # without these the checks after them make no sense
NOTHING_DRAWN = "not checked: the task itself draws no strings"


def _strings(parts: Iterator[Drawn]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [
        (tuple(source), tuple(target))
        for drawn in parts
        for source, target in zip(drawn.sources, drawn.targets, strict=True)
    ]


def _shown(symbols: list[str]) -> str:
    text = " ".join(map(str, symbols))
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")


def _article(kind: str) -> str:
    return f"{'an' if kind == 'input' else 'a'} {kind}"


def _ended(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else "no message"
