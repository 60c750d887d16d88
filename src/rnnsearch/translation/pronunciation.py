"""The pronunciation of running text: its words are spelt with the letters that a model knows, and converted to phones.

A model of letters and phones is trained on the entries of a dictionary, which are lower-case words of one alphabet, whereas
text also contains capitals, accents, digits and punctuation.
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
"""Characters that belong to a word inside it, as in `don't`, and are quotation marks around it."""


class Pronouncer:
    """A model that converts the words of running text to phones.

    pronouncer = rnnsearch.Pronouncer.load()
    pronouncer.pronounce("Hello, world")  # [("Hello", "h ɛ l o ʊ"), ("world", "w ɝ l d")]
    """

    def __init__(self, translator: Translator) -> None:
        """Raises RnnsearchError if the model does not read letters."""
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
        """Load the pronouncer of a model, or of several as an ensemble (see `rnnsearch.load`); the default is the bundled
        one for English. Raises RnnsearchError if the model does not read letters.
        """
        return cls(load(*(models or [default_model(PRONOUNCER)])))

    def pronounce(self, line: str, **settings: Any) -> list[tuple[str, str]]:
        """Return the words of a line, each with its phones; `settings` are those of `Translator.translate`."""
        words = self.words(line)
        return [(word, n_best[0].text) for word, n_best in zip(words, self.n_best(words, **settings), strict=True)]

    def words(self, line: str) -> list[str]:
        """Return the words of a line: sequences of letters, digits, and other characters that the model can read."""
        words: list[str] = self._word.findall(line)
        return words

    def spelling(self, word: str) -> str:
        """Return a word in letters that the model knows; letters can lose their case or their accents for this.

        Other characters are omitted.
        """
        return "".join(self._readable(letter) for letter in self.translator.source_words(word))

    def unreadable(self, word: str) -> list[str]:
        """Return the letters and digits of a word that `spelling` omits."""
        letters = self.translator.source_words(word)
        return [letter for letter in letters if not self._readable(letter) and regex.search(r"[\p{L}\p{N}]", letter)]

    def n_best(self, words: Sequence[str], n: int = 1, **settings: Any) -> list[list[Translation]]:
        """Return the pronunciations of each word, the best first, as `Translator.n_best` does for lines.

        A word without letters that the model knows has one empty pronunciation. Equal words are searched only once.
        """
        spelt = [self.spelling(word) for word in words]
        distinct = list(dict.fromkeys(spelt))
        pronunciations = dict(zip(distinct, self.translator.n_best(distinct, n, **settings), strict=True))
        return [pronunciations[spelling] for spelling in spelt]

    def _readable(self, letter: str) -> str:
        """Return the letter, or an equivalent one that the model knows; an empty string if there is none."""
        for form in (letter, letter.lower(), letter.upper()):
            if form in self._known:
                return form
        bare = unicodedata.normalize("NFKD", letter.casefold())
        return "".join(part for part in bare if part in self._known)
