"""The translations of words that a model has hardly seen, from a list beside the model.

A model often writes something else for a word that it has read only a few times. A list has the translations of such words,
which an aligner found in the training text. If a translation lacks all of them, the sentence is searched again with the
first one as a term (`rnnsearch.search.terms`). Luong et al. (2015, *Addressing the Rare Word Problem in Neural Machine
Translation*) replace `[UNK]` by means of such a dictionary; here, it corrects what the model writes with subwords.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rnnsearch.errors import RnnsearchError, shown
from rnnsearch.text.determiners import before_word
from rnnsearch.text.known_words import folded
from rnnsearch.translation.glossary import MOST_MATCHES, Agreement, Match
from rnnsearch.translation.keyed_lines import KeyedLines
from rnnsearch.translation.restoring import Written
from rnnsearch.translation.translation import Translation
from rnnsearch.untrusted import read_text_list

RARE_WORDS = "rare-words.tsv"
"""The list's file, in the model's folder."""
_ENDS = frozenset(".!?…")
_PARTICLES = frozenset(["out", "up", "off", "away", "down", "back"])
"""Words after an English verb that make another verb of it."""
_ENDING = 3
"""The number of letters at the end of a word that inflection may change."""
_LABEL = 3
"""The largest number of words of a label, none of which may go."""
_STEM = 4
"""The least number of letters that are compared."""


class RareWord(NamedTuple):
    """A word of the source, and how it is translated."""

    agreement: Agreement
    translations: tuple[str, ...]
    """One or several words each; the first translation is the one to write."""

    def is_in(self, target: Sequence[str]) -> bool:
        """Return whether one of the translations is in these words, in whatever form."""
        words = [folded(part) for word in target for part in word.replace("'", " ").replace("-", " ").split()]
        return any(
            all(any(word.startswith(_stem(part)) for word in words) for part in translation.replace("-", " ").split())
            for translation in self.translations
        )


class RareWords:
    """The list of a model."""

    def __init__(self, text: str) -> None:
        """`text` has a line for each word: the word, its agreement and its translations, with tabs between them."""
        self._lines = KeyedLines(text)

    @classmethod
    def load(cls, folder: Path) -> RareWords | None:
        """Read the list in the folder of a model; None if it has none."""
        path = folder / RARE_WORDS
        text = read_text_list(path, "list of rare words")
        if text is None:
            return None
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
            word, *rest = line.split("\t")
            is_whole = word and len(rest) > 1 and all(one and one == " ".join(one.split()) for one in rest[1:])
            if not (is_whole and rest[0] in ("", "m", "f", "p")):
                raise RnnsearchError(
                    f"{path}:{number}: {shown(line)}; give a word, `m`, `f`, `p` or nothing, and its translations, "
                    "with tabs between them"
                )
        return cls(text)

    def get(self, word: str) -> RareWord | None:
        """Return the entry of a word; None if the list has none."""
        entry = self._lines.get(word)
        if entry is None:
            return None
        agreement, *translations = entry.split("\t")
        return RareWord(agreement, tuple(translations))  # type: ignore[arg-type]  # checked by `load`

    def missing(self, source: Sequence[str], target: Sequence[str], given: Sequence[Match]) -> list[Match]:
        """Return the rare words of a source whose translations a target lacks, beside the terms that are `given`.

        `source` has the words as the model sees them. A word with a capital within the sentence is a name, and one before a
        particle, as in *log out*, has another meaning than alone.
        """
        taken = {place for match in given for place in range(match.start, match.stop)}
        matches = []
        for place, word in enumerate(source):
            if place in taken or not word.isalpha() or not (word.islower() or (place == 0 and word.istitle())):
                continue
            if place + 1 < len(source) and source[place + 1] in _PARTICLES:
                continue
            rare = self.get(word.lower())
            if rare is not None and not rare.is_in(target):
                matches.append(Match(place, place + 1, rare.translations[0].split(" "), rare.agreement))
        return matches[: MOST_MATCHES - len(given)]


def _stem(word: str) -> str:
    """Return the letters of a word that all of its forms have in common, as a rule."""
    letters = folded(word)
    return letters[: max(_STEM, len(letters) - _ENDING)]


def with_rare_words(written: list[Written], rare: Mapping[int, Match], capital: bool, language: str) -> list[Written]:
    """Return a translation in which the words before rare words agree with them.

    `rare` has the rare word whose translation begins in each row. One that begins both sentences gets a `capital` letter.
    """
    result: list[Written] = []
    for one in written:
        match = None if one.row is None else rare.get(one.row)
        if match is not None and match.agreement is not None:
            count, words = before_word([before.word for before in result[-2:]], one.word, match.agreement, language)
            result[len(result) - count :] = _replaced(result[len(result) - count :], words)
            if not result and match.start == 0 and capital:
                one = one._replace(word=one.word[0].upper() + one.word[1:])
        result.append(one)
    return result


def _replaced(written: Sequence[Written], words: Sequence[str]) -> list[Written]:
    """Return these words in place of others; a word without a counterpart is one that was added."""
    last = written[-1] if written else None
    return [
        written[place]._replace(word=word) if place < len(written) else Written(word, None, last.source if last else 0)
        for place, word in enumerate(words)
    ]


def better(before: list[Translation], after: list[Translation]) -> list[Translation]:
    """Return the translations after the search with rare words, if these have found a place in the best one.

    A term that finds none is written after the end of the sentence, or takes the place of other words of a label.
    """
    words = [len(n_best[0].tokens) for n_best in (before, after)]
    if words[1] < words[0] <= _LABEL:
        return before
    ends = [sum(word in _ENDS for word in n_best[0].tokens) for n_best in (before, after)]
    return after if after[0].finished and ends[1] <= ends[0] else before
