"""Translations: text, score, alignment, and the segments that a long line was translated in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from rnnsearch.data.word_alignments import Links, hard_alignment
from rnnsearch.text.vocabulary import END_SYMBOL
from rnnsearch.translation.alignments import (
    Alignment,
    as_arrays,
    as_rows,
    links_above,
    rounded,
    rounded_row,
    weighed_links,
    with_end,
)
from rnnsearch.translation.notebook import as_html

Linker = Callable[[list[str], list[str]], Alignment]
"""The probability that words of a source and of its translation are linked, (tokens, source tokens), without end symbols."""


@dataclass(frozen=True)
class Replacement:
    """One `[UNK]` that was replaced."""

    target: int
    """The position of the `[UNK]` in the translation."""
    source: int
    """The position of the source word that it is linked to."""
    source_word: str
    word: str
    """The word that replaced it."""
    by: Literal["lexicon", "copy"]


@dataclass(frozen=True)
class PlacedTerm:
    """A term of a glossary in a translation: the positions of its words in the line, and of its translation."""

    source_start: int
    source_stop: int
    target_start: int
    target_stop: int


@dataclass(frozen=True)
class Segment:
    """A part of a line that was translated by itself; it is nearly always the whole line."""

    source_start: int
    source_tokens: list[str]
    """The target words, without the end symbol."""
    target_start: int
    tokens: list[str]
    alignment: Alignment | None
    """α, (tokens, source tokens + 1): the last column is the end symbol's."""
    end_alignment: Alignment | None = None
    """α of the step that produced the end symbol, (source tokens + 1); None if there was no such step, or no alignment."""
    copied: bool = False
    """Whether the segment has no letters, and is copied from the line into the translation."""

    def to_plain(self) -> dict[str, Any]:
        """Convert the segment to JSON values, from which `from_plain` restores the same segment, bit for bit."""
        return {**vars(self), "alignment": as_rows(self.alignment), "end_alignment": as_rows(self.end_alignment)}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Segment:
        """See `to_plain`."""
        arrays = as_arrays(plain, len(plain["source_tokens"]) + 1)
        return cls(**{**plain, **arrays})


@dataclass(frozen=True, repr=False)
class Translation:
    """One translation of one line, with its alignment."""

    text: str
    """The translation, detokenised."""
    score: float
    """log p(tokens | source) in nats, the end symbol included."""
    finished: bool
    """False if the translation was cut off at the length limit of the search."""
    segments: Sequence[Segment]
    """There are several segments if the line had several sentences or more than `search.max_segment` words."""
    replacements: Sequence[Replacement] = ()
    """The word that replaced each `[UNK]`, with `search.replace_unk`."""
    terms: Sequence[PlacedTerm] = ()
    """The given terms, in the order of the translation."""
    missing: Sequence[str] = ()
    """The numbers that the translation lacks, as the line has them; empty without `search.keep_numbers`."""
    linker: Linker | None = field(default=None, repr=False, compare=False)
    """The model's alignment layer, if it has one."""

    @property
    def tokens(self) -> list[str]:
        """The target words, without the end symbol."""
        return [token for segment in self.segments for token in segment.tokens]

    @property
    def source_tokens(self) -> list[str]:
        """The source words as they were written, and the end symbol: the columns of `alignment`."""
        return [token for segment in self.segments for token in segment.source_tokens] + [END_SYMBOL]

    @cached_property
    def alignment(self) -> Alignment | None:
        """α as an array, (len(tokens), len(source_tokens)), each row summing to 1; None for RNNencdec.

        For a line in several segments, each word's weights are those within its segment.
        """
        if any(segment.alignment is None for segment in self.segments):
            return None
        last = self.segments[-1]
        rows, columns = last.target_start + len(last.tokens), last.source_start + len(last.source_tokens)
        matrix = np.zeros((rows, columns + 1), np.float32)
        for segment in self.segments:
            assert segment.alignment is not None
            to = slice(segment.target_start, segment.target_start + len(segment.tokens))
            start, stop = segment.source_start, segment.source_start + len(segment.source_tokens)
            matrix[to, start:stop] = segment.alignment[:, :-1]
            matrix[to, -1] = segment.alignment[:, -1]
        return matrix

    @property
    def end_alignment(self) -> Alignment | None:
        """α of the step that produced the end symbol, (len(source_tokens)); None for RNNencdec or an unfinished translation.

        For a line in several segments, it is that of the last one.
        """
        last = self.segments[-1]
        if last.end_alignment is None:
            return None
        row = np.zeros(last.source_start + len(last.source_tokens) + 1, np.float32)
        row[last.source_start :] = last.end_alignment
        return row

    @cached_property
    def link_probabilities(self) -> Alignment | None:
        """The probability that two words are linked, (len(tokens), len(source_tokens) − 1), by the alignment layer.

        It is computed at the first access. None if the model has no such layer.
        """
        if self.linker is None:
            return None
        last = self.segments[-1]
        shape = last.target_start + len(last.tokens), last.source_start + len(last.source_tokens)
        matrix = np.zeros(shape, np.float32)
        for segment in self.segments:
            rows = slice(segment.target_start, segment.target_start + len(segment.tokens))
            columns = slice(segment.source_start, segment.source_start + len(segment.source_tokens))
            if segment.copied:
                matrix[rows, columns] = np.eye(len(segment.tokens))
            else:
                matrix[rows, columns] = self.linker(segment.source_tokens, segment.tokens)
        return matrix

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, with the probabilities of links instead of the model that computes them."""
        probabilities = self.link_probabilities
        return {**vars(self), "linker": None, "link_probabilities": probabilities}

    def to_plain(self) -> dict[str, Any]:
        """Convert the translation to JSON values, from which `from_plain` restores the same one, bit for bit."""
        return {
            "text": self.text,
            "score": self.score,
            "finished": self.finished,
            "segments": [segment.to_plain() for segment in self.segments],
            "replacements": [asdict(replacement) for replacement in self.replacements],
            "terms": [asdict(term) for term in self.terms],
            "missing": list(self.missing),
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any], linker: Linker | None) -> Translation:
        """See `to_plain`; `linker` is the alignment layer of the model that has translated."""
        return cls(
            **{
                **plain,
                "segments": [Segment.from_plain(segment) for segment in plain["segments"]],
                "replacements": [Replacement(**replacement) for replacement in plain["replacements"]],
                "terms": [PlacedTerm(**term) for term in plain["terms"]],
                "linker": linker,
            }
        )

    def with_end(self) -> tuple[list[str], Alignment | None]:
        """Return the target words and the end symbol with their alignment: the rows of the paper's figures.

        The end symbol is omitted if `end_alignment` is None.
        """
        return with_end(self.tokens, self.alignment, self.end_alignment)

    def to_dict(self) -> dict[str, Any]:
        """Return the values that `rnnsearch translate --format json` writes; weights are rounded to four places.

        A line that was translated in several segments has an alignment for each of them: the matrix of the whole line would
        be large, and nearly all zeros.
        """
        values: dict[str, Any] = {
            "text": self.text,
            "tokens": self.tokens,
            "source_tokens": self.source_tokens,
            "score": round(self.score, 6),
            "finished": self.finished,
        }
        if self.replacements:
            values["replacements"] = [asdict(replacement) for replacement in self.replacements]
        if self.terms:
            values["terms"] = [asdict(term) for term in self.terms]
        if self.missing:
            values["missing"] = list(self.missing)
        if self.link_probabilities is not None:
            values["links"] = weighed_links(self.link_probabilities)
        if len(self.segments) == 1:
            return values | {"alignment": rounded(self.alignment), "end_alignment": rounded_row(self.end_alignment)}
        return values | {
            "segments": [
                {
                    "source_start": segment.source_start,
                    "target_start": segment.target_start,
                    "alignment": rounded(segment.alignment),
                    "end_alignment": rounded_row(segment.end_alignment),
                }
                for segment in self.segments
            ]
        }

    def __repr__(self) -> str:
        """Return the text and the score."""
        unfinished = "" if self.finished else ", finished=False"
        return f"Translation({self.text!r}, score={self.score:.4f}{unfinished})"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the translation above its alignment."""
        remark = f"log p = {self.score:.2f}" + ("" if self.finished else ", cut off at the length limit")
        return as_html(self.text, remark, self.source_tokens, *self.with_end())

    @property
    def links(self) -> Links | None:
        """Return the hard alignment: the links of the alignment layer or, without one, those of `hard_alignment`.

        None for RNNencdec.
        """
        if self.link_probabilities is not None:
            return links_above(self.link_probabilities)
        links: set[tuple[int, int]] = set()
        for segment in self.segments:
            if segment.alignment is None:
                return None
            links.update(
                (segment.source_start + source, segment.target_start + target)
                for source, target in hard_alignment(segment.alignment)
            )
        return frozenset(links)


