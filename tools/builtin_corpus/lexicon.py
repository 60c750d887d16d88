"""The bilingual lexicon: its entries as data classes, read from the tables and drawn by frequency."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from random import Random
from typing import Generic, TypeVar

from . import adjectives as adjective_tables
from . import adverbials, nouns
from . import names as name_tables
from .conjugation import ETRE_VERBS, Conjugation, conjugate
from .inflection import EnglishVerb, english_s, english_suffix, english_verb, french_feminine, french_plural

T = TypeVar("T")


class Deck(Generic[T]):
    """Entries in order of frequency, drawn by Zipf's law (in Mandelbrot's form, with a shift)."""

    def __init__(self, entries: Sequence[T], shift: float = 3.0, steepness: float = 1.2) -> None:
        self.entries = list(entries)
        self._edges = list(accumulate((rank + shift) ** -steepness for rank in range(len(self.entries))))

    def draw(self, rng: Random) -> T:
        """One entry at random."""
        return self.entries[bisect(self._edges, rng.random() * self._edges[-1])]


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun; compounds are several words, of which English inflects the last and French the first."""

    english: tuple[str, ...]
    english_plural: tuple[str, ...]
    french: tuple[str, ...]
    french_plural: tuple[str, ...]
    feminine: bool
    section: str
    as_woman: str = ""  # what a woman is called who has this profession

    @property
    def person(self) -> bool:
        """Whether he or she, not it, refers to the noun."""
        return self.section in nouns.PERSONS

    @property
    def mass(self) -> bool:
        """Whether the noun is not counted."""
        return self.section in nouns.MASS


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective with its four French forms and its English degrees (empty if it has none)."""

    english: str
    comparative: str
    superlative: str
    french: tuple[str, str, str, str]  # masculine, feminine; then both in the plural
    before: bool  # whether it stands before the French noun
    persons: bool
    things: bool
    graded: bool

    def agreeing(self, feminine: bool, plural: bool) -> str:
        """The French form in this gender and number."""
        return self.french[feminine + 2 * plural]


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A pair of verbs with what they take; see the table of verbs for the fields."""

    english: EnglishVerb
    particle: tuple[str, ...]
    english_preposition: tuple[str, ...]
    french: Conjugation
    noun: tuple[str, ...]
    french_preposition: tuple[str, ...]
    reflexive: bool
    etre: bool
    state: bool
    moment: bool
    subjects: tuple[str, ...]
    objects: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Idiom:
    """Words of both languages that translate each other as a whole or by the links given."""

    english: tuple[str, ...]
    french: tuple[str, ...]
    links: tuple[tuple[int, int, bool], ...]  # (English, French, sure)


@dataclass(frozen=True, slots=True, eq=False)
class Conjunction:
    """A subordinating conjunction; its mood is i, s, f or c, as in the table."""

    english: tuple[str, ...]
    french: tuple[str, ...]
    mood: str


@dataclass(frozen=True, slots=True, eq=False)
class Country:
    """A country, with the French preposition that says one is in it or goes to it."""

    english: tuple[str, ...]
    french: str
    into: str


def entries(table: str) -> Iterator[str]:
    """The entries of a table, which semicolons part."""
    return (entry.strip() for entry in table.split(";") if entry.strip())


def idiom(english: Sequence[str], french: Sequence[str], links: str = "") -> Idiom:
    """An idiom; `links` as in the tables (`0-1 0p2`), all to all if it is empty."""
    if links:
        parsed = re.findall(r"(\d+)([-p])(\d+)", links)
        pairs = tuple((int(i), int(j), kind == "-") for i, kind, j in parsed)
    else:
        pairs = tuple((i, j, True) for i in range(len(english)) for j in range(len(french)))
    return Idiom(tuple(english), tuple(french), pairs)


@cache
def idioms(table: str, shift: float = 3.0) -> Deck[Idiom]:
    """A deck of the idioms in a table."""
    return Deck([_read_idiom(entry) for entry in entries(table)], shift)


def _read_idiom(entry: str) -> Idiom:
    english, rest = entry.split("=")
    french, _, links = rest.partition("|")
    return idiom(english.split(), french.split(), links)


def _read_noun(entry: str, section: str) -> Noun:
    english_text, rest = entry.split("=")
    rest, _, as_woman = rest.partition(" ~")
    french_text, gender = rest.rsplit(" ", 1)
    english, _, english_plural = english_text.partition("/")
    french, _, plural = french_text.partition("/")
    words = english.split()
    french_words = french.split()
    return Noun(
        english=tuple(words),
        english_plural=tuple(english_plural.split() or [*words[:-1], english_s(words[-1])]),
        french=tuple(french_words),
        french_plural=tuple(plural.split() or [french_plural(french_words[0]), *french_words[1:]]),
        feminine=gender == "f",
        section=section,
        as_woman=as_woman.strip(),
    )


def _read_adjective(entry: str, before: bool) -> Adjective:
    english, rest = entry.split("=")
    french, use = rest.rsplit(" ", 1)
    masculine, _, feminine = french.partition("/")
    feminine = feminine or french_feminine(masculine)
    said_of, how = use[0], use[1]
    comparative, superlative = adjective_tables.COMPARATIVES.get(english, ("", ""))
    if how == "s" and not comparative:
        comparative, superlative = english_suffix(english, "er"), english_suffix(english, "est")
    return Adjective(
        english=english,
        comparative=comparative,
        superlative=superlative,
        french=(masculine, feminine, french_plural(masculine), french_plural(feminine)),
        before=before,
        persons=said_of in "pb",
        things=said_of in "tb",
        graded=how != "-",
    )


