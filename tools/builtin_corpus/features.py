"""What both readings ask of a tree: person, number and gender, and the words of an idiom."""

from __future__ import annotations

from typing import NamedTuple

from .lexicon import Idiom
from .syntax import Being, Clause, Coordination, Fixed, Gap, Name, Nominal, NounPhrase, Predicate, Pronoun
from .words import Tag, Word

JE, IL, NOUS, VOUS, ILS = 0, 2, 3, 4, 5  # places in a French conjugation

_PERSONS = {"I": JE, "we": NOUS, "you": VOUS, "they": ILS}

PERSONAL = frozenset({"I", "you", "he", "she", "it", "we", "they"})


class Features(NamedTuple):
    """How a noun phrase makes others agree; `person` is its place in a French conjugation."""

    person: int
    plural: bool
    feminine: bool


def features(nominal: Nominal) -> Features:
    """The features of a noun phrase; `you` is one man."""
    if isinstance(nominal, NounPhrase):
        return Features(ILS if nominal.plural else IL, nominal.plural, nominal.noun.feminine)
    if isinstance(nominal, Pronoun):
        person = _PERSONS.get(nominal.english, IL)
        return Features(person, person in (NOUS, ILS), nominal.feminine or nominal.english == "she")
    if isinstance(nominal, Name):
        return Features(IL, False, nominal.feminine)
    if isinstance(nominal, Coordination):
        return Features(ILS, True, all(features(part).feminine for part in nominal.parts))
    return features(nominal.of)


def is_state(predicate: Predicate) -> bool:
    """Whether the simple past of this predicate is a French imparfait."""
    return isinstance(predicate, Being) or predicate.verb.state


def is_personal(nominal: Nominal | None) -> bool:
    """Whether the noun phrase is a personal pronoun, which French puts before the verb."""
    return isinstance(nominal, Pronoun) and nominal.english in PERSONAL


def denies(clause: Clause) -> bool:
    """Whether the clause is negative, so that its object has *any* for *some* and *de* for *un*."""
    nobody = isinstance(clause.subject, Pronoun) and clause.subject.english == "nobody"
    return clause.negation is not None or nobody


def is_gap(nominal: Nominal | None) -> bool:
    """Whether the noun phrase has moved to the front and is not heard here."""
    return isinstance(nominal, Gap)


def idiom_words(fixed: Fixed | Idiom, node: object, *, english: bool) -> list[Word]:
    """The words of an idiom, tagged so that its own links come out."""
    idiom = fixed.idiom if isinstance(fixed, Fixed) else fixed
    side = 0 if english else 1
    words = []
    for position, form in enumerate(idiom.english if english else idiom.french):
        sure: list[Tag] = []
        possible: list[Tag] = []
        for number, found in enumerate(idiom.links):
            if found[side] == position:
                (sure if found[2] else possible).append((node, number))
        words.append(Word(form, tuple(sure), tuple(possible)))
    return words


def section_of(nominal: Nominal) -> str:
    """What kind of thing a nominal names, by the section of its noun."""
    if isinstance(nominal, NounPhrase):
        return nominal.noun.section
    if isinstance(nominal, Pronoun):
        return "thing" if nominal.english == "it" else "person"
    if isinstance(nominal, Coordination):
        return section_of(nominal.parts[0])
    if isinstance(nominal, Name):
        return "place" if nominal.town or nominal.country else "person"
    return section_of(nominal.of)
