"""Names in running text that a model has hardly seen: they are copied, because the model would misspell them.

A name is a word with a capital within a sentence that is not known (`rnnsearch.text.known_words`). The first word of a
sentence has a capital whatever it is, and so have the words of a headline; their capitals show nothing. After a title or a
common first name, as in *Dr. Brown* and *Tim Cook*, a word with a capital is a name even if it is an ordinary word as well.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import regex

from rnnsearch.text.expressions import Expression
from rnnsearch.text.spans import Span

Test = Callable[[str], bool]

MOST_NAMES = 8
"""The largest number of names that are copied in a line; further ones are left to the model."""
_PARTICLES = frozenset(["van", "von", "der", "den", "ter", "da", "di", "del", "della", "bin", "ibn"])
"""Words in lower case within names."""
_INITIAL = r"(?<![\p{L}\p{N}.])(?!M\. \p{Lu}\p{Ll})(?:\p{Lu}\.){1,3}(?= \p{Lu})"
"""An initial; « M. » before a name is a title in French."""
_WORD = r"(?:O['’](?=\p{Lu}))?\p{L}[\p{L}\p{M}]*(?:-\p{L}[\p{L}\p{M}]*)*"
_TOKEN = Expression(
    rf"{_INITIAL}|(?<![\p{{L}}\p{{M}}\p{{N}}_@#&/\\.-]){_WORD}"
    r"(?![\p{L}\p{M}\p{N}_@/\\&-]|['’](?!(?:s|d|ll|re|ve)\b)\p{L}|\.\p{L})"
)
_WITHIN_SENTENCE = Expression(
    r"(?:[\p{L}\p{M}\p{N},]|\p{L}['’]|(?<![\p{L}\p{N}])(?:\p{Lu}|Mr|Mrs|Ms|Dr|Prof|St|Mt|Gen|Sen|Rev|Capt|Col|Lt)\.)\s*$"
)
"""The end of the text before a word that begins neither a sentence nor a quotation nor what follows a colon or a dash."""
_IRISH = ("O'", "O’")
"""The beginning of names such as *O'Connor*, which are names wherever they are in a sentence."""
_POSSESSIVE = Expression(r"['’]s\b")
_TITLED = Expression(
    r"(?<![\p{L}\p{N}])(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?|Miss|M\.|Mme|Mlle|Pr)[ \u00a0]"
    r"(?<name>(?:O['’])?\p{Lu}\p{Ll}+(?: (?:O['’])?\p{Lu}\p{Ll}+)?)(?![\p{L}\p{N}-]|['’](?!s\b)\p{L})"
)
_RELATIVES = (
    "cat|dog|horse|rabbit|hamster|parrot|son|daughter|wife|husband|friend|brother|sister|neighbour|neighbor|colleague|boss|uncle|aunt"
    "|cousin|nephew|niece|teacher|chat|chatte|chien|chienne|cheval|lapin|fils|fille|femme|mari|amie?|frère|sœur|voisine?|collègue"
    "|patron|oncle|tante|cousine|neveu|nièce|professeure?"
)
_INTRODUCED = Expression(
    rf"(?<!\w)(?:(?i:my|your|his|her|our|their|mon|ma|ton|ta|son|sa|notre|votre|leur) (?:\p{{Ll}}+ )?(?:{_RELATIVES})"
    r"|(?i:(?:am|is|are|was|were) called|name is|named|[mts]['’]appel(?:les?|lent|ait)|nommée?|appelée?|prénommée?)) "
    r"(?P<name>\p{Lu}\p{Ll}+)(?![\p{L}\p{N}_@&-]|['’](?!s\b)\p{L}|\.\p{L})"
)
"""Words after which a word with a capital is a name, as in *my cat Whiskers*."""
_CAPITALIZED = r"(?:O['’]|D['’])?\p{Lu}\p{L}*\p{Ll}(?:-\p{Lu}\p{Ll}+)*"
_FIRST = Expression(rf"(?<![\p{{L}}\p{{M}}\p{{N}}_@#&/\\.-]){_CAPITALIZED}")
_AFTER_FIRST = Expression(
    rf"(?: \p{{Lu}}\.){{0,2}}(?: (?:{'|'.join(sorted(_PARTICLES))}|Al|De|Di|El|La|Le|Van|Von)){{0,2}} "
    rf"(?P<last>{_CAPITALIZED})(?![\p{{L}}\p{{N}}_@&-]|['’](?!s\b)\p{{L}}|\.\p{{L}})"
)
_NO_SURNAMES = frozenset(
    [
        *("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "January", "February", "March"),
        *("April", "May", "June", "July", "August", "September", "October", "November", "December", "Christmas", "Easter"),
        *("Airport", "Avenue", "Award", "Bay", "Bridge", "Building", "Church", "College", "Columbus", "Court", "Cup", "Day"),
        *("Foundation", "Hall", "Hospital", "Hotel", "House", "Institute", "Island", "Islands", "Lake", "Library", "Museum"),
        *("Park", "Place", "Prize", "River", "Road", "School", "Square", "Station", "Street", "Theatre", "University"),
    ]
)
"""Words with a capital that come after a first name and are no surnames."""
_SOVEREIGNS = Expression(r"(?<!\w)(?i:king|queen|pope|saint|st\.?|prince|princess|emperor|empress|roi|reine|pape|sainte) $")
"""What precedes names that each language has in its own form."""
_UNPRONOUNCEABLE = Expression(r"(?i)(?<![\w@#&/\\.'’-])\p{L}*[bcdfghjklmnpqrstvwxz]{5}\p{L}*(?![\w@/\\&'’-])")
_OFFICES = frozenset(
    ["President", "Speaker", "Chair", "Chairman", "Commissioner", "Minister", "Prime", "Vice", "Mayor", "Secretary", "World"]
)
"""Words after a title that are no names."""
_NEAR = 12
"""The number of characters before a word that show whether it is within a sentence."""


def find_names(line: str, is_known: Test, is_rare: Test) -> list[Span]:
    """Return the spans of the names of a line, in order; a first name and a surname are one span.

    `is_known` tells whether the model knows a word, and `is_rare` whether a model is likely to misspell it.
    """
    names: list[Span] = []
    for run in _runs(line, is_known):
        shows = _POSSESSIVE.match(line, run[-1].end()) or any(
            word[0].startswith(_IRISH) or _is_within_sentence(word) for word in run
        )
        if shows and any(is_rare(word[0]) for word in run):
            names.append((run[0].start(), run[-1].end()))
    return [] if names and _is_headline(line, is_known) else names[:MOST_NAMES]


def find_titled_names(line: str) -> list[Span]:
    """Return the spans of names that a model may know as words: *Brown* in *Dr. Brown*, *Whiskers* in *my cat Whiskers*.

    A model knows common first names.
    """
    titled = [title.span("name") for title in _TITLED.finditer(line)]
    names = [(start, stop) for start, stop in titled if line[start:stop].split(" ")[0] not in _OFFICES]
    further = [name.span("name") for name in _INTRODUCED.finditer(line) if name["name"] not in _first_names() | _NO_SURNAMES]
    return sorted({*names, *further})


def find_full_names(line: str, is_known: Test) -> list[Span]:
    """Return the spans of common first names with a surname, such as *Tim Cook*; `is_known` is that of `find_names`."""
    names: list[Span] = []
    for first in _FIRST.finditer(line):
        start, stop = first.span()
        follows_another = bool(names) and start < names[-1][1]
        if follows_another or _SOVEREIGNS.search(line, max(0, start - _NEAR), start):
            continue
        word = first[0]
        while word.split("-")[0] in _first_names():
            surname = _AFTER_FIRST.match(line, stop)
            if surname is None or surname["last"] in _NO_SURNAMES:
                break
            word, stop = surname["last"], surname.end()
        if stop > first.end():
            names.append((start, stop))
    starts = [0, *(stop for _, stop in names)]
    rest = "".join(line[start:stop] for start, stop in zip(starts, [*(start for start, _ in names), None], strict=True))
    return [] if names and _is_headline(rest, is_known) else names[:MOST_NAMES]


@functools.cache
def _first_names() -> frozenset[str]:
    """Return common first names, without those that are ordinary words or places as well, such as *Will* and *Victoria*."""
    return frozenset(Path(__file__).with_name("first-names.txt").read_text(encoding="utf-8").split())


def find_unpronounceable(line: str, is_known: Test) -> list[Span]:
    """Return the spans of words such as `asdfghjkl`, which are not known and have five consonants in succession."""
    return [word.span() for word in _UNPRONOUNCEABLE.finditer(line) if not is_known(word[0])]


def _runs(line: str, is_known: Test) -> Iterator[list[regex.Match[str]]]:
    """Yield the successive words with capitals that are not known, with initials and particles among them."""
    run: list[regex.Match[str]] = []
    for token in _TOKEN.finditer(line):
        touches = bool(run) and line[run[-1].end() : token.start()] == " "
        is_name = _may_be_name(token[0], is_known)
        if not (touches and (is_name or token[0] in _PARTICLES)):
            yield from _whole(run)
            run = []
        if is_name or run:
            run.append(token)
    yield from _whole(run)


def _whole(run: list[regex.Match[str]]) -> Iterator[list[regex.Match[str]]]:
    """Yield a run of words without initials and particles at its end, if a word is left."""
    while run and (run[-1][0] in _PARTICLES or run[-1][0].endswith(".")):
        run = run[:-1]
    if run:
        yield run


def _is_within_sentence(word: regex.Match[str]) -> bool:
    return _WITHIN_SENTENCE.search(word.string, max(0, word.start() - _NEAR), word.start()) is not None


def _may_be_name(word: str, is_known: Test) -> bool:
    """Return whether a word is an initial or an Irish name such as *O'Connor*, or has a capital and is not known.

    A word with a hyphen and a capital in each part, such as *Jean-François*, is not known if one of its parts is not; but
    `Franco-` and the like begin adjectives.
    """
    if word.endswith(".") or word.startswith(_IRISH):
        return True
    if not (word[0].isupper() and any(map(str.islower, word))):
        return False
    parts = word.split("-")
    of_names = all(part[:1].isupper() for part in parts) and not parts[0].endswith("o")
    return not (all if of_names else any)(map(is_known, parts))


def _is_headline(line: str, is_known: Test) -> bool:
    """Return whether most of the known words have capitals, apart from the first word of the line."""
    words: list[str] = [token[0] for token in _TOKEN.finditer(line)][1:]
    known = [word for word in words if len(word) > 1 and is_known(word)]
    capitals: int = sum(word[0].isupper() for word in known)
    return capitals > 1 and 2 * capitals > len(known)
