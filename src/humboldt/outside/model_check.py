"""Checks whether a model from outside can be trained or scored: `humboldt check model`. Reads a few strings only."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from humboldt.arguments import checked_arguments, mapping, optional, text
from humboldt.core.findings import Finding, listed
from humboldt.errors import HumboldtError, named_extras
from humboldt.languages import Alphabet, ProblemKind
from humboldt.outside.batching import batches
from humboldt.outside.predictor import BOUNDARY, NextSymbols, OutsidePredictor, stepper_of
from humboldt.report.words import duration
from humboldt.suites import catalogue, plans, resolving, suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.experiments import Request, Resolved
from humboldt.suites.files import trained_elsewhere
from humboldt.suites.own_tasks import register_language
from humboldt.training.checks import AbstractTrial, all_findings, causality, few_rows

STRINGS = 48  # strings in a check
BATCHES = 16  # strings of training from which they are taken
SAME = 1e-5  # between two probabilities that should be equal
MAY_READ_AHEAD = (ProblemKind.TRANSDUCTION, ProblemKind.CLASSIFICATION)  # networks for these problems

Strings = list[list[str]]


@dataclass(frozen=True)
class ModelCheck:
    """All findings. `str()` returns a readable text."""

    model: str
    task: str
    findings: tuple[Finding, ...]
    purpose: str = "scored"

    @property
    def passed(self) -> bool:
        """Whether all checks have passed."""
        return all(finding.passed for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {**asdict(self), "passed": self.passed}

    def __str__(self) -> str:
        end = f"Ready to be {self.purpose}." if self.passed else "Fix what failed, and check again."
        return f"{self.model} on {self.task}:\n{listed(self.findings)}\n{end}"


@checked_arguments(suite=text, task=text, name=text, preset=text, settings=optional(mapping))
def check_model(
    model: Any,
    suite: str,
    task: str,
    *,
    name: str = "predict",
    preset: str = "quick",
    settings: Mapping[str, Any] | None = None,
) -> ModelCheck:
    """Checks a model on a few strings: types and alphabet of its answers, determinism, independence of the order of
    strings and of the other strings of a batch, causality, speed."""
    its_suite, changes = suites.get(suite), dict(settings or {})
    task = register_language(its_suite, task)
    resolved, _ = trained_elsewhere(its_suite, task, "any", preset, changes)
    strings = _strings(its_suite, resolved, preset, changes)
    if its_suite.kind is ProblemKind.NEXT_SYMBOL or isinstance(model, NextSymbols):
        findings = _next_symbol(model, its_suite, resolved, strings)
    else:
        findings = _answers(model, its_suite, resolved, strings)
    return ModelCheck(name, f"{suite}/{task}", tuple(findings))


def check_network(name: str, suite: str, task: str, *, preset: str, settings: Mapping[str, Any]) -> ModelCheck:
    """Checks the network of a registered model: shapes and finite answers, padding, causality, the gradient of long
    strings, parameters, speed. The padding of a batch and its seeds are those of a training of the task."""
    its_suite = suites.get(suite)
    task = register_language(its_suite, task)
    (experiment, *_) = plans.plan(its_suite, Request((task,), (name,), preset, 1, settings))
    resolved = resolving.resolved(experiment)
    job = its_suite.job(resolved, experiment.members[:1])
    is_general = ProblemKind.NEXT_SYMBOL in catalogue.model_entry(resolved.contender).value.problems
    findings = []
    try:
        with named_extras():
            trial = catalogue.engine_of(resolved.contender).trial(job)
            for finding in all_findings(trial):
                if finding.check == "causality" and not finding.passed and is_general:
                    advice = f"{finding.advice} As it is, it can be run on {_names(MAY_READ_AHEAD)}."
                    finding = replace(finding, advice=advice)
                findings.append(finding)
            if is_general and its_suite.kind in MAY_READ_AHEAD and findings[0].passed:
                findings.append(_other_suites(trial))
    except HumboldtError as error:
        findings.append(Finding("answers", False, str(error), "Nothing else can be checked before this is fixed."))
    return ModelCheck(name, f"{suite}/{task}", tuple(findings), "trained")


def _other_suites(trial: AbstractTrial) -> Finding:
    """Returns the suites that a network fits, if it was tried on one whose networks may read ahead."""
    check, batch = "other suites", few_rows(trial.problem)
    logits = trial.logits(batch)
    if trial.problem.kind is ProblemKind.CLASSIFICATION and logits.shape[1] > 1 and (logits == logits[:, :1]).all():
        names = _names((ProblemKind.CLASSIFICATION,))
        return Finding(check, True, f"it answers once for a string, and can be run on {names} only")
    finding = causality(trial, batch, logits)
    if finding.passed:
        return Finding(check, True, f"no answer depends on a later symbol: it can be run on {_names(ProblemKind)}")
    return Finding(check, True, f"{finding.text}: it reads ahead, and can be run on {_names(MAY_READ_AHEAD)} only")


def _names(kinds: Iterable[ProblemKind]) -> str:
    """Returns the suites with problems of some kinds."""
    return ", ".join(name for name in suites.names() if suites.get(name).kind in set(kinds))


def _strings(suite: AbstractSuite, resolved: Resolved, preset: str, changes: Mapping[str, Any]) -> Strings:
    """Returns some strings of training, short ones and long ones."""
    problem = batches(suite.name, resolved.training.task, preset=preset, settings=changes).problem
    names, by_text = np.array(problem.symbols, object), {}
    for number in range(BATCHES):
        batch = problem.batch(number)
        is_symbol = batch.mask & (batch.tokens < problem.num_symbols)
        for row in np.flatnonzero(batch.weight > 0)[:STRINGS]:
            symbols = names[batch.tokens[row][is_symbol[row]]].tolist()
            by_text[" ".join(symbols)] = symbols
    ordered = sorted(by_text.values(), key=len)
    return [ordered[i] for i in np.unique(np.linspace(0, len(ordered) - 1, STRINGS).round().astype(int))]


def _answers(model: Any, suite: AbstractSuite, resolved: Resolved, strings: Strings) -> list[Finding]:
    problem = suite.problem(resolved, [suite.outside_member(0)])
    predictor = OutsidePredictor(problem, resolved.task.output_alphabet, [model])
    begin = time.monotonic()
    try:
        first = predictor.answers(strings)
    except HumboldtError as error:
        return [Finding("answers", False, str(error), "Nothing else can be checked before this is fixed.")]
    seconds = time.monotonic() - begin
    findings = [Finding("answers", True, f"{len(strings)} inputs, each with symbols of the output alphabet")]
    findings.append(_lengths(resolved, strings, first))

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


def _lengths(resolved: Resolved, strings: Strings, answers: list[tuple[str, ...]]) -> Finding:
    """Checks the length of answers, for tasks with one right answer."""
    check, wrong = "length of answers", []
    for string, answer in zip(strings, answers, strict=True):
        try:
            wanted = len(resolved.task.oracle(string))
        except (HumboldtError, NotImplementedError):
            return Finding(check, True, "not known for this task")
        if len(answer) < wanted:
            wrong.append((string, wanted, len(answer)))
    if not wrong or resolved.task.problem is ProblemKind.SEQUENCE_TO_SEQUENCE:
        return Finding(check, True, "as the task has them")
    string, wanted, length = wrong[0]
    text = f"{length} symbols for {' '.join(string)[:80]!r}, whose answer has {wanted}"
    return Finding(check, False, text, "Symbols that are missing count as wrong. Answer with as many as the task has.")


def _next_symbol(model: Any, suite: AbstractSuite, resolved: Resolved, strings: Strings) -> list[Finding]:
    alphabet = resolved.task.input_alphabet
    if suite.kind is ProblemKind.CLASSIFICATION:
        alphabet = Alphabet((BOUNDARY, *alphabet.symbols))
        strings = [[BOUNDARY, *string] for string in strings]
    try:
        read = _reader(model, alphabet)
        begin = time.monotonic()
        first = read(strings)
    except HumboldtError as error:
        return [Finding("distributions", False, str(error), "Nothing else can be checked before this is fixed.")]
    seconds = time.monotonic() - begin
    steps = sum(map(len, strings))
    findings = [Finding("distributions", True, f"{steps:,} over {len(alphabet)} symbols, each with a sum of 1")]

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
    """Returns a function that computes the distributions of a model of any form after every symbol of some strings."""
    if isinstance(model, NextSymbols):
        return lambda strings: model.checked(strings, alphabet)
    stepper, _ = stepper_of(model, alphabet)

    def read(strings: Strings) -> list[np.ndarray]:
        """Returns the distributions of all strings, read in parallel; removes strings that have ended."""
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
