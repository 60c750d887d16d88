"""The words that a translator knows, in little space.

A word of the source with a capital that is not among them is a name to copy (`rnnsearch.text.names`). A word of a
translation that is not among them, nor in the source, is invented: a model that writes subwords may put together what is no
word.

The words of a language are too many to keep as a list. They are kept as a Bloom filter (Bloom 1970, *Space/Time Trade-offs
in Hash Coding with Allowable Errors*), which knows each of them and takes one in 75 other words for one of them; such a name
is left to the model, and such an invention is not seen. `tools/known_words.py` makes the filters from training text.
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable
from pathlib import Path

from rnnsearch.errors import RnnsearchError
from rnnsearch.untrusted import read_list

_HASHES = 6
BITS_A_WORD = 9
"""With six hashes, a filter of this size takes 1.3% of other words for words that it knows."""
WRITTEN_WORDS = "target.words"
"""The file in a model's folder with the filter of the words that its translations may have."""
_INFLECTIONS = ("", "s", "e", "es")
"""The endings with which a known word is known, too: most forms of a rare word are in no text."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_LIGATURES = str.maketrans({"œ": "oe", "æ": "ae"})


class KnownWords:
    """A set of words that is stored as a Bloom filter; case, accents and ligatures make no difference."""

    def __init__(self, bits: bytes) -> None:
        """`bits` are those of a filter, as `of` makes them."""
        self._bits = bits
        self.knows = functools.lru_cache(maxsize=1 << 16)(self._knows)

    @classmethod
    def of(cls, words: Collection[str]) -> KnownWords:
        """Return the filter of these words."""
        distinct = set(map(folded, words))
        bits = bytearray(-(-BITS_A_WORD * len(distinct) // 8) or 1)
        for word in distinct:
            for place in _places(word, 8 * len(bits)):
                bits[place // 8] |= 1 << place % 8
        return cls(bytes(bits))

    @classmethod
    def load(cls, folder: Path) -> KnownWords | None:
        """Read the filter in the folder of a model; None if it has none."""
        path = folder / WRITTEN_WORDS
        bits = read_list(path, "words of translations")
        if bits == b"":
            raise RnnsearchError(f"{path}: the file is empty; delete it, or make it again")
        return None if bits is None else cls(bits)

    def invented(self, source: Iterable[str], target: Iterable[str]) -> list[str]:
        """Return the words of a translation that are not known and not in the source, in whatever case.

        They are in lower case: one with a capital may be a name. Parts of compounds are words of their own.
        """
        copied = {part.lower() for word in source for part in _WORD.findall(word)}
        return [
            part
            for word in target
            for part in _WORD.findall(word)
            if part.islower() and part not in copied and not self._knows_some_form(part)
        ]

    def _knows_some_form(self, word: str) -> bool:
        return any(self.knows(word.removesuffix(ending)) for ending in _INFLECTIONS)

    def __bytes__(self) -> bytes:
        """Return the bits of the filter, for a file."""
        return self._bits

    def _knows(self, word: str) -> bool:
        return all(self._bits[place // 8] >> place % 8 & 1 for place in _places(folded(word), 8 * len(self._bits)))


@functools.cache
def known_words(source_language: str, target_language: str) -> KnownWords | None:
    """Return the words of a source language that a translator into the target language knows; None for other languages."""
    path = words_file(source_language, target_language)
    return KnownWords(path.read_bytes()) if path.exists() else None


def words_file(source_language: str, target_language: str) -> Path:
    """Return the path of the filter for a pair of languages."""
    return Path(__file__).with_name(f"{source_language}-{target_language}.words")


def folded(word: str) -> str:
    """Return a word in lower case, without accents and ligatures."""
    letters = unicodedata.normalize("NFD", word.casefold().translate(_LIGATURES))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _places(word: str, bits: int) -> list[int]:
    """Return the bits of a word, by double hashing."""
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    first, step = int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little") | 1
    return [(first + number * step) % bits for number in range(_HASHES)]
