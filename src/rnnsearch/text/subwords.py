"""Subwords, which leave no word unknown: byte-pair encoding, or a unigram language model, with sentencepiece.

The methods are those of Sennrich, Haddow and Birch (2016) and of Kudo (2018). Words are segmented after tokenisation: `▁`
marks the first subword of a word, and no subword spans two words. Alignments of subwords can therefore be converted to
alignments of words.
"""

from __future__ import annotations

import functools
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal

from rnnsearch.atomic import atomic_write
from rnnsearch.errors import RnnsearchError
from rnnsearch.text.protected import ALL_SYMBOLS
from rnnsearch.text.subword_sampling import Sampler, bpe_dropout, unigram_sampling
from rnnsearch.untrusted import MEGABYTE, read_bytes

SubwordKind = Literal["bpe", "unigram"]

BEGIN = "▁"
"""The character with which the first subword of every word begins."""
_MOST_BYTES = 64 * MEGABYTE
LONGEST_WORD = 500
"""The largest number of letters of a word that is segmented. A longer one, which could have as many subwords, is unknown."""


class Subwords:
    """A trained subword model, which segments words."""

    def __init__(self, model: bytes, kind: SubwordKind, place: str | os.PathLike[str] = "subwords") -> None:
        """`model` is a sentencepiece model of this kind; `place` is the origin of the model, for error messages.

        Raises RnnsearchError if `model` is not a complete sentencepiece model.
        """
        self.model = model
        try:
            self._processor = _processor(model)
        except RuntimeError:
            raise RnnsearchError(f"{os.fspath(place)}: not a whole sentencepiece model") from None
        self._kind = kind
        self.segment = functools.lru_cache(maxsize=1 << 18)(self._segment)

    @classmethod
    def train(cls, counts: Mapping[str, int], kind: SubwordKind, size: int, symbols: Sequence[str] = ()) -> Subwords:
        """Learn about `size` subwords from word counts, or fewer; every single letter is a subword.

        `symbols` are words that are never segmented, and are additional subwords. If there are any, numbers are split into
        digits. Raises RnnsearchError if `size` is too small for these words.
        """
        from sentencepiece import SentencePieceTrainer

        model = io.BytesIO()
        known = ((word, count) for word, count in counts.items() if len(word) <= LONGEST_WORD)
        try:
            SentencePieceTrainer.train(
                sentence_iterator=(f"{_plain(word)}\t{count}" for word, count in known),
                input_format="tsv",
                model_writer=model,
                model_type=kind,
                vocab_size=size + len(symbols),
                user_defined_symbols=[BEGIN + symbol for symbol in symbols],
                split_digits=bool(symbols),
                hard_vocab_limit=False,
                character_coverage=1.0,
                normalization_rule_name="identity",
                max_sentence_length=1 << 16,
                bos_id=-1,
                eos_id=-1,
                split_by_unicode_script=False,  # so that "l'" or "mp3" can be one subword
                split_by_number=False,
                minloglevel=2,
            )
        except RuntimeError as error:
            raise RnnsearchError(
                f"data.subword_pieces = {size}: these words cannot be segmented into so few subwords ({error})"
            ) from None
        return cls(model.getvalue(), kind)

    @classmethod
    def load(cls, path: str | os.PathLike[str], kind: SubwordKind) -> Subwords:
        """Read a file that `save` has written. Raises RnnsearchError if it cannot be read or is damaged."""
        try:
            return cls(read_bytes(Path(path), _MOST_BYTES), kind, path)
        except OSError as error:
            raise RnnsearchError(f"{os.fspath(path)}: cannot read the subwords: {error.strerror}") from None

    def __reduce__(self) -> tuple[type[Subwords], tuple[bytes, SubwordKind]]:
        """Return the model for pickling; everything else is created again from it."""
        return Subwords, (self.model, self._kind)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sentencepiece model to a file, atomically."""
        with atomic_write(Path(path)) as temporary:
            temporary.write_bytes(self.model)

    @property
    def inventory(self) -> list[str]:
        """All subwords of the model."""
        processor = self._processor
        return [
            processor.id_to_piece(number)
            for number in range(processor.get_piece_size())
            if not (processor.is_unknown(number) or processor.is_unused(number))
        ]

    def sample(self, words: Sequence[str], alpha: float, random: Random) -> list[str]:
        """Segment `words` at random, and return the subwords, which depend only on the arguments.

        For byte-pair encoding, `alpha` is the probability that a merge is dropped (BPE-dropout; Provilkov et al. 2020); for
        a unigram model, it is the power to which the probabilities of segmentations are raised (Kudo 2018).
        """
        return [subword for word in words for subword in self._sampled(word, alpha, random)]

    def _sampled(self, word: str, alpha: float, random: Random) -> Sequence[str]:
        is_whole = word in ALL_SYMBOLS and BEGIN + word in self
        return (BEGIN + word,) if is_whole else self._sampler(BEGIN + _plain(word), alpha, random)

    @functools.cached_property
    def _sampler(self) -> Sampler:
        processor = self._processor
        scores = {piece: processor.get_score(processor.piece_to_id(piece)) for piece in self.inventory}
        return bpe_dropout(scores) if self._kind == "bpe" else unigram_sampling(scores)

    def __contains__(self, subword: object) -> bool:
        """Whether this is a subword of the model."""
        return bool(self._processor.piece_to_id(subword) != self._processor.unk_id())

    def _segment(self, word: str) -> tuple[str, ...]:
        """Return the subwords of a word; letters not seen in training, and words that are too long, are unknown subwords."""
        if len(word) > LONGEST_WORD:
            return (BEGIN + word,)
        subwords: list[str] = self._processor.encode(_plain(word), out_type=str)
        return tuple(subwords) if subwords else (BEGIN + word,)


@functools.lru_cache(maxsize=8)
def _processor(model: bytes) -> Any:
    """Return the processor of a sentencepiece model, which both sides share if their subwords are the same.

    Raises RuntimeError if it is not a complete model.
    """
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor(model_proto=model)
    if not model or not processor.get_piece_size():
        raise RuntimeError
    return processor


def join(subwords: Iterable[str]) -> tuple[list[str], list[int]]:
    """Join subwords to words, and return the words and, for every subword, the position of its word.

    A model may predict a single `▁` and then another first subword; both then belong to the same word. A single `▁` at the
    end belongs to the last word.
    """
    words: list[str] = []
    word_ids = []
    for subword in subwords:
        if not words or (subword.startswith(BEGIN) and words[-1]):
            words.append("")
        words[-1] += subword.removeprefix(BEGIN)
        word_ids.append(len(words) - 1)
    if len(words) > 1 and not words[-1]:
        words.pop()
        word_ids = [min(word_id, len(words) - 1) for word_id in word_ids]
    return words, word_ids


def _plain(word: str) -> str:
    """Return `word` with underscores in place of `▁`, which marks the beginnings of words."""
    return word.replace(BEGIN, "_")
