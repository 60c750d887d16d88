"""Protected spans of a line, which a translation has to keep: addresses, file names, placeholders, codes, emoji, quantities.

A model sees each span as one symbol, and the translation has the span where the model writes the symbol. There are two kinds
of spans with symbols of their own, because sentences are built differently around them: verbatim spans, which do not change,
and quantities, which the target language may write in another way (`rnnsearch.text.quantities`).
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Literal

import regex

from rnnsearch.text import abbreviations
from rnnsearch.text.expressions import Expression
from rnnsearch.text.normalization import plain
from rnnsearch.text.quantities import OWN_NOTATION, Quantity, find_quantities

Kind = Literal["verbatim", "quantity"]

MOST = 12
"""The largest number of spans of one kind in a sentence."""
SYMBOLS: dict[Kind, tuple[str, ...]] = {
    "verbatim": tuple(f"⟦{number}⟧" for number in range(1, MOST + 1)),
    "quantity": tuple(f"⟨{number}⟩" for number in range(1, MOST + 1)),
}
"""The symbols that stand for spans, as words of a vocabulary."""
ALL_SYMBOLS = frozenset(symbol for symbols in SYMBOLS.values() for symbol in symbols)

_EXTENSIONS = (
    r"7z|aac|apk|avi|bak|bat|bib|bin|bmp|bz2|c|cfg|conf|cpp|css|csv|dat|db|deb|dll|dmg|doc|docx|epub|exe|flac|gif|gz|h|"
    r"hpp|htm|html|ico|ini|ipynb|iso|jar|java|jpeg|jpg|js|json|jsx|key|log|lua|m4a|md|mkv|mov|mp3|mp4|mpeg|msi|odp|ods|"
    r"odt|ogg|otf|pdf|php|pl|png|po|ppt|pptx|ps1|psd|py|rar|rb|rpm|rs|rst|rtf|sh|so|sql|srt|svg|tar|tex|tgz|tiff|tmx|"
    r"toml|torrent|ts|tsv|ttf|txt|vtt|wav|webm|webp|wma|wmv|xcf|xhtml|xlf|xliff|xls|xlsx|xml|xz|yaml|yml|zip"
)
_DOMAINS = (
    r"com|org|net|edu|gov|mil|int|info|biz|io|ai|dev|app|eu|fr|be|ch|ca|uk|de|es|it|nl|pt|at|ie|us|au|nz|ru|jp|cn|in|br|"
    r"mx|se|no|dk|fi|pl|cz|gr|tr|example|test|localhost|invalid"
)
_FIRMS = "Inc|Corp|Corporation|Ltd|LLC|LLP|PLC|GmbH|AG|SARL|SAS|SA|NV|BV|SpA"
_FRENCH_STREETS = (
    r"(?:rue|avenue|boulevard|place|quai|allée|chemin|impasse|route|cours|square|passage)"
    r"(?: (?:de|du|des|la|le|les|et|sur)(?= )| d['’](?=\p{Lu})| (?:de )?l['’](?=\p{Lu})|(?:[ -]|(?<=['’]))\p{Lu}\p{L}*)+"
)
_ENGLISH_STREETS = r"(?:\p{Lu}\p{L}+ ){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Drive|Boulevard|Court|Way)"
_END_OF_ADDRESS = r"(?<![.,;:!?…'’\"”»])"
_PATTERNS = (
    r"(?<!\w)(?:``[^`\n]+``|`[^`\n]+`)(?!\w)",  # code; within a word, the mark is an apostrophe
    r"</?[A-Za-z][\w:.-]*(?:\s[^<>\n]*)?/?>",  # tags
    r"\{\s*\w+\s*,\s*(?:plural|select|selectordinal)\b[^{}\n]*+"  # messages of ICU
    r"(?:\{[^{}\n]*+(?:\{[^{}\n]*+\}[^{}\n]*+)*+\}[^{}\n]*+)++\}",
    r"(?<!\w)\w*[©®™](?!\w)",
    r"(?<![\w*])\p{L}+\*{2,}\p{L}*(?!\w)",  # words with stars in place of letters
    r"(?<![\w'’.,])[A-Za-z][₀-₉²³]?[ \u00a0]?(?:[<>=!]=?|[≤≥≠≈→⇒]|[-=]>)[ \u00a0]?-?"
    r"(?:\p{N}[\p{N}.,]*(?<=\p{N})|\p{L}{1,3}[²³]?)(?!\w)",
    r"(?<![\w'’.,])[A-Za-z][²³₀-₉]?(?: ?[+×÷*=^] ?(?:\d*[A-Za-z][²³₀-₉]?|\d+))+(?![\w%])",
    r"(?<!\S)(?:[=≠≈≤≥±×÷<>→←↔⇒]|[<>=!]=|[-=]>|<-)(?!\S)",  # formulas, and their signs
    rf"(?<!\w)(?!The\b|An?\b|L[ea]s?\b)(?:\p{{Lu}}[\w&-]{{0,30}} ){{1,3}}(?:{_FIRMS})(?!\w)",
    r"(?:(?<!\w)(?:Flat|Apt\.?|Unit|Suite) \d+[A-Z]?, )?"  # addresses of houses
    rf"(?<![\w.,])\d+[A-Z]?(?: (?:bis|ter))?,? (?:{_FRENCH_STREETS}|{_ENGLISH_STREETS})(?!\w)",
    r"(?<!\w)(?!(?:Ma?c|D[eu]|L[ae]|V[ao]n|Fitz)\p{Lu})\p{Lu}\p{Ll}+(?:\p{Lu}\p{Ll}+)+(?!\w)",  # YouTube
    r"(?<![^\s(\[\"'«“])\.(?:env|git\w*|bash\w*|zsh\w*|ssh|docker\w*|npm\w*|htaccess)(?:\.\w+)*(?!\w)",
    r"&(?:[A-Za-z][A-Za-z\d]{1,30}|#\d{1,7}|#x[\dA-Fa-f]{1,6});",  # entities of HTML
    r"<%[^<>\n]*%>",  # templates
    r"\{\{[^{}\n]*\}\}|[$%@]\{[^{}\n]*\}|#?\{[^{}\s]*\}",  # placeholders
    r"%\([^()\s]*\)[-#+ 0]*\d*(?:\.\d+)?[a-zA-Z]|%\d+(?:\$[a-zA-Z@])?",
    r"(?<![\w%])%[-#+0]*\d*(?:\.\d+)?l{0,2}[sdifuxXeEgGcrp@](?!\w)",
    r"(?:https?|ftps?|file|ssh|git|s3|wss?)://[^\s<>\"«»“”]+" + _END_OF_ADDRESS,  # addresses
    r"(?:mailto:|tel:)\S+" + _END_OF_ADDRESS,
    r"(?<![\w.+-])[\w.+-]*\w@\w[\w-]*(?:\.\w[\w-]*)+",
    rf"(?<![\w@.])(?:www\.[\w-]+(?:\.[\w-]+)+|(?:[\w-]+\.)+(?:{_DOMAINS}))(?::\d+)?(?:/[^\s<>\"«»“”]*)?(?![\w@])"
    + _END_OF_ADDRESS,
    r"(?<![^\s(\[\"'«“:])(?!\d+[%!?]|[A-Z]{1,3}\$\d|[A-Za-z]+[!?]\d{1,2}(?!\w))"  # passwords
    r"(?=[A-Za-z\d!#$%&*?^@]*[A-Za-z])(?=[A-Za-z\d!#$%&*?^@]*\d)[A-Za-z\d]+(?:[!#$%&*?^@]+[A-Za-z\d]+)+(?!\w)",
    r"(?<![\w/])(?:[A-Za-z]:\\|\\\\)[^\s<>:\"|?*]+" + _END_OF_ADDRESS,  # paths and names of files
    r"(?<![\w/])(?:~|\.{1,2})/(?:[\w.@%+-]+/)*(?:[\w.@%+-]*\w/?)?|(?<![^\s(\[\"'«“])/[a-z][\w.@%+-]*(?:/[\w.@%+-]*\w)*/?"
    + _END_OF_ADDRESS,
    rf"(?<![\w/.])(?:[\w-]+/)*[\w-]+(?:\.[\w-]+)*\.(?:{_EXTENSIONS})\b",
    r"(?<![\w-])(?:\p{Lu}\p{L}+-)+(?:d[eu]|des|en|l[ae]s?|lès|sous|sur|aux|upon)-(?!Sud|Nord)\p{Lu}\p{L}+(?![\w-])",  # towns
    r"(?<![\w-])(?:Notre-Dame(?: de Paris)?|(?:Anne|Jean|Marie)-\p{Lu}\p{Ll}+)(?![\w-])",
    r"(?<!\w)[#@]\w+(?:[-.]\w+)*",  # hashtags, handles, numbers of orders
    r"(?<!\w)\+\d[\d \u00a0().-]{5,}\d(?!\w)|(?<![\w.])0\d(?:[ .\u00a0-]\d{2}){4}(?!\w)",  # telephone numbers
    r"(?<![\w.])0\d{2,4}(?:[ \u00a0-]\d{3,6}){1,2}(?!\w)",
    r"(?<!\w)(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?!\w)|(?<![\w-])\d{3}-\d{4}(?![\w-])",
    r"(?<![\w.,])v?\d+(?:\.\d+){2,}(?:[-+][\w.]+)?(?!\w)|(?<!\w)v\d+(?:\.\d+)*(?!\w)",  # versions
    r"(?<!\w)[\da-fA-F]{2}(?:[:-][\da-fA-F]{2}){5}(?!\w)",  # addresses of network cards
    r"(?<!\w)[A-Z]{2}\d{2}(?: \d{4}){2,}(?: \d{1,4})?(?!\w)",  # numbers of bank accounts
    r"(?<![\w.,])\d+['’′]\d{1,2}(?:[\"”″]|'')?(?!\w)|(?<![\w/])\p{L}/\p{L}(?![\w/])",  # feet and inches, c/o
    r"(?<![\w.,])(?:\+\d+(?:[.,]\d+)?|\d+(?:[.,]\d+)?[-–]\d+(?:[.,]\d+)?)[ \u00a0]?°[CF]?(?!\w)",  # temperatures
    r"(?<![\w.,])\d+[ \u00a0]?h[ \u00a0]?\d{1,2}[ \u00a0]?min(?!\w)",  # 3 h 25 min
    r"(?<=(?<!\w)(?i:in|of|since|until|from|to|before|after|by|summer|winter|en|de|depuis|avant|été|hiver) )['’]\d\d"
    r"(?![\w'’])",  # in '92
    r"(?<![\w.,])\d+(?:[-–/:]\d+)+(?:[ \u00a0]?%)?(?!\w)",  # dates, ranges, fractions, results
    r"(?<!\w)\w*\p{L}\w*(?:[&=^][\p{L}\p{N}²³]+)+(?!\w)|(?<!\w)[A-Z]\w*(?:\+\w+)+(?!\w)",  # R&D, E=mc², Ctrl+C
    r"[$€£]\d[\d.,]*[kK](?!\w)|(?<![\w.,])\d+\+(?!\w)|(?<![\w)])[~≈±]\d+(?:[.,]\d+)?(?!\w)",  # $50k, 90+, ±5
    r"(?<=(?i:version|release|python|java|usb|bluetooth|android|windows|ios|html|web)[ \u00a0])\d+\.\d+(?!\w)",
    r"(?<![\w.,])\d+(?:[.,]\d+)?[\"”″](?: ?[x×] ?\d+(?:[.,]\d+)?[\"”″])+",  # 10" x 12"
    r"(?<=\d ?(?:[ap]\.?m\.?)? )(?:[ECMP][SD]T|GMT|UTC|CES?T|BST|JST)(?!\w)",  # time zones
    r"(?<=(?<!\w)(?i:an?|grade|got|une?|note) )[A-F][+−-](?!\w)",  # an A+
    r"(?<=(?<!\w)(?i:art|chapter|ex|exerci[cs]e|fig|figure|no|p|page|pp|q|question|section|table|n°)\.? ?)\d+[a-z](?!\w)",
    r"[¼½¾⅓⅔₀-₉]+",
    r"(?<!\w)[A-Z](?:\+\+|#)(?!\w)|(?<!\w)[A-Za-z_]\w*\(\)|(?<!\w)\w*[A-Za-z0-9]_\w+",  # names in programs
    r"(?<!\w)(?:[a-z][A-Z]\w*|[a-z]+(?:[A-Z][a-z\d]+){2,})(?!\w)|(?<![^\s(\[\"'«“])(?:--[a-z][\w-]*(?:=\S+)?|-[a-zA-Z])(?!\w)",
    r"(?:\p{RI}{2}|[0-9#*]\ufe0f?\u20e3|\p{Emoji}(?<![\d#*©®™])\p{M}*[\U0001f3fb-\U0001f3ff]?(?:\u200d\p{Emoji}\p{M}*)*)+",
    r"(?<![^\s(\[\"'«“])(?:[:;=][-']?[)(DPp/\\|*]|<3|\^\^)(?!\w)",
)
_PATTERN = Expression("|".join(_PATTERNS))
_TRIGGER = Expression(
    rf"(?<!\w)(?:{_FIRMS})(?!\w)|\p{{Ll}}\p{{Lu}}|\*\*|(?<!\w)\.\p{{L}}|"
    r"[\d@#{}<>=≠≈≤≥±×÷←↔→⇒`%~\\/_^$€£¥¼½¾⅓⅔₀-₉]|\w[&=+]\w|&[#\w]|\w[.]\w|(?<!\w)[a-z]+[A-Z]|(?<!\S)-|--|-(?:d[eu]|des|en|l[ae]s?|lès|sous|sur|aux|upon)-\p{Lu}|(?:Notre|Anne|Jean|Marie)-\p{Lu}|(?<!\w)[A-F][+−-](?!\w)|[:;=][-')(DPp|*]|\(\)|\+\+|\p{RI}|\p{Emoji}"
)
"""A line without a match of this contains no span."""
_CODE = Expression(r"(?<![\w/.])[A-Za-z0-9]+(?:[-_./][A-Za-z0-9]+)*(?![\w/])")
_ORDINAL = Expression(r"\d+(?:(?i:st|nd|rd|th|er|re|ère|ème)|e|s|è|h|am|pm|px|x|k|m|min|sec|ms)?|\d+h\d*")


@dataclass(frozen=True)
class Protected:
    """A protected span of a line."""

    start: int
    stop: int
    text: str
    """The text of the span in the line."""
    quantity: Quantity | None = None
    is_abbreviation: bool = False
    """Whether it is an abbreviation in capitals, which may have another form in another language."""

    @property
    def kind(self) -> Kind:
        """The kind of the symbols that represent it."""
        return "verbatim" if self.quantity is None else "quantity"

    @property
    def value(self) -> object:
        """A value that is equal for spans of both languages if they mean the same."""
        if self.quantity is None:
            return plain(self.text)
        return self.quantity.number, self.quantity.currency, self.quantity.unit

    def written(self, language: str) -> str:
        """Return the span as a text of this language writes it."""
        if self.quantity is not None:
            return self.quantity.written(language)
        return abbreviations.translated(self.text, language) if self.is_abbreviation else self.text


def find_protected(line: str, language: str, also: Sequence[tuple[int, int]] = ()) -> list[Protected]:
    """Return the protected spans of a line of this language, in order and without overlaps; `also` holds further spans.

    Adjacent spans are merged, and a verbatim span includes the letters and digits that touch it.
    """
    if not (also or _TRIGGER.search(line)):
        return []
    verbatim = [_unbracketed(line, *match.span()) for match in _PATTERN.finditer(line)]
    verbatim += also
    verbatim += [match.span() for match in _CODE.finditer(line) if _is_code(match[0])]
    spans = _merged(line, sorted(verbatim))
    protected = [Protected(start, stop, line[start:stop]) for start, stop in spans]
    for start, stop, quantity in find_quantities(line, language):
        overlapping = [one for one in protected if one.start < stop and start < one.stop]
        within = all(start <= one.start and one.stop <= stop for one in overlapping)
        if within and (quantity.unit in OWN_NOTATION or not any(any(map(str.isalnum, one.text)) for one in overlapping)):
            protected = [one for one in protected if one not in overlapping]
        elif overlapping:
            continue
        protected.append(Protected(start, stop, line[start:stop], quantity))
    return sorted(protected, key=lambda one: one.start)


def _is_code(text: str) -> bool:
    """Return whether this is a code such as `AX-204`: letters and digits, but no ordinal, amount, or decade."""
    if not (any(map(str.isdigit, text)) and any(map(str.isalpha, text))):
        return False
    if regex.fullmatch(r"\d+\.\d+(?:[kcm]?[gml]|lbs?|oz|ft|km/h|[kMG]?Hz|[kMGT]B|k?Wh?)", text):
        return False
    parts = regex.split(r"[-_./]", text)
    if all((part.isalpha() and not part.isupper()) or _ORDINAL.fullmatch(part) for part in parts):
        return False
    return any(regex.search(r"[A-Za-z]\d|\d[A-Z]", part) or part.isupper() or part.isdigit() for part in parts)


def _unbracketed(line: str, start: int, stop: int) -> tuple[int, int]:
    """Return the span of an address without final closing brackets that have no opening bracket in it."""
    while (
        line[stop - 1] in ")]"
        and line[start] not in ":;="
        and line.count(line[stop - 1], start, stop) > line.count("(["[")]".index(line[stop - 1])], start, stop)
    ):
        stop -= 1
    return start, stop


def _merged(line: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge spans that overlap or touch, and extend each one to the ends of its words."""
    merged: list[tuple[int, int]] = []
    for start, stop in spans:
        while start > 0 and _of_word(line[start - 1]) and (_of_word(line[start]) or line[start] in "{$"):
            start -= 1
        while stop < len(line) and _of_word(line[stop]) and (_of_word(line[stop - 1]) or line[stop - 1] == "}"):
            stop += 1
        if merged and start <= merged[-1][1]:
            start, stop = merged[-1][0], max(stop, merged[-1][1])
            merged.pop()
        merged.append((start, stop))
    return merged


