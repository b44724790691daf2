"""Figures as Vega-Lite. Altair makes the specifications, vl-convert the scripts of the page and files for papers."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from humboldt.errors import UsageError, named_extras
from humboldt.report.figures import FAMILY, MODEL, Drawing, Figure, Kind
from humboldt.storage.output import write_file

if TYPE_CHECKING:
    import altair as alt

#: Okabe and Ito (2008): colours that people with any colour vision can tell apart. Black is the ink of the page.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C6D31", "#7F7F7F", "#B0A000")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [10, 3], [1, 3], [6, 2, 2, 2, 2, 2], [3, 1])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
PANEL, WIDE, HEIGHT = 230, 620, 250  # pixels
PROFILE_PANEL, PROFILE_STEP, PROFILE_COLUMNS = 118, 16, 5
SOURCE_COLOURS = {"this bench": "#D55E00", "reference": "#0072B2", "reported, not re-run": "#009E73"}
FORMATS = ("svg", "png", "pdf")
PICKED = "picked"  # the signal with the highlighted models: names of models or families
HIDDEN = {"what", FAMILY, "line"}  # columns without a tooltip


def rows_of(figure: Figure) -> list[dict[str, Any]]:
    """Returns the rows of a figure, including those of its shading and its rules."""
    rows = [{**row, "what": "data"} for row in figure.rows]
    panels: list[Any] = _panels(figure) or [None]
    for panel in panels:
        where = {} if figure.panel is None else {figure.panel: panel}
        if figure.shaded is not None:
            first, last, name = figure.shaded
            rows.append({**where, "what": "shaded", "x": first, "x2": last, "name": name})
        rows += [{**where, "what": "rule", figure.y.column: height, "name": name} for height, name in figure.rules]
    return rows


def _panels(figure: Figure) -> list[str]:
    return list(dict.fromkeys(str(row[figure.panel]) for row in figure.rows)) if figure.panel else []


def _categories(figure: Figure, panel: str) -> set[frozenset[Any]]:
    """Returns the sets of categories on the x axes of the panels."""
    categories: dict[Any, set[Any]] = {}
    for row in figure.rows:
        categories.setdefault(row[panel], set()).add(row[figure.x.column])
    return set(map(frozenset, categories.values()))


def chart(figure: Figure) -> "alt.TopLevelMixin":
    """Returns an Altair chart of the named data set `rows`: given the rows, Altair would inspect every value."""
    with named_extras():
        import altair as alt
    layers = _LAYERS[figure.kind](alt, figure)
    if figure.shaded is not None:
        layers = [*_shaded(alt, figure), *layers]
    if figure.rules:
        layers = [*_rules(alt, figure), *layers]
    layered = alt.layer(*layers).properties(height=_height(alt, figure))
    data = alt.NamedData("rows")
    if figure.panel is None:
        made: Any = layered.properties(width=WIDE, data=data)
    else:
        about = {"labelLimit": PANEL, "labelFontWeight": "bold", "labelAnchor": "start"}
        if figure.kind is Kind.PROFILE:
            about |= {"labelExpr": "split(datum.label, '\\n')", "labelFontSize": 9.5, "labelPadding": 2}
        header = alt.Header(title=None, **about)
        facet = alt.Facet(f"{figure.panel}:N", header=header, sort=_panels(figure))
        is_profile = figure.kind is Kind.PROFILE
        width, columns = (PROFILE_PANEL, PROFILE_COLUMNS) if is_profile else (PANEL, 3)
        made = layered.properties(width=width).facet(facet=facet, columns=columns, data=data)
        made = made.properties(spacing=12) if is_profile else made
        if figure.x.kind == "category" and len(_categories(figure, figure.panel)) > 1:
            # A panel shows only its own categories. With only one of the two settings, Vega loses the bars.
            made = made.resolve_scale(x="independent", xOffset="independent")
    return made.add_params(alt.param(name=PICKED, value=[]))


def _height(alt: Any, figure: Figure) -> Any:
    if figure.kind is Kind.PROFILE:
        return alt.Step(PROFILE_STEP)
    return HEIGHT if figure.panel is None else 170


def _colour(alt: Any, figure: Figure, **more: Any) -> Any:
    names = figure.colours
    several = [COLOURS[i % len(COLOURS)] for i in range(len(names))]
    return alt.Color(
        f"{figure.colour}:N",
        title=figure.colour_title,
        scale=alt.Scale(domain=names, range=several),
        legend=alt.Legend(symbolOpacity=1, labelLimit=200),
        **more,
    )


def _lit(alt: Any, figure: Figure, full: float, dim: float) -> Any:
    """Returns the opacity of marks: full for picked models, or for all if none is picked."""
    columns = [figure.colour, *(column for column in (MODEL, FAMILY) if column != figure.colour)]
    chosen = " || ".join(f"indexof({PICKED}, datum['{column}']) >= 0" for column in columns)
    return alt.condition(f"length({PICKED}) == 0 || {chosen}", alt.value(full), alt.value(dim))


def _axis(alt: Any, channel: Literal["x", "y"], figure: Figure) -> Any:
    cls, axis = getattr(alt, channel.upper()), figure.x if channel == "x" else figure.y
    if axis.kind == "category":
        labels = alt.Axis(labelAngle=-35 if channel == "x" else 0, labelLimit=190)
        return cls(f"{axis.column}:N", title=axis.title, sort=list(axis.order) or None, axis=labels)
    options: dict[str, Any] = {"type": "log"} if axis.is_log else {"zero": False}
    if axis.domain is not None:
        options |= {"domain": list(axis.domain), "clamp": True}
    places = sorted({row[axis.column] for row in figure.rows})
    is_few = channel == "x" and len(places) <= 8 and all(isinstance(place, int) for place in places)
    ticks = alt.Axis(values=places, format=",d") if is_few else alt.Axis(tickCount=5)  # depth 1, 2, 3: no tick at 1.5
    return cls(f"{axis.column}:Q", title=axis.title, scale=alt.Scale(**options), axis=ticks)


def _tooltips(alt: Any, figure: Figure) -> list[Any]:
    """Returns tooltips of all columns of the rows, in their order, with the titles of the axes."""
    titles = {axis.column: axis.title for axis in (figure.x, figure.y)}
    tooltips: dict[str, Any] = {}
    for row in figure.rows:
        for column, value in row.items():
            if column in HIDDEN or column in tooltips:
                continue
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            kind = ("Q", ",.4~g") if is_number else ("N", None)
            more = {} if kind[1] is None else {"format": kind[1]}
            title = titles.get(column, column.replace("_", " "))
            tooltips[column] = alt.Tooltip(f"{column}:{kind[0]}", title=title, **more)
    return list(tooltips.values())


def _data(alt: Any) -> Any:
    return alt.Chart().transform_filter("datum.what === 'data'")


def _shaded(alt: Any, figure: Figure) -> list[Any]:
    base = alt.Chart().transform_filter("datum.what === 'shaded'")
    x = _axis(alt, "x", figure)
    text = base.mark_text(align="left", baseline="top", dx=3, dy=3, fontSize=10, opacity=0.7)
    return [
        base.mark_rect(opacity=0.12, color="#888").encode(x=x, x2="x2:Q"),
        text.encode(x=x, y=alt.value(0), text="name:N"),
    ]


def _rules(alt: Any, figure: Figure) -> list[Any]:
    base = alt.Chart().transform_filter("datum.what === 'rule'")
    y = _axis(alt, "y", figure)
    text = base.mark_text(align="left", baseline="bottom", dx=3, fontSize=10, opacity=0.7)
    return [
        base.mark_rule(strokeDash=[3, 3], opacity=0.6).encode(y=y),
        text.encode(x=alt.value(0), y=y, text="name:N"),
    ]


def _lines(alt: Any, figure: Figure) -> list[Any]:
    x, y, names = _axis(alt, "x", figure), _axis(alt, "y", figure), figure.colours
    colour, tips = _colour(alt, figure), _tooltips(alt, figure)
    dashes = alt.Scale(domain=names, range=[DASHES[i % len(DASHES)] for i in range(len(names))])
    dash = alt.StrokeDash(f"{figure.colour}:N", title=figure.colour_title, scale=dashes)
    layers = []
    if any("low" in row for row in figure.rows):
        band = alt.Chart().transform_filter("datum.what === 'data' && isValid(datum.low)").mark_area(tooltip=False)
        low, high = alt.Y("low:Q"), alt.Y2("high:Q")
        layers.append(band.encode(x=x, y=low, y2=high, color=colour, opacity=_lit(alt, figure, 0.18, 0.03)))
    line = _data(alt).mark_line(strokeWidth=2, clip=True)
    layers.append(line.encode(x=x, y=y, color=colour, strokeDash=dash, opacity=_lit(alt, figure, 1.0, 0.1)))
    points = _data(alt).mark_point(filled=True, size=28)
    few = len(figure.rows) <= 60 * max(1, len(names))
    lit = _lit(alt, figure, 0.9, 0.06) if few else _lit(alt, figure, 0.25, 0.02)
    layers.append(points.encode(x=x, y=y, color=colour, opacity=lit, tooltip=tips))
    return layers


def _points(alt: Any, figure: Figure) -> list[Any]:
    x, y, names = _axis(alt, "x", figure), _axis(alt, "y", figure), figure.colours
    shapes = alt.Scale(domain=names, range=[SHAPES[i % len(SHAPES)] for i in range(len(names))])
    shape = alt.Shape(f"{figure.colour}:N", title=figure.colour_title, scale=shapes)
    offset = alt.XOffset("place_in_group:Q", scale=alt.Scale(domain=[-0.6, max(len(names), 1) - 0.4]))
    order = " : ".join(f"datum['{figure.colour}'] === {json.dumps(name)} ? {i}" for i, name in enumerate(names))
    # Members of one model are spread sideways by a fixed rule, so that a page is reproducible.
    base = (
        _data(alt)
        .transform_window(member="row_number()", groupby=[figure.x.column, figure.colour])
        .transform_calculate(place_in_group=f"({order} : 0) + (((datum.member * 0.618034) % 1) - 0.5) * 0.5")
    )
    marks = base.mark_point(filled=True, size=34).encode(
        x=x,
        y=y,
        xOffset=offset,
        shape=shape,
        color=_colour(alt, figure),
        opacity=_lit(alt, figure, 0.75, 0.05),
        tooltip=_tooltips(alt, figure),
    )
    return [marks, *_printed(alt, figure, names)]


def _printed(alt: Any, figure: Figure, names: Sequence[Any]) -> list[Any]:
    """Returns ticks at the paper's numbers."""
    if not any("published" in row for row in figure.rows):
        return []
    order = " : ".join(f"datum['{figure.colour}'] === {json.dumps(name)} ? {i}" for i, name in enumerate(names))
    base = alt.Chart().transform_filter("datum.what === 'data' && isValid(datum.published)")
    groups = [figure.x.column, figure.colour, *([figure.panel] if figure.panel else []), "published"]
    base = base.transform_aggregate(members="count()", groupby=[*groups, *([FAMILY] if FAMILY not in groups else [])])
    base = base.transform_calculate(place_in_group=f"({order} : 0)")
    offset = alt.XOffset("place_in_group:Q", scale=alt.Scale(domain=[-0.6, max(len(names), 1) - 0.4]))
    tips = [alt.Tooltip(f"{figure.colour}:N", title=figure.colour_title), alt.Tooltip("published:Q", title="paper")]
    common = {"x": _axis(alt, "x", figure), "xOffset": offset, "opacity": _lit(alt, figure, 1.0, 0.05), "tooltip": tips}
    return _paper(alt, base, common, size=20)  # wider than the members of a model