def joined_line(text: str, sentences: Sequence[Translation]) -> Translation:
    """Join the translations of the sentences of a line; `text` includes the white space between them."""
    segments: list[Segment] = []
    replacements: list[Replacement] = []
    terms: list[PlacedTerm] = []
    source = target = 0
    for sentence in sentences:
        segments += [
            replace(one, source_start=one.source_start + source, target_start=one.target_start + target)
            for one in sentence.segments
        ]
        replacements += [
            replace(one, source=one.source + source, target=one.target + target) for one in sentence.replacements
        ]
        terms += [
            PlacedTerm(
                one.source_start + source, one.source_stop + source, one.target_start + target, one.target_stop + target
            )
            for one in sentence.terms
        ]
        last = segments[-1]
        source, target = last.source_start + len(last.source_tokens), last.target_start + len(last.tokens)
    return Translation(
        text=text,
        score=sum((sentence.score for sentence in sentences), 0.0),
        finished=all(sentence.finished for sentence in sentences),
        segments=segments,
        replacements=replacements,
        terms=terms,
        missing=[number for sentence in sentences for number in sentence.missing],
        linker=sentences[0].linker,
    )


class Aligned(Protocol):
    """The common interface of a translation and of a given pair: the words of both sides, a score, and their alignment."""

    @property
    def source_tokens(self) -> list[str]: ...
    @property
    def tokens(self) -> list[str]: ...
    @property
    def score(self) -> float: ...
    @property
    def alignment(self) -> Alignment | None: ...
    @property
    def end_alignment(self) -> Alignment | None: ...
    @property
    def link_probabilities(self) -> Alignment | None: ...
    @property
    def links(self) -> Links | None: ...
    def with_end(self) -> tuple[list[str], Alignment | None]: ...


def rounded_view(pair: Aligned) -> dict[str, Any]:
    """Return words, score, alignment and links as JSON values that are rounded for people."""
    values = {
        "source_tokens": pair.source_tokens,
        "tokens": pair.tokens,
        "score": round(pair.score, 6),
        "alignment": rounded(pair.alignment),
        "end_alignment": rounded_row(pair.end_alignment),
    }
    return values if pair.link_probabilities is None else values | {"links": weighed_links(pair.link_probabilities)}
