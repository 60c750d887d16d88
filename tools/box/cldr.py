"""Word lists in two languages from Unicode's CLDR: countries, languages, units, currencies, days, months, signs.

The packages `cldr-localenames-full`, `cldr-units-full`, `cldr-dates-full` and `cldr-annotations-full` of the npm registry,
unpacked side by side (`npm pack NAME && tar xzf NAME-*.tgz --one-top-level=NAME`), under the Unicode licence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Pair = tuple[str, str]

_FILES = (
    ("cldr-localenames-full", "main", "territories.json"),
    ("cldr-localenames-full", "main", "languages.json"),
    ("cldr-localenames-full", "main", "scripts.json"),
    ("cldr-units-full", "main", "units.json"),
    ("cldr-dates-full", "main", "dateFields.json"),
    ("cldr-dates-full", "main", "ca-gregorian.json"),
    ("cldr-annotations-full", "annotations", "annotations.json"),
)
_SKIPPED = {"default", "identity", "gender", "short", "narrow", "abbreviated", "dayPeriods"}
_COUNTS = ("3", "8", "12", "40", "250")


def cldr_pairs(folder: Path, source: str, target: str) -> list[Pair]:
    """The pairs of both languages, in order, each once."""
    found: dict[Pair, None] = {}
    for package, kind, name in _FILES:
        paths = (folder / package / "package" / kind / language / name for language in (source, target))
        one, other = (_without_language(json.loads(path.read_text(encoding="utf-8"))) for path in paths)
        found |= dict.fromkeys(_pairs(one, other, ()))
    return list(found)


def _without_language(document: dict[str, Any]) -> Any:
    """The data of the one language in a file."""
    if "main" in document:
        (data,) = document["main"].values()
        return data
    return document["annotations"]["annotations"]


def _pairs(one: Any, other: Any, path: tuple[str, ...]) -> Iterator[Pair]:
    """Strings that stand in the same place of both, if they are words."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() & other.keys() - _SKIPPED):
            if not key.endswith(("-short", "-narrow", "count-one")):
                yield from _pairs(one[key], other[key], (*path, key))
        counted = "unitPattern-count-other"
        if counted in one and counted in other:
            yield from _counted(one[counted], other[counted])
    elif isinstance(one, list) and isinstance(other, list):
        for first, second in zip(one, other, strict=False):
            yield from _pairs(first, second, path)
    elif isinstance(one, str) and isinstance(other, str):
        if not set("{[(") & set(one + other) and all(any(map(str.isalpha, text)) and len(text) > 2 for text in (one, other)):
            yield one, other
        if "relativeTimePattern" in path[-1]:
            yield from _counted(one, other)


def _counted(one: str, other: str) -> Iterator[Pair]:
    for count in _COUNTS:
        if "{0}" in one and "{0}" in other:
            yield one.replace("{0}", count), other.replace("{0}", count)
