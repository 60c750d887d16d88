"""Documents as sentences: what is translated one by one, and the white space that stays between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sentencex

from rnnsearch.translation.translation import Translation


@dataclass(frozen=True)
class Passage:
    """A text as sentences, each with the white space after it."""

    before: str
    """The white space before the first sentence."""
    sentences: list[str]
    spaces: list[str]

    def joined(self, translations: Sequence[Translation]) -> str:
        """The text with these translations instead of its sentences."""
        pairs = zip(translations, self.spaces, strict=True)
        return self.before + "".join(translation.text + space for translation, space in pairs)


def as_passage(text: str, language: str, split: bool = True) -> Passage:
    """Cut a text into lines and, if it is to be `split`, into sentences; `language` is its code. No letter is lost."""
    before = ""
    sentences: list[str] = []
    spaces: list[str] = []
    for line in text.splitlines(keepends=True):
        for part in sentencex.segment(language, line) if split else [line]:
            sentence = part.strip()
            if not sentence:
                if spaces:
                    spaces[-1] += part
                else:
                    before += part
                continue
            start = part.index(sentence)
            if spaces:
                spaces[-1] += part[:start]
            else:
                before += part[:start]
            sentences.append(sentence)
            spaces.append(part[start + len(sentence) :])
    return Passage(before, sentences, spaces)
