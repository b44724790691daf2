"""Findings of checks before training: of a task or of a model from outside."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """The result of one check. `advice`: the fix if it failed."""

    check: str
    passed: bool
    text: str
    advice: str = ""


def listed(findings: Iterable[Finding]) -> str:
    """Returns findings as text: a line for each, and the advice below those that failed."""
    lines = []
    for finding in findings:
        lines.append(f"  {'passed' if finding.passed else 'FAILED'}  {finding.check}: {finding.text}")
        if not finding.passed and finding.advice:
            lines.append(f"          {finding.advice}")
    return "\n".join(lines)
