"""Vocabularies: the paper's shortlist of the K most frequent words (section 4.1; all others are `[UNK]`), or subwords."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TypeVar

from rnnsearch.atomic import write_text
from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.text.normalization import Side, Spelling
from rnnsearch.text.subwords import BEGIN, Subwords, join
from rnnsearch.untrusted import MEGABYTE, read_bytes

T = TypeVar("T")

END, UNK = 0, 1
END_SYMBOL, UNK_SYMBOL = "</s>", "[UNK]"
_MOST_BYTES = 256 * MEGABYTE


class Vocabulary:
    """A mapping between words and ids: `</s>` is 0, `[UNK]` is 1, and the other words follow by descending frequency.

    Both symbols belong to the model. If one of them occurs literally in a text, it is an unknown word.
    """

    words: list[str]
    """All words by their ids, including the two symbols."""

    subwords: Subwords | None
    """The model that segments words into subwords, which are then the entries of the vocabulary; None for whole words."""

    right_to_left: bool
    """Whether the ids of a sentence begin with its last word. The subwords of a word keep their order."""

    spelling: Spelling | None
    """The normalisation of words before they are encoded; None if they are not normalised."""

    def __init__(
        self,
        words: Sequence[str],
        subwords: Subwords | None = None,
        right_to_left: bool = False,
        normalized: Side | None = None,
    ) -> None:
        """`words` are the words without the two symbols; they must be distinct and contain no line feed (else ValueError).

        With `normalized`, words are normalised like those of this side.
        """
        self.subwords = subwords
        self.right_to_left = right_to_left
        self.words = [END_SYMBOL, UNK_SYMBOL, *words]
        self._ids = {word: number for number, word in enumerate(self.words)}
        if len(self._ids) != len(self.words) or any("\n" in word for word in words):
            raise ValueError("a vocabulary's words are distinct, and hold no line feed")
        del self._ids[END_SYMBOL], self._ids[UNK_SYMBOL]
        self.spelling = Spelling(words, normalized, BEGIN if subwords else "") if normalized else None

    @classmethod
    def from_counts(
        cls,
        counts: Mapping[str, int],
        size: int,
        minimum_count: int = 1,
        subwords: Subwords | None = None,
        right_to_left: bool = False,
        normalized: Side | None = None,
        symbols: Sequence[str] = (),
    ) -> Vocabulary:
        """Return a vocabulary of the `size` most frequent words with at least `minimum_count` occurrences, and of `symbols`.

        Words of equal frequency are sorted alphabetically.
        """
        frequent = [
            word for word, count in counts.items() if count >= minimum_count and word not in (END_SYMBOL, UNK_SYMBOL)
        ]
        frequent.sort(key=lambda word: (-counts[word], word))
        kept = dict.fromkeys([*frequent[:size], *symbols])
        return cls([*kept], subwords, right_to_left, normalized)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        subwords: Subwords | None = None,
        right_to_left: bool = False,
        normalized: Side | None = None,
    ) -> Vocabulary:
        """Read a file that `save` has written. Raises RnnsearchError, with file and line, if it is missing or damaged."""
        path = Path(path)
        try:
            text = read_bytes(path, _MOST_BYTES).decode("utf-8")
        except FileNotFoundError:
            raise RnnsearchError(f"{path}: no such vocabulary file") from None
        except OSError as error:
            raise RnnsearchError(f"{path}: cannot read the vocabulary: {error.strerror}") from None
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise RnnsearchError(f"{path}:{line}: not valid UTF-8; a vocabulary file is UTF-8") from None
        # Only a line feed ends a word. str.splitlines would also split words at U+0085 or U+2028.
        words = text.removesuffix("\n").split("\n")
        for line, symbol in enumerate((END_SYMBOL, UNK_SYMBOL), 1):
            word = words[line - 1] if line <= len(words) else ""
            if word != symbol:
                raise RnnsearchError(
                    f"{path}:{line}: {shown(word)} where {symbol!r} must stand; is this a vocabulary that "
                    "`rnnsearch prepare` wrote?"
                )
        first_line: dict[str, int] = {}
        for line, word in enumerate(words, 1):
            if not word:
                raise RnnsearchError(f"{path}:{line}: an empty line in a vocabulary; one word a line")
            if word in first_line:
                raise RnnsearchError(f"{path}:{line}: {shown(word)} stands on line {first_line[word]} already")
            if subwords and line > 2 and word not in subwords:
                raise RnnsearchError(
                    f"{path}:{line}: the subword model has no {shown(word)}; it belongs to another vocabulary"
                )
            first_line[word] = line
        return cls(words[2:], subwords, right_to_left, normalized)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one word per line, in the order of the ids, as UTF-8, atomically."""
        write_text(path, "".join(f"{word}\n" for word in self.words))

    def __len__(self) -> int:
        """Return the number of ids, including those of the two symbols."""
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        """Whether the vocabulary can encode a word of running text without `[UNK]`."""
        return isinstance(word, str) and UNK not in self.encode([word])

    def encode(self, words: Sequence[str]) -> list[int]:
        """Return the ids of `words` or of their subwords, without an end symbol; the id of unknown ones is 1."""
        return [self.id(token) for token in self.segment(words)]

    def seen(self, words: Sequence[str]) -> Sequence[str]:
        """Return the words of a sentence as the model sees them, one for each: normalised if `spelling` is set."""
        return self.spelling(words) if self.spelling else words

    def segment(self, words: Sequence[str]) -> Sequence[str]:
        """Segment `words` into entries of the vocabulary (words or subwords), and return them in the order of the ids."""
        words = self._reordered(self.seen(words))
        return [subword for word in words for subword in self.subwords.segment(word)] if self.subwords else words

    def word_ids(self, words: Sequence[str]) -> list[int]:
        """Return for every id of `words` the position of its word."""
        positions = self._reordered(range(len(words)))
        if self.subwords is None:
            return list(positions)
        words = self.seen(words)
        return [position for position in positions for _ in self.subwords.segment(words[position])]

    def resample(self, ids: Sequence[int], alpha: float, random: Random) -> list[int]:
        """Return ids of the same words, segmented at random (`Subwords.sample`), or `ids` itself if a word is unknown."""
        if self.subwords is None or UNK in ids:
            return list(ids)
        words = self._reordered(self.join(ids)[0])
        return [self.id(subword) for subword in self.subwords.sample(words, alpha, random)]

    def id(self, word: str) -> int:
        """Return the id of a word or a subword, or 1 if it is unknown; `’` matches `'`."""
        # Text from word processors has ’ where training text often has '.
        return self._ids.get(word) or (self._ids.get(word.replace("’", "'"), UNK) if "’" in word else UNK)

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the words or subwords of `ids`, including the two symbols."""
        return [self.words[number] for number in ids]

    def join(self, ids: Iterable[int]) -> tuple[list[str], list[int]]:
        """Join `ids` to words, and return the words and, for every id, the position of its word."""
        words = self.decode(ids)
        words, word_ids = join(words) if self.subwords else (words, list(range(len(words))))
        if self.right_to_left:
            return words[::-1], [len(words) - 1 - word_id for word_id in word_ids]
        return words, word_ids

    def continues(self, number: int) -> bool:
        """Whether this id is that of a subword that continues a word."""
        return self.subwords is not None and number not in (END, UNK) and not self.words[number].startswith(BEGIN)

    def _reordered(self, words: Sequence[T]) -> Sequence[T]:
        """Convert words from reading order to the order of the ids, or back."""
        return words[::-1] if self.right_to_left else words
