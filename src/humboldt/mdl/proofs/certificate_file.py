"""Reads and writes certificates as JSON files, one cell to a line."""

import json
from pathlib import Path
from typing import Any

from humboldt.errors import UsageError
from humboldt.storage.output import write_file


def write_certificate(path: str | Path, certificate: dict[str, Any]) -> None:
    """Writes a certificate in a readable form. Raises a usage error if it cannot be written."""
    cells = ",\n".join(f"  {json.dumps(cell)}" for cell in certificate["cells"])
    rest = {key: value for key, value in certificate.items() if key != "cells"}
    text = json.dumps(rest, indent=1).removesuffix("\n}") + f',\n "cells": [\n{cells}\n ]\n}}\n'
    write_file(Path(path), text, "--certificate")


def read_certificate(path: str | Path) -> Any:
    """Reads the certificate in a file, without checking it."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"Cannot read certificate {path}: {error}. Give the path of a file made by `prove`."
        ) from error
