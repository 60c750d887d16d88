"""The languages of the server: their names, and the detection of the language of a text."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Sequence
from copy import copy
from functools import cache, cached_property

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from rnnsearch.serve.protocol import Detected

log = logging.getLogger("rnnsearch.serve")

NAMES = {
    "cs": "Czech", "de": "German", "en": "English", "es": "Spanish", "fi": "Finnish", "fr": "French", "it": "Italian",
    "ja": "Japanese", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sv": "Swedish",
    "tr": "Turkish", "uk": "Ukrainian", "zh": "Chinese",
}  # fmt: skip
"""The names of languages; all other languages are called by their codes."""
MOST_CHARACTERS = 4000
"""The number of characters, at the beginning of a text, from which its language is detected."""
UNSURE = 60.0
"""A text of a list whose language has less confidence than this, in percent, takes the language of the whole list."""
_MARKUP = re.compile(r"(?is)<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1|\Z)|<[a-z/!?][^>]*(?:>|\Z)|&#?\w+;")


_LOADING = threading.Lock()


def served_code(language: str, served: Sequence[str]) -> str:
    """Return the code among the served languages that is meant: `EN`, `en-US` and `en_GB` mean `en` if that alone is served.

    A code that means none of them is returned unchanged.
    """
    if language in served:
        return language
    of_code = {code.casefold(): code for code in served}
    whole = language.casefold().replace("_", "-")
    return of_code.get(whole) or of_code.get(whole.split("-")[0]) or language


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


class Detector:
    """Detects the language of a text, among some languages, from its letters. Its methods may be called in any thread."""

    def __init__(self, languages: Sequence[str]) -> None:
        """Take languages by their codes, of which only the part before a hyphen counts, as in `pt-BR`."""
        self._languages = {re.split("[-_]", language)[0].lower(): language for language in languages}
        self._clear = 1 < len(self._languages) == len(languages)

    @property
    def able(self) -> bool:
        """Whether languages can be detected: there are several, all of them known. The first call takes a second."""
        return self._among is not None

    @cached_property
    def _among(self) -> LanguageIdentifier | None:
        if not self._clear:
            return None
        try:
            with _LOADING:
                among = copy(_identifier())
            among.set_languages(list(self._languages))
            return among
        except ValueError:
            log.warning("%s: not all of these languages can be detected, so none is", ", ".join(self._languages.values()))
        except OSError as error:  # it unpacks its model into the folder for temporary files
            log.warning("languages cannot be detected: %s", error)
        return None

    def ranked(self, text: str) -> list[Detected]:
        """Return all languages, the most probable first, for a text without markup, of which only the beginning counts."""
        assert self._among is not None
        text = text[:MOST_CHARACTERS].lower()
        if not any(map(str.isalpha, text)):
            share = round(100 / len(self._languages), 1)
            return [Detected(language=language, confidence=share) for language in self._languages.values()]
        ranks = self._among.rank(f" {text} ")
        return [Detected(language=self._languages[label], confidence=round(100 * share, 1)) for label, share in ranks]

    def ranked_each(self, texts: Sequence[str]) -> list[list[Detected]]:
        """Return all languages, ranked, for each text of a list; texts of unclear language take the ranking of the list."""
        rankings = [self.ranked(text) for text in texts]
        if len(texts) > 1 and any(ranked[0].confidence < UNSURE for ranked in rankings):
            share = max(100, MOST_CHARACTERS // len(texts))
            whole = self.ranked("\n".join(text[:share] for text in texts))
            rankings = [whole if ranked[0].confidence < UNSURE else ranked for ranked in rankings]
        return rankings


def without_markup(text: str) -> str:
    """Return the beginning of an HTML text without its markup, for the detection of its language."""
    return _MARKUP.sub(" ", text[: 10 * MOST_CHARACTERS])
