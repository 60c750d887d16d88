"""An aligned pair of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .words import Link

_CLOSING = frozenset(".,?!")


@dataclass(frozen=True)
class AlignedPair:
    """An English sentence, its French translation, and the gold alignment of their words.

    Tokens are those of Moses' tokeniser (no escaping, no aggressive splitting of hyphens). Links are pairs
    of positions (source, target) that count from 0; the end of the sentence is not counted. `sure` is a
    subset of `possible`, as the alignment error rate wants it.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: frozenset[Link]
    possible: frozenset[Link]

    @property
    def source_text(self) -> str:
        """The English sentence as it is written."""
        return english_text(self.source)

    @property
    def target_text(self) -> str:
        """The French sentence as it is written."""
        return french_text(self.target)

    @property
    def pharaoh(self) -> str:
        """The links as text: `0-0 1p2` links word 0 to word 0 surely, and 1 to 2 possibly."""
        return " ".join(f"{i}{'-' if (i, j) in self.sure else 'p'}{j}" for i, j in sorted(self.possible))


def english_text(tokens: Sequence[str]) -> str:
    """English tokens as a line of text: marks and clitics lean on the word before them."""
    text = tokens[0]
    for token in tokens[1:]:
        text += token if token in _CLOSING or token[0] == "'" else " " + token
    return text


def french_text(tokens: Sequence[str]) -> str:
    """French tokens as a line of text: elided words lean on the next one; ? and ! keep their space."""
    text = tokens[0]
    for before, token in pairwise(tokens):
        text += token if token in ".," or before[-1] == "'" else " " + token
    return text
