"""Tasks for EleutherAI's lm-evaluation-harness: `humboldt export lm-eval`. Files only; the harness is not needed here.

Each task is a YAML file with strings beside it, as JSON lines: those that our own models are scored on, and some of
training for the examples in a prompt. The folder can be moved: a small Python file in it finds the strings.
"""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humboldt import files
from humboldt.errors import UsageError, unknown_name
from humboldt.languages import ProblemKind
from humboldt.languages import tasks as all_tasks
from humboldt.plugins import load_installed
from humboldt.scoring import trained_elsewhere
from humboldt.settings import names
from humboldt.suites import suites
from humboldt.suites.base import AbstractSuite
from humboldt.suites.capabilities import OffersData

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
    """One task of the harness, and how many strings it has."""

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
    """Writes the tasks of a suite, and gives their names for the harness.

    **Arguments:**

    - `tasks`: which; those of the paper if there are none. `preset`, `settings`: whose test strings.
    - `count`: how many test strings at most, spread evenly over all; `None` for all.
    - `shots`: examples in a prompt, from training. `seed`: of the strings of training.
    - `end`: what ends a string in minimal pairs, so that a string that stops too early is not the more probable one.
    """
    load_installed()
    its_suite = suites.get(suite)
    if its_suite.kind not in KINDS or not isinstance(its_suite, OffersData):
        able = [name for name in suites.names() if suites.get(name).kind in KINDS and name != "bias"]
        raise UsageError(
            f"The suite {suite} has no form as tasks of lm-evaluation-harness. These have: {', '.join(able)}."
        )
    if suite == "bias":
        raise UsageError(
            "Hold-out inputs of bias have an output for each rule, and none is right: there is no accuracy."
        )
    for task in tasks:
        if task not in its_suite.tasks():
            raise unknown_name("task", task, its_suite.tasks())
    request = _Request(its_suite, preset, dict(settings or {}), count, shots, end, seed)
    planned = [one for task in tasks or its_suite.printed_tasks for one in KINDS[its_suite.kind](request, task)]
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "strings.py").write_text(LOADER, encoding="utf-8")
        for one in planned:
            files.write(out / f"{one.name}_train.jsonl", one.train)
            files.write(out / f"{one.name}_test.jsonl", one.test)
            (out / f"{one.name}.yaml").write_text(one.yaml(), encoding="utf-8")
        group = {"group": f"humboldt_{suite}", "task": [one.name for one in planned]}
        (out / f"humboldt_{suite}.yaml").write_text(_yaml(group), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"`{out}` cannot be written: {error}. Give another folder with --out.") from error
    return [Exported(one.name, len(one.test)) for one in planned]


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
        """Inputs and targets of a split, as text."""
        suite: OffersData = self.suite
        found = suite.data(
            task, split=split, count=count, length=None, seed=seed, settings=self.settings, preset=self.preset
        )
        return [(" ".join(source), " ".join(target)) for source, target in found]

    def some(self, rows: Sequence[Any]) -> list[Any]:
        """As many as are asked for, spread evenly."""
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
    """JSON values are YAML."""
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items())


def _transductions(request: _Request, task: str) -> Iterator[_Task]:
    """Read an input, write its output: exact match."""
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
    """The settings that concern strings of training: of a transduction, those of the task alone."""
    if request.suite.kind is not ProblemKind.TRANSDUCTION:
        return dict(request.settings)
    known = names(all_tasks.get(f"{request.suite.name}/{task}"))
    return {key: value for key, value in request.settings.items() if key in known}


def _minimal_pairs(request: _Request, task: str) -> Iterator[_Task]:
    """Which of two strings is grammatical: the more probable one."""
    suite: AbstractSuite = request.suite
    trained_elsewhere(suite, task, "any", request.preset, request.settings)  # an error where one must be chosen
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
    """A grammatical string and the ungrammatical one that was made from it stand next to each other."""
    goods, bads = itertools.islice(rows, 0, None, 2), itertools.islice(rows, 1, None, 2)
    return [
        {"grammatical": f"{good}{end}", "ungrammatical": f"{bad}{end}"}
        for (good, _), (bad, _) in zip(goods, bads, strict=True)
    ]


KINDS = {
    ProblemKind.TRANSDUCTION: _transductions,
    ProblemKind.SEQUENCE_TO_SEQUENCE: _transductions,
    ProblemKind.CLASSIFICATION: _minimal_pairs,
}
