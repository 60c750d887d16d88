"""Words cut into pieces, so that none is unknown: byte-pair encoding, or a unigram model (sentencepiece).

Sennrich, Haddow and Birch (2016); Kudo (2018). Pieces are of words, after tokenisation: `▁` marks where a word begins, and
no piece reaches from one word into the next. So alignments can go back to words.
"""

from __future__ import annotations

import functools
import io
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from rnnsearch.atomic import atomic_write
from rnnsearch.errors import RnnsearchError

SubwordKind = Literal["bpe", "unigram"]

BEGIN = "▁"
"""Begins the first piece of every word."""


class Subwords:
    """A trained cutter of words."""

    def __init__(self, model: bytes, place: str | os.PathLike[str] = "subwords") -> None:
        """`model` is a sentencepiece model; `place` is where it came from, for errors."""
        from sentencepiece import SentencePieceProcessor

        self.model = model
        try:
            self._processor: Any = SentencePieceProcessor(model_proto=model)
            if not model or not self._processor.get_piece_size():
                raise RuntimeError
        except RuntimeError:
            raise RnnsearchError(f"{os.fspath(place)}: not a whole sentencepiece model") from None
        self.split = functools.lru_cache(maxsize=1 << 18)(self._split)

    @classmethod
    def train(cls, counts: Mapping[str, int], kind: SubwordKind, pieces: int) -> Subwords:
        """Learn at most about `pieces` pieces from words and how often each was seen; single letters always are pieces."""
        from sentencepiece import SentencePieceTrainer

        model = io.BytesIO()
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "words.tsv"
            with table.open("w", encoding="utf-8") as file:
                file.writelines(f"{_plain(word)}\t{count}\n" for word, count in counts.items())
            try:
                SentencePieceTrainer.train(
                    input=str(table),
                    input_format="tsv",
                    model_writer=model,
                    model_type=kind,
                    vocab_size=pieces,
                    hard_vocab_limit=False,
                    character_coverage=1.0,
                    normalization_rule_name="identity",
                    max_sentence_length=1 << 16,
                    bos_id=-1,
                    eos_id=-1,
                    split_by_unicode_script=False,  # else "l'" or "mp3" would never be one piece
                    split_by_number=False,
                    minloglevel=2,
                )
            except RuntimeError as error:
                raise RnnsearchError(
                    f"data.subword_pieces = {pieces}: these words cannot be cut into so few pieces ({error})"
                ) from None
        return cls(model.getvalue())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Subwords:
        """Read a file that `save` wrote."""
        try:
            return cls(Path(path).read_bytes(), path)
        except OSError as error:
            raise RnnsearchError(f"{os.fspath(path)}: cannot read the subwords: {error.strerror}") from None

    def __reduce__(self) -> tuple[type[Subwords], tuple[bytes]]:
        """A pickle holds the model; what is made of it is made again."""
        return Subwords, (self.model,)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sentencepiece model, whole or not at all."""
        with atomic_write(Path(path)) as temporary:
            temporary.write_bytes(self.model)

    @property
    def pieces(self) -> list[str]:
        """All pieces that were learned."""
        numbers = range(self._processor.get_piece_size())
        return [self._processor.id_to_piece(number) for number in numbers if not self._processor.is_unknown(number)]

    def sample(self, words: Sequence[str], variety: float) -> list[str]:
        """The pieces of `words`, cut at random: other calls cut them otherwise, until `seed_sampling` is called again.

        `variety` is, for byte-pair encoding, the probability that a merge is left out (BPE-dropout; Provilkov et al. 2020),
        and for a unigram model the power to which the probabilities of cuts are raised (Kudo 2018).
        """
        sentence = " ".join(map(_plain, words))
        pieces: list[str] = self._processor.encode(
            sentence, out_type=str, enable_sampling=True, alpha=variety, nbest_size=-1
        )
        return pieces

    def __contains__(self, piece: object) -> bool:
        """Whether a piece is one of those that were learned."""
        return bool(self._processor.piece_to_id(piece) != self._processor.unk_id())

    def _split(self, word: str) -> tuple[str, ...]:
        """The pieces of a word; a letter never seen in training is a piece that no vocabulary has."""
        pieces: list[str] = self._processor.encode(_plain(word), out_type=str)
        return tuple(pieces) if pieces else (BEGIN + word,)


def seed_sampling(seed: int) -> None:
    """Make what `Subwords.sample` draws next, in this thread, depend on nothing but `seed`."""
    from sentencepiece import set_random_generator_seed

    set_random_generator_seed(seed)


def join(pieces: Iterable[str]) -> tuple[list[str], list[int]]:
    """The words that pieces make, and for every piece the place of its word.

    A model may write the beginning of a word and then begin another: that is one beginning, of the word that comes, or,
    where none comes, the end of the word before.
    """
    words: list[str] = []
    owners = []
    for piece in pieces:
        if not words or (piece.startswith(BEGIN) and words[-1]):
            words.append("")
        words[-1] += piece.removeprefix(BEGIN)
        owners.append(len(words) - 1)
    if len(words) > 1 and not words[-1]:
        words.pop()
        owners = [min(owner, len(words) - 1) for owner in owners]
    return words, owners


def _plain(word: str) -> str:
    """`word` without the sign that marks beginnings."""
    return word.replace(BEGIN, "_")
