"""The similarity of the spellings of two words, which makes names, numbers and cognates probable translations."""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_BITS = 256
"""The number of hash values of letter pairs."""
_ALIKE = 0.55
"""Dice coefficients up to this value count as zero."""
_BLOCK = 1 << 18
"""The number of word-type pairs that are compared at a time."""
_ONES = np.unpackbits(np.arange(1 << 16, dtype=np.uint16)[:, None].view(np.uint8), axis=1).sum(1, dtype=np.uint8)
"""The number of bits that are set in two bytes."""


def likeness(
    source: NDArray[np.uint8], target: NDArray[np.uint8], type_source: NDArray[np.int32], type_target: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Return the similarity of each word-type pair: the sixth power of the Dice coefficient of its words' letter pairs.

    `source` and `target` are the results of `letter_pairs` for the words of both sides. Small coefficients become zero.
    """
    signatures = source.view(np.uint16), target.view(np.uint16)
    sizes = [_ONES[bits].sum(1, dtype=np.int32) for bits in signatures]
    similarity = np.zeros(len(type_source), np.float32)
    # Dice = 2 |A ∩ B| / (|A| + |B|), where the sets A and B are bit vectors.
    for start in range(0, len(similarity), _BLOCK):
        block = slice(start, start + _BLOCK)
        e, f = type_source[block], type_target[block]
        common = _ONES[signatures[0][e] & signatures[1][f]].sum(1, dtype=np.int32)
        dice = (2 * common / (sizes[0][e] + sizes[1][f])).astype(np.float32)
        similarity[block] = np.where(dice > _ALIKE, dice**6, 0)
    return similarity


def letter_pairs(words: Sequence[str]) -> NDArray[np.uint8]:
    """Return the set of letter pairs of each word as a bit vector of hash values: words × bytes."""
    return np.array([_letter_pairs(word) for word in words], f"V{_BITS // 8}").view(np.uint8).reshape(len(words), _BITS // 8)


@lru_cache(maxsize=1 << 16)
def _letter_pairs(word: str) -> bytes:
    """Return the bit vector of a word. The blocks of a text have most of their words in common, so results are kept."""
    # The letters without accents, between marks of the beginning and the end of the word.
    letters = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    letters = f"^{letters}$"
    bits = bytearray(_BITS // 8)
    # Each pair sets the bit of its hash value; pairs with the same hash value count as the same.
    for start in range(len(letters) - 1):
        place = zlib.crc32(letters[start : start + 2].encode("utf-8", "surrogatepass")) % _BITS
        bits[place // 8] |= 1 << place % 8
    return bytes(bits)
