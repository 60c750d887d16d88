"""The languages that are served: their names, and which of them a text is in."""

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
"""Names of languages; another is called by its code."""
MOST_CHARACTERS = 4000
"""So much of a text is looked at."""
UNSURE = 60.0
"""Of a list, a text whose language has less confidence than this is taken for what the whole list is."""
_MARKUP = re.compile(r"(?is)<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1|\Z)|<[a-z/!?][^>]*(?:>|\Z)|&#?\w+;")


_LOADING = threading.Lock()


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


class Detector:
    """Tells which of some languages a text is in, by the letters in its words. Its methods may be called in any thread."""

    def __init__(self, languages: Sequence[str]) -> None:
        """Languages by their codes, of which the part before a hyphen counts, as in `pt-BR`."""
        self._languages = {re.split("[-_]", language)[0].lower(): language for language in languages}
        self._clear = 1 < len(self._languages) == len(languages)

    @property
    def able(self) -> bool:
        """Whether languages are detected: there are several, and all of them are known. The first time takes a second."""
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
        """All languages, the most probable first, for a text without markup. The text may be long: its beginning counts."""
        assert self._among is not None
        text = text[:MOST_CHARACTERS].lower()
        if not any(map(str.isalpha, text)):
            share = round(100 / len(self._languages), 1)
            return [Detected(language=language, confidence=share) for language in self._languages.values()]
        found = self._among.rank(f" {text} ")
        return [Detected(language=self._languages[label], confidence=round(100 * share, 1)) for label, share in found]

    def ranked_each(self, texts: Sequence[str]) -> list[list[Detected]]:
        """The same for each text of a list; where one alone does not tell, the list as a whole does."""
        found = [self.ranked(text) for text in texts]
        if len(texts) > 1 and any(ranked[0].confidence < UNSURE for ranked in found):
            share = max(100, MOST_CHARACTERS // len(texts))
            whole = self.ranked("\n".join(text[:share] for text in texts))
            found = [whole if ranked[0].confidence < UNSURE else ranked for ranked in found]
        return found


def without_markup(text: str) -> str:
    """The beginning of an HTML text as words, to detect its language."""
    return _MARKUP.sub(" ", text[: 10 * MOST_CHARACTERS])
