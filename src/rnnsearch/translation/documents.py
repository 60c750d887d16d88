"""Documents of all formats, and their sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from rnnsearch.formats.docx import DocxFile
from rnnsearch.formats.parts import KEPT, Codes, DocumentFile, Slot
from rnnsearch.translation.marks import has_variants
from rnnsearch.translation.markup import Markup, Tagged, Variants, has_tags
from rnnsearch.translation.sentences import Passage, as_passage
from rnnsearch.translation.translation import Translation


class Document:
    """A document and its sentences."""

    def __init__(self, file: DocumentFile | DocxFile, language: str, split: bool = True, attributes: bool = False) -> None:
        """`language` is the code of its language. With `split`, texts are cut into sentences.

        With `attributes`, some attributes of HTML are translated as well. Raises RnnsearchError for a character reference of
        thousands of digits.
        """
        self._file = file
        self._texts = [_lines(slot, language, split, attributes) for slot in file.slots]
        self.sentences = [sentence for lines in self._texts for line in lines for sentence in line.sentences]
        """The sentences, without markup."""

    def joined(self, translations: Sequence[Translation]) -> bytes:
        """Return the document with its sentences replaced by these translations.

        Raises RnnsearchError for a translation that the encoding of the document cannot represent.
        """
        rest = iter(translations)
        return self._file.joined(["".join(line.joined(rest) for line in lines) for lines in self._texts])


class _Line:
    """A line of a text. Its white space at both ends is kept; a line without text to translate does not change at all."""

    def __init__(self, line: str, read: Callable[[str], Passage | Tagged | Variants]) -> None:
        self._line = line
        self._before = line[: len(line) - len(line.lstrip())]
        self._text = line.strip()
        self._after = line[len(self._before) + len(self._text) :]
        self._read = read(self._text)
        self.sentences = self._read.sentences

    def joined(self, translations: Iterator[Translation]) -> str:
        own = list(islice(translations, len(self.sentences)))
        if [translation.text for translation in own] == self.sentences:
            return self._line
        text = self._read.joined(own)
        return self._before + text.strip() + self._after


class _Variant:
    """A variant of a message, whose placeholders are kept."""

    def __init__(self, text: str, read: Callable[[str], Passage | Tagged]) -> None:
        self._codes = Codes(text)
        self._read = read(self._codes.placeholders(text))
        self.sentences = self._read.sentences

    def joined(self, translations: Sequence[Translation]) -> str:
        return self._codes.restored(self._read.joined(translations))


class _Html:
    """An HTML document or a block of one; it does not change if it has no text to translate."""

    def __init__(self, text: str, language: str, split: bool, attributes: bool) -> None:
        self._text = text
        self._read = Markup(text, language, split, attributes)
        self.sentences = self._read.sentences

    def joined(self, translations: Iterator[Translation]) -> str:
        own = list(islice(translations, len(self.sentences)))
        if [translation.text for translation in own] == self.sentences:
            return self._text
        return self._read.joined(own)


def _lines(slot: Slot, language: str, split: bool, attributes: bool) -> Sequence[_Line | _Html]:
    """Return the sentences of a text, divided by lines if line ends separate sentences."""
    if slot.markup == "html":
        return [_Html(slot.text, language, split, attributes)]

    def read(line: str) -> Passage | Tagged | Variants:
        return Variants(line, lambda text: _Variant(text, read_text)) if has_variants(line) else read_text(line)

    def read_text(line: str) -> Passage | Tagged:
        if slot.markup == "xml" or has_tags(line):
            return Tagged(line, language, split, xml=slot.markup == "xml", ignored=[KEPT])
        return as_passage(line, language, split)

    return [_Line(line, read) for line in (slot.text.splitlines(keepends=True) if slot.lines else [slot.text])]
