"""Subwords, so that no word is unknown: byte-pair encoding, or a unigram language model (sentencepiece).

Sennrich, Haddow and Birch (2016); Kudo (2018). Words are segmented after tokenisation: `▁` marks the first subword of a
word, and no subword spans two words. Alignments of subwords can therefore be turned into alignments of words.
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
"""The first subword of every word begins with it."""
_MOST_BYTES = 64 * MEGABYTE
LONGEST_WORD = 500
"""A word of more letters is not segmented: it is unknown. Each of its letters might otherwise be a subword to translate."""


class Subwords:
    """A trained subword model: it segments words."""

    def __init__(self, model: bytes, kind: SubwordKind, place: str | os.PathLike[str] = "subwords") -> None:
        """`model` is a sentencepiece model of this kind; `place` is where it came from, for errors."""
        from sentencepiece import SentencePieceProcessor

        self.model = model
        try:
            self._processor: Any = SentencePieceProcessor(model_proto=model)
            if not model or not self._processor.get_piece_size():
                raise RuntimeError
        except RuntimeError:
            raise RnnsearchError(f"{os.fspath(place)}: not a whole sentencepiece model") from None
        self._kind = kind
        self.segment = functools.lru_cache(maxsize=1 << 18)(self._segment)

    @classmethod
    def train(cls, counts: Mapping[str, int], kind: SubwordKind, size: int, symbols: Sequence[str] = ()) -> Subwords:
        """Learn about `size` subwords at most from word counts; every single letter always is one.

        `symbols` are words that are never cut, as further subwords. If there are any, every digit of the others is one, too.
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
                split_by_unicode_script=False,  # else "l'" or "mp3" would never be one subword
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
        """Read a file that `save` wrote."""
        try:
            return cls(read_bytes(Path(path), _MOST_BYTES), kind, path)
        except OSError as error:
            raise RnnsearchError(f"{os.fspath(path)}: cannot read the subwords: {error.strerror}") from None

    def __reduce__(self) -> tuple[type[Subwords], tuple[bytes, SubwordKind]]:
        """A pickle holds the model; what is made of it is made again."""
        return Subwords, (self.model, self._kind)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sentencepiece model, whole or not at all."""
        with atomic_write(Path(path)) as temporary:
            temporary.write_bytes(self.model)

    @property
    def inventory(self) -> list[str]:
        """All subwords that were learned."""
        processor = self._processor
        return [
            processor.id_to_piece(number)
            for number in range(processor.get_piece_size())
            if not (processor.is_unknown(number) or processor.is_unused(number))
        ]

    def sample(self, words: Sequence[str], alpha: float, random: Random) -> list[str]:
        """The subwords of `words`, segmented at random; they depend on nothing but the arguments.

        `alpha` is, for byte-pair encoding, the probability that a merge is left out (BPE-dropout; Provilkov et al. 2020),
        and for a unigram model the power to which the probabilities of segmentations are raised (Kudo 2018).
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
        """Whether this subword was learned."""
        return bool(self._processor.piece_to_id(subword) != self._processor.unk_id())

    def _segment(self, word: str) -> tuple[str, ...]:
        """The subwords of a word; a letter never seen in training, or an endless word, is one that no vocabulary has."""
        if len(word) > LONGEST_WORD:
            return (BEGIN + word,)
        subwords: list[str] = self._processor.encode(_plain(word), out_type=str)
        return tuple(subwords) if subwords else (BEGIN + word,)


def join(subwords: Iterable[str]) -> tuple[list[str], list[int]]:
    """The words that subwords make, and for every subword the position of its word.

    A model may predict `▁` alone and then another first subword: both begin the same word. `▁` alone at the end belongs to
    the last word.
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
    """`word` without the sign that marks beginnings."""
    return word.replace(BEGIN, "_")
