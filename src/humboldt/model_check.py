"""Whether somebody's model can be scored, and what to mend: `humboldt check model`. It reads a few strings only."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from humboldt.batching import batches
from humboldt.errors import HumboldtError, named_extras
from humboldt.languages import Alphabet, ProblemKind
from humboldt.report.words import duration
from humboldt.scoring import trained_elsewhere
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Parts, Request
from humboldt.suites.outside import BOUNDARY, NextSymbols, OutsidePredictor, stepper_of
from humboldt.training.checks import Finding, all_findings

STRINGS = 48  # that are asked about
BATCHES = 16  # of training that they are taken from
SAME = 1e-5  # how far apart two probabilities may be that should be equal

Strings = list[list[str]]


@dataclass(frozen=True)
class ModelCheck:
    """All findings. `str()` is for people."""

    model: str
    task: str
    findings: tuple[Finding, ...]
    purpose: str = "scored"

    @property
    def passed(self) -> bool:
        """Whether the model will do as it is."""
        return all(finding.passed for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The same for programs."""
        return {**asdict(self), "passed": self.passed}

    def __str__(self) -> str:
        lines = [f"{self.model} on {self.task}:"]
        for finding in self.findings:
            lines.append(f"  {'passed' if finding.passed else 'FAILED'}  {finding.check}: {finding.text}")
            if not finding.passed:
                lines.append(f"          {finding.advice}")
        return "\n".join(
            [*lines, f"Ready to be {self.purpose}." if self.passed else "Mend what failed, and check again."]
        )


def check_model(
    model: Any,
    suite: str,
    task: str,
    *,
    name: str = "predict",
    preset: str = "quick",
    settings: Mapping[str, Any] | None = None,
) -> ModelCheck:
    """Asks a model about a few strings: types and alphabet of its answers, determinism, whether order and company of
    strings change an answer, causality, speed."""
    its_suite, changes = suites.get(suite), dict(settings or {})
    training, evaluations = trained_elsewhere(its_suite, task, "any", preset, changes)
    parts = its_suite.restore(training, evaluations[0])
    strings = _strings(its_suite, parts, preset, changes)
    if its_suite.kind is ProblemKind.NEXT_SYMBOL or isinstance(model, NextSymbols):
        findings = _next_symbol(model, its_suite, parts, strings)
    else:
        findings = _answers(model, its_suite, parts, strings)
    return ModelCheck(name, f"{suite}/{task}", tuple(findings))


def check_network(name: str, suite: str, task: str, *, preset: str, settings: Mapping[str, Any]) -> ModelCheck:
    """Tries out the network of a registered model: shapes and finite answers, padding, causality, the gradient of long
    strings, parameters, speed. The padding of a batch and its seeds are those of a training of the task."""
    its_suite = suites.get(suite)
    (experiment, *_) = its_suite.plan(Request((task,), (name,), preset, 1, settings))
    parts = its_suite.restore(experiment.training, experiment.evaluations[0])
    job = its_suite.job(parts, experiment.members[:1])
    findings = []
    try:
        with named_extras():
            for finding in all_findings(its_suite.engine(parts.contender).trial(job)):
                findings.append(finding)
    except HumboldtError as error:
        findings.append(Finding("answers", False, str(error), "Nothing else can be checked before that."))
    return ModelCheck(name, f"{suite}/{task}", tuple(findings), "trained")


def _strings(suite: AbstractSuite, parts: Parts, preset: str, changes: Mapping[str, Any]) -> Strings:
    """Some strings of training, short ones and long ones."""
    problem = batches(suite.name, parts.training.task, preset=preset, settings=changes).problem
    names, found = np.array(problem.symbols, object), {}
    for number in range(BATCHES):
        batch = problem.batch(number)
        is_symbol = batch.mask & (batch.tokens < problem.num_symbols)
        for row in np.flatnonzero(batch.weight > 0)[:STRINGS]:
            symbols = names[batch.tokens[row][is_symbol[row]]].tolist()
            found[" ".join(symbols)] = symbols
    ordered = sorted(found.values(), key=len)
    return [ordered[i] for i in np.unique(np.linspace(0, len(ordered) - 1, STRINGS).round().astype(int))]


def _answers(model: Any, suite: AbstractSuite, parts: Parts, strings: Strings) -> list[Finding]:
    problem = suite.problem(parts, [suite.outside_member(0)])
    predictor = OutsidePredictor(problem, parts.task.output_alphabet, [model])
    begin = time.monotonic()
    try:
        first = predictor.answers(strings)
    except HumboldtError as error:
        return [Finding("answers", False, str(error), "Nothing else can be checked before that.")]
    seconds = time.monotonic() - begin
    findings = [Finding("answers", True, f"{len(strings)} inputs, each with symbols of the output alphabet")]
    findings.append(_lengths(parts, strings, first))

    def compare(check: str, again: list[tuple[str, ...]], advice: str) -> None:
        wrong = [i for i, (one, two) in enumerate(zip(first, again, strict=True)) if one != two]
        text = "the same answers" if not wrong else _difference(strings[wrong[0]], first[wrong[0]], again[wrong[0]])
        findings.append(Finding(check, not wrong, text, advice))

    compare(
        "asked twice", predictor.answers(strings), "Switch dropout off (`model.eval()`), and draw nothing at random."
    )
    compare(
        "other order",
        predictor.answers(strings[::-1])[::-1],
        "An answer must depend on its own input alone. Look for a state that is kept from row to row.",
    )
    compare(
        "each alone",
        [predictor.answers([string])[0] for string in strings],
        "Padding changes an answer. Mask it, or read where a string ends, not where its batch ends.",
    )
    rate = len(strings) / max(seconds, 1e-6)
    findings.append(Finding("speed", True, f"{rate:,.0f} strings of up to {len(strings[-1])} symbols a second"))
    return findings


