"""Tasks for EleutherAI's lm-evaluation-harness: `humboldt export lm-eval`. Writes files only; does not need the
harness.

Each task is a YAML file with strings beside it, as JSON lines: those that Humboldt's models are scored on, and some of
training for the examples in a prompt. The folder can be moved: a small Python file in it finds the strings.
"""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humboldt.errors import UsageError, unknown_name
from humboldt.languages import ProblemKind
from humboldt.languages import tasks as all_tasks
from humboldt.plugins import load_installed
from humboldt.settings import names
from humboldt.storage import files
from humboldt.storage.output import write_file
from humboldt.suites import catalogue, suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.capabilities import OffersData
from humboldt.suites.files import trained_elsewhere
from humboldt.suites.own_tasks import register_languages

SHOWN = 200  # strings of training from which the examples in a prompt are taken
LOADER = '''"""Finds the strings beside this file. Written by `humboldt export lm-eval`."""

from pathlib import Path

import datasets


def load(train, test, **options):
    """Both splits of one task."""
    folder = Path(__file__).parent
    names = {"train": str(folder / train), "test": str(folder / test)}
    return datasets.load_dataset("json", data_files=names)
'''


@dataclass(frozen=True)
class Exported:
    """One task of the harness, and its number of strings."""

    name: str
    strings: int


def export_lm_eval(
    suite: str,
    out: Path,
    *,
    tasks: Sequence[str] = (),
    preset: str = "paper",
    settings: Mapping[str, Any] | None = None,
    count: int | None = 500,
    shots: int = 8,
    end: str = "\n",
    seed: int = 0,
) -> list[Exported]:
    """Writes the tasks of a suite; returns their names for the harness.

    **Arguments:**

    - `tasks`: names; those of the paper if there are none. `preset`, `settings`: of the test strings.
    - `count`: the largest number of test strings, spread evenly over all; `None` for all.
    - `shots`: examples in a prompt, from training. `seed`: of the strings of training.
    - `end`: text that ends a string in minimal pairs, so that a string that stops too early is not the more probable
      one.
    """
    load_installed()
    its_suite = suites.get(suite)
    if its_suite.kind not in KINDS or not isinstance(its_suite, OffersData):
        every = map(suites.get, suites.names())
        able = [each.name for each in every if each.kind in KINDS and not each.asks_preferences]
        raise UsageError(
            f"The suite {suite} has no form as tasks of lm-evaluation-harness. These have: {', '.join(able)}."
        )
    if its_suite.asks_preferences:
        raise UsageError(
            f"Hold-out inputs of {suite} have an output for each rule, and none is right, so accuracy is not defined."
        )
    tasks = register_languages(its_suite, tasks)
    for task in tasks:
        if task not in catalogue.tasks(its_suite):
            raise unknown_name("task", task, catalogue.tasks(its_suite))
    request = _Request(its_suite, preset, dict(settings or {}), count, shots, end, seed)
    written = _minimal_pairs if its_suite.has_minimal_pairs else _transductions
    planned = [exported for task in tasks or its_suite.printed_tasks for exported in written(request, task)]
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_file(out / "strings.py", LOADER, "--out")
        for exported in planned:
            files.write(out / f"{exported.name}_train.jsonl", exported.train)
            files.write(out / f"{exported.name}_test.jsonl", exported.test)
            write_file(out / f"{exported.name}.yaml", exported.yaml(), "--out")
        group = {"group": f"humboldt_{suite}", "task": [exported.name for exported in planned]}
        write_file(out / f"humboldt_{suite}.yaml", _yaml(group), "--out")
    except OSError as error:
        raise UsageError(f"`{out}` cannot be written: {error}. Give another folder with --out.") from error
    return [Exported(exported.name, len(exported.test)) for exported in planned]


