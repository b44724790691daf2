"""Figures of the internals of kept members: states in a plane, actions, memory and attention; and a table of failures.

The states of many strings are shown as in section 5.2 and appendix B.3 of Delétang et al. (2023). Everything is
computed from saved weights, so the package that trained them must be installed.
"""

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from humboldt import __version__
from humboldt.core.internals import GROUPS, TIME, Internal
from humboldt.errors import HumboldtError, MissingExtra, UsageError
from humboldt.inspecting.inspection import Inspection, KeptMember
from humboldt.inspecting.kept import KeptFile, kept_members
from humboldt.page.content import Entry, Grid, Page
from humboldt.page.write import Inside, html, write
from humboldt.report.figures import AnyFigure, Axis, Figure, Kind
from humboldt.report.words import counted
from humboldt.suites import resolving, suites
from humboldt.suites.capabilities import ExampleRequest, OffersData, OffersWrongStrings, WrongString

STRINGS, LENGTH = 12, 12  # number and length of the strings whose states are shown in a plane
SECONDS = 5.0  # after this time no further member is inspected
MOST_STEPS, MOST_ROWS, MOST_PANELS = 60, 40, 40  # of a picture of memory or attention
MOST_PLACES = 20_000  # in all panels of a picture together
LENGTHS = (20, 40, 50, 150)  # of the strings whose layers are shown in planes: in training, and longer
MOST_ASKED = 24  # saved members whose first failure is searched


def look_inside(folder: Path, most: int) -> tuple[list[Inside], list[str]]:
    """Returns the best saved member of some tasks and models, the first failures of all, and remarks on omissions."""
    files = kept_members(folder) if most else []
    if not files:
        return [], []
    remarks, members, wrong = [], [], []
    chosen, begin = _chosen(files), time.monotonic()
    for number, file in enumerate(chosen[:MOST_ASKED]):
        if time.monotonic() - begin > SECONDS * most:
            left = counted(len(chosen) - number, "saved member")
            remarks.append(f"{left} not inspected, to save time; `humboldt report --inside {2 * most}` inspects more.")
            break
        try:
            member = file.load()
        except MissingExtra as error:
            return [], [f"Saved members are not inspected: {error}"]
        except HumboldtError as error:
            remarks.append(f"{file.title} is not inspected: {error}")
            continue
        wrong.append((file, member, _first_wrong(file, member)))
        if len(members) < most:
            try:
                members.append(_inside(member))
            except HumboldtError:  # a network that does not read single strings, or has no internals
                continue
    if len(chosen) > MOST_ASKED:
        remarks.append(f"{counted(len(chosen) - MOST_ASKED, 'more saved member')} not searched for failures.")
    table = _table(wrong)
    return [*([table] if table else []), *members], remarks


def _chosen(files: Sequence[KeptFile]) -> list[KeptFile]:
    """Returns the best member of each task and model, alternating between suites."""
    best: dict[tuple[str, str, str], KeptFile] = {}
    for file in files:
        key = file.training.suite, file.training.task, file.training.model
        headline = suites.get(key[0]).headline
        if key not in best or file.measures.get(headline, -np.inf) > best[key].measures.get(headline, -np.inf):
            best[key] = file
    by_suite: dict[str, list[KeptFile]] = {}
    for (suite, _, _), file in best.items():
        by_suite.setdefault(suite, []).append(file)
    return [file for group in itertools.zip_longest(*by_suite.values()) for file in group if file is not None]


def _first_wrong(file: KeptFile, member: KeptMember) -> WrongString | None:
    suite = suites.get(file.training.suite)
    if not isinstance(suite, OffersWrongStrings):
        return None
    resolved = resolving.resolve(suite, file.training, file.evaluation)
    try:
        wrong = suite.first_wrong(resolved, member.predictor, file.detail)
    except HumboldtError:
        return None
    if wrong is None or wrong.input is None or wrong.answer is not None:
        return wrong
    try:
        asked = member.inspect(wrong.input)
    except HumboldtError:  # a string that its problem cannot read
        return wrong
    return WrongString(wrong.input, wrong.tried, asked.answer, asked.expected)


