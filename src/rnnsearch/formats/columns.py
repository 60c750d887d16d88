"""The columns of tables and data sets: which of them hold sentences, and in which languages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rnnsearch.formats.languages import is_language
from rnnsearch.formats.units import NO_TEXT, SOURCE, TARGET, Text, Unit

_SIDES = {
    **dict.fromkeys(("source", "src", "source text", "source_text", "original", "input"), SOURCE),
    **dict.fromkeys(("target", "tgt", "trg", "target text", "target_text", "translation", "reference", "output"), TARGET),
}
"""Usual names of the columns of sources and targets."""
_NAMES = {
    "arabic": "ar", "bulgarian": "bg", "catalan": "ca", "chinese": "zh", "croatian": "hr", "czech": "cs", "danish": "da",
    "dutch": "nl", "english": "en", "estonian": "et", "finnish": "fi", "french": "fr", "german": "de", "greek": "el",
    "hebrew": "he", "hindi": "hi", "hungarian": "hu", "irish": "ga", "italian": "it", "japanese": "ja", "korean": "ko",
    "latvian": "lv", "lithuanian": "lt", "norwegian": "no", "polish": "pl", "portuguese": "pt", "romanian": "ro",
    "russian": "ru", "slovak": "sk", "slovenian": "sl", "spanish": "es", "swedish": "sv", "turkish": "tr", "ukrainian": "uk",
}  # fmt: skip
_RATHER_NUMBERS = ("id", "no")
"""Codes of languages that have another meaning in nearly all names of columns."""
_NO_SENTENCES = "without texts under names such as en and fr, or source and target"


def _language(name: str) -> str | None:
    """Return the language or the side that the name of a column states: `en`, `English`, `fr_FR`, `source` or `text_de`."""
    name = name.strip()
    known = _SIDES.get(name.lower()) or _NAMES.get(name.lower())
    if known or (is_language(name) and name.lower() not in _RATHER_NUMBERS):
        return known or name
    parts = re.fullmatch(r"(?i)(?:text|sentence|source|target|src|tgt|trg)[_.\- ](.+)|(.+)[_.\- ](?:text|sentence)", name)
    tag = next(filter(None, parts.groups())) if parts else ""
    return tag if is_language(tag) else None


def columns_of(names: Sequence[str]) -> dict[int, str] | None:
    """Return the languages of the columns with sentences, by the numbers of the columns; None if these are no column names.

    Beside a language that is known, a column may have any code of two or three letters, such as `id` and `fur`.
    """
    known = {number: language for number, name in enumerate(names) if (language := _language(name))}
    if len(known) == 1:
        codes = {number: name.strip() for number, name in enumerate(names) if re.fullmatch("[a-z]{2,3}", name.strip())}
        known = dict(sorted((codes | known).items()))
    return known if len(set(known.values())) == len(known) >= 2 else None


def unit_of_row(place: int, row: object) -> Unit:
    """Convert a JSON object or a row of a data set to a unit.

    Its sentences are under the names of their languages or sides, or in an object `translation` under these names; a list of
    two strings is a source and a target.
    """
    if isinstance(row, Mapping) and isinstance(row.get("translation"), Mapping):
        row = row["translation"]
    values: dict[str, Any] = {}
    if isinstance(row, Mapping):
        names = [str(name) for name in row]
        values = {language: row[names[number]] for number, language in (columns_of(names) or {}).items()}
    elif isinstance(row, list) and len(row) == 2:
        values = {SOURCE: row[0], TARGET: row[1]}
    texts = [Text(language, value) for language, value in values.items() if isinstance(value, str)]
    reason = NO_TEXT if len(values) >= 2 else _NO_SENTENCES
    return Unit(place, texts, None if len(texts) >= 2 else reason)