@dataclass(frozen=True)
class _Request:
    suite: Any
    preset: str
    settings: Mapping[str, Any]
    count: int | None
    shots: int
    end: str
    seed: int

    def pairs(self, task: str, split: str | None, count: int | None, seed: int = 0) -> list[tuple[str, str]]:
        """Returns inputs and targets of a split, as text."""
        suite: OffersData = self.suite
        examples = suite.data(
            task, split=split, count=count, length=None, seed=seed, settings=self.settings, preset=self.preset
        )
        return [(" ".join(source), " ".join(target)) for source, target in examples]

    def some(self, rows: Sequence[Any]) -> list[Any]:
        """Returns at most `count` rows, spread evenly."""
        if self.count is None or self.count >= len(rows):
            return list(rows)
        return [rows[i * len(rows) // self.count] for i in range(self.count)]


@dataclass(frozen=True)
class _Task:
    """A task of the harness, before it is written."""

    name: str
    train: Sequence[Mapping[str, str]]
    test: Sequence[Mapping[str, str]]
    config: Mapping[str, Any]

    def yaml(self) -> str:
        common = {
            "task": self.name,
            "dataset_kwargs": {"train": f"{self.name}_train.jsonl", "test": f"{self.name}_test.jsonl"},
            "training_split": "train",
            "fewshot_split": "train",
            "test_split": "test",
            "metadata": {"version": 1},
        }
        return f"custom_dataset: !function strings.load\n{_yaml({**common, **self.config})}"


def _yaml(values: Mapping[str, Any]) -> str:
    """Returns values as YAML, which includes JSON."""
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items())


def _transductions(request: _Request, task: str) -> Iterator[_Task]:
    """Yields tasks of an input and its output, or its label, scored by exact match."""
    split = None if request.suite.kind is ProblemKind.TRANSDUCTION else "train"
    train = _Request(request.suite, request.preset, _of_task(request, task), None, 0, "", request.seed)
    shown = [{"input": x, "target": y} for x, y in train.pairs(task, split, SHOWN, request.seed)]
    test = [{"input": x, "target": y} for x, y in request.some(request.pairs(task, "test", None))]
    longest = max(len(row["target"]) for row in test)
    yield _Task(
        f"humboldt_{request.suite.name}_{task}",
        shown,
        test,
        {
            "output_type": "generate_until",
            "doc_to_text": "Input: {{input}}\nOutput:",
            "doc_to_target": "{{target}}",
            "target_delimiter": " ",
            "num_fewshot": request.shots,
            "generation_kwargs": {"until": ["\n"], "do_sample": False, "max_gen_toks": longest + 16},
            "filter_list": [
                {"name": "stripped", "filter": [{"function": "remove_whitespace"}, {"function": "take_first"}]}
            ],
            "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
        },
    )


def _of_task(request: _Request, task: str) -> dict[str, Any]:
    """Returns the settings that affect strings of training: for a transduction, only those of the task."""
    if request.suite.kind is not ProblemKind.TRANSDUCTION:
        return dict(request.settings)
    known = names(all_tasks.get(f"{request.suite.name}/{task}"))
    return {key: value for key, value in request.settings.items() if key in known}


def _minimal_pairs(request: _Request, task: str) -> Iterator[_Task]:
    """Yields tasks of two strings, of which the grammatical one should be more probable."""
    suite: AbstractSuite = request.suite
    trained_elsewhere(suite, task, "any", request.preset, request.settings)  # raises if one must be chosen
    shown = _paired(request.pairs(task, "train", 2 * SHOWN, request.seed), request.end)
    for split, title in (("test", "in"), ("long", "out")):
        test = request.some(_paired(request.pairs(task, split, None), request.end))
        yield _Task(
            f"humboldt_{suite.name}_{task}_{title}",
            shown,
            test,
            {
                "output_type": "multiple_choice",
                "doc_to_text": "",
                "doc_to_choice": "{{[grammatical, ungrammatical]}}",
                "doc_to_target": 0,
                "target_delimiter": "",
                "fewshot_delimiter": "",
                "num_fewshot": request.shots,
                "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
            },
        )


def _paired(rows: Sequence[tuple[str, str]], end: str) -> list[dict[str, str]]:
    """Returns pairs of a grammatical string and the ungrammatical one made from it, which are adjacent rows."""
    goods, bads = itertools.islice(rows, 0, None, 2), itertools.islice(rows, 1, None, 2)
    return [
        {"grammatical": f"{good}{end}", "ungrammatical": f"{bad}{end}"}
        for (good, _), (bad, _) in zip(goods, bads, strict=True)
    ]


KINDS = (ProblemKind.TRANSDUCTION, ProblemKind.SEQUENCE_TO_SEQUENCE, ProblemKind.CLASSIFICATION)