def _table(wrong: Sequence[tuple[KeptFile, KeptMember, WrongString | None]]) -> Inside | None:
    rows = []
    for _, member, failure in wrong:
        if failure is None:
            continue
        where = "none found" if failure.input is None else _shortened(failure.input)
        length = "–" if failure.input is None else str(len(failure.input))
        answers = [_shortened(answer) if answer is not None else "–" for answer in (failure.answer, failure.expected)]
        texts = [Entry(text=text, is_words=True) for text in (where, *answers, failure.tried)]
        rows.append((Entry(text=member.title, is_words=True), Entry(text=length), *texts))
    if not rows:
        return None
    columns = ("Kept member", "Length", "Shortest string it gets wrong", "It says", "Right is", "Tried")
    grid = Grid("First failures of kept members", columns, tuple(rows), ())
    return Inside("Failing strings", tables=(grid,))


def _shortened(symbols: Sequence[str], most: int = 48) -> str:
    text = " ".join(symbols) if any(len(symbol) > 1 for symbol in symbols) else "".join(symbols)
    return (text if len(text) <= most else f"{text[: most - 1]}…") or "(empty)"


def _inside(member: KeptMember) -> Inside:
    """Shows one member on a worked example of its task, and on many other strings."""
    strings, known = _strings(member), set(member.problem.symbols)
    by_hand = [tuple(source.split()) for source, _ in member.resolved.task.examples]
    by_hand = [symbols for symbols in by_hand if symbols and set(symbols) <= known] or strings[:1]
    if not by_hand:
        raise UsageError(f"There is no example string for {member.title}.")
    inspection = member.inspect(max(by_hand, key=len))
    return _described(inspection, [*figures_of(inspection), *_planes(member, strings), *_layer_planes(member)])


def draw(inspection: Inspection, path: Path) -> None:
    """Writes the internals of a member for one string, as a page or as figures; the extension chooses the format."""
    from humboldt.page.charts import save

    if path.suffix.lower() not in (".html", ".htm"):
        save(figures_of(inspection), path)
        return
    title = inspection.title
    page = Page(title=title, version=__version__, folder="DIR", columns=(), overview=(), sections=(), summary="")
    write(html(page, [_described(inspection, figures_of(inspection))]), path)


def _described(inspection: Inspection, figures: Sequence[AnyFigure]) -> Inside:
    right = {True: "right", False: "wrong", None: "not known to be right or wrong"}[inspection.is_right]
    expected = "" if inspection.expected is None else f" Expected: {' '.join(inspection.expected)}."
    lines = (f"Read: {' '.join(inspection.tokens)}", f"Answer: {' '.join(inspection.answer)} ({right}).{expected}")
    return Inside(inspection.title, lines, figures=tuple(figures))


def figures_of(inspection: Inspection) -> list[AnyFigure]:
    """Returns figures of a member's internals for one string: answers, actions, memory, attention, states."""
    figures: list[AnyFigure] = [_answers(inspection)] if len(inspection.alphabet) > 1 else []
    for name, internal in inspection.internals.items():
        figures += list(_pictures(name, internal, inspection.tokens))
    return figures


def _labels(tokens: Sequence[str]) -> list[str]:
    return [f"{step} {token}" for step, token in enumerate(tokens)]


def _answers(inspection: Inspection) -> Figure:
    steps, chances = _labels(inspection.tokens), np.asarray(inspection.probabilities)
    likely = np.sort(np.argsort(-chances.max(0), kind="stable")[:MOST_ROWS])  # the most probable
    rows = [
        {"step": steps[step], "symbol": inspection.alphabet[i], "value": round(float(row[i]), 4)}
        for step, row in zip(inspection.steps[:MOST_STEPS], chances, strict=False)
        for i in likely
    ]
    symbols = tuple(dict.fromkeys(inspection.alphabet[i] for i in likely))
    more = len(inspection.alphabet) - len(likely)
    return _heat(
        name="answers",
        title="Answers: how probable each symbol is",
        about="One column for each answer.",
        rows=rows,
        order=tuple(steps[step] for step in inspection.steps[:MOST_STEPS]),
        symbols=symbols,
        y="Symbol",
        left_out=f"{more} symbols that are never probable." if more else "",
    )