def _of_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


_MARKERS = "ꝏᚠꙮঅ"
"""Rare letters: the tokeniser sees each span as a word that consists of one of them."""
_SPACES = Expression(r"\s")


def cut_around(line: str, spans: Sequence[Protected], tokenize: Callable[[str], list[str]]) -> list[str]:
    """Return the words of a line, in which each span is one word; its white space becomes no-break spaces."""
    if not spans:
        return tokenize(line)
    marker = next((letter for letter in _MARKERS if letter not in line), " ")
    parts, end = [], 0
    for span in spans:
        parts += [line[end : span.start], marker]
        end = span.stop
    left = iter(spans)
    words = []
    for word in tokenize("".join([*parts, line[end:]])):
        for part in regex.split(f"({marker})", word):
            if part:
                words.append(_SPACES.sub("\N{NO-BREAK SPACE}", next(left).text) if part == marker else part)
    return words


def join_around(
    words: Sequence[str], language: str, detokenize: Callable[[Sequence[str]], str], kept: Collection[str] = ()
) -> str:
    """Detokenise these words to a line without changing anything within spans.

    The words `kept` are spans as well.
    """
    is_span = [word in kept or protected_word(word, language) is not None for word in words]
    if not any(is_span):
        return detokenize(words)
    marker = next((letter for letter in _MARKERS if not any(letter in word for word in words)), " ")
    line = detokenize([marker if span else word for word, span in zip(words, is_span, strict=True)])
    left = iter([word for word, span in zip(words, is_span, strict=True) if span])
    return "".join(_as_written(next(left), kept) if letter == marker else letter for letter in line)