def _read_verb(line: str) -> Verb:
    pair, subjects, objects = ([part.strip() for part in line.split(" : ")] + [""])[:3]
    english_side, french_side = pair.split(" = ")
    forms = [word for word in english_side.split() if word[0] not in "+@"]
    state, moment = forms[0].endswith("*"), forms[0].endswith("!")
    forms[0] = forms[0].rstrip("*!")
    reflexive = french_side.startswith(("se ", "s'"))
    french_words = french_side.removeprefix("se ").removeprefix("s'").split()
    return Verb(
        english=english_verb(*forms),
        particle=_marked(english_side, "+"),
        english_preposition=_marked(english_side, "@"),
        french=conjugate(french_words[0]),
        noun=_marked(french_side, "+"),
        french_preposition=_marked(french_side, "@"),
        reflexive=reflexive,
        etre=reflexive or french_words[0] in ETRE_VERBS.split(),
        state=state,
        moment=moment,
        subjects=_sections(subjects),
        objects=(objects,) if objects == "as far as" else tuple(objects.split()),
    )


def _marked(text: str, mark: str) -> tuple[str, ...]:
    return tuple(part for word in text.split() if word[0] == mark for part in word[1:].split("."))


def _sections(text: str) -> tuple[str, ...]:
    """Section names; persons are drawn twice as often as animals, and now and then by their profession."""
    person = ("person", "person", "person", "profession", "profession")
    named = {"animate": (*person, "animal", "animal"), "person": person}
    return tuple(section for name in text.split() for section in named.get(name, (name,)))


@cache
def verbs(table: str) -> Deck[Verb]:
    """A deck of the verbs in a table."""
    return Deck([_read_verb(line.strip()) for line in table.splitlines() if line.strip()], steepness=1.35)


class _Lexicon:
    """Every deck the grammar draws from."""

    def __init__(self) -> None:
        sections = {name: [_read_noun(entry, name) for entry in entries(table)] for name, table in nouns.NOUNS.items()}
        every = {" ".join(noun.english): noun for section in sections.values() for noun in section}
        groups = {name: [every[word] for word in text.split()] for name, text in nouns.GROUPS.items()}
        self.every_noun = list(every.values())
        self.nouns = {name: Deck(found) for name, found in (sections | groups).items()}
        before = [_read_adjective(entry, True) for entry in entries(adjective_tables.BEFORE)]
        order = [_read_adjective(entry, True) for entry in entries(adjective_tables.ORDER)]
        after = [_read_adjective(entry, False) for entry in entries(adjective_tables.AFTER)]
        self.every_adjective = [*before, *order, *after]
        self.before_persons = Deck([a for a in [*before, *order] if a.persons])
        self.before_things = Deck([a for a in [*before, *order] if a.things])
        self.order = frozenset(order)
        self.after_persons = Deck([a for a in after if a.persons])
        self.after_things = Deck([a for a in after if a.things])
        self.graded_persons = Deck([a for a in [*before, *after] if a.persons and a.graded])
        self.graded_things = Deck([a for a in [*before, *after] if a.things and a.graded])
        ideas = frozenset(adjective_tables.OF_IDEAS.split())
        self.before_ideas = Deck([a for a in [*before, *order] if a.things and a.english in ideas])
        self.after_ideas = Deck([a for a in after if a.things and a.english in ideas])
        self.said_of_ideas = ideas
        self.conjunctions = Deck([_read_conjunction(entry) for entry in entries(adverbials.CONJUNCTIONS)])
        self.countries = Deck([_read_country(entry) for entry in entries(name_tables.COUNTRIES)])
        self.towns = Deck([_read_town(entry) for entry in name_tables.TOWNS.split()])
        hours = "two three four five six seven eight nine ten eleven"
        numbers = dict(entry.split("=") for entry in entries(adverbials.NUMBERS))
        self.hours = Deck([(hour, numbers[hour]) for hour in hours.split()], shift=8.0)
        self.men = Deck(name_tables.MEN.split())
        self.women = Deck(name_tables.WOMEN.split())


def _read_conjunction(entry: str) -> Conjunction:
    english, rest = entry.split("=")
    *french, mood = rest.split()
    return Conjunction(tuple(english.split()), tuple(french), mood)


def _read_country(entry: str) -> Country:
    english, rest = entry.split("=")
    french, into = rest.split()
    return Country(tuple(english.split()), french, into)


def _read_town(entry: str) -> tuple[str, str]:
    english, _, french = entry.partition("=")
    return english, french or english


@cache
def lexicon() -> _Lexicon:
    """The lexicon, read once."""
    return _Lexicon()


def noun(english: str) -> Noun:
    """The noun with this English singular."""
    return next(found for found in lexicon().every_noun if " ".join(found.english) == english)


def adjective(english: str) -> Adjective:
    """The adjective with this English form."""
    return next(found for found in lexicon().every_adjective if found.english == english)


def verb(table: str, english: str, particle: str = "") -> Verb:
    """The verb with this English base form in a table of verbs."""
    return next(
        found for found in verbs(table).entries if found.english.base == english and " ".join(found.particle) == particle
    )
