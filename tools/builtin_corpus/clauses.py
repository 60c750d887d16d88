"""Drawing clauses at random: what is said of whom, when, and how it is denied or coloured."""

from __future__ import annotations

from functools import cache

from . import adjectives, adverbials, verbs
from .features import section_of
from .lexicon import Adjective, Deck, Idiom, Verb, idioms
from .lexicon import verbs as verb_deck
from .phrases import Phrases, Weighted
from .syntax import (
    Action,
    Being,
    Clause,
    Compared,
    Fixed,
    Modal,
    Name,
    Negation,
    Nominal,
    NounPhrase,
    Predicate,
    Prepositional,
    Pronoun,
    Tense,
    Undergoing,
)

# A frame is the time a clause speaks of; `reported` is what somebody said or thought in the past.
_EVENT_TENSES = {
    "present": Weighted("PRESENT 76, PROGRESSIVE 24"),
    "past": Weighted("PAST 64, WAS_DOING 7, USED_TO 2, PERFECT 22, PLUPERFECT 5"),
    "future": Weighted("FUTURE 50, GOING_TO 50"),
    "reported": Weighted("PLUPERFECT 55, CONDITIONAL 27, WAS_DOING 18"),
    "background": Weighted("WAS_DOING 1"),
    "conditional": Weighted("CONDITIONAL 1"),
}
_STATE_TENSES = {
    "present": Weighted("PRESENT 1"),
    "past": Weighted("PAST 95, USED_TO 5"),
    "future": Weighted("FUTURE 80, GOING_TO 20"),
    "reported": Weighted("PAST 70, CONDITIONAL 30"),
    "background": Weighted("PAST 1"),
    "conditional": Weighted("CONDITIONAL 1"),
}
_PASSIVE_TENSES = {
    "present": Weighted("PRESENT 1"),
    "past": Weighted("PAST 75, PERFECT 25"),
    "future": Weighted("FUTURE 1"),
    "reported": Weighted("PLUPERFECT 60, CONDITIONAL 40"),
    "background": Weighted("PAST 1"),
    "conditional": Weighted("CONDITIONAL 1"),
}

FRAMES = Weighted("past 46, present 40, future 14")
_NEGATIONS = Weighted("NOT 72, NEVER 16, NO_LONGER 12")
_MODALS = {
    "present": Weighted("CAN 45, MUST 40, SHOULD 15"),
    "past": Weighted("CAN 60, MUST 40"),
    "future": Weighted("CAN 60, MUST 40"),
}
_KINDS = Weighted(
    "transitive 33, intransitive 14, placed 11, giving 8, prepositional 8, infinitival 7, clausal 7, asking 2.5, "
    "being 14, passive 3, thing 7, event 2"
)
SMALL_KINDS = Weighted("transitive 40, intransitive 25, placed 14, being 24, thing 6")
TABLES = {
    "transitive": verbs.TRANSITIVE, "intransitive": verbs.INTRANSITIVE, "placed": verbs.PLACED,
    "giving": verbs.GIVING, "prepositional": verbs.PREPOSITIONAL, "infinitival": verbs.INFINITIVAL,
    "clausal": verbs.CLAUSAL, "asking": verbs.ASKING,
}  # fmt: skip
_ADVERBS = {
    "past": "often always sometimes also probably rarely really already certainly",
    "present": "often always sometimes also still probably rarely really certainly",
    "future": "also probably certainly always often",
}
_ROOM = {"giving": 7, "infinitival": 6, "clausal": 8, "asking": 8}


@cache
def adverbs(frame: str) -> Deck[Idiom]:
    """The adverbs that stand beside a verb in this frame."""
    allowed = _ADVERBS[frame].split()
    return Deck([found for found in idioms(adverbials.FREQUENCY).entries if found.english[0] in allowed])


