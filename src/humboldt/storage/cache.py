"""Numbers that are remembered on this machine, in the user's cache folder. Nothing depends on their presence."""

import json
import os
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cache:
    """A file of numbers by key. The oldest are dropped when there are more than `most`."""

    name: str
    most: int

    @property
    def path(self) -> Path:
        """The file, which need not exist."""
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return folder / "humboldt" / f"{self.name}.json"

    def read(self) -> dict[str, float]:
        """Returns all remembered numbers; none if the file is missing or damaged."""
        try:
            stored = json.loads(self.path.read_text())
            return {str(key): float(value) for key, value in stored.items()}
        except (OSError, ValueError, AttributeError, TypeError, RuntimeError):  # RuntimeError: no home folder
            return {}

    def write(self, new: Mapping[str, float]) -> None:
        """Adds numbers if possible; ignores failures."""
        with suppress(OSError, RuntimeError):
            path, known = self.path, {**self.read(), **new}
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
            temporary.write_text(json.dumps(dict(list(known.items())[-self.most :])))
            temporary.replace(path)
