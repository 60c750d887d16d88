"""The attributes of an HTML document that are sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rnnsearch.translation.markup.pieces import decoded, escaped, pieces
from rnnsearch.translation.markup.running_text import SPACES, Aligned
from rnnsearch.translation.markup.tokens import attributes
from rnnsearch.translation.sentences import Passage, as_passage

TRANSLATED = frozenset({"alt", "aria-label", "placeholder", "title"})
"""The attributes whose values are shown to people."""


class AttributeValues:
    """The values of these attributes, and the document around them."""

    def __init__(self, document: str, language: str, split: bool) -> None:
        """`language` is the code of its language. With `split`, values are cut into sentences."""
        self._parts: list[str | Passage] = []
        for piece in pieces(document):
            end = 0
            for attribute in attributes(piece.tag) if piece.tag else ():
                value = decoded(attribute.value)
                if attribute.name in TRANSLATED and any(map(str.isalpha, value)):
                    passage = as_passage(value.translate(SPACES), language, split)
                    self._parts += [piece.raw[end : attribute.start], passage]
                    end = attribute.stop
            self._parts.append(piece.raw[end:])

    @property
    def sentences(self) -> list[str]:
        """The sentences of the values."""
        return [sentence for part in self._parts if isinstance(part, Passage) for sentence in part.sentences]

    def joined(self, translations: Sequence[Aligned]) -> str:
        """Return the document with the sentences replaced by these translations."""
        texts = iter([translation.text for translation in translations])
        return "".join(part if isinstance(part, str) else _written(part, texts) for part in self._parts)


def _written(passage: Passage, texts: Iterator[str]) -> str:
    """Return a value in quotation marks."""
    value = passage.before + "".join(next(texts) + space for space in passage.spaces)
    return '"' + escaped(value).replace('"', "&quot;") + '"'
