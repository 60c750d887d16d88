"""The built-in corpus: English sentences, their French translations, and gold word alignments.

A small bilingual grammar has generated it: one tree is drawn at random and expressed in both languages. Word order,
agreement, elision, negation, clitics and tenses differ between the two as they do in life, so a translator has to learn
them; the French is a function of the English sentence alone, so it can. Sentences run from 3 words to 60; words follow
Zipf's law, and rare names lie beyond any shortlist. No English sentence occurs twice.

The package holds the sentences only, in `builtin.npz.xz`. The grammar, and a description of the file, are in
`tools/builtin_corpus` in the repository.
"""

from __future__ import annotations

import io
import lzma
import os
import zipfile
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.atomic import write_text
from rnnsearch.errors import RnnsearchError

PAIRS = 62_000
"""Sentence pairs in all."""
TRAIN, VALID, TEST = 60_000, 500, 500
"""Sentence pairs of each part, unless other sizes are asked for."""

_FILE = Path(__file__).with_name("builtin.npz.xz")
_END = "\n"


class Lines(NamedTuple):
    """Line n of each belongs to the same pair."""

    english: list[str]
    french: list[str]
    gold: list[str]
    """The word alignment, between the Moses tokens of the two lines: `0-0 1p2` links word 0 to word 0 surely, and word 1 to
    word 2 possibly."""


def write_corpus(folder: str | os.PathLike[str], *, train: int = TRAIN, valid: int = VALID, test: int = TEST) -> None:
    """Write the corpus into `folder`: for each part `part.en` and `part.fr`, and `part.gold` with the word alignments.

    The test set begins the corpus, the development set comes next, then the training set: a larger training set leaves the
    other two as they are. Raises RnnsearchError for more pairs than there are.
    """
    ends = list(accumulate((test, valid, train)))
    if ends[-1] > PAIRS:
        raise RnnsearchError(
            f"the built-in corpus has {PAIRS:,} sentence pairs, and {ends[-1]:,} are asked for: "
            f"{train:,} to train, {valid:,} to develop, {test:,} to test; ask for fewer"
        )
    lines = read_pairs(_FILE, ends[-1])
    for part, start, end in zip(("test", "valid", "train"), [0, *ends], ends, strict=False):
        for ending, column in zip(("en", "fr", "gold"), lines, strict=True):
            write_text(Path(folder) / f"{part}.{ending}", "".join(f"{line}\n" for line in column[start:end]))


def read_pairs(path: Path, pairs: int) -> Lines:
    """The first `pairs` sentence pairs of a packed corpus; RnnsearchError where the file is damaged or missing."""
    try:
        with np.load(io.BytesIO(lzma.decompress(path.read_bytes()))) as file:
            columns = dict(file)
        return _unpack(columns, pairs)
    except OSError as error:
        raise RnnsearchError(f"{path}: cannot read it: {error.strerror or error}; install rnnsearch again") from None
    except (lzma.LZMAError, zipfile.BadZipFile, ValueError, KeyError, IndexError) as error:
        raise RnnsearchError(f"{path}: damaged ({error}); install rnnsearch again") from None


def _unpack(columns: dict[str, NDArray[Any]], pairs: int) -> Lines:
    """The inverse of `pack` in `tools/builtin_corpus/pack.py`, which describes the columns.

    Until they are written, links are positions in the whole text; the ends of two sentences are linked too.
    """
    english, steps = columns["english"].astype(np.intp), columns["steps"].astype(np.intp)
    link_starts = _starts(columns["link_sizes"])
    anchors = np.cumsum(columns["link_offsets"][link_starts[steps]], dtype=np.intp) - 1
    french = columns["translations"][_starts(columns["translation_sizes"])[english[anchors]] + columns["ranks"]]
    english_starts, french_starts = (np.append(0, np.flatnonzero(words == 0) + 1) for words in (english, french))
    english, french = english[: english_starts[pairs]], french[: french_starts[pairs]]
    steps, anchors = steps[: len(french)], anchors[: len(french)]

    sizes = columns["link_sizes"][steps].astype(np.intp)
    targets = np.repeat(np.arange(len(french)), sizes)
    links = np.arange(len(targets)) + np.repeat(link_starts[steps] - _starts(sizes), sizes)
    sources = np.append(-1, anchors[:-1])[targets] + columns["link_offsets"][links]
    order = np.lexsort((targets, sources))
    sources, targets, sure = sources[order], targets[order], columns["link_sure"][links][order]
    ends = english[sources] == 0
    sentences = np.searchsorted(english_starts, sources, side="right") - 1
    sources -= english_starts[sentences]
    targets -= french_starts[sentences]
    positions = [range(one.max(initial=0) + 1) for one in (sources, targets)]
    texts = [[[f"{source}{kind}{target}" for kind in "p-"] for target in positions[1]] for source in positions[0]]
    gold = np.array(texts, object)[sources, targets, sure.astype(np.intp)]
    gold[ends] = _END
    return Lines(
        _lines(_words(columns["english_words"])[english], attached_to_previous=".,?!'"),
        _lines(_words(columns["french_words"])[french], attached_to_previous=".,", attached_to_next="'"),
        _lines(gold),
    )


def _starts(sizes: NDArray[Any]) -> NDArray[np.intp]:
    """The start of each of consecutive runs with these sizes."""
    return np.append(0, np.cumsum(sizes, dtype=np.intp)[:-1])


def _words(text: NDArray[np.uint8]) -> NDArray[np.object_]:
    return np.array([_END, *text.tobytes().decode().split("\n")], object)


def _lines(words: NDArray[np.object_], attached_to_previous: str = "", attached_to_next: str = "") -> list[str]:
    """The sentences as they are written: no space before words that begin, or after words that end, with certain marks."""
    text = " ".join([*words, ""]).replace(f" {_END} ", _END)
    for mark in attached_to_previous:
        text = text.replace(f" {mark}", mark)
    for mark in attached_to_next:
        text = text.replace(f"{mark} ", mark)
    return text.split(_END)[:-1]