def _as_written(word: str, kept: Collection[str]) -> str:
    return word if word in kept else word.replace("\N{NO-BREAK SPACE}", " ")


@functools.lru_cache(maxsize=1 << 16)
def protected_word(word: str, language: str) -> Protected | None:
    """Return a word of a sentence in this language as a span; None if it is an ordinary word."""
    text = word.replace("\N{NO-BREAK SPACE}", " ")
    spans = find_protected(text, language)
    return spans[0] if len(spans) == 1 and spans[0].text == text else None


def further_words(spans: Sequence[Protected], language: str) -> dict[str, Protected]:
    """Return those words of `cut_around` that only these spans reveal to be spans, with the span of each.

    Such spans are protected by the user, contain what the model does not know or white space other than spaces, or are a
    quantity only after the words before it, such as « à 9h ».
    """
    words = {_SPACES.sub("\N{NO-BREAK SPACE}", span.text): span for span in spans}
    known = {word: protected_word(word, language) for word in words}
    return {
        word: span
        for word, span in words.items()
        if (one := known[word]) is None or one.quantity != span.quantity or (one.text != span.text and span.quantity is None)
    }


def span_of(word: str, language: str, further: Mapping[str, Protected]) -> Protected | None:
    """Return a word of a sentence as a span, if it is one or among the `further` words; None for an ordinary word."""
    return further.get(word) or protected_word(word, language)


