"""Drawing noun phrases and adverbials at random.

`room` is about how many words the sentence may still grow by: every part takes its share, so that long
sentences are made of more parts, not of stranger ones.
"""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from random import Random

from . import adverbials
from .lexicon import Adjective, Deck, Noun, entries, idiom, idioms, lexicon
from .names import rare_town, surname
from .syntax import (
    Coordination,
    Fixed,
    Name,
    Nominal,
    NounPhrase,
    Prepositional,
    Pronoun,
)


class Weighted:
    """Strings with weights, written `"the 42, a 25"`."""

    def __init__(self, text: str) -> None:
        pairs = [entry.strip().rsplit(" ", 1) for entry in text.split(",")]
        self._items = [item for item, _ in pairs]
        self._edges = list(accumulate(float(weight) for _, weight in pairs))

    def draw(self, rng: Random) -> str:
        """One of the strings."""
        return self._items[bisect(self._edges, rng.random() * self._edges[-1])]


_SINGULAR = Weighted(
    "the 42, a 25, this 4, that 2, my 7, his 5, her 5, our 3, your 3, their 2, every 2, another 2, each 0.5"
)
_PLURAL_SUBJECT = Weighted(
    "the 46, some 4, these 5, those 2, my 6, his 4, her 4, our 2, your 2, their 2, NUMBER 11, many 6, several 5, "
    "all the 4, a lot of 2, too many 1, few 1"
)
_PLURAL_OBJECT = Weighted(
    "the 30, BARE 16, some 9, these 4, those 2, my 5, his 4, her 4, our 2, your 2, their 2, NUMBER 11, many 5, "
    "several 4, all the 3, a lot of 2, too many 1, few 1"
)
_MASS_OBJECT = Weighted("some 32, BARE 32, the 18, a lot of 6, too much 3, my 2, his 2, her 2, enough 2, more 3")
_MASS_SUBJECT = Weighted("the 70, this 12, my 6, his 6, her 6")
_DEFINITE = frozenset({"the", "my", "his", "her", "our", "your", "their"})
_PERSON_SECTIONS = frozenset({"person", "profession", "animal"})
_IDEAS = frozenset({"abstract", "event", "text"})

_SUBJECTS = Weighted("he 29, she 29, they 12, I 15, we 6, you 8, everybody 2.5, nobody 1.5, somebody 1.5")
_OTHERS = Weighted("he 24, she 24, they 22, I 12, we 8, you 8")
_POSITIONS = Weighted("in front of 6, behind 6, near 7, next to 5, under 3, far from 3")

_SPOTS = ("place", "place", "place", "support", "vehicle")

_NUMBERS = Deck([entry.split("=") for entry in entries(adverbials.NUMBERS)])
_SPANS = Deck([entry.split("=") for entry in entries(adverbials.SPANS)])
_WEEKDAYS = idioms(adverbials.WEEKDAYS, 20.0)
_MONTHS = idioms(adverbials.MONTHS, 20.0)
_TIMES = {
    "past": idioms(adverbials.PAST_TIMES),
    "present": idioms(adverbials.PRESENT_TIMES),
    "future": idioms(adverbials.FUTURE_TIMES),
}


