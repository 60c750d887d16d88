"""The corpus as one small file: the columns that `rnnsearch.datasets.builtin` reads.

A column is a stream of numbers. The end of a sentence is a word like any other, of either language, and the two ends of a
pair are linked surely.

==================  ====================================================================================================
`english`           the English words, as numbers of `english_words`
`steps`             for each French word, which of the sets of links it has
`ranks`             for each French word, its place among the translations of its *anchor*, the first English word that it is
                    linked to (surely, if it has a sure link)
`english_words`     the English words, the end of a sentence first, then by frequency: UTF-8, a word a line
`french_words`      the French words, likewise
`translations`      for each English word as an anchor, its translations by frequency, as numbers of `french_words`
`translation_sizes` how many translations each English word has
`link_offsets`      for each set of links, the English words linked to: positions in the whole text, less that of the
                    preceding French word's anchor; the first is the anchor
`link_sure`         whether each of these links is sure
`link_sizes`        how many links each set has
==================  ====================================================================================================
"""

from __future__ import annotations

import io
import lzma
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from .pairs import AlignedPair

END = "\n"

Key = TypeVar("Key", bound=Hashable)
LinkSet = tuple[tuple[int, bool], ...]


def pack(pairs: Iterable[AlignedPair]) -> bytes:
    """The file that holds these pairs. Every French word has to have a link; the same pairs give the same file."""
    english: list[str] = []
    french: list[str] = []
    anchors: list[str] = []
    links: list[LinkSet] = []
    before = -1
    for pair in pairs:
        start = len(english)
        english += [*pair.source, END]
        for word, linked in zip([*pair.target, END], _links_by_target(pair), strict=True):
            french.append(word)
            links.append(tuple((start + source - before, sure) for source, sure in linked))
            before = start + linked[0][0]
            anchors.append(english[before])
    english_words, french_words = _by_frequency(english, first=END), _by_frequency(french, first=END)
    link_sets = _by_frequency(links)
    translations: dict[str, list[str]] = defaultdict(list)
    for anchor, word in zip(anchors, french, strict=True):
        translations[anchor].append(word)
    translated = [_by_frequency(translations[word]) for word in english_words]
    places = {
        (anchor, word): place
        for anchor, words in zip(english_words, translated, strict=True)
        for place, word in enumerate(words)
    }
    columns: dict[str, Any] = {
        "english": np.array(_numbers(english, english_words), "<u2"),
        "steps": np.array(_numbers(links, link_sets), "<u2"),
        "ranks": np.array([places[key] for key in zip(anchors, french, strict=True)], "u1"),
        "english_words": _text(english_words),
        "french_words": _text(french_words),
        "translations": np.array(_numbers([word for words in translated for word in words], french_words), "<u2"),
        "translation_sizes": np.array([len(words) for words in translated], "u1"),
        "link_offsets": np.array([offset for linked in link_sets for offset, _ in linked], "i1"),
        "link_sure": np.array([sure for linked in link_sets for _, sure in linked], "?"),
        "link_sizes": np.array([len(linked) for linked in link_sets], "u1"),
    }
    file = io.BytesIO()
    np.savez(file, **columns)
    return lzma.compress(file.getvalue(), preset=6 | lzma.PRESET_EXTREME)


def _links_by_target(pair: AlignedPair) -> list[list[tuple[int, bool]]]:
    """For each French word, and then for the end, the English words that it is linked to: sure links first."""
    linked: list[list[tuple[int, bool]]] = [[] for _ in pair.target]
    for source, target in pair.possible:
        linked[target].append((source, (source, target) in pair.sure))
    return [*(sorted(links, key=lambda link: (not link[1], link[0])) for links in linked), [(len(pair.source), True)]]


def _by_frequency(keys: Sequence[Key], first: Key | None = None) -> list[Key]:
    """Each key once, `first` in front, then the most frequent; of two that are as frequent, the one that came first."""
    return sorted((key for key, _ in Counter(keys).most_common()), key=lambda key: key != first)


def _numbers(keys: Iterable[Key], every: Sequence[Key]) -> list[int]:
    number = {key: number for number, key in enumerate(every)}
    return [number[key] for key in keys]


def _text(words: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """The words without the end of a sentence, which comes first."""
    return np.frombuffer("\n".join(words[1:]).encode(), np.uint8)
