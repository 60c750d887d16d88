"""Plain text with marks of Markdown or pairs of tags, as people type them: `**bold**`, `_so_`, `[a link](url)`, `<b>x</b>`.

The marks are not shown to the model. Each pair of them is put around the translations of its own words. A line may also be
a message with variants (`variants`).
"""

from __future__ import annotations

from collections.abc import Sequence

from rnnsearch.formats.markdown_inline import coded
from rnnsearch.formats.parts import KEPT, Codes
from rnnsearch.text.expressions import Expression
from rnnsearch.translation.marks import has_marks, has_variants
from rnnsearch.translation.markup.running_text import Aligned
from rnnsearch.translation.markup.tagged import Tagged
from rnnsearch.translation.markup.variants import Variants
from rnnsearch.translation.sentences import Passage, as_passage, joined_lines
from rnnsearch.translation.translation import Translation

_DUNDER = Expression(r"(?<!\w)__\w+__(?!\w)")
"""A name of a program, which Markdown would set in bold."""


class Marked:
    """A line of plain text with marks or tags, and its sentences without them."""

    def __init__(self, line: str, language: str, split: bool = True) -> None:
        """`language` is the code of its language. With `split`, the line is cut into sentences."""
        self._line = line
        self._codes = Codes(line)
        named = _DUNDER.sub(lambda name: self._codes.alone(name[0]), line)
        self._tagged = Tagged(coded(named, self._codes, ()), language, split, xml=False, ignored=[KEPT])

    @property
    def sentences(self) -> list[str]:
        """The sentences, without marks."""
        return self._tagged.sentences

    def joined(self, translations: Sequence[Aligned]) -> str:
        """Return the line with its sentences replaced by these translations."""
        return self._codes.restored(self._tagged.joined(translations)) if self.sentences else self._line


class MarkedText:
    """A text with at least one line with marks or variants; its line ends stay where they are."""

    def __init__(self, text: str, language: str, split: bool = True) -> None:
        """`language` is the code of its language. With `split`, lines are cut into sentences."""
        self._parts: list[str | Marked | Passage | Variants] = []

        def read(line: str) -> Marked | Passage:
            return Marked(line, language, split) if has_marks(line) else as_passage(line, language, split)

        for line in text.splitlines(keepends=True):
            inside = line.strip()
            before, after = line.split(inside, 1) if inside else (line, "")
            self._parts += [before, Variants(inside, read) if has_variants(inside) else read(inside), after]

    @property
    def sentences(self) -> list[str]:
        """The sentences of all lines, without marks."""
        return [sentence for part in self._parts if not isinstance(part, str) for sentence in part.sentences]

    def joined(self, translations: Sequence[Translation]) -> str:
        """Return the text with its sentences replaced by these translations."""
        rest = iter(translations)
        return "".join(
            part if isinstance(part, str) else part.joined([next(rest) for _ in part.sentences]) for part in self._parts
        )

    def n_best(self, n_best_lists: Sequence[Sequence[Translation]]) -> list[Translation]:
        """Return the translations of the text, composed of those of its sentences, the best first; see `ranked`."""
        return joined_lines(self, n_best_lists)


def read_text(text: str, language: str, split: bool = True) -> Passage | MarkedText:
    """Return a plain text as sentences, without its marks if it has any."""
    return MarkedText(text, language, split) if has_marks(text) else as_passage(text, language, split)