def unknown_spans(line: str, knows: Callable[[str], bool]) -> list[tuple[int, int]]:
    """Return the spans of a line whose characters a vocabulary lacks: symbols, and letters with their marks."""
    spans: list[tuple[int, int]] = []
    for place, letter in enumerate(line):
        kind = unicodedata.category(letter)[0]
        if kind in "CZ":
            continue
        touches = bool(spans) and spans[-1][1] == place
        if (kind == "M" and touches) or (kind != "M" and not knows(letter)):
            if touches:
                spans[-1] = spans[-1][0], place + 1
            else:
                spans.append((place, place + 1))
    return spans


_ABBREVIATION = Expression(
    r"(?<![\w.&/-])(?<!(?<!(?<![\p{L}'’])(?i:[ldjnsmtc]|qu))['’])\p{Lu}{2,6}(?:[-/]\p{Lu}{1,6})*(?![\w&/-]|['’](?!s\b)|\.\w)"
)


_VOWEL = Expression(r"[AEIOUYÀÂÉÈÊËÎÏÔÛÙŒ]")


def unknown_abbreviations(
    line: str, is_word: Callable[[str], bool], is_known: Callable[[str], bool] | None = None
) -> list[tuple[int, int]]:
    """Return the spans of abbreviations such as `IBAN` that a vocabulary lacks in every spelling.

    Several abbreviations with hyphens or slashes, such as `TCP/IP`, are one. In a line of other words, two words in capitals
    side by side are emphasised and not abbreviated. In a line that is all in capitals, such as `YOUR IBAN`, an abbreviation
    has no vowel or is no known word, by `is_known`; without that, the line is read only if it is itself an abbreviation that
    is known.
    """
    matches = list(_ABBREVIATION.finditer(line))
    beside: set[tuple[int, int]] = set()
    if any(map(str.islower, line)):
        pairs = [pair for pair in pairwise(matches) if line[pair[0].end() : pair[1].start()].isspace()]
        beside = {match.span() for pair in pairs for match in pair}
    elif not abbreviations.is_known(line.strip(" .!?")):
        if is_known is None:
            return []
        matches = [match for match in matches if not (_VOWEL.search(match[0]) and is_known(match[0]))]
    return [
        match.span()
        for match in matches
        if match.span() not in beside and not any(map(is_word, (match[0], match[0].lower(), match[0].capitalize())))
    ]


