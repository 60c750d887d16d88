"""Pronunciations of running text: its words, each spelt with the letters that a model knows, and their phones.

A model of letters and phones has learned from the entries of a dictionary, which are lower-case words of one alphabet. Text
has capitals, accents, digits and punctuation as well.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from typing import Any

import regex

from rnnsearch.errors import RnnsearchError
from rnnsearch.model_catalog import PRONOUNCER, default_model
from rnnsearch.translation.loading import load
from rnnsearch.translation.translation import Translation
from rnnsearch.translation.translator import Translator

_LETTERS = r"\p{L}\p{M}\p{N}"
_JOINING = "['’]"
"""What stands within a word, as in `don't`, and not around it, where it is a quotation mark."""


class Pronouncer:
    """A model that reads letters, and writes the phones of words of running text.

    pronouncer = rnnsearch.Pronouncer.load()
    pronouncer.pronounce("Hello, world")  # [("Hello", "h ɛ l o ʊ"), ("world", "w ɝ l d")]
    """

    def __init__(self, translator: Translator) -> None:
        """Raises RnnsearchError where the model reads something else than letters."""
        data = translator.system.config.data
        if data.source_units not in ("characters", "codepoints"):
            raise RnnsearchError(
                f"{translator.folder}: a model that reads {data.source_units}, not letters; "
                "`rnnsearch train --preset characters` makes one that pronounces"
            )
        self.translator = translator
        self._known = translator.system.vocabularies.source
        others = "".join(letter for unit in self._known.words[2:] for letter in unit if not letter.isspace())
        run = f"[{_LETTERS}{regex.escape(others, special_only=False)}]+"
        self._word = regex.compile(f"{run}(?:{_JOINING}+{run})*")

    @classmethod
    def load(cls, *models: str | os.PathLike[str]) -> Pronouncer:
        """The pronouncer of a model, or of several as an ensemble, as `rnnsearch.load` takes them; by default the installed
        one of English. Raises RnnsearchError where it reads something else than letters.
        """
        return cls(load(*(models or [default_model(PRONOUNCER)])))

    def pronounce(self, line: str, **settings: Any) -> list[tuple[str, str]]:
        """The words of a line, each with its phones; `settings` are those of `Translator.translate`."""
        words = self.words(line)
        return [(word, n_best[0].text) for word, n_best in zip(words, self.n_best(words, **settings), strict=True)]

    def words(self, line: str) -> list[str]:
        """The words of a line: runs of letters, digits, and whatever else the model has learned to read."""
        words: list[str] = self._word.findall(line)
        return words

    def spelling(self, word: str) -> str:
        """A word in letters that the model knows: those of another case or without their accents, where it knows these.

        The rest is left out.
        """
        return "".join(self._readable(letter) for letter in self.translator.source_words(word))

    def unreadable(self, word: str) -> list[str]:
        """The letters and digits of a word that `spelling` leaves out."""
        letters = self.translator.source_words(word)
        return [letter for letter in letters if not self._readable(letter) and regex.search(r"[\p{L}\p{N}]", letter)]

    def n_best(self, words: Sequence[str], n: int = 1, **settings: Any) -> list[list[Translation]]:
        """The pronunciations of each word, the best first, as `Translator.n_best` finds them.

        A word without a letter that the model knows has one that is empty. Of equal words, one is searched for.
        """
        spelt = [self.spelling(word) for word in words]
        distinct = list(dict.fromkeys(spelt))
        found = dict(zip(distinct, self.translator.n_best(distinct, n, **settings), strict=True))
        return [found[spelling] for spelling in spelt]

    def _readable(self, letter: str) -> str:
        """The letter, or another that the model knows and that is read alike; empty if there is none."""
        for form in (letter, letter.lower(), letter.upper()):
            if form in self._known:
                return form
        bare = unicodedata.normalize("NFKD", letter.casefold())
        return "".join(part for part in bare if part in self._known)