def _lengths(parts: Parts, strings: Strings, answers: list[tuple[str, ...]]) -> Finding:
    """For tasks with one right answer: whether its length is right."""
    check, wrong = "length of answers", []
    for string, answer in zip(strings, answers, strict=True):
        try:
            wanted = len(parts.task.oracle(string))
        except (HumboldtError, NotImplementedError):
            return Finding(check, True, "not known for this task")
        if len(answer) < wanted:
            wrong.append((string, wanted, len(answer)))
    if not wrong or parts.task.problem is ProblemKind.SEQUENCE_TO_SEQUENCE:
        return Finding(check, True, "as the task has them")
    string, wanted, length = wrong[0]
    text = f"{length} symbols for {' '.join(string)[:80]!r}, whose answer has {wanted}"
    return Finding(check, False, text, "Symbols that are missing count as wrong. Answer with as many as the task has.")


def _next_symbol(model: Any, suite: AbstractSuite, parts: Parts, strings: Strings) -> list[Finding]:
    alphabet = parts.task.input_alphabet
    if suite.kind is ProblemKind.CLASSIFICATION:
        alphabet = Alphabet((BOUNDARY, *alphabet.symbols))
        strings = [[BOUNDARY, *string] for string in strings]
    try:
        read = _reader(model, alphabet)
        begin = time.monotonic()
        first = read(strings)
    except HumboldtError as error:
        return [Finding("distributions", False, str(error), "Nothing else can be checked before that.")]
    seconds = time.monotonic() - begin
    steps = sum(map(len, strings))
    findings = [Finding("distributions", True, f"{steps:,} of them, each over {len(alphabet)} symbols, sums of 1")]

    def compare(check: str, again: list[np.ndarray], advice: str) -> None:
        far = [float(np.abs(one[: len(two)] - two).max()) for one, two in zip(first, again, strict=True)]
        worst = int(np.argmax(far))
        passed = far[worst] <= SAME
        text = "the same distributions" if passed else f"{far[worst]:.2g} apart on {' '.join(strings[worst])[:80]!r}"
        findings.append(Finding(check, passed, text, advice))

    compare("read twice", read(strings), "Switch dropout off (`model.eval()`), and draw nothing at random.")
    compare("other order", read(strings[::-1])[::-1], "Look for a state that is kept from row to row.")
    compare("each alone", [read([string])[0] for string in strings], "Padding changes a distribution. Mask it.")
    compare(
        "causality",
        read([string[: -(-len(string) // 2)] for string in strings]),
        "A distribution must not depend on what comes after: use a causal mask.",
    )
    findings.append(
        Finding("speed", True, f"{steps / max(seconds, 1e-6):,.0f} symbols a second, {duration(seconds)} in all")
    )
    return findings


def _reader(model: Any, alphabet: Alphabet) -> Callable[[Strings], list[np.ndarray]]:
    """How a model of any form gives the distributions after every symbol of some strings."""
    if isinstance(model, NextSymbols):
        return lambda strings: model.checked(strings, alphabet)
    stepper, _ = stepper_of(model, alphabet)

    def read(strings: Strings) -> list[np.ndarray]:
        """All strings at once; those that have ended are taken out."""
        from humboldt.measures.bliss import check_distributions

        found: list[list[np.ndarray]] = [[] for _ in strings]
        state, alive = stepper.init(len(strings)), np.arange(len(strings))
        for step in range(max(map(len, strings))):
            keep = np.flatnonzero([len(strings[i]) > step for i in alive])
            if len(keep) < len(alive):
                state, alive = stepper.take(state, keep), alive[keep]
            symbols = alphabet.encode([strings[i][step] for i in alive])
            state, distributions = stepper.step(state, symbols)

            def prefix(row: int, alive: np.ndarray = alive, step: int = step) -> list[str]:
                return strings[alive[row]][: step + 1]

            for i, one in zip(
                alive, check_distributions(distributions, len(alive), len(alphabet), prefix), strict=True
            ):
                found[i].append(one)
        return [np.stack(steps) for steps in found]

    return read


def _difference(string: list[str], one: tuple[str, ...], two: tuple[str, ...]) -> str:
    shown = [" ".join(part)[:60] for part in (string, one, two)]
    return f"{shown[0]!r} is answered with {shown[1]!r} and with {shown[2]!r}"