def _paper(alt: Any, base: Any, common: Mapping[str, Any], **more: Any) -> list[Any]:
    """Returns dark ticks with a light edge at the paper's numbers, visible on any mark, and their legend."""
    scale = alt.Scale(domain=["paper"], range=["#222222"])
    legend = alt.Legend(title=None, symbolType="stroke", symbolSize=200)
    named = alt.Stroke("source:N", scale=scale, legend=legend)
    base, y = base.transform_calculate(source="'paper'"), alt.Y("published:Q")
    under = base.mark_tick(thickness=3, orient="horizontal", color="white", **more)
    tick = base.mark_tick(thickness=1, orient="horizontal", color="#222222", strokeWidth=0.5, **more)
    return [under.encode(**common, y=y), tick.encode(**common, y=y, stroke=named)]


def _bars(alt: Any, figure: Figure) -> list[Any]:
    x, y, names = _axis(alt, "x", figure), _axis(alt, "y", figure), figure.colours
    y.scale.zero = True
    offset = alt.XOffset(f"{figure.colour}:N", sort=names)
    base = _data(alt)
    common = {"x": x, "xOffset": offset}
    tips, colour = _tooltips(alt, figure), _colour(alt, figure)
    layers = [base.mark_bar().encode(**common, y=y, color=colour, opacity=_lit(alt, figure, 0.85, 0.1), tooltip=tips)]
    if any("low" in row for row in figure.rows):
        whisker = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5)
        layers.append(whisker.encode(**common, y="low:Q", y2="high:Q", opacity=_lit(alt, figure, 0.8, 0.05)))
    if any("published" in row for row in figure.rows):
        printed = base.transform_filter("isValid(datum.published)")
        layers += _paper(alt, printed, {**common, "opacity": _lit(alt, figure, 1.0, 0.05), "tooltip": tips})
    return layers


