"""The division of a text into sentences, which are translated one by one, and the white space between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Protocol

import sentencex

from rnnsearch.text.expressions import Expression
from rnnsearch.text.program_code import is_program_code
from rnnsearch.translation.translation import Translation, joined_line


class Readable(Protocol):
    """A text that is divided into sentences: a passage, or a document with markup."""

    @property
    def sentences(self) -> list[str]:
        """The sentences, without markup."""

    def joined(self, translations: Sequence[Translation]) -> str:
        """Return the text with its sentences replaced by these translations."""


@dataclass(frozen=True)
class Passage:
    """A text that is cut into sentences, each with the white space after it."""

    before: str
    """The white space before the first sentence."""
    sentences: list[str]
    spaces: list[str]

    def uncut(self, spans: Sequence[tuple[int, int]]) -> Passage:
        """Return the passage without cuts inside these spans of its text."""
        sentences, spaces = self.sentences[:1], self.spaces[:1]
        end = len(self.before) + sum(map(len, sentences))
        for sentence, space in zip(self.sentences[1:], self.spaces[1:], strict=True):
            start = end + len(spaces[-1])
            if any(first < start and last > end for first, last in spans):
                sentences[-1] += spaces[-1] + sentence
                spaces[-1] = space
            else:
                sentences.append(sentence)
                spaces.append(space)
            end = start + len(sentence)
        return Passage(self.before, sentences, spaces)

    def joined(self, translations: Sequence[Translation]) -> str:
        """Return the text with its sentences replaced by these translations."""
        pairs = zip(translations, self.spaces, strict=True)
        return self.before + "".join(translation.text + space for translation, space in pairs)

    def n_best(self, n_best_lists: Sequence[Sequence[Translation]]) -> list[Translation]:
        """Return the translations of the text, composed of those of its sentences, the best first; see `ranked`."""
        if len(n_best_lists) == 1 and not (self.before or self.spaces[0]):
            return list(n_best_lists[0])
        return joined_lines(self, n_best_lists)


def joined_lines(text: Readable, n_best_lists: Sequence[Sequence[Translation]]) -> list[Translation]:
    """Return the translations of a text, composed of those of its sentences, the best first; see `ranked`."""
    return [joined_line(text.joined(translations), translations) for translations in ranked(n_best_lists)]


def ranked(n_best_lists: Sequence[Sequence[Translation]], most: int | None = None) -> list[list[Translation]]:
    """Yield the best translations of all sentences, then the second-best ones, and so on, at most `most` times.

    The sentence with the fewest translations limits the number; sentences without letters do not count.
    """
    counts = [len(n_best) for n_best in n_best_lists if not n_best[0].segments[0].copied]
    ranks = range(min(counts, default=1))[:most]
    return [[n_best[min(rank, len(n_best) - 1)] for n_best in n_best_lists] for rank in ranks]


def as_line(line: str, language: str, split: bool = True) -> Passage:
    """Return a line as sentences with `split`, or else as a single one; a blank line is one empty sentence."""
    if split and (passage := as_passage(line, language)).sentences:
        return passage
    sentence = line.strip()
    before, _, space = line.partition(sentence) if sentence else (line, "", "")
    return Passage(before, [sentence], [space])


def as_passage(text: str, language: str, split: bool = True) -> Passage:
    """Cut a text into lines and, with `split`, into sentences; `language` is its code. No character is lost."""
    before = ""
    sentences: list[str] = []
    spaces: list[str] = []
    for line in text.splitlines(keepends=True):
        for part in _sentences(line, language) if split else [line]:
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


def has_words(text: str) -> bool:
    """Return whether a sentence contains anything to translate.

    Numbers, punctuation marks, pictures, list markers, the time codes of subtitles, a single address and a line of a program
    are the same in all languages.
    """
    return any(map(str.isalpha, text)) and not (_WITHOUT_WORDS.fullmatch(text) or is_program_code(text))


# Where sentences end --------------------------------------------------------------------------------------------------

_NEAR = 16
"""The number of characters on either side of a place that decide whether a sentence ends there."""

_TITLES = (
    "M|MM|Mr|Mrs|Ms|Messrs|Mme|Mmes|Mlle|Mlles|Mgr|Dr|Drs|Pr|Prof|St|Ste|Mt|Gen|Col|Lt|Sgt|Capt|Cpl|Maj|Cmdr|Adm|Gov|Sen|"
    "Rev|Hon"
)
_LEADING = r"e\.g|i\.e|ex|cf|viz|vs|c\.-à-d|bd|boul|n\.b|z\. ?B|d\. ?h"
_COUNTING = (
    "p|pp|vols?|figs?|nos?|nr|arts?|chap|ch|sect?|par|éd|approx|ca|env|h|tél|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|"
    "janv|févr|avr|juil|déc"
)
_DAYS = "Mon|Tues?|Wed|Thu|Thurs?|Fri|Sat|Sun|[Ll]un|[Mm]ar|[Mm]er|[Jj]eu|[Vv]en|[Ss]am|[Dd]im"
_LOWER = r"etc|min|h|av|approx|env|jr|sr|inc|corp|ltd|dept|tbsp|tsp|oz|lbs?|ft|c\.\s?à\s(?:s|c|soupe|café)"
_OPENERS = (
    "The|He|She|It|They|We|You|I|This|That|These|Those|There|Then|But|And|My|His|Her|Il|Elle|Ils|Elles|On|Nous|Vous|Je|Tu|"
    "Ce|Cela|Ça|Mais|Et|Puis|Cette|Ces|Mon|Ma|Son|Sa"
)
"""Words that begin sentences and not names."""
_OPENER = rf"(?=(?:{_OPENERS})\b(?!\.)|(?:C|J)['’])"

_NO_END = [
    # pairs of patterns: what precedes and what follows a place where no sentence ends
    (rf"(?<![\p{{L}}\p{{N}}.-])(?:{_TITLES})\.\s*$", r"\S"),
    (rf"(?<![\p{{L}}\p{{N}}.-])(?i:{_LEADING})\.\s*$", r"\S"),
    (rf"(?<![\p{{L}}.-])(?i:{_COUNTING})\.\s*$", r"[\p{N}§]"),
    (r"[ap]\.m\.\s*$", r"(?:[ECMP][SD]T|GMT|UTC|CES?T|BST|JST)\b"),
    (rf"(?<![\p{{L}}.])(?:{_DAYS})\.\s*$", r"\d{1,2}(?:\s?h|:\d|\s?[–-]\s?\d|\s?[ap]\.?m)"),
    (rf"(?<![\p{{L}}.-])(?i:{_LOWER})\.\s*$", r"\p{Ll}"),
    (r"(?<![\p{L}\p{N}])\p{Lu}\.\s*$", rf"(?!{_OPENER})[\p{{Lu}}-]"),
    (r"", r"\s*[.,;:!?…)\]»”]"),
]  # fmt: skip
_AROUND_NO_END = [(Expression(before), Expression(after)) for before, after in _NO_END]
_FEELING = (
    r"[\u2639-\u263b\u270a-\u270d\u2728\U0001f389\U0001f38a\U0001f446-\U0001f450\U0001f4aa\U0001f4af\U0001f525"
    r"\U0001f600-\U0001f64f\U0001f90c-\U0001f91f\U0001f920-\U0001f92f\U0001f970-\U0001f97a\U0001f9d0]"
)
"""Faces, gestures and the like, which people write in place of a full stop."""
_HEART = r"[\u2763\u2764\U0001f48b-\U0001f49f\U0001f5a4\U0001f90d\U0001f90e\U0001f9e1\U0001fa75-\U0001fa77]"
"""Signs of love, which are a verb after a single word, as in `I ❤️ you`."""
_OF_EMOJI = r"[\ufe0f\u200d\U0001f3fb-\U0001f3ff]"
_MISSED = Expression(
    r"(?:…|(?<=[.!?…])[)\]]|\betc\.|(?<=[\p{L}\d-]{2})\.\p{Ll}{2,4}\.)\s+(?=[«“\"(\[]?\s?\p{Lu}(?!['’]m?\b))"
    r"|(?<=[!?]{2})\s+(?=\p{L})|(?=\s)(?<=\w\s{1,3}\p{L}{1,30}[.!?…]?\s{0,3}(?:(?![©®™°№])[\p{So}\p{Sk}\ufe0f]){1,9})\s+(?=\p{Lu}\p{Ll}{0,30}\s\p{Ll})"
    rf"|(?=\s)(?<=(?:\p{{L}}{{2}}[,.!?…]{{0,3}}\s{{0,3}}{_FEELING}|\w\s{{1,3}}\p{{L}}{{1,30}}[,.!?…]{{0,3}}\s{{0,3}}{_HEART})"
    rf"(?:{_FEELING}|{_HEART}|{_OF_EMOJI}){{0,9}})\s+(?=\p{{Ll}})"
    rf"|(?<![\p{{L}}\p{{N}}.])(?:(?:\p{{Lu}}\.)+|J\.-C\.|No\.|[ap]\.m\.)\s+{_OPENER}"
)
"""Further ends, outside quotation marks and brackets."""
_TIGHT = (
    Expression(r"(?<![\p{L}\p{N}.@/:_-])\p{L}\p{Ll}+[.!?…]$"),
    Expression(r"(?!(?i:com|org|net|fr|uk|de|eu|io|js|py|html?)\b)\p{Lu}\p{Ll}*[\s'’,]"),
)
"""The context of a missing space between two sentences."""
_QUOTATION = Expression(r'(?|"([^"]+)"|“([^“”]+)”|«([^«»]+)»)')
_PICTURES = r"(?:(?!\N{REPLACEMENT CHARACTER})[\p{So}\p{Sk}\N{ZERO WIDTH JOINER}\N{VARIATION SELECTOR-16}])++"
_MARK = (
    rf"(?:{_PICTURES}|[-=~*]{{2,}}+|[-*+•◦▪‣·∙→⇒–—]|/{{2,3}}!?|/\*+|\[[ xX]\]|#{{1,6}}|>+|\(?(?:\d{{1,3}}|[a-z])\)"
    r"|(?:\d{1,3}\.)+|[IVX]{2,5}\.|[QAR]\d?[ \u00a0\u202f]?:|P\.S\.:?|PS:)(?=\s)"
    r"|\[(?:\d+:)+\d+(?:[.,]\d+)?\]|\{\d+\}\{\d+\}|\{\\[^{}]*\}"
)
_LEAD = Expression(rf"\s*(?:(?:{_MARK})\s*)++")
"""Text before a sentence that does not belong to it: pictures, markers of lists, headings and quotations, time codes."""
_TIME = r"(?:\d+:)+\d+(?:[.,]\d+)?"
_WITHOUT_WORDS = Expression(
    rf"(?:(?:{_MARK.replace('(?=', '(?=$|')})\s*)++|{_TIME}\s*-->\s*{_TIME}(?:\s.*)?|WEBVTT|(?:```|~~~)\w*"
    r"|(?:https?|ftp)://\S+|www\.\S+\.\S+|[\w.+-]++@[\w-]++(?:\.[\w-]++)+"
)
_NUMBERED_LABEL = Expression(r"\p{Lu}\p{Ll}+[ \u00a0]\d{1,3}[ \u00a0\u202f]?:\s+(?=\p{Lu}\p{Ll}|\p{Lu}['’ ])")
"""A label such as `Step 1:` before a sentence."""
_COMMA = Expression(r"(,\s+)")
_LONG_LIST, _SHORT_ITEM, _ITEMS = 9, 3, 4
"""A list of at least so many items, of at most so many words each, is translated in parts of so many items."""
_ROW = Expression(r"\s*\|.*\|\s*")
_EMPHASIS = Expression(r"\s*([*_~]{1,3})[^*_~\s](?:[^*_~]*[^*_~\s])?\1\s*")
_STEP = Expression(r"(?=\s)(?<=\p{L}{2}[»”\".…]{0,3})(\s+(?:>|[-=]{1,2}>|[→⇒▸►])\s+)(?=[«“\"]?\p{L}{2})")
"""An arrow between the steps of a path, such as `File > Save`."""
_CHOICE = r"(?:À|\p{Lu}[\p{L}'’]*\p{Ll})(?:[ -]\p{L}[\p{L}'’]*){0,2}"
_BETWEEN = r"(?:\s*/\s*|\s+[|·•]\s+)"
_CHOICES = Expression(rf"\s*{_CHOICE}(?:{_BETWEEN}{_CHOICE})+(?:\s?[?!:])?\s*")
"""Labels with slashes or bars between them, such as `Yes/No` and `Home | About us`."""
_SLASH = Expression(rf"({_BETWEEN})")
_BUTTONS = Expression(r"\s*(?:\[[^\[\]]*\p{L}{2}[^\[\]]*\]\s*){2,}")
_BUTTON = Expression(r"(\s*\[|\]\s*\[|\]\s*)")
"""Labels in brackets, such as `[OK] [Cancel]`."""
_TRAIL = Expression(rf"(?<=\s)(?:{_PICTURES}|[-=~*]{{2,}}+)\s*$")
_BRACKETED = Expression(r"(\s*[\[(])(?=[^\[\]()]*\p{L}{2})([^\[\]()]+)([\])]\s*)")
"""A whole line in brackets."""
_OPEN, _CLOSE = "«“([", "»”)]"


def _sentences(line: str, language: str) -> Iterator[str]:
    """Return the sentences of a line, each with the white space after it: those of sentencex, with some corrections.

    Text before or after a sentence that does not belong to it is a separate part, and so are table cells and their borders.
    A line of a program is one part.
    """
    if is_program_code(line):
        yield line
        return
    marks = "|" if "|" in line and _ROW.fullmatch(line) else found[1] if (found := _EMPHASIS.fullmatch(line)) else ""
    if marks:
        for number, part in enumerate(line.split(marks)):
            if number:
                yield marks
            yield from _sentences(part, language)
        return
    if found := _BRACKETED.fullmatch(line):
        before, inside, after = found.groups()
        yield before
        yield from _sentences(inside, language)
        yield after
        return
    steps = (_SLASH if _CHOICES.fullmatch(line) else _BUTTON if _BUTTONS.fullmatch(line) else _STEP).split(line)
    if len(steps) > 1:
        for number, part in enumerate(steps):
            yield from [part] if number % 2 else _sentences(part, language)
        return
    ends = {end for end in _found(line, language) if _ends(line, end)} | {*_missed(line)}
    for start, end in pairwise(sorted({0, *ends, len(line)})):
        if lead := _LEAD.match(line, start, end):
            yield lead[0]
            start = lead.end()
        if trail := _TRAIL.search(line, start, end):
            yield line[start : trail.start()]
            start = trail.start()
        if start < end:
            yield from _chunks(line[start:end])


def _chunks(sentence: str) -> Iterator[str]:
    """Return a sentence, or its parts: a numbered label and the rest, or those of a long list of short items.

    Each part of a list has some items, or the comma after them.
    """
    if label := _NUMBERED_LABEL.match(sentence):
        yield label[0]
        sentence = sentence[label.end() :]
    if sentence.count(",") < _LONG_LIST - 1:
        yield sentence
        return
    parts = _COMMA.split(sentence)  # items and commas by turns
    items = parts[::2]
    if len(items) < _LONG_LIST or any(not 0 < len(item.split()) <= _SHORT_ITEM for item in items):
        yield sentence
        return
    for first in range(0, len(parts), 2 * _ITEMS):
        chunk = parts[first : first + 2 * _ITEMS]
        last = first + 2 * _ITEMS >= len(parts)
        yield "".join(chunk if last else chunk[:-1])
        if not last:
            yield chunk[-1]


def _found(line: str, language: str) -> Iterator[int]:
    """Return the ends of sentences by sentencex, which knows abbreviations, but treats a quotation as one sentence."""
    yield from accumulate(map(len, sentencex.segment(language, line)))
    for quotation in _QUOTATION.finditer(line):
        start, end = quotation.span(1)
        inner = accumulate(map(len, sentencex.segment(language, line[start:end])), initial=start)
        yield from (place for place in inner if start < place < end)


def _ends(line: str, place: int) -> bool:
    """Return whether an end of a sentence by sentencex is right."""
    before, after = line[max(0, place - _NEAR) : place], line[place : place + _NEAR]
    if not before[-1:].isspace() and before[-1:] in ".!?…-":
        left, right = _TIGHT
        return not after or bool(left.search(before) and right.match(after))
    return not any(left.search(before) and right.match(after) for left, right in _AROUND_NO_END)


def _missed(line: str) -> Iterator[int]:
    places = [match.end() for match in _MISSED.finditer(line)]
    if not places:
        return
    depth, quoted, start = 0, False, 0
    for place in places:
        for letter in line[start:place]:
            depth = max(0, depth + (letter in _OPEN) - (letter in _CLOSE))
            quoted ^= letter == '"'
        start = place
        if not depth and not quoted:
            yield place
