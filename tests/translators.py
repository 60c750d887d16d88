"""Translators for tests of documents: the same words again, each read from its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rnnsearch.formats.recognition import document_format_of
from rnnsearch.formats.registry import DOCUMENTS, document_of
from rnnsearch.formats.units import Head
from rnnsearch.translation import Translation
from rnnsearch.translation.documents import Document
from rnnsearch.translation.translation import Segment


def translation(sentence: str, change: Callable[[str], str]) -> Translation:
    """A sentence with its words changed."""
    words = re.findall(r"%?\w+|[^\w\s]", sentence)
    alignment = np.eye(len(words) + 1, dtype=np.float32)[: len(words)]
    return Translation(change(sentence), 0.0, True, [Segment(0, words, 0, [change(word) for word in words], alignment)])


def document(content: bytes, path: Path, again: bool = False, kind: str | None = None) -> Document:
    """A document of the kind that it is recognised as."""
    format_ = DOCUMENTS[kind] if kind else document_format_of(Head(path, content[: 1 << 15]))
    assert format_ is not None
    return Document(document_of(content, format_, path, again), "en")


def same(content: bytes, path: Path, again: bool = False) -> bytes:
    """The document translated into itself."""
    whole = document(content, path, again)
    return whole.joined([translation(sentence, str) for sentence in whole.sentences])


def louder(content: bytes, path: Path, again: bool = False) -> bytes:
    """The document translated into capital letters."""
    whole = document(content, path, again)
    return whole.joined([translation(sentence, str.upper) for sentence in whole.sentences])
