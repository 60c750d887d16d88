"""Prepared folders: their files, and the checks that are made when they are opened.

A folder contains `train.arrow`, `source.vocab`, `target.vocab` and, written last, `prepare.json`. It also contains
`source.subwords` and `target.subwords` if words are segmented into subwords, `links.arrow` if there are word alignments, and
`held-out.source` and `held-out.target` if pairs are held out.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter
from typing_extensions import TypedDict  # pydantic accepts that of `typing` only from Python 3.12 on

from rnnsearch.config import from_dict
from rnnsearch.data.clean import CleaningReport
from rnnsearch.data.development import HELD_OUT
from rnnsearch.data.pack import PackedCorpus
from rnnsearch.errors import RnnsearchError
from rnnsearch.text import Vocabularies
from rnnsearch.text.vocabularies import FILES as VOCABULARY_FILES
from rnnsearch.untrusted import MEGABYTE, check_regular, read_json

CORPUS = "train.arrow"
LINKS = "links.arrow"
INFO = "prepare.json"
OPTIONAL = (*VOCABULARY_FILES, LINKS, *HELD_OUT)
FORMAT = 1
_MOST_BYTES = 256 * MEGABYTE
"""The largest size of a vocabulary, of a subword model and of one side of the pairs that are held out."""
SUMS = "crc32"
"""The entry of `prepare.json` with the CRC-32 checksum of every other file, which reveals changed bytes."""


_Count = Annotated[int, Field(ge=0, le=10**15)]
_EXACT = ConfigDict(strict=True)


class _Words(TypedDict):
    """The entry of `prepare.json` about the words of one side."""

    __pydantic_config__ = _EXACT  # type: ignore[misc]

    vocabulary: _Count
    words: _Count
    distinct_words: _Count
    coverage_percent: Annotated[float, Field(ge=0, le=100)]
    pieces: NotRequired[_Count]


class _File(TypedDict):
    """The entry of `prepare.json` about a file of the text that was prepared."""

    __pydantic_config__ = _EXACT  # type: ignore[misc]

    name: str
    bytes: _Count | None


class _HeldOut(TypedDict):
    """The entry of `prepare.json` about the pairs that are held out."""

    __pydantic_config__ = _EXACT  # type: ignore[misc]

    pairs: _Count
    lines: _Count


class _Info(TypedDict):
    """The entries that every `prepare.json` must have, and those that it may have (`NotRequired`)."""

    __pydantic_config__ = _EXACT  # type: ignore[misc]

    data: dict[str, Any]
    pairs: _Count
    source: _Words
    target: _Words
    cleaning: dict[Literal["read", "empty", "too_long", "ratio", "duplicate", "kept"], _Count]
    source_files: list[_File]
    target_files: list[_File]
    link_files: NotRequired[list[_File]]
    links: NotRequired[_Count]
    held_out: NotRequired[_HeldOut]
    crc32: NotRequired[dict[str, str]]


@dataclass(frozen=True)
class PreparedData:
    """An open prepared folder."""

    folder: Path
    vocabularies: Vocabularies
    corpus: PackedCorpus
    links: PackedCorpus | None
    """The word alignments, or None: for every pair, the positions of the linked source and target words."""
    info: dict[str, Any]
    """The contents of `prepare.json`: the settings, the counts of cleaning, and the coverage of the vocabularies."""
    source_language: str
    target_language: str

    @property
    def held_out(self) -> int:
        """The number of pairs that are held out for a development set; they are in `development_files`."""
        pairs: int = self.info.get("held_out", {}).get("pairs", 0)
        return pairs

    @property
    def development_files(self) -> tuple[Path, Path]:
        """The files with the source and the target side of the pairs that are held out."""
        return self.folder / HELD_OUT[0], self.folder / HELD_OUT[1]

    def is_of(self, sources: Sequence[Path], targets: Sequence[Path], links: Sequence[Path] = ()) -> bool:
        """Whether this text was prepared from files with the names and sizes of these files."""
        files = self.info["source_files"], self.info["target_files"], self.info.get("link_files", [])
        return files == (describe(sources), describe(targets), describe(links))

    def has_info(self, other: dict[str, Any]) -> bool:
        """Whether `other` is the `prepare.json` of this text. Checksums, which version 0.1 did not write, are optional."""
        if SUMS in other and SUMS in self.info:
            return other == self.info
        return {**other, SUMS: None} == {**self.info, SUMS: None}

    def summary(self) -> list[str]:
        """Return lines for the user: the counts of cleaning, and the share of the running words in each vocabulary."""
        lines = CleaningReport(**self.info["cleaning"]).lines()
        if self.held_out:
            lines.append(f"{self.held_out:>12,} held out, in {self.info['held_out']['lines']:,} lines")
        for side, language in (("source", self.source_language), ("target", self.target_language)):
            words, units = self.info[side], self.info["data"].get(f"{side}_units", "words")
            kind = "shortlist" if units == "words" else "vocabulary"
            known = f"the {kind} of {words['vocabulary']:,} covers {words['coverage_percent']:.2f}%"
            if "pieces" in words:
                known = f"segmented into {words['pieces']:,} subwords, {words['vocabulary']:,} distinct"
            name = side if language == "auto" else f"{side} ({language})"
            lines.append(f"{name}: {words['words']:,} {units}, {words['distinct_words']:,} distinct; {known}")
        if self.links is not None:
            lines.append(f"{self.info.get('links', 0):,} links of words")
        return lines


def open_prepared(folder: Path) -> PreparedData:
    """Open a folder that `prepare` has written. Raises RnnsearchError if any byte of its files has changed since.

    To check this, it reads all files once, at about 2 GB per second if they are in the file system's cache.
    """
    folder = Path(folder)
    info = prepared_info(folder)
    check_regular(folder / CORPUS, folder / LINKS)
    check_regular(*(folder / name for name in (*VOCABULARY_FILES, *HELD_OUT)), most=_MOST_BYTES)
    corpus = PackedCorpus.open(folder / CORPUS)
    links = PackedCorpus.open(folder / LINKS) if (folder / LINKS).exists() else None
    try:
        languages = info["data"]["source_language"], info["data"]["target_language"]
        data = from_dict({"data": info["data"]}).data
    except KeyError:
        raise RnnsearchError(f"{folder / INFO}: damaged; prepare the data again") from None
    stated = info["pairs"], info["source"]["vocabulary"], info["target"]["vocabulary"]
    for name, stated_sum in info.get(SUMS, {}).items():
        if name in (CORPUS, *OPTIONAL) and file_checksum(folder / name) != stated_sum:
            raise RnnsearchError(f"{folder / name}: damaged: its checksum is not that in {INFO}; prepare the data again")
    vocabularies = Vocabularies.load(folder, data)
    actual = (len(corpus), *map(len, vocabularies))
    if stated != actual:
        raise RnnsearchError(
            f"{folder}: pairs and vocabulary sizes are {actual}, but {INFO} says {stated}: "
            "its files do not belong together; prepare the data again"
        )
    if corpus.sizes != actual[1:]:
        raise RnnsearchError(
            f"{folder / CORPUS}: for vocabularies of {corpus.sizes} words, not of {actual[1:]}; prepare the data again"
        )
    if links is not None and len(links) != len(corpus):
        raise RnnsearchError(f"{folder / LINKS}: of {len(links)} pairs, not {len(corpus)}; prepare the data again")
    return PreparedData(folder, vocabularies, corpus, links, info, *languages)


def prepared_info(folder: Path) -> dict[str, Any]:
    """Return the contents of the `prepare.json` of a prepared folder, without reading its other files.

    Raises RnnsearchError if the file is missing or damaged.
    """
    path = Path(folder) / INFO
    if not path.is_file():
        raise RnnsearchError(f"{folder}: no prepared data here ({INFO} is missing); run `rnnsearch prepare`")
    try:
        info: dict[str, Any] = read_json(path)
        TypeAdapter(_Info).validate_python(info)
        from_dict({"data": info["data"]}, str(path))
        return info
    except (OSError, ValueError, RnnsearchError):
        raise RnnsearchError(f"{path}: damaged; prepare the data again") from None


def file_checksum(path: Path) -> str:
    """Return the CRC-32 checksum of a file, or an empty string if it cannot be read."""
    checksum = 0
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                checksum = zlib.crc32(block, checksum)
    except OSError:
        return ""
    return f"{checksum:08x}"


def describe(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the names and sizes of text files, by which `PreparedData.is_of` recognises them."""
    return [{"name": _as_text(path.name), "bytes": path.stat().st_size if path.is_file() else None} for path in files]


def _as_text(name: str) -> str:
    """Return a file name as valid Unicode, with escapes for bytes that are not UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
