"""An extension of Griffe, which reads docstrings for the site."""

import re
from typing import Any

import griffe  # pyright: ignore[reportMissingImports]  the types are checked without the generator of the site

EXAMPLE = re.compile(r"^>>> (?:.+\n?)+", re.MULTILINE)
ENUMERATIONS = {"Enum", "StrEnum", "IntEnum", "enum.Enum", "enum.StrEnum", "enum.IntEnum"}


class Readable(griffe.Extension):
    """Puts examples that begin with a prompt between fences, and names the values of an enumeration."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if not obj.docstring:
            return
        text = EXAMPLE.sub(lambda found: f"```python\n{found.group().rstrip()}\n```\n", obj.docstring.value)
        if isinstance(obj, griffe.Class) and ENUMERATIONS & {str(base) for base in obj.bases}:
            text += f"\n\nValues: {', '.join(f'`{name}`' for name in obj.attributes)}."
        obj.docstring.value = text
