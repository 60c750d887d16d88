"""The built-in corpus: English sentences, their French translations, and gold word alignments.

The corpus was generated with a small bilingual grammar, which draws a tree at random and expresses it in both languages. The
languages differ in word order, agreement, elision, negation, clitics and tenses as they do in real text, so a translator has
to learn these; it can, because the French sentence depends only on the English one. Sentences have 3 to 60 words. Word
frequencies follow Zipf's law, and rare names are outside any vocabulary of words. No English sentence occurs twice.

The package contains only the sentences, in `builtin.npz.xz`. The grammar, and a description of the file, are in
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
"""The number of sentence pairs of the whole corpus."""
TRAIN, VALID, TEST = 60_000, 500, 500
"""The default numbers of sentence pairs of the three parts."""

_FILE = Path(__file__).with_name("builtin.npz.xz")
_END = "\n"


class Lines(NamedTuple):
    """The lines of some sentence pairs; line n of each field belongs to pair n."""

    english: list[str]
    french: list[str]
    gold: list[str]
    """The gold links between the Moses tokens of the two lines: `0-0 1p2` has a sure link between words 0 and 0, and a
    possible link between words 1 and 2."""


def write_corpus(folder: str | os.PathLike[str], *, train: int = TRAIN, valid: int = VALID, test: int = TEST) -> None:
    """Write the parts `train`, `valid` and `test` of the corpus into `folder`, each as `.en`, `.fr` and `.gold` (links).

    `train`, `valid` and `test` are the numbers of sentence pairs. The corpus begins with the test set, followed by the
    development set and the training set, so that a larger training set does not change the other two. Raises RnnsearchError
    for more pairs than the corpus has.
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
    """Return the first `pairs` sentence pairs of a packed file. Raises RnnsearchError if the file is missing or damaged."""
    try:
        with np.load(io.BytesIO(lzma.decompress(path.read_bytes()))) as file:
            columns = dict(file)
        return _unpack(columns, pairs)
    except OSError as error:
        raise RnnsearchError(f"{path}: cannot read it: {error.strerror or error}; install rnnsearch again") from None
    except (lzma.LZMAError, zipfile.BadZipFile, ValueError, KeyError, IndexError) as error:
        raise RnnsearchError(f"{path}: damaged ({error}); install rnnsearch again") from None


def _unpack(columns: dict[str, NDArray[Any]], pairs: int) -> Lines:
    """Unpack the columns of the file; the inverse of `pack` in `tools/builtin_corpus/pack.py`, which describes them.

    At first, links are between positions in the whole text, and the ends of the two sentences of a pair are linked too.
    """
    english, steps = columns["english"].astype(np.intp), columns["steps"].astype(np.intp)
    link_starts = _starts(columns["link_sizes"])
    anchors = np.cumsum(columns["link_offsets"][link_starts[steps]], dtype=np.intp) - 1
    french = columns["translations"][_starts(columns["translation_sizes"])[english[anchors]] + columns["ranks"]]
    english_starts, french_starts = (np.append(0, np.flatnonzero(words == 0) + 1) for words in (english, french))
    english, french = english[: english_starts[pairs]], french[: french_starts[pairs]]
    steps, anchors = steps[: len(french)], anchors[: len(french)]

    # The links, sorted by source position, then by target position.
    sizes = columns["link_sizes"][steps].astype(np.intp)
    targets = np.repeat(np.arange(len(french)), sizes)
    links = np.arange(len(targets)) + np.repeat(link_starts[steps] - _starts(sizes), sizes)
    sources = np.append(-1, anchors[:-1])[targets] + columns["link_offsets"][links]
    order = np.lexsort((targets, sources))
    sources, targets, sure = sources[order], targets[order], columns["link_sure"][links][order]
    ends = english[sources] == 0
    # From positions in the whole text to positions in the sentences, and from these to texts such as 0-0 and 1p2.
    sentences = np.searchsorted(english_starts, sources, side="right") - 1
    sources -= english_starts[sentences]
    targets -= french_starts[sentences]
    positions = [range(side.max(initial=0) + 1) for side in (sources, targets)]
    texts = [[[f"{source}{kind}{target}" for kind in "p-"] for target in positions[1]] for source in positions[0]]
    gold = np.array(texts, object)[sources, targets, sure.astype(np.intp)]
    gold[ends] = _END
    return Lines(
        _lines(_words(columns["english_words"])[english], attached_to_previous=".,?!'"),
        _lines(_words(columns["french_words"])[french], attached_to_previous=".,", attached_to_next="'"),
        _lines(gold),
    )


def _starts(sizes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the start of each of several consecutive runs with these sizes."""
    return np.append(0, np.cumsum(sizes, dtype=np.intp)[:-1])


def _words(text: NDArray[np.uint8]) -> NDArray[np.object_]:
    """Return the words of a vocabulary by their ids; id 0 is the end of a sentence."""
    return np.array([_END, *text.tobytes().decode().split("\n")], object)


def _lines(words: NDArray[np.object_], attached_to_previous: str = "", attached_to_next: str = "") -> list[str]:
    """Join words to sentences, without a space before or after words that begin or end with these marks, respectively."""
    text = " ".join([*words, ""]).replace(f" {_END} ", _END)
    for mark in attached_to_previous:
        text = text.replace(f" {mark}", mark)
    for mark in attached_to_next:
        text = text.replace(f"{mark} ", mark)
    return text.split(_END)[:-1]