@cache
def verbs_by_object(section: str) -> Deck[Verb]:
    """The transitive verbs that take nouns of this section."""
    return Deck([verb for verb in verb_deck(verbs.TRANSITIVE).entries if section in verb.objects], steepness=1.35)


@cache
def verbs_by_subject(table: str, section: str) -> Deck[Verb]:
    """The verbs of a table whose subject may be of this section."""
    return Deck([verb for verb in verb_deck(table).entries if section in verb.subjects], steepness=1.35)


class Clauses(Phrases):
    """Draws clauses."""

    def clause(self, frame: str, *, simple: bool = False) -> Clause:
        """A clause in a frame; a simple one has neither another clause in it nor anything behind it."""
        kind = (SMALL_KINDS if simple else _KINDS).draw(self.rng)
        if self.room < _ROOM.get(kind, 0):
            kind = "intransitive" if self.room < 3 else "transitive"
        self.room -= 1
        if kind == "being":
            subject = self.subject(("person", "person", "profession", "animal"))
            clause = Clause(subject, Being(self._attribute(subject)))
        elif kind == "thing":
            clause = self._about_a_thing()
        elif kind == "event":
            subject = self.nominal(("event",), subject=True)
            clause = Clause(subject, Action(verbs_by_subject(verbs.INTRANSITIVE, "event").draw(self.rng)))
        elif kind == "passive":
            clause = self._passive()
        else:
            verb = verb_deck(TABLES[kind]).draw(self.rng)
            subject = self.subject(verb.subjects)
            clause = Clause(subject, self.action(kind, verb, subject, frame))
        self._colour(clause, frame)
        if not simple:
            self._surround(clause, frame)
        return clause

    # Predicates

    def action(self, kind: str, verb: Verb, subject: Nominal, frame: str) -> Action:
        """A verb of this kind with its complements."""
        rng = self.rng
        action = Action(verb)
        if kind == "transitive":
            action.object = self._object(verb, subject)
            if action.object is not None and not verb.state and self.chance(0.07, 1):
                action.manner = idioms(adverbials.MANNER).draw(rng)
        elif kind == "intransitive":
            if not verb.state and verb.english.base != "be" and verb.subjects[0] == "person" and self.chance(0.16, 1):
                if not verb.particle and verb.english.base in _EXERTIONS and rng.random() < 0.6:
                    action.inner_manner = idioms(adverbials.INNER_MANNER).draw(rng)
                else:
                    action.manner = idioms(adverbials.MANNER).draw(rng)
        elif kind == "placed":
            action.place = self.destination(verb.objects[0])
        elif kind == "giving":
            self._give(action, subject)
        elif kind == "prepositional":
            action.complement = self._complement(verb, subject)
        elif kind == "infinitival":
            self._wish(action, subject, frame)
        else:
            self._report(kind, action, frame)
        return action

    def _object(self, verb: Verb, subject: Nominal) -> Nominal:
        section = verb.objects[int(self.rng.random() * len(verb.objects))]
        if self.rng.random() < 0.15 and section not in ("dish", "drink", "event"):
            return self.other_pronoun(subject, person=section == "person")
        nobody = isinstance(subject, Pronoun) and subject.english == "nobody"
        if self.rng.random() < 0.025 and not nobody and not verb.state:
            return Pronoun("nobody" if section == "person" else "nothing")
        sections = ("person", "person", "profession") if section == "person" else (section,)
        return self.nominal(sections)

    def _give(self, action: Action, subject: Nominal) -> None:
        rng, verb = self.rng, action.verb
        if rng.random() < 0.15:
            action.object = self.other_pronoun(subject, person=False)
        else:
            section = verb.objects[int(rng.random() * len(verb.objects))]
            action.object = self.nominal((section,), single=True)
        if rng.random() < 0.42:
            action.recipient = self.other_pronoun(subject, person=True)
        else:
            action.recipient = self.nominal(("person", "person", "profession"), single=rng.random() < 0.7)
        full = not isinstance(action.object, Pronoun)
        action.shifted = full and verb.english.base in _DATIVE_SHIFT and rng.random() < 0.55
        if action.shifted and not isinstance(action.recipient, Pronoun):
            # A long recipient before the object would be hard to follow.
            action.recipient = self.noun_phrase(("person", "person", "profession"), plain=True, definite=True)

    def _complement(self, verb: Verb, subject: Nominal) -> Nominal:
        section = verb.objects[int(self.rng.random() * len(verb.objects))]
        if section == "person" and self.rng.random() < 0.3:
            return self.other_pronoun(subject, person=True)
        if section in ("abstract", "thing", "event") and self.rng.random() < 0.2:
            return Pronoun("it")
        return self.nominal((section,))

    def _wish(self, action: Action, subject: Nominal, frame: str) -> None:
        """Wants to do, or wants another to do."""
        if action.verb.english.base == "want" and self.chance(0.25, 2):
            other = self.other_pronoun(subject, person=True) if self.rng.random() < 0.5 else self.nominal(("person",))
            inner = self._short_action(other)
            action.desired = Clause(other, inner, Tense.SUBJUNCTIVE)
            return
        action.infinitive = self._short_action(subject, frame)
        if self.rng.random() < 0.08 and action.verb.english.base in ("want", "hope", "prefer", "decide"):
            graded = self.adjective(subject, "person", graded=True)
            action.infinitive = Being(Compared(graded))

    def _short_action(self, subject: Nominal, frame: str = "present") -> Action:
        kind = "transitive" if self.rng.random() < 0.6 else "placed" if self.rng.random() < 0.4 else "intransitive"
        while True:
            verb = verbs_by_subject(TABLES[kind], "person").draw(self.rng)
            if verb.english.base not in ("be", "want", "have"):
                break
        self.room -= 2
        return self.action(kind, verb, subject, frame)

    def _report(self, kind: str, action: Action, frame: str) -> None:
        """What somebody says, knows or asks."""
        inner = {"past": "reported", "present": FRAMES.draw(self.rng), "future": "future"}.get(frame, "present")
        if kind == "asking":
            action.question_word = "if" if action.verb.english.base in ("ask", "wonder") else ""
            if not action.question_word or self.rng.random() < 0.5:
                action.question_word = ("where", "why", "when", "how")[int(self.rng.random() * 4)]
            where = action.question_word == "where"
            action.content = self._located_clause(inner) if where else self.clause(inner, simple=True)
            if action.question_word == "how" and isinstance(action.content.predicate, Being):
                action.question_word = "why"
        else:
            action.spoken_that = self.rng.random() < 0.85
            action.content = self.clause(inner, simple=self.room < 10)

    def _located_clause(self, frame: str, *, state: bool = True) -> Clause:
        """A clause whose place is left open: where he lives."""
        deck = verb_deck(verbs.PLACED)
        verb = deck.draw(self.rng)
        while verb.objects[0] not in ("in", "to") or (verb.state and not state):
            verb = deck.draw(self.rng)
        clause = Clause(self.subject(verb.subjects), Action(verb))
        self._colour(clause, frame)
        return clause

    # Being, and things as subjects

    def _attribute(self, subject: Nominal) -> Compared | NounPhrase | Prepositional:
        rng = self.rng
        section = section_of(subject)
        kind = rng.random()
        plural_pronoun = isinstance(subject, Pronoun) and subject.english in ("we", "they", "nobody", "everybody")
        single = not plural_pronoun and not (isinstance(subject, NounPhrase) and subject.plural)
        if kind < 0.14 and section == "person" and single and isinstance(subject, Pronoun | Name):
            np = NounPhrase(self.noun(("profession",)), determiner="a")
            # Of a man at hand French would say "c'est un bon médecin", of a woman it would look for a feminine.
            man = not subject.feminine and subject.english not in ("he", "she")
            if rng.random() < 0.4 and man:
                self._describe(np)
            return np
        if kind < 0.3:
            return self.place()
        if kind < 0.45 and self.room > 3:
            adjective = self.adjective(subject, section, graded=True)
            than = self.noun_phrase(_ALIKE.get(section, (section,)), plain=True, definite=True)
            return Compared(adjective, comparison=self._comparison(adjective), than=than)
        if rng.random() < 0.35:
            adjective = self.adjective(subject, section, graded=True)
            return Compared(adjective, idioms(adjectives.DEGREES).draw(rng))
        return Compared(self.adjective(subject, section))

    def _about_a_thing(self) -> Clause:
        rng = self.rng
        section = _THINGS.draw(rng)
        if rng.random() < 0.18:
            subject: Nominal = Pronoun("it" if rng.random() < 0.7 else "they")
            section = "thing"
        else:
            subject = self.nominal((section,), subject=True)
        if section in ("thing", "vehicle") and rng.random() < 0.25:
            return Clause(subject, Action(verbs_by_subject(verbs.INTRANSITIVE, section).draw(rng)))
        if section == "thing" and rng.random() < 0.12 and not isinstance(subject, Pronoun):
            verb = verbs_by_subject(verbs.PREPOSITIONAL, "thing").draw(rng)
            return Clause(subject, Action(verb, complement=self.nominal(("person", "profession"))))
        if section not in ("thing", "vehicle", "place") or rng.random() < 0.75:
            return Clause(subject, Being(self._said_of_thing(subject, section)))
        return Clause(subject, Being(self.place()))

    def _said_of_thing(self, subject: Nominal, section: str) -> Compared:
        if self.rng.random() < 0.3:
            degree = idioms(adjectives.DEGREES).draw(self.rng)
            return Compared(self.adjective(subject, section, graded=True), degree)
        if self.rng.random() < 0.25 and not isinstance(subject, Pronoun):
            adjective = self.adjective(subject, section, graded=True)
            than = self.noun_phrase((section,), plain=True, definite=True)
            return Compared(adjective, comparison=self._comparison(adjective), than=than)
        return Compared(self.adjective(subject, section))

    def _comparison(self, adjective: Adjective) -> str:
        """More, as, or less; English says *less* of long adjectives only."""
        kind = ("more", "more", "as", "less")[int(self.rng.random() * 4)]
        return "more" if kind == "less" and adjective.comparative else kind

    def _passive(self) -> Clause:
        deck = verb_deck(verbs.TRANSITIVE)
        verb = deck.draw(self.rng)
        while verb.english.base not in _PASSIVE:
            verb = deck.draw(self.rng)
        section = verb.objects[int(self.rng.random() * len(verb.objects))]
        subject = self.nominal((section,), subject=True)
        agent = self.nominal(("person", "profession"), single=True) if self.rng.random() < 0.75 else None
        return Clause(subject, Undergoing(verb, agent))

    # Tense, negation, adverbs, and what stands around

    def _colour(self, clause: Clause, frame: str) -> None:
        """Give the clause its tense, and perhaps a modal, a negation or an adverb."""
        rng, predicate, subject = self.rng, clause.predicate, clause.subject
        clause.tense = self.tense(predicate, frame, subject)
        action = isinstance(predicate, Action) and predicate.verb.english.base not in ("be", "belong")
        nobody = isinstance(subject, Pronoun) and subject.english == "nobody"
        nothing = isinstance(predicate, Action) and isinstance(predicate.object, Pronoun) and (
            predicate.object.english in ("nobody", "nothing")
        )  # fmt: skip
        subjunctive = isinstance(predicate, Action) and (predicate.content or predicate.desired) is not None
        clause.contracted = rng.random() < 0.35
        if action and frame in _MODALS and not subjunctive and section_of(subject) != "thing" and rng.random() < 0.09:
            clause.modal = Modal[_MODALS[frame].draw(rng)]
            clause.tense = {"past": Tense.PAST, "future": Tense.FUTURE}.get(frame, Tense.PRESENT)
        elif clause.tense in (Tense.USED_TO, Tense.GOING_TO):
            return
        free = not (nobody or nothing or subjunctive)
        past_must = clause.modal is Modal.MUST and clause.tense is not Tense.PRESENT
        if free and not past_must and rng.random() < 0.14:
            clause.negation = Negation.NOT if clause.modal else Negation[_NEGATIONS.draw(rng)]
            if clause.tense is Tense.PAST and clause.negation is Negation.NO_LONGER and clause.modal is None:
                clause.negation = Negation.NOT
        elif free and clause.modal is None and frame in _ADVERBS and self.chance(0.09, 1):
            clause.adverb = adverbs(frame).draw(rng)

    def tense(self, predicate: Predicate, frame: str, subject: Nominal) -> Tense:
        """A tense of this frame that suits the predicate."""
        if isinstance(predicate, Undergoing):
            name = _PASSIVE_TENSES[frame].draw(self.rng)
        elif isinstance(predicate, Being) or predicate.verb.state or predicate.verb.english.base == "be":
            name = _STATE_TENSES[frame].draw(self.rng)
        else:
            name = _EVENT_TENSES[frame].draw(self.rng)
            forms = predicate.verb.english
            if predicate.verb.moment:
                name = {"PROGRESSIVE": "PRESENT", "WAS_DOING": "PAST", "USED_TO": "PAST"}.get(name, name)
            # "I read the book" could be any time: only he and she, in the present, show it.
            if name == "PAST" and forms.past == forms.base:
                name = "PERFECT"
            if name == "USED_TO" and section_of(subject) in ("event", "vehicle", "thing"):
                name = "PAST"
        return Tense[name]

    def _surround(self, clause: Clause, frame: str) -> None:
        """Perhaps say with whom, where and when."""
        predicate = clause.predicate
        if isinstance(predicate, Being):
            return
        has_clause = isinstance(predicate, Action) and (predicate.content or predicate.desired) is not None
        if has_clause:
            return
        if isinstance(predicate, Action) and predicate.place is None and predicate.complement is None:
            if predicate.verb.english.base not in _INWARD and self.chance(0.1, 4):
                here = self.rng.random() < 0.15
                clause.adjuncts.append(Fixed(idioms(adverbials.HERE).draw(self.rng)) if here else self.place())
            elif self._sociable(clause) and self.chance(0.25, 3):
                clause.adjuncts.append(Prepositional("with", self._company(clause.subject)))
        if frame in ("past", "present", "future") and clause.tense is not Tense.PERFECT and self.chance(0.17, 2):
            clause.adjuncts.append(self.time(frame))
        elif self.chance(0.05, 3):
            event = self.noun_phrase(("event",), plain=True, definite=True)
            when = ("before", "after", "during")[int(self.rng.random() * 3)]
            clause.adjuncts.append(Prepositional(when, event))

    def _sociable(self, clause: Clause) -> bool:
        verb = clause.predicate.verb if isinstance(clause.predicate, Action) else None
        return verb is not None and section_of(clause.subject) == "person" and verb.english.base in _TOGETHER

    def _company(self, subject: Nominal) -> Nominal:
        if self.rng.random() < 0.35:
            return self.other_pronoun(subject, person=True)
        return self.nominal(("person",))


_THINGS = Weighted("thing 26, place 20, vehicle 12, abstract 16, text 12, clothes 8, event 6")
_ALIKE = {"person": ("person",), "profession": ("person",)}
_PASSIVE = frozenset(verbs.PASSIVE.split())
_DATIVE_SHIFT = frozenset(verbs.DATIVE_SHIFT.split())
_EXERTIONS = frozenset(verbs.EXERTIONS.split())
_TOGETHER = frozenset(verbs.TOGETHER.split())
_INWARD = frozenset(verbs.INWARD.split())
