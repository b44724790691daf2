"""Contract tests that the test suite of a plugin can inherit.

```python
from humboldt.testing import ModelContract, TaskContract
from my_package import Majority


class TestMajority(TaskContract):
    task = Majority


class TestMyGRU(ModelContract):
    model = "src/my_package/models.py:MyGRU"
    on = "chomsky/parity_check"
```

pytest collects the inherited methods as tests. They raise an `AssertionError` with the finding and its advice. The
checks are those of `humboldt check`.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

from humboldt.core.findings import Finding
from humboldt.errors import UsageError
from humboldt.languages import AbstractTask, tasks
from humboldt.languages import contract as checks
from humboldt.models.own import is_reference, register_reference
from humboldt.outside.model_check import ModelCheck, check_model, check_network
from humboldt.plugins import attribute_of_file, makes_networks

SPOILT = "§"  # a symbol that is in no alphabet


class TaskContract:
    """Tests of one task: its class in `task`, or its registered name; its settings in `settings`."""

    task: ClassVar[type[AbstractTask] | str]
    settings: ClassVar[Mapping[str, Any]] = {}

    @cached_property
    def made(self) -> AbstractTask:
        """The task, made with its settings."""
        cls = tasks.get(self.task) if isinstance(self.task, str) else self.task
        return cls(**self.settings)

    def test_declaration(self) -> None:
        """The alphabets, the chance level and the examples are declared."""
        self._check(checks.declaration)

    def test_examples(self) -> None:
        """The oracle agrees with the examples worked by hand."""
        self._check(checks.examples)

    def test_properties(self) -> None:
        """The task has the properties that its suite relies on."""
        self._check(checks.properties)

    def test_alphabet(self) -> None:
        """The sampler draws symbols of the alphabets."""
        self._check(checks.alphabet)

    def test_lengths(self) -> None:
        """Inputs have the length that is asked for."""
        self._check(checks.lengths)

    def test_seed(self) -> None:
        """The same seed gives the same strings, and another seed other ones."""
        self._check(checks.seed)

    def test_oracle(self) -> None:
        """The sampler's targets are those of the oracle."""
        self._check(checks.oracle)

    def test_oracle_refuses_unknown_symbols(self) -> None:
        """The oracle raises a `UsageError` for a symbol that is not in its alphabet."""
        symbols = self.made.examples[0][0].split()
        for position in {0, len(symbols) // 2, len(symbols) - 1}:
            spoilt = [*symbols[:position], SPOILT, *symbols[position + 1 :]]
            try:
                answer = self.made.oracle(spoilt)
            except UsageError:
                continue
            raise AssertionError(f"the oracle answers {answer!r} for {spoilt!r}, and should raise a UsageError")

    def _check(self, check: Callable[[AbstractTask], Finding]) -> None:
        _hold(checks.checked(check, self.made))


class ModelContract:
    """Tests of one model on one task.

    - `model`: `FILE.py:NAME`, or a registered name of a class that makes networks, or a function that predicts.
    - `on`: the suite and the task, `SUITE/TASK`. `preset`, `settings`: those of the strings.
    """

    model: ClassVar[Any]
    on: ClassVar[str]
    preset: ClassVar[str] = "quick"
    settings: ClassVar[Mapping[str, Any]] = {}

    @cached_property
    def report(self) -> ModelCheck:
        """The findings of all checks."""
        suite, _, task = self.on.partition("/")
        options: dict[str, Any] = {"preset": self.preset, "settings": dict(self.settings)}
        model = self.model
        if isinstance(model, str) and is_reference(model):
            value = attribute_of_file(model)
            if not (makes_networks(value) or hasattr(value, "build")):
                return check_model(value, suite, task, name=model, **options)
            model = register_reference(model)
        if isinstance(model, str):
            return check_network(model, suite, task, **options)
        return check_model(model, suite, task, **options)

    def test_every_check(self) -> None:
        """All checks of `humboldt check model` pass."""
        for finding in self.report.findings:
            _hold(finding)


def _hold(finding: Finding) -> None:
    if not finding.passed:
        raise AssertionError(f"{finding.check}: {finding.text}. {finding.advice}")
