"""The units that lines are cut into: words, characters, code points, or symbols that are separated by spaces.

Words are for translation (`rnnsearch.text.tokenize`). The other units are for short sequences in any script, such as a word
and its pronunciation: no character is lost or moved, and `detokenize(tokenize(line))` is the line itself, in composed
Unicode (NFC or NFKC) if the units have a normal form.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from rnnsearch.config import DataConfig
from rnnsearch.text.expressions import Expression
from rnnsearch.text.tokenize import Tokenizer

Normalization = Literal["none", "NFC", "NFD", "NFKC", "NFKD"]

COMPOSED: dict[Normalization, Normalization] = {
    "none": "none", "NFC": "NFC", "NFD": "NFC", "NFKC": "NFKC", "NFKD": "NFKC",
}  # fmt: skip
"""The normal form of detokenised text for each normal form of units."""
FEATURES = "\t"
"""The separator of a source line and its features: each column after the first holds features such as `V;PST`, not text."""

# With \X alone, a long sequence of flags takes quadratic time, because each flag is matched from its beginning.
_CLUSTER = Expression(r"\p{RI}{2}(?=\p{RI})|\X")


class Units(Protocol):
    """A kind of units, which cuts lines into units and joins units to lines."""

    def tokenize(self, line: str) -> list[str]:
        """Return the units of `line`, none of which is empty or contains a line feed."""
        ...

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Join units to a line."""
        ...


@dataclass(frozen=True)
class Characters:
    """Units that are characters as readers see them (grapheme clusters): `é` is one unit, however it is encoded."""

    normalization: Normalization = "NFC"

    def tokenize(self, line: str) -> list[str]:
        """Return the characters of `line`, including white space."""
        clusters: list[str] = _CLUSTER.findall(normalized(line, self.normalization))
        return clusters

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Concatenate the characters."""
        return normalized("".join(tokens), COMPOSED[self.normalization])


@dataclass(frozen=True)
class CodePoints(Characters):
    """Units that are Unicode code points: in a decomposed normal form, accents and the letters of Korean syllables."""

    def tokenize(self, line: str) -> list[str]:
        """Return the code points of `line`, including white space."""
        return list(normalized(line, self.normalization))


@dataclass(frozen=True)
class Symbols:
    """Units that are symbols separated by one or more spaces, such as phones."""

    normalization: Normalization = "NFC"

    def tokenize(self, line: str) -> list[str]:
        """Return the symbols of `line`."""
        return [symbol for symbol in normalized(line, self.normalization).split(" ") if symbol]

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Join the symbols with single spaces."""
        return normalized(" ".join(tokens), COMPOSED[self.normalization])


@dataclass(frozen=True)
class WithFeatures:
    """Units of a source line with optional features: `kaufen TAB V;PST` gives `<V>`, `<PST>` and the units of `kaufen`."""

    units: Units

    def tokenize(self, line: str) -> list[str]:
        """Return the features of `line` in angle brackets, followed by the units of its text."""
        text, *columns = line.split(FEATURES)
        features = (feature.strip() for column in columns for feature in column.split(";"))
        return [*(f"<{feature}>" for feature in features if feature), *self.units.tokenize(text)]

    def detokenize(self, tokens: Sequence[str]) -> str:
        """Join units to a line; features are joined like other units."""
        return self.units.detokenize(tokens)


def units_of(data: DataConfig) -> tuple[Units, Units]:
    """Return the units of the source and those of the target."""
    source = named_units(data.source_units, data, data.source_language)
    target = named_units(data.target_units, data, data.target_language)
    return source if data.source_units == "words" else WithFeatures(source), target


def named_units(name: str, data: DataConfig, language: str) -> Units:
    """Return the units with this name, which is a value of `data.source_units`."""
    if name == "words":
        return Tokenizer(data.tokenizer, language, data.normalize_words, data.protects)
    kinds: dict[str, type[Characters | Symbols]] = {"characters": Characters, "codepoints": CodePoints, "symbols": Symbols}
    return kinds[name](data.normalization)


def normalized(line: str, form: Normalization) -> str:
    """Return the line in a Unicode normal form; `none` leaves it unchanged."""
    return line if form == "none" else unicodedata.normalize(form, line)
