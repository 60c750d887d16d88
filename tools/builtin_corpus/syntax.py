"""The trees both languages are spoken from.

A tree says what is meant, in no language: the English and the French of a sentence are two readings of it.
Nodes are compared by identity, since the same word may occur twice in a sentence and each occurrence is
aligned on its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from .lexicon import Adjective, Conjunction, Country, Idiom, Noun, Verb


class Tense(Enum):
    """An English tense, and what it is in French where the verb names an event."""

    PRESENT = ("does", "present")
    PROGRESSIVE = ("is doing", "present")
    PAST = ("did", "perfect")
    WAS_DOING = ("was doing", "imperfect")
    USED_TO = ("used to do", "imperfect")
    PERFECT = ("has done", "perfect")
    PLUPERFECT = ("had done", "pluperfect")
    FUTURE = ("will do", "future")
    GOING_TO = ("is going to do", "near future")
    CONDITIONAL = ("would do", "conditional")
    # English present and past again, where the kind of clause gives them another tense in French.
    WHEN_FUTURE = ("when he does", "future")  # when he arrives: quand il arrivera
    WHEN_DONE = ("after he does", "future perfect")  # after he sleeps: après qu'il aura dormi
    IF_PAST = ("if he did", "imperfect")  # if he had: s'il avait
    SUBJUNCTIVE = ("before he does", "subjunctive")
    PAST_SUBJUNCTIVE = ("before he did", "subjunctive")  # before he left: avant qu'il parte
    PERFECT_SUBJUNCTIVE = ("although he did", "perfect subjunctive")  # bien qu'il ait perdu

    @property
    def french(self) -> str:
        """The French tense of an event."""
        return self.value[1]


class Negation(Enum):
    """How a clause is denied: the English word and the French one that goes with `ne`."""

    NOT = ("not", "pas")
    NEVER = ("never", "jamais")
    NO_LONGER = ("no longer", "plus")


class Modal(Enum):
    """Modal verbs, by the French verb they become."""

    CAN = ("can", "pouvoir")
    MUST = ("must", "devoir")
    SHOULD = ("should", "devoir")


@dataclass(slots=True, eq=False)
class Pronoun:
    """A personal pronoun (I, you, he, she, it, we, they) or nobody, everybody, somebody, nothing, something.

    `you` is one man addressed as *vous*, `I` and `we` are men. `it` and `they` take the gender of the nearest
    noun before them in the English sentence that they can stand for; the English reading settles it.
    """

    english: str
    feminine: bool = False


@dataclass(slots=True, eq=False)
class Name:
    """A proper name that the languages share, or a town with a form in each."""

    english: tuple[str, ...]
    french: tuple[str, ...]
    feminine: bool = False
    country: Country | None = None
    town: bool = False


@dataclass(slots=True, eq=False)
class NounPhrase:
    """A noun with all that hangs on it.

    `determiner` is an English word, a number, or "" for a bare noun. `superlative` and `very` speak of the
    adjective nearest to it, the one after the French noun if there are two.
    """

    noun: Noun
    determiner: str = "the"
    plural: bool = False
    before: Adjective | None = None
    after: Adjective | None = None
    superlative: bool = False
    very: bool = False
    owner: Nominal | None = None  # the man's car
    of: Nominal | None = None  # the door of the house
    place: Prepositional | None = None  # the book on the table
    relative: Relative | None = None


@dataclass(slots=True, eq=False)
class Coordination:
    """Two or three noun phrases joined by *and*."""

    parts: list[Nominal]


@dataclass(slots=True, eq=False)
class Gap:
    """The place in a relative clause or question whose noun phrase has moved to the front."""

    of: Nominal


Nominal = NounPhrase | Pronoun | Name | Coordination | Gap


@dataclass(slots=True, eq=False)
class Prepositional:
    """A preposition and its noun phrase."""

    preposition: str
    nominal: Nominal


@dataclass(slots=True, eq=False)
class Compared:
    """An adjective said of something, with its degree: *very* and the like, or more/less/as ... than."""

    adjective: Adjective
    degree: Idiom | None = None
    comparison: str = ""  # "more", "less" or "as"
    than: Nominal | None = None


@dataclass(slots=True, eq=False)
class Action:
    """A verb with its complements."""

    verb: Verb
    object: Nominal | None = None
    recipient: Nominal | None = None
    shifted: bool = False  # English "gives him a book" for "gives a book to him"
    complement: Nominal | None = None  # after the verb's own preposition
    place: Prepositional | None = None
    infinitive: Action | Being | None = None
    content: Clause | None = None  # that ..., or the question asked
    question_word: str = ""  # where, when, why, how, if: the content is an indirect question
    spoken_that: bool = True
    desired: Clause | None = None  # wants him to come: veut qu'il vienne
    manner: Idiom | None = None
    inner_manner: Idiom | None = None


@dataclass(slots=True, eq=False)
class Being:
    """What somebody or something is, or where."""

    complement: Compared | Nominal | Prepositional


@dataclass(slots=True, eq=False)
class Undergoing:
    """A passive."""

    verb: Verb
    agent: Nominal | None = None


Predicate = Action | Being | Undergoing


@dataclass(slots=True, eq=False)
class Clause:
    """A subject and what is said of it."""

    subject: Nominal
    predicate: Predicate
    tense: Tense = Tense.PRESENT
    negation: Negation | None = None
    modal: Modal | None = None
    contracted: bool = False
    adverb: Idiom | None = None
    adjuncts: list[Adjunct] = field(default_factory=list)
    more: list[Predicate] = field(default_factory=list)  # ... opens the door and takes the key


@dataclass(slots=True, eq=False)
class Fixed:
    """One occurrence of an idiom."""

    idiom: Idiom


@dataclass(slots=True, eq=False)
class Subordinate:
    """A clause behind a conjunction."""

    conjunction: Conjunction
    clause: Clause | Fixed


Adjunct = Fixed | Prepositional | Subordinate


@dataclass(slots=True, eq=False)
class Relative:
    """A relative clause; `word` is who, that, which, whose, where, or a preposition before whom."""

    word: str
    clause: Clause


@dataclass(slots=True, eq=False)
class There:
    """There is a cat in the garden."""

    nominal: NounPhrase
    tense: Tense = Tense.PRESENT
    negated: bool = False
    place: Prepositional | None = None


@dataclass(slots=True, eq=False)
class This:
    """This is my brother; these are my friends."""

    pronoun: str  # this, that, these, those
    nominal: NounPhrase


@dataclass(slots=True, eq=False)
class Question:
    """A question. `word` is "" (yes or no), where, when, why, how, who, what, or whom; `asked` a fronted phrase."""

    clause: Clause
    word: str = ""
    asked: NounPhrase | None = None


@dataclass(slots=True, eq=False)
class WhereIs:
    """Where is the station?"""

    nominal: Nominal


@dataclass(slots=True, eq=False)
class Command:
    """Open the door. Do not open the door."""

    predicate: Action
    negated: bool = False
    contracted: bool = False


@dataclass(slots=True, eq=False)
class Exclamation:
    """What a beautiful house!"""

    nominal: NounPhrase


@dataclass(slots=True, eq=False)
class Joined:
    """Statements joined by a coordinating conjunction."""

    first: Statement
    conjunction: str  # and, but, so, or
    second: Statement


@dataclass(slots=True, eq=False)
class Fronted:
    """A statement behind an adverbial and a comma."""

    adjunct: Adjunct
    statement: Statement


Statement = Clause | There | This | Joined | Fronted
Sentence = Statement | Question | WhereIs | Command | Exclamation
