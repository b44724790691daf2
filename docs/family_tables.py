"""Tables of the page of families, from whatever references ship; `generated.py` puts them there.

Every family that has references of all tasks of a preset of the bench gets its row: nothing here names results.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from humboldt.core.results import State, end_of_training
from humboldt.measures.comparison import mean_over_tasks
from humboldt.storage.exports import read_file
from humboldt.suites import benched, catalogue, suites
from humboldt.suites.answers import LEARNT, ModelAnswers, Progress, TaskAnswer
from humboldt.suites.bench import QUICK, STANDARD
from humboldt.suites.reading import upgrade

ROOT = Path(__file__).parents[1]
PARITY = ROOT / "reproductions/families/parity.jsonl"
KINDS: Mapping[str, tuple[str, ...]] = {
    "RNNs": ("rnn", "gru", "lstm", "slstm"),
    "RNNs with a memory": ("stack_rnn", "ndstack_rnn", "tape_rnn"),
    "diagonal states": ("s4d", "lru", "mingru", "mamba"),
    "moved and scaled states": ("pd_ssm",),
    "matrix states": ("linear_attention", "retnet", "gla", "hgrn2", "mamba2", "mlstm"),
    "matrix states with erasure": ("deltanet", "gated_deltanet", "deltaproduct", "gated_deltaproduct", "rwkv7"),
    "matrix states and RNNs in turn": ("xlstm",),
    "attention": (
        *("transformer", "transformer_nope", "transformer_alibi", "transformer_fire", "transformer_random_rope"),
    ),
}
LINEAR = ("diagonal states", "moved and scaled states", "matrix states", "matrix states with erasure")
"""Kinds whose next state is linear in the state."""
LEVELS = {"regular": "Regular", "dcf": "Deterministic context-free", "cs": "Context-sensitive"}
PRESETS = {STANDARD: "standard", QUICK: "quick"}


@cache
def answers(preset: str) -> Mapping[str, ModelAnswers]:
    """Returns the answers of the references to all tasks of `chomsky`, by family, in the order of the page."""
    wanted = set(catalogue.preset(suites.get("chomsky"), preset).tasks or ())
    found = benched.answers_of(benched.reference_scores(), preset, suite_names=["chomsky"])
    whole = {each.model: each for each in found if {task.task for task in each.tasks} == wanted}
    names = [f"{benched.FAMILY}{name}" for kind in KINDS.values() for name in kind]
    return {name: whole[name] for name in names if name in whole}


def with_interval(values: Sequence[float]) -> str:
    """Returns the mean and, if members differ, its 95% interval.

    >>> with_interval((1.0, 1.0)), with_interval((0.25,))
    ('1.00', '0.25')
    """
    mean, interval = mean_over_tasks({"": values})
    if interval is None or f"{interval.low:.2f}" == f"{interval.high:.2f}":
        return f"{mean:.2f}"
    return f"{mean:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table, followed by an empty line."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n\n"


def families_chomsky() -> str:
    """Returns the scores of all families on all tasks, a table for each preset and level."""
    parts = []
    for preset, title in PRESETS.items():
        known = answers(preset)
        if not known:
            parts.append(f"No family has references of `{title}` for all tasks yet.\n\n")
            continue
        tasks: dict[str, list[str]] = {}
        for task in next(iter(known.values())).tasks:
            tasks.setdefault(task.group, []).append(task.task)
        for level, names in tasks.items():
            rows = []
            for kind, families in KINDS.items():
                for each in [known[f"{benched.FAMILY}{name}"] for name in families if _is_known(name, preset)]:
                    by_name = {task.task: task for task in each.tasks}
                    members = {len(task.values) for task in each.tasks}
                    cells = [_cell(by_name[name]) for name in names]
                    rows.append([kind, benched.model_title(each.model), "–".join(map(str, sorted(members))), *cells])
            heading = f"{LEVELS[level]} tasks, `{title}`:\n\n"
            parts.append(heading + markdown(("kind", "family", "members", *names), rows))
    return "\n" + "".join(parts)


def families_said() -> str:
    """Returns sentences about what families extend, for each preset with references."""
    parts = []
    for preset, title in PRESETS.items():
        known = answers(preset)
        if not known:
            continue
        extended = {
            model: [task for task in each.tasks if task.progress is Progress.EXTENDED] for model, each in known.items()
        }
        parts.append(f"`{title}`, {len(known)} of {_count()} families:\n\n")
        for task in next(iter(known.values())).tasks:
            by = [benched.model_title(model) for model, own in extended.items() if task.task in {t.task for t in own}]
            said = "by no family" if not by else f"by {len(by)}: {', '.join(by)}"
            parts.append(f"- {task.task} ({LEVELS[task.group].lower()}) is extended {said}.\n")
        linear = [f"{benched.FAMILY}{name}" for kind in LINEAR for name in KINDS[kind] if _is_known(name, preset)]
        beyond = {model: [task.task for task in extended[model] if task.group != "regular"] for model in linear}
        shown = "; ".join(f"{benched.model_title(model)} ({', '.join(own)})" for model, own in beyond.items() if own)
        if linear:
            count = f"Of {len(linear)} families whose next state is linear in the state"
            parts.append(f"- {count}, these extend a task that is not regular: {shown or 'none'}.\n")
        parts.append("\n")
    return "\n" + "".join(parts)


def families_missing() -> str:
    """Returns the families without references, and the command that makes them."""
    parts = []
    for preset, title in PRESETS.items():
        missing = [name for kind in KINDS.values() for name in kind if not _is_known(name, preset)]
        if missing:
            names = "all families" if len(missing) == _count() else ", ".join(f"`{name}`" for name in missing)
            parts.append(f"- `{title}`: {names}. `humboldt bench NAME --preset {title} --seeds 5`\n")
    return "\n" + ("".join(parts) or "No reference is missing.\n") + "\n"


def families_parity() -> str:
    """Returns how members do on parity, with eigenvalues from 0 to 1 and from -1 to 1."""
    rows = []
    for scores in read_file(PARITY, upgrade):
        setting = scores.training.setting
        values = [each.measures["score"] for each in scores.results if each.state is State.FINISHED]
        learnt = sum(end_of_training(each)["accuracy"] >= LEARNT for each in scores.results)
        rows.append(
            [
                benched.model_title(scores.training.model),
                {"0_1": "[0, 1]", "-1_1": "[-1, 1]"}[setting["model"].get("eigenvalues", "0_1")],
                f"{learnt} of {len(scores.results)}",
                ", ".join(f"{value:.2f}" for value in sorted(values, reverse=True)),
                f"{setting['steps']:,}",
            ]
        )
    return "\n" + markdown(
        ("family", "eigenvalues", "learnt at lengths 1 to 40", "accuracy at 41 to 500", "steps"), sorted(rows)
    )


def _cell(task: TaskAnswer) -> str:
    text = with_interval(task.scaled)
    return f"**{text}**" if task.progress is Progress.EXTENDED else text


def _is_known(name: str, preset: str) -> bool:
    return f"{benched.FAMILY}{name}" in answers(preset)


def _count() -> int:
    return sum(map(len, KINDS.values()))


BLOCKS = {
    "families_chomsky": families_chomsky,
    "families_said": families_said,
    "families_missing": families_missing,
    "families_parity": families_parity,
}
