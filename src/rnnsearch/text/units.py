"""Lines as sequences of units: words, characters, code points, or symbols that spaces separate.

Words are for translation (`rnnsearch.text.tokenize`). The others are for short sequences, such as a word and its
pronunciation, in any script: no character is lost or moved, and `detokenize(tokenize(line))` is the line itself, in composed
Unicode (NFC, NFKC), if the units have a normal form.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import regex

from rnnsearch.config import DataConfig
from rnnsearch.text.tokenize import Tokenizer

Normalization = Literal["none", "NFC", "NFD", "NFKC", "NFKD"]

COMPOSED: dict[Normalization, Normalization] = {
    "none": "none", "NFC": "NFC", "NFD": "NFC", "NFKC": "NFKC", "NFKD": "NFKC",
}  # fmt: skip
"""The normal form of the text that units of each normal form are joined to."""
FEATURES = "\t"
"""What follows it on a source line is no text: each further column has features of the line, `V;PST`."""

# \X alone would count the flags of a long row of flags from its beginning again, for each of them.
_CLUSTER = regex.compile(r"\p{RI}{2}(?=\p{RI})|\X")


class Units(Protocol):
    """Cuts a line into units, and joins units to a line."""

    def tokenize(self, line: str) -> list[str]:
        """The units of `line`; none is empty or has a line feed."""
        ...

    def detokenize(self, tokens: Sequence[str]) -> str:
        """The line that these units make."""
        ...


@dataclass(frozen=True)
class Characters:
    """A unit is a character as a reader sees it, a grapheme cluster: `é` is one, however it is encoded."""

    normalization: Normalization = "NFC"

    def tokenize(self, line: str) -> list[str]:
        """The characters of `line`, white space among them."""
        clusters: list[str] = _CLUSTER.findall(normalized(line, self.normalization))
        return clusters

    def detokenize(self, tokens: Sequence[str]) -> str:
        """The characters, one after the other."""
        return normalized("".join(tokens), COMPOSED[self.normalization])


@dataclass(frozen=True)
class CodePoints(Characters):
    """A unit is a Unicode code point: in a decomposed normal form, marks are units, and so are the letters of a syllable."""

    def tokenize(self, line: str) -> list[str]:
        """The code points of `line`, white space among them."""
        return list(normalized(line, self.normalization))


@dataclass(frozen=True)
class Symbols:
    """A unit is what stands between spaces, such as a phone; the number of spaces does not matter."""

    normalization: Normalization = "NFC"

    def tokenize(self, line: str) -> list[str]:
        """The symbols of `line`."""
        return [symbol for symbol in normalized(line, self.normalization).split(" ") if symbol]

    def detokenize(self, tokens: Sequence[str]) -> str:
        """The symbols, with a space between two."""
        return normalized(" ".join(tokens), COMPOSED[self.normalization])


@dataclass(frozen=True)
class WithFeatures:
    """Units of a source line that may have features: `kaufen TAB V;PST` is `<V>`, `<PST>` and the units of `kaufen`."""

    units: Units

    def tokenize(self, line: str) -> list[str]:
        """The features of `line`, in angle brackets, and the units of its text."""
        text, *columns = line.split(FEATURES)
        features = (feature.strip() for column in columns for feature in column.split(";"))
        return [*(f"<{feature}>" for feature in features if feature), *self.units.tokenize(text)]

    def detokenize(self, tokens: Sequence[str]) -> str:
        """See `Units`; features stay where they stand."""
        return self.units.detokenize(tokens)


def units_of(data: DataConfig) -> tuple[Units, Units]:
    """How the source and the target are cut into units."""
    source = named_units(data.source_units, data, data.source_language)
    target = named_units(data.target_units, data, data.target_language)
    return source if data.source_units == "words" else WithFeatures(source), target


def named_units(name: str, data: DataConfig, language: str) -> Units:
    """Units by the name that `data.source_units` has for them."""
    if name == "words":
        return Tokenizer(data.tokenizer, language, data.normalize_words, data.protects)
    kinds: dict[str, type[Characters | Symbols]] = {"characters": Characters, "codepoints": CodePoints, "symbols": Symbols}
    return kinds[name](data.normalization)


def normalized(line: str, form: Normalization) -> str:
    """The line in this Unicode normal form; `none` leaves it as it is."""
    return line if form == "none" else unicodedata.normalize(form, line)