class Phrases:
    """Draws the parts of sentences."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.room = 0.0
        self.lexicon = lexicon()

    def chance(self, probability: float, cost: float = 0.0) -> bool:
        """Whether to grow the sentence here: more readily where there is room, never where there is none."""
        if self.room < cost:
            return False
        if cost:
            probability = min(0.85, probability * (0.3 + self.room / 14))
        if self.rng.random() >= probability:
            return False
        self.room -= cost
        return True

    def noun(self, sections: tuple[str, ...]) -> Noun:
        """A noun of one of these sections."""
        section = sections[int(self.rng.random() * len(sections))]
        if section == "place" and self.rng.random() < 0.12:
            section = "ground"
        return self.lexicon.nouns[section].draw(self.rng)

    # Whole noun phrases

    def subject(self, sections: tuple[str, ...]) -> Nominal:
        """A subject: a pronoun, a name, or a noun phrase."""
        if "person" in sections:
            if self.rng.random() < 0.34:
                self.room -= 1
                return Pronoun(_SUBJECTS.draw(self.rng))
            if self.rng.random() < 0.04:
                return self.person_name()
        return self.nominal(sections, subject=True)

    def nominal(self, sections: tuple[str, ...], *, subject: bool = False, single: bool = False) -> Nominal:
        """One noun phrase, or two or three joined by *and*."""
        if "person" in sections and self.rng.random() < 0.032:
            return self.person_name()
        if single or not self.chance(0.05, 3):
            return self.noun_phrase(sections, subject=subject)
        parts: list[Nominal] = [self.noun_phrase(sections, subject=subject, plain=True)]
        for _ in range(1 if self.rng.random() < 0.8 else 2):
            if "person" in sections and self.rng.random() < 0.15:
                parts.append(self.person_name())
            else:
                parts.append(self.noun_phrase(sections, subject=subject, plain=True))
        return Coordination(parts)

    def noun_phrase(
        self,
        sections: tuple[str, ...],
        *,
        subject: bool = False,
        plain: bool = False,
        definite: bool = False,
        plural: float = 0.27,
    ) -> NounPhrase:
        """A noun phrase; a plain one has adjectives at most, and no clause or phrase behind the noun.

        `plural` is how probable it is that there are several.
        """
        noun = self.noun(sections)
        self.room -= 2
        np = NounPhrase(noun)
        if noun.mass:
            np.determiner = (_MASS_SUBJECT if subject else _MASS_OBJECT).draw(self.rng)
        elif self.rng.random() < plural:
            np.plural = True
            np.determiner = (_PLURAL_SUBJECT if subject else _PLURAL_OBJECT).draw(self.rng)
        else:
            np.determiner = _SINGULAR.draw(self.rng)
        if definite and np.determiner not in _DEFINITE:
            np.determiner = "the"
        if np.determiner == "BARE":
            np.determiner = ""
        elif np.determiner == "NUMBER":
            np.determiner = self._number()
        if self.chance(0.26, 1):
            self._describe(np)
        if plain:
            return np
        owned = np.determiner == "the" and not np.superlative and np.noun.english != ("house",)
        if owned and self.chance(0.06, 3):
            np.owner = self._owner()
        if not self._extend(np) and not noun.mass and self.chance(0.12, 4):
            self.add_relative(np)
        return np

    def add_relative(self, np: NounPhrase) -> None:
        """Hang a relative clause on the noun; the grammar of clauses says how."""
        raise NotImplementedError

    def _number(self) -> str:
        if self.rng.random() < 0.12:
            return str(self.rng.randrange(21, 100) if self.rng.random() < 0.7 else self.rng.randrange(2, 40) * 50)
        return _NUMBERS.draw(self.rng)[0]

    def _describe(self, np: NounPhrase) -> None:
        """Put one adjective on the noun, or one on either side of it."""
        words, rng = self.lexicon, self.rng
        if np.noun.section in _PERSON_SECTIONS:
            before, after = words.before_persons, words.after_persons
        elif np.noun.section in _IDEAS:
            before, after = words.before_ideas, words.after_ideas
        else:
            before, after = words.before_things, words.after_things
        where = rng.random()
        if where < 0.48:
            np.before = before.draw(rng)
            while np.before in words.order and np.determiner not in _DEFINITE:
                np.before = before.draw(rng)
        if where >= 0.42:
            np.after = after.draw(rng)
        if np.before is not None and np.after is not None:
            if np.before in words.order:
                np.before = None
            return
        adjective = np.before or np.after
        if adjective is not None and adjective.graded:
            if np.determiner == "the" and rng.random() < 0.2:
                np.superlative = True
            elif np.determiner != "all the" and rng.random() < 0.07:
                np.very = True

    def _owner(self) -> Nominal:
        """Whose it is. Plurals in -s are left out: their bare apostrophe would part from its word."""
        if self.rng.random() < 0.2:
            return self.person_name()
        owner = self.noun_phrase(("person", "person", "profession"), plain=True, definite=True)
        owner.plural = owner.plural and not owner.noun.english_plural[-1].endswith("s")
        return owner

    def _extend(self, np: NounPhrase) -> bool:
        """Perhaps say of what the noun is part, or where it is."""
        section, word = np.noun.section, np.noun.english[0]
        if np.owner is None and self.chance(0.08, 3):
            of: NounPhrase | None = None
            if word in ("bottle", "glass", "cup", "plate"):
                liquid = word != "plate"
                of = NounPhrase(self.noun(("drink",) if liquid else ("dish",)), determiner="")
            elif word in ("door", "window", "wall", "clock", "picture", "map", "bell"):
                of = self.noun_phrase(("place",), plain=True, definite=True)
            elif section in ("ground", "abstract"):
                sections = ("place",) if section == "ground" else ("person", "profession", "place")
                of = self.noun_phrase(sections, plain=True, definite=True)
            elif word in ("king", "queen", "director", "president", "owner"):
                of = self.noun_phrase(("place",), plain=True, definite=True)
            if of is not None:
                np.of = of
                return True
        if section in ("person", "thing", "animal", "text", "vehicle") and self.chance(0.04, 4):
            np.place = self.place(plain=True)
            return True
        return False

    # Names

    def person_name(self) -> Name:
        """A person: mostly a first name everybody has, sometimes a surname nobody has heard."""
        rng = self.rng
        self.room -= 1
        woman = rng.random() < 0.5
        first = (self.lexicon.women if woman else self.lexicon.men).draw(rng)
        kind = rng.random()
        if kind < 0.68:
            return Name((first,), (first,), woman)
        last = surname(rng)
        if kind < 0.9:
            return Name((first, last), (first, last), woman)
        return Name(("Mrs." if woman else "Mr.", last), ("Mme" if woman else "M.", last), woman)

    def place_name(self) -> Name:
        """A town or a country."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.33:
            country = self.lexicon.countries.draw(rng)
            return Name(country.english, (country.french,), country=country)
        if kind < 0.78:
            english, french = self.lexicon.towns.draw(rng)
            return Name((english,), (french,), town=True)
        town = rare_town(rng)
        return Name((town,), (town,), town=True)

    def other_pronoun(self, subject: Nominal, *, person: bool) -> Pronoun:
        """An object pronoun; it is not the subject's own *me*, *us* or *you*."""
        if not person:
            return Pronoun("it" if self.rng.random() < 0.6 else "they")
        taken = subject.english if isinstance(subject, Pronoun) else ""
        english = _OTHERS.draw(self.rng)
        if english in ("I", "we", "you") and (english == taken or {english, taken} == {"I", "we"}):
            english = "she"
        return Pronoun(english)

    # Place, time, manner

    def place(self, *, plain: bool = False) -> Prepositional:
        """Where something is or happens."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.08 and not plain:
            return Prepositional("in", self.place_name())
        if kind < 0.16:
            return Prepositional("on", self.noun_phrase(("support",), plain=True, definite=True, plural=0.05))
        if kind < 0.18:
            return Prepositional("at chez", self._host())
        if kind < 0.3:
            nominal = self.noun_phrase(_SPOTS, plain=plain, definite=True, plural=0.05)
            return Prepositional(_POSITIONS.draw(rng), nominal)
        nominal = self.noun_phrase(("place",), plain=plain, plural=0.08)
        if nominal.determiner in ("", "some"):
            nominal.determiner = "the"
        return Prepositional("on" if nominal.noun.section == "ground" else "in", nominal)

    def destination(self, preposition: str) -> Prepositional:
        """Where somebody goes to or comes from, after the preposition of the verb."""
        if preposition == "in":
            return self.place()
        if self.rng.random() < 0.22 and preposition in ("to", "from"):
            return Prepositional(preposition, self.place_name())
        if self.rng.random() < 0.07 and preposition == "to":
            return Prepositional("to chez", self._host())
        nominal = self.noun_phrase(("place",), definite=True, plain=preposition == "as far as", plural=0.08)
        return Prepositional(preposition, nominal)

    def _host(self) -> Nominal:
        if self.rng.random() < 0.4:
            return self.person_name()
        return self.noun_phrase(("person", "profession"), plain=True, definite=True, plural=0.0)

    def time(self, frame: str) -> Fixed:
        """When something happens, in the frame of the sentence: past, present or future."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.62:
            return Fixed(_TIMES[frame].draw(rng))
        if kind < 0.68:
            day = _WEEKDAYS.draw(rng)
            if frame == "present":
                return Fixed(idiom(("on", day.english[0] + "s"), ("le", *day.french), "0p0 1-1 1p0"))
            return Fixed(idiom(("on", *day.english), day.french, "0p0 1-0"))
        if kind < 0.79:
            month = _MONTHS.draw(rng)
            if rng.random() < 0.5 or frame == "present":
                return Fixed(idiom(("in", *month.english), ("en", *month.french), "0-0 1-1"))
            day_of_month = str(rng.randrange(2, 29))
            links = "0p0 1-2 2-1"
            return Fixed(idiom(("on", *month.english, day_of_month), ("le", day_of_month, *month.french), links))
        if kind < 0.83 and frame == "past":
            year = str(rng.randrange(1900, 2025))
            return Fixed(idiom(("in", year), ("en", year), "0-0 1-1"))
        if kind < 0.9:
            return self._clock()
        return self._span(frame)

    def _clock(self) -> Fixed:
        english, french = self.lexicon.hours.draw(self.rng)
        if self.rng.random() < 0.75:
            links = "0-0 1-1 2-2 3-2"
            return Fixed(idiom(("at", english, "o", "'clock"), ("à", french, "heures"), links))
        links = "0-0 1-4 1p3 2p3 3-1 3p2"
        return Fixed(idiom(("at", "half", "past", english), ("à", french, "heures", "et", "demie"), links))

    def _span(self, frame: str) -> Fixed:
        """Two days ago, in two days, for two days."""
        number, french_number = _NUMBERS.draw(self.rng)
        unit, french_unit = _SPANS.draw(self.rng)
        measure, french_measure = (number, unit), (french_number, french_unit)
        if frame == "past" and self.rng.random() < 0.6:
            links = "0-3 1-4 2-0 2-1 2-2"
            return Fixed(idiom((*measure, "ago"), ("il", "y", "a", *french_measure), links))
        if frame == "future" and self.rng.random() < 0.6:
            return Fixed(idiom(("in", *measure), ("dans", *french_measure), "0-0 1-1 2-2"))
        return Fixed(idiom(("for", *measure), ("pendant", *french_measure), "0-0 1-1 2-2"))

    def adjective(self, nominal: Nominal, section: str, *, graded: bool = False) -> Adjective:
        """An adjective to say of a subject of this section."""
        words, rng = self.lexicon, self.rng
        persons = section in _PERSON_SECTIONS
        if graded or rng.random() < 0.25:
            deck = words.graded_persons if persons else words.graded_things
        else:
            deck = words.after_persons if persons else words.after_things
        adjective = deck.draw(rng)
        while section in _IDEAS and adjective.english not in words.said_of_ideas:
            adjective = deck.draw(rng)
        return adjective
