"""The fixed translations of whole sentences and labels, from a list beside the model.

The meaning of a proverb, an idiom or a label on a button does not follow from its words, so that a small model translates
them word by word: *There's no place like home.* A list has the translations of such sentences. If the model writes something
else for a sentence of the list, its translation is replaced by that of the list, and the model tells only which source words
its words belong to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.translation.keyed_lines import KeyedLines
from rnnsearch.translation.translation import Translation
from rnnsearch.untrusted import read_text_list

PHRASES = "phrases.tsv"
"""The list's file, in the model's folder."""
LONGEST = 14
"""The largest number of words in a sentence of a list; longer sentences are not looked up."""
_LINE = re.compile(r"[^\W_]+(?: [^\W_]+)*(?: [?,])?\t\S+(?: \S+)*")
_WORDS = re.compile(r"[^\W_]+")
_OTHERS = re.compile(r"[^\w\s.,;:!?…'’\"“”«»()/-]|_")
"""Signs that are neither in words nor punctuation; a sentence with one is not a sentence of the list."""
_MARKS = ".!?…, "


def key_of(sentence: str) -> str:
    """Return the form in which a sentence is looked up: its words in lower case, and ` ?` or ` ,` if it ends so.

    It is empty for a sentence without words or with signs. Punctuation makes no other difference, nor do apostrophes.
    """
    words = _WORDS.findall(sentence.lower())
    if not words or _OTHERS.search(sentence):
        return ""
    end = " ?" if "?" in sentence else " ," if sentence.rstrip().endswith(",") else ""
    return " ".join(words) + end


def without_marks(translation: str) -> str:
    """Return a translation without the marks at its end, which are those of the source."""
    return translation.rstrip(_MARKS)


class Phrases:
    """The list of a model."""

    def __init__(self, text: str) -> None:
        """`text` has a line for each sentence: its key, a tab, and its translation without final marks."""
        self._lines = KeyedLines(text)

    @classmethod
    def load(cls, folder: Path) -> Phrases | None:
        """Read the list in the folder of a model; None if it has none."""
        path = folder / PHRASES
        text = read_text_list(path, "list of phrases")
        if text is None:
            return None
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
            key, _, _ = line.partition("\t")
            if not _LINE.fullmatch(line) or key != key.lower():
                raise RnnsearchError(
                    f"{path}:{number}: {shown(line)}; give the words of a sentence in lower case, ` ?` after a question, "
                    "` ,` for a final comma, then a tab and its translation"
                )
        return cls(text)

    def get(self, words: Sequence[str]) -> str | None:
        """Return the translation of these words; None if they are not in the list."""
        if len(words) > 2 * LONGEST or not (key := key_of(" ".join(words))):
            return None
        translation = self._lines.get(key)
        if translation is None:
            return None
        if words[0][0].islower() and translation[1:2].islower():  # a sentence or label in lower case
            translation = translation[0].lower() + translation[1:]
        return f"{translation}," if key.endswith(",") else translation


def fixed_first(before: Sequence[Translation], fixed: Sequence[Translation], n: int) -> list[Translation]:
    """Return the fixed translation and, after it, the model's own that differ from it, at most `n`."""
    return [*fixed[:1], *(one for one in before if one.text != fixed[0].text)][:n]
