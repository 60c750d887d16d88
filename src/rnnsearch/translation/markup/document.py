"""An HTML document and its sentences."""

from __future__ import annotations

from collections.abc import Sequence

from rnnsearch.translation.markup.attributes import AttributeValues
from rnnsearch.translation.markup.pieces import Piece, pieces, with_seams
from rnnsearch.translation.markup.running_text import Aligned, RunningText


class Markup:
    """An HTML document and its sentences."""

    def __init__(self, document: str, language: str, split: bool = True, attributes: bool = False) -> None:
        """`language` is the code of its language. With `split`, running text is cut into sentences.

        With `attributes`, the values of some attributes are sentences as well, and precede those of the text. Raises
        RnnsearchError for a character reference of thousands of digits.
        """
        self._values = AttributeValues(document, language, split) if attributes else None
        self._parts: list[str | RunningText] = []
        self._arguments = language, split
        running: list[Piece] = []
        for piece in [*with_seams(pieces(document)), Piece("break", "")]:
            if piece.kind == "break":
                if running:
                    self._parts.append(RunningText(running, language, split))
                    running = []
                self._parts.append(piece.raw)
            else:
                running.append(piece)

    @property
    def sentences(self) -> list[str]:
        """The sentences, without markup."""
        of_text = [sentence for part in self._parts if isinstance(part, RunningText) for sentence in part.sentences]
        return [*self._values.sentences, *of_text] if self._values else of_text

    def joined(self, translations: Sequence[Aligned]) -> str:
        """Return the document with its sentences replaced by these translations."""
        if self._values:
            of_values = len(self._values.sentences)
            document = Markup(self._values.joined(translations[:of_values]), *self._arguments)
            return document.joined(translations[of_values:])
        rest = iter(translations)
        return "".join(
            part if isinstance(part, str) else part.joined([next(rest) for _ in part.sentences]) for part in self._parts
        )