def _heat(
    *,
    name: str,
    title: str,
    about: str,
    rows: Sequence[Mapping[str, Any]],
    order: tuple[str, ...],
    symbols: tuple[str, ...],
    y: str,
    panel: str | None = None,
    left_out: str = "",
) -> Figure:
    return Figure(
        name=name,
        title=title,
        about=about,
        kind=Kind.HEAT,
        rows=tuple(rows),
        x=Axis("step", "Step and token", "category", order=order),
        y=Axis("symbol", y, "category", order=symbols),
        colour="value",
        colour_title="",
        panel=panel,
        left_out=left_out,
    )


def _pictures(name: str, internal: Internal, tokens: Sequence[str]) -> Iterator[Figure]:
    """Yields a figure of one internal over time, with a panel for each layer, head, stack or tape."""
    values, axes = np.asarray(internal.values, float), list(internal.axes)
    groups = [axis for axis in axes if axis in GROUPS]
    rest = [axis for axis in axes if axis not in GROUPS and axis != TIME]
    values = values.transpose([axes.index(axis) for axis in [*groups, TIME, *rest]])
    read = list(_labels(tokens))[internal.first :]  # steps of a decoder begin after the source
    steps = min(values.shape[len(groups)], len(read), MOST_STEPS)
    is_attention = rest == [TIME] or axes.count(TIME) > 1 or "attention" in name
    if len(rest) > 1:  # a memory of cells: the first principal component of their contents, as in Figures 3b and 3c
        values = first_component(values)
        rest = rest[:-1]
        name = f"{name} (first principal component)"
    if not rest:
        return
    names = list(internal.labels) if len(internal.labels) == values.shape[-1] else None
    of_itself = values.shape[-1] == values.shape[len(groups)]  # queries and keys are the same steps
    seen = read if of_itself else _labels(tokens)
    count = min(values.shape[-1], min(len(seen), MOST_STEPS) if is_attention else MOST_ROWS)
    names = names or (seen[:count] if is_attention else [str(i) for i in range(count)])
    labels, rows = read[:steps], []
    places = list(itertools.product(*map(range, values.shape[: len(groups)])))
    most = max(1, min(MOST_PANELS, MOST_PLACES // max(1, steps * count)))
    for place in places[:most]:
        where = ", ".join(f"{group} {number}" for group, number in zip(groups, place, strict=True)) or name
        for step, row in enumerate(values[place][:steps]):
            rows += [
                {"panel": where, "step": labels[step], "symbol": names[i], "value": round(float(row[i]), 4)}
                for i in range(count)
                if np.isfinite(row[i])
            ]
    left_out = []
    if len(places) > most:
        left_out.append(f"{len(places) - most} more panels.")
    if values.shape[-1] > count:
        left_out.append(f"{values.shape[-1] - count} of {values.shape[-1]} rows; humboldt inspect --json has all.")
    short = "".join(c if c.isalnum() else "-" for c in name.split(" (")[0])
    y = {"unit": "Unit", "depth": "Depth", "place": "Place", "action": "Action"}.get(rest[0], rest[0].capitalize())
    about = "Attention of the steps in columns to those in rows." if is_attention else f"{y} by step."
    yield _heat(
        name=short,
        title=f"{name[:1].upper()}{name[1:]} over time",
        about=about,
        rows=rows,
        order=tuple(labels),
        symbols=tuple(names[:count]),
        y=y,
        panel="panel" if len(places) > 1 else None,
        left_out=" ".join(left_out),
    )


def first_component(values: np.ndarray) -> np.ndarray:
    """Returns the first principal component of vectors along the last axis. Their mean, such as that of empty cells, is
    0; the sign is such that the largest value is positive."""
    vectors = values.reshape(-1, values.shape[-1])
    if not np.isfinite(vectors).all():
        return np.full(values.shape[:-1], np.nan)
    centred = vectors - vectors.mean(0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    component = centred @ directions[0]
    sign = 1.0 if component[np.abs(component).argmax()] >= 0 else -1.0
    return (sign * component).reshape(values.shape[:-1])


def _layer_planes(member: KeptMember) -> Iterator[Figure]:
    """Yields planes of the first and the last layer for strings of several lengths, as Figures 4b, B.4 and B.5.

    One shows all tokens of the first layer, by length; the others the token at which the first answer is read, by its
    right answer. A network without layers yields nothing, as does a task without strings of such lengths.
    """
    tokens: list[tuple[dict[str, Any], np.ndarray]] = []
    answers: dict[str, list[tuple[dict[str, Any], np.ndarray]]] = {}
    for length in LENGTHS:
        strings = _strings_of(member, length)
        try:
            states = member.states_of(strings) if strings else None
        except HumboldtError:  # positions beyond what was trained, or strings that its problem cannot read
            continue
        if states is None:
            continue
        for number, (symbols, values) in enumerate(zip(strings, states.astype(float), strict=True)):
            about = {"string": f"{length}-{number}", "length": str(length)}
            tokens += [({**about, "string": f"{length}-{number}-{i}"}, v) for i, v in enumerate(values[0])]
            step = int(np.flatnonzero(member.problem.framed(symbols).target_mask[0])[0])
            right = member.resolved.task.oracle(list(symbols))[0]
            for layer, name in ((0, "first layer"), (-1, "last layer")):
                row = {**about, "panel": f"{name}, length {length}", "state": right}
                answers.setdefault(name, []).append((row, values[layer, step]))
    if not tokens:
        return
    yield _plane(
        tokens[:: max(1, len(tokens) // 2000)],
        name="plane-lengths",
        title="First layer by length",
        about="Principal components of all tokens after the first layer. Figure 4b of the paper: lengths in training "
        "and longer ones.",
        colour=("length", "Length"),
    )
    for name, points in answers.items():
        figure = "B.4" if name == "first layer" else "B.5"
        yield _plane(
            points,
            name=f"plane-{name.replace(' ', '-')}",
            title=f"The token of the first answer after the {name}",
            about=f"Principal components of all lengths together, one point for each string. Figure {figure}.",
            colour=("state", "Right answer"),
            panel="panel",
        )


def _plane(
    points: Sequence[tuple[dict[str, Any], np.ndarray]],
    *,
    name: str,
    title: str,
    about: str,
    colour: tuple[str, str],
    panel: str | None = None,
) -> Figure:
    """Returns points on the plane of their first two principal components."""
    matrix = np.stack([vector for _, vector in points])
    centred = matrix - matrix.mean(0)
    _, singular, directions = np.linalg.svd(centred, full_matrices=False)
    plane = centred @ directions[:2].T
    shares = 100 * singular[:2] ** 2 / max(float((singular**2).sum()), 1e-12)
    rows = [
        {**row, "step": 0, "token": "", "x": round(float(x), 4), "y": round(float(y), 4)}
        for (row, _), (x, y) in zip(points, plane, strict=True)
    ]
    return Figure(
        name=name,
        title=title,
        about=about,
        kind=Kind.PATH,
        rows=tuple(rows),
        x=Axis("x", f"First component ({shares[0]:.0f}% of the variance)"),
        y=Axis("y", f"Second component ({shares[1]:.0f}%)"),
        colour=colour[0],
        colour_title=colour[1],
        panel=panel,
    )


def _strings_of(member: KeptMember, length: int) -> list[tuple[str, ...]]:
    """Returns strings of one length, or none if the task has no such strings."""
    suite = suites.get(member.training.suite)
    if not isinstance(suite, OffersData):
        return []
    try:
        request = ExampleRequest(member.training.task, None, STRINGS, length, 0, {})
        return [tuple(source) for source, _ in suite.examples(request) if source]
    except HumboldtError:
        return []


def _planes(member: KeptMember, strings: Sequence[tuple[str, ...]]) -> Iterator[Figure]:
    """Yields the states of many strings, projected on their first two principal components."""
    states: dict[str, list[np.ndarray]] = {}
    rows: list[dict[str, Any]] = []
    for number, symbols in enumerate(strings):
        try:
            inspection = member.inspect(symbols)
        except HumboldtError:
            continue
        vectors = {
            name: one
            for name, one in inspection.internals.items()
            if tuple(one.axes) == (TIME, "unit") and not one.first
        }
        if not vectors:
            return
        read = min(len(symbols), len(inspection.tokens))
        for name, internal in vectors.items():
            states.setdefault(name, []).append(np.asarray(internal.values, float)[:read])
        answers = [_answer(member, symbols[: step + 1]) for step in range(read)]
        rows += [
            {"string": f"{number}: {_shortened(symbols)}", "step": step, "token": symbols[step], "state": answers[step]}
            for step in range(read)
        ]
    by_answer = len({row["state"] for row in rows} - {"–"}) in range(2, 10) and all(row["state"] != "–" for row in rows)
    colour, title = ("state", "Right answer so far") if by_answer else ("token", "Last symbol")
    for name, parts in states.items():
        matrix = np.concatenate(parts)
        if len(matrix) != len(rows) or matrix.shape[1] < 2 or not np.isfinite(matrix).all():
            continue
        centred = matrix - matrix.mean(0)
        _, singular, directions = np.linalg.svd(centred, full_matrices=False)
        plane = centred @ directions[:2].T
        shares = 100 * singular[:2] ** 2 / max(float((singular**2).sum()), 1e-12)
        yield Figure(
            name=f"plane-{name.replace(' ', '-')}",
            title=f"{name[:1].upper()}{name[1:]} of {counted(len(strings), 'string')} in a plane",
            about="Principal components of the states after each symbol; lines join the steps of a string. Coloured by "
            + ("the right answer to what was read so far." if by_answer else "the symbol that was read last."),
            kind=Kind.PATH,
            rows=tuple(
                {**row, "x": round(float(x), 4), "y": round(float(y), 4)}
                for row, (x, y) in zip(rows, plane, strict=True)
            ),
            x=Axis("x", f"First component ({shares[0]:.0f}% of the variance)"),
            y=Axis("y", f"Second component ({shares[1]:.0f}%)"),
            colour=colour,
            colour_title=title,
        )


def _strings(member: KeptMember) -> list[tuple[str, ...]]:
    """Returns strings of the member's task, most of one length, so that its network is compiled once. If the suite's
    examples have other symbols, returns strings of the training data."""
    suite, problem = suites.get(member.training.suite), member.problem
    examples: list[tuple[str, ...]] = []
    for length in (LENGTH, LENGTH + 1, None):
        if not isinstance(suite, OffersData):
            break
        try:
            request = ExampleRequest(member.training.task, None, STRINGS, length, 0, {})
            examples = [tuple(source) for source, _ in suite.examples(request) if source]
            break
        except HumboldtError:  # this suite, or this task, has no strings of that length
            continue
    if examples and all(set(symbols) <= set(problem.symbols) for symbols in examples):
        return examples
    batch = problem.batch(0)
    rows = zip(batch.tokens[:STRINGS], batch.mask[:STRINGS], strict=True)
    read = [[token for token in tokens[mask].tolist() if token < len(problem.symbols)] for tokens, mask in rows]
    return [tuple(problem.symbols[token] for token in tokens) for tokens in read if tokens]


def _answer(member: KeptMember, symbols: Sequence[str]) -> str:
    """Returns the right answer to the symbols read so far, if it is one symbol: an automaton's state."""
    try:
        answer = member.resolved.task.oracle(list(symbols))
    except (HumboldtError, ValueError, IndexError):
        return "–"
    return answer[0] if len(answer) == 1 else "–"