def with_enough_symbols(words: list[str], language: str, further: Mapping[str, Protected]) -> Iterator[list[str]]:
    """Split the words into parts with at most `MOST` spans of a kind each; there is nearly always only one part."""
    first, counts = 0, dict.fromkeys(SYMBOLS, 0)
    for place, word in enumerate(words):
        span = span_of(word, language, further)
        if span is not None:
            if counts[span.kind] == MOST:
                yield words[first:place]
                first, counts = place, dict.fromkeys(SYMBOLS, 0)
            counts[span.kind] += 1
    yield words[first:]


def as_symbols(
    words: Sequence[str], language: str, further: Mapping[str, Protected] = MappingProxyType({})
) -> tuple[list[str], dict[str, int]]:
    """Return the words of a source with spans replaced by symbols, and for each symbol the number of its word.

    Symbols are numbered in the order of the words. Spans beyond `MOST` of a kind are left as they are. `further` is as for
    `span_of`.
    """
    seen, places = list(words), {}
    left = {kind: iter(symbols) for kind, symbols in SYMBOLS.items()}
    for place, word in enumerate(words):
        span = span_of(word, language, further)
        symbol = span and next(left[span.kind], None)
        if symbol:
            seen[place], places[symbol] = symbol, place
    return seen, places


def pair_as_symbols(source: Sequence[str], target: Sequence[str], languages: tuple[str, str]) -> tuple[list[str], list[str]]:
    """Return the words of a given pair with symbols for spans that both sides have in common (`Protected.value`).

    A span of only one side is left unchanged.
    """
    seen = list(source), list(target)
    at: dict[tuple[Kind, object], list[int]] = {}
    for place, word in enumerate(target):
        span = protected_word(word, languages[1])
        if span:
            at.setdefault((span.kind, span.value), []).append(place)
    left = {kind: iter(symbols) for kind, symbols in SYMBOLS.items()}
    for place, word in enumerate(source):
        span = protected_word(word, languages[0]) if at else None
        if span and at.get((span.kind, span.value)):
            symbol = next(left[span.kind], None)
            if symbol:
                seen[0][place] = seen[1][at[span.kind, span.value].pop(0)] = symbol
    return seen