def _path(alt: Any, figure: Figure) -> list[Any]:
    x, y = _axis(alt, "x", figure), _axis(alt, "y", figure)
    line = _data(alt).mark_line(strokeWidth=1, opacity=0.35).encode(x=x, y=y, order="step:Q", detail="string:N")
    points = _data(alt).mark_point(filled=True, size=45, opacity=0.85)
    return [line, points.encode(x=x, y=y, color=_colour(alt, figure), tooltip=_tooltips(alt, figure))]


def _heat(alt: Any, figure: Figure) -> list[Any]:
    colour = alt.Color(f"{figure.colour}:Q", title=figure.colour_title, scale=alt.Scale(scheme="viridis"))
    x = alt.X(f"{figure.x.column}:O", title=figure.x.title, sort=list(figure.x.order) or None)
    y = alt.Y(f"{figure.y.column}:O", title=figure.y.title, sort=list(figure.y.order) or None)
    return [_data(alt).mark_rect().encode(x=x, y=y, color=colour, tooltip=_tooltips(alt, figure))]


def _profile(alt: Any, figure: Figure) -> list[Any]:
    """Returns a mark at each mean with its interval, small marks at its parts, and words where rows have a `word`."""
    sources = figure.colours
    colour = alt.Color(
        f"{figure.colour}:N",
        title=None,
        scale=alt.Scale(domain=sources, range=[SOURCE_COLOURS.get(source, COLOURS[0]) for source in sources]),
        legend=alt.Legend(symbolOpacity=1, orient="bottom") if len(sources) > 1 else None,
    )
    room = min(LABEL, round(LETTER * max(map(len, figure.y.order), default=0)))  # fonts differ: some are wide
    labels = alt.Axis(labelLimit=LABEL, minExtent=room, grid=False, title=None)
    y = alt.Y(f"{figure.y.column}:N", sort=list(figure.y.order), axis=labels)
    ends = alt.Axis(values=[0, 0.5, 1], format=".1~f", labelFlush=True)
    x = alt.X(f"{figure.x.column}:Q", title=figure.x.title, scale=alt.Scale(domain=[0, 1]), axis=ends)
    tips = _tooltips(alt, figure)
    means = _data(alt).transform_filter("datum.part === 'mean'")
    parts = _data(alt).transform_filter("datum.part === 'task'")
    named = _data(alt).transform_filter("datum.part === 'rule'")
    guide = means.mark_rule(opacity=0.25, strokeWidth=1, color="#888")  # not below words, which it would strike out
    whisker = means.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5)
    text = named.mark_text(fontSize=9.5, align={"expr": f"datum.{figure.x.column} > 0.6 ? 'right' : 'left'"})
    lit, dim = _lit(alt, figure, 1.0, 0.1), _lit(alt, figure, 0.45, 0.04)
    return [
        guide.encode(x=alt.datum(0), x2=alt.datum(1), y=y),
        parts.mark_point(filled=True, size=14).encode(x=x, y=y, color=colour, opacity=dim, tooltip=tips),
        whisker.encode(x=alt.X("low:Q"), x2="high:Q", y=y, color=colour, opacity=lit),
        means.mark_point(filled=True, size=52).encode(x=x, y=y, color=colour, opacity=lit, tooltip=tips),
        text.encode(x=x, y=y, text="word:N", color=colour, opacity=lit, tooltip=tips),
    ]


