"""The encoding of the words of a corpus as ids, with a vocabulary of whole words (the paper's shortlist) or of subwords."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnnsearch.config import DataConfig
from rnnsearch.data.pack import Ids, PackedCorpus, Positions, Sentences
from rnnsearch.text import UNK, Subwords, Vocabularies, Vocabulary
from rnnsearch.text.normalization import Side, Spelling
from rnnsearch.text.protected import ALL_SYMBOLS
from rnnsearch.text.vocabularies import SIDES, normalizes


@dataclass(frozen=True)
class WordEncoder:
    """Translates the word numbers of one side of a corpus into ids of its vocabulary."""

    vocabulary: Vocabulary
    ids: Ids
    """The ids of word 0, then those of word 1, and so on."""
    starts: Positions
    """The index in `ids` at which the ids of each word start, followed by the length of `ids`."""
    info: dict[str, Any]
    """The entry of `prepare.json` about the words of this side."""

    def encode(self, sentences: Sentences) -> Sentences:
        """Return sentences of ids for sentences of word numbers; a right-to-left vocabulary reverses their words."""
        ends = np.cumsum(sentences.lengths, dtype=np.int64)
        numbers = sentences.ids
        if self.vocabulary.right_to_left:
            # The word at place p of a sentence from `start` to `end` comes from place start + end − 1 − p.
            numbers = numbers[np.repeat(2 * ends - sentences.lengths - 1, sentences.lengths) - np.arange(len(numbers))]
        starts = self.starts[numbers]
        counts = self.starts[numbers + 1] - starts
        # The ids of the running words are gathered in one step: those of word w go to written[w] … written[w + 1].
        written = np.concatenate([[0], np.cumsum(counts)])
        indices = np.repeat(starts - written[:-1], counts) + np.arange(written[-1])
        lengths = written[ends] - written[ends - sentences.lengths]
        return Sentences(self.ids[indices], lengths.astype(np.int32))


def word_encoders(
    corpus: PackedCorpus,
    rows: Positions,
    source_words: Collection[str],
    target_words: Collection[str],
    config: DataConfig,
    vocabularies: Vocabularies | None,
) -> tuple[WordEncoder, WordEncoder]:
    """Return the encoders of both sides of a corpus of word numbers.

    They use `vocabularies` or, if that is None, vocabularies that are learned from the given rows of the corpus, of
    normalised words if the settings say so. `source_words` and `target_words` hold the words in the order of their numbers.
    """
    totals = [np.zeros(len(words), dtype=np.int64) for words in (source_words, target_words)]
    for sides in corpus.in_blocks(rows):
        for total, sentences in zip(totals, sides, strict=True):
            numbers, times = np.unique(sentences.ids, return_counts=True)
            total[numbers] += times
    source, target = (
        Counter(dict(zip(words, total.tolist(), strict=True)))
        for words, total in zip((source_words, target_words), totals, strict=True)
    )
    if vocabularies is not None:
        return _word_encoder(source, vocabularies.source), _word_encoder(target, vocabularies.target)
    reverse, symbols = config.right_to_left, sorted(ALL_SYMBOLS) if config.protects else []
    normalized: list[Side | None] = [side if normalizes(config, side) else None for side in SIDES]
    seen = [_normalized(counts, side) for counts, side in zip((source, target), normalized, strict=True)]
    if config.subwords == "none":
        sizes, least = (config.source_words, config.target_words), config.minimum_count
        return (
            _word_encoder(source, Vocabulary.from_counts(seen[0], sizes[0], least, None, False, normalized[0], symbols)),
            _word_encoder(target, Vocabulary.from_counts(seen[1], sizes[1], least, None, reverse, normalized[1], symbols)),
        )
    texts = [seen[0] + seen[1]] if config.joint_subwords else seen
    subwords = [Subwords.train(text, config.subwords, config.subword_pieces, symbols) for text in texts]
    return (
        _word_encoder(source, _subword_vocabulary(seen[0], subwords[0], False, normalized[0])),
        _word_encoder(target, _subword_vocabulary(seen[1], subwords[-1], reverse, normalized[1])),
    )


def _normalized(counts: Counter[str], side: Side | None) -> Counter[str]:
    """Return the counts of the normalised spellings of these words; without a side, the counts themselves.

    Words of different spelling count as one word if the model sees them in one normalised spelling, which has the marks that
    are most frequent in the text.
    """
    if side is None:
        return counts
    spelling = Spelling(sorted(counts, key=lambda word: (-counts[word], word)), side)
    normalized = Counter[str]()
    for word, count in counts.items():
        normalized[spelling.word(word)] += count
    return normalized


def _subword_vocabulary(counts: Counter[str], subwords: Subwords, right_to_left: bool, side: Side | None) -> Vocabulary:
    """Return the vocabulary of one side that consists of all subwords, because other segmentations can need any of them.

    A word that subwords cannot represent, such as a symbol that sentencepiece reserves, is unknown.
    """
    totals = Counter(dict.fromkeys(subwords.inventory, 0))
    for word, count in counts.items():
        for subword in subwords.segment(word):
            if subword in totals:
                totals[subword] += count
    return Vocabulary.from_counts(totals, len(totals), 0, subwords, right_to_left, side)


def _word_encoder(counts: Counter[str], vocabulary: Vocabulary) -> WordEncoder:
    """Return the encoder for these words; their counts give the coverage of the vocabulary."""
    encoded = [vocabulary.encode([word]) for word in counts]
    lengths = np.array([len(ids) for ids in encoded], dtype=np.int64)
    ids = np.array([i for ids in encoded for i in ids], dtype=np.int32)
    times = np.repeat(np.array(list(counts.values()), dtype=np.int64), lengths)
    running = int(times.sum())
    info = {
        "words": counts.total(),
        "distinct_words": len(counts),
        "vocabulary": len(vocabulary),
        "coverage_percent": round(100 * int(times[ids != UNK].sum()) / running, 3),
        **({"pieces": running} if vocabulary.subwords else {}),
    }
    return WordEncoder(vocabulary, ids, np.concatenate([[0], np.cumsum(lengths)]), info)
