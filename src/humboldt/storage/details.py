"""Details of stored results, parsed on first access: a study may have 100,000 curves."""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any


class Detail(Mapping[str, Any]):
    """Several JSON objects as one mapping; for a key in several of them, the last value counts.

    >>> Detail('{"curve":[1,2],"best":1}', '{"best":2}') == {"curve": [1, 2], "best": 2}
    True
    """

    __slots__ = ("_texts",)

    def __init__(self, *texts: str) -> None:
        self._texts = tuple(text for text in texts if text != "{}")

    def __getitem__(self, key: str) -> Any:
        for text in reversed(self._texts):
            # Most texts lack most keys, and need not be parsed to say so; one with an escape may write any key.
            if (f'"{key}"' in text or "\\" in text) and key in (value := _value(text)):
                return value[key]
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(key for text in self._texts for key in _value(text)))

    def __len__(self) -> int:
        return len({key for text in self._texts for key in _value(text)})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._texts))})"


@lru_cache(maxsize=256)  # a table reads several values of one member in a row
def _value(text: str) -> dict[str, Any]:
    return json.loads(text)