LABEL, LETTER = 190, 6.8  # pixels of a label at most, and of a letter in a wide font
_LAYERS = {
    Kind.PROFILE: _profile,
    Kind.LINES: _lines,
    Kind.POINTS: _points,
    Kind.BARS: _bars,
    Kind.PATH: _path,
    Kind.HEAT: _heat,
}


def specification(figure: Figure, *, is_checked: bool = False) -> dict[str, Any]:
    """Returns a figure as Vega-Lite. Checking it against the schema takes most of the time; only tests do it."""
    with named_extras():
        from altair.utils.schemapi import debug_mode
    with debug_mode(is_checked):
        made = chart(figure).to_dict(validate=is_checked)
    return {**made, "data": {"values": rows_of(figure)}}


def drawing_svg(drawing: Drawing) -> str:
    """Returns a network as SVG."""
    from humboldt.mdl.draw import to_svg
    from humboldt.mdl.network import Network

    return to_svg(Network.from_json(json.dumps(drawing.network)))


PAPER = {"background": "white", "font": "Helvetica, Arial, sans-serif"}


def kind_of(path: Path, *others: str) -> str:
    """Returns the format of a file of figures, given by its extension."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in (*FORMATS, *others):
        forms = ", ".join((*FORMATS, *others))
        raise UsageError(f"`{path}` ends in {path.suffix or 'nothing'}, and figures are written as {forms}.")
    return kind


def save(figures: Sequence[Figure | Drawing], path: Path) -> None:
    """Writes figures, one below the other, as SVG, PNG or PDF; the extension chooses the format."""
    kind = kind_of(path)
    with named_extras():
        import altair as alt
        import vl_convert
    drawings = [figure for figure in figures if isinstance(figure, Drawing)]
    if drawings:
        svg = drawing_svg(drawings[0])
        made = svg if kind == "svg" else getattr(vl_convert, f"svg_to_{kind}")(svg)
    else:
        specs = [{**specification(figure), "title": figure.title} for figure in figures if isinstance(figure, Figure)]
        spec = specs[0] if len(specs) == 1 else _below_each_other(specs)
        spec["config"] = {**PAPER, **spec.get("config", {})}
        version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
        options: Mapping[str, Any] = {"ppi": 200} if kind == "png" else {}
        made = getattr(vl_convert, f"vegalite_to_{kind}")(spec, vl_version=version, **options)
    write_file(path, made)


def _below_each_other(specs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Joins specifications into one. Removes top-level properties from the parts."""
    parts = [
        {key: value for key, value in spec.items() if key not in ("$schema", "config", "params")} for spec in specs
    ]
    whole = {"$schema": specs[0]["$schema"], "config": specs[0].get("config", {}), "params": specs[0]["params"]}
    return {**whole, "vconcat": parts, "resolve": {"scale": {"color": "independent"}}}


def scripts() -> str:
    """Returns Vega, Vega-Lite and Vega-Embed, once for all figures of a page."""
    with named_extras():
        import vl_convert
    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed; window.vega = vega;")
