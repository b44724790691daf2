"""Writes the page with Jinja, as one self-contained file."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from humboldt.errors import named_extras
from humboldt.page import charts
from humboldt.page.content import Grid, Page, Part, Section
from humboldt.report.figures import FAMILY, AnyFigure, Drawing, Figure
from humboldt.storage.output import write_file


@dataclass(frozen=True)
class Inside:
    """Content of the page about one kept member."""

    title: str
    lines: tuple[str, ...] = ()
    tables: tuple[Grid, ...] = ()
    figures: tuple[AnyFigure, ...] = ()


@dataclass
class _Pictures:
    """Assigns an id to each figure, and collects their specifications for the page's data."""

    specifications: dict[str, Any] = field(default_factory=dict)
    families: dict[str, None] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def __call__(self, figure: AnyFigure, where: str) -> dict[str, Any]:
        number, wanted = 1, "f-" + "".join(c if c.isalnum() else "-" for c in f"{where}-{figure.name}")
        while (name := wanted if number == 1 else f"{wanted}-{number}") in self.taken:
            number += 1
        self.taken.add(name)
        about = {"id": name, "name": f"{where}/{figure.name}", "title": figure.title, "about": figure.about}
        about |= {"alt": f"{figure.title}. {figure.about}", "left_out": figure.left_out, "svg": ""}
        if isinstance(figure, Drawing):
            # As an image, so that its styles do not apply to the page.
            encoded = base64.b64encode(charts.drawing_svg(figure).encode()).decode()
            return {**about, "svg": f"data:image/svg+xml;base64,{encoded}"}
        self.families |= {row[FAMILY]: None for row in figure.rows if FAMILY in row}
        self.specifications[name] = _shortened(charts.specification(figure))
        return {**about, "alt": f"{about['alt']} {_spoken(figure)}"}


def _shortened(specification: dict[str, Any]) -> dict[str, Any]:
    """Returns the specification with its rows stored by column, which is shorter; the page's script restores them."""
    values = specification["data"]["values"]
    columns = list(dict.fromkeys(column for row in values for column in row))
    return {**specification, "data": {"columns": columns, "rows": [[row.get(c) for c in columns] for row in values]}}


def _spoken(figure: Figure) -> str:
    """Alt text of a figure."""
    names = [str(name) for name in figure.colours]
    return f"{figure.y.title} by {figure.x.title}, for {', '.join(names[:12])}. The tables have the same numbers."


def html(page: Page, inside: Sequence[Inside] = (), remarks: Sequence[str] = (), damage: Sequence[str] = ()) -> str:
    """Returns the page as HTML. `remarks` are about saved members, `damage` about rows that the store left out."""
    with named_extras():
        import jinja2
        from markupsafe import Markup
    files = resources.files("humboldt.page")

    def read(name: str) -> str:
        return files.joinpath(name).read_text(encoding="utf-8")

    pictures = _Pictures()
    answers = [{**vars(part), "figure": pictures(part.figure, "bench")} for part in page.answers]
    sections = [_section(section, pictures) for section in page.sections]
    members = [
        {**vars(member), "id": number, "figures": [pictures(figure, f"inside-{number}") for figure in member.figures]}
        for number, member in enumerate(inside)
    ]
    data = {"figures": pictures.specifications, "provenance": page.provenance}
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(read("page.html")).render(
        page={**vars(page), "sections": sections},
        answers=answers,
        families=list(pictures.families),
        inside=members,
        remarks=remarks,
        damage=damage,
        style=Markup(read("page.css")),
        script=Markup(read("page.js")),
        scripts=Markup(charts.scripts().replace("</script", "<\\/script")) if pictures.specifications else "",
        data=Markup(_harmless(json.dumps(data, ensure_ascii=False, separators=(",", ":")))),
    )


def _harmless(text: str) -> str:
    """Escapes JSON so that it cannot end the element that contains it."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _section(section: Section, pictures: _Pictures) -> dict[str, Any]:
    parts = [_part(part, number, section.name, pictures) for number, part in enumerate(section.parts)]
    across = [pictures(figure, section.name) for figure in section.across]
    return {**vars(section), "parts": parts, "across": across}


def _part(part: Part, number: int, suite: str, pictures: _Pictures) -> dict[str, Any]:
    figures = [pictures(figure, suite) for figure in part.figures]
    return {
        **vars(part),
        "id": number,
        "figures": figures,
        "curves": [pictures(figure, suite) for figure in part.curves],
    }


def write(text: str, path: Path) -> None:
    """Writes a page atomically."""
    write_file(path, text)
