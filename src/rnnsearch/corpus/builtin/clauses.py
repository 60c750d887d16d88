"""Drawing clauses at random: what is said of whom, when, and how it is denied or coloured."""

from __future__ import annotations

from functools import cache

from . import adverbials, verbs
from .lexicon import Deck, Idiom, Verb, idioms
from .lexicon import verbs as verb_deck
from .phrases import Phrases, Weighted, section_of
from .syntax import (
    Action,
    Being,
    Clause,
    Compared,
    Gap,
    Modal,
    Name,
    Negation,
    Nominal,
    NounPhrase,
    Predicate,
    Prepositional,
    Pronoun,
    Relative,
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
_SMALL_KINDS = Weighted("transitive 40, intransitive 25, placed 14, being 24, thing 6")
_TABLES = {
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
    return Deck([verb for verb in verb_deck(verbs.TRANSITIVE).entries if section in verb.objects])


@cache
def verbs_by_subject(table: str, section: str) -> Deck[Verb]:
    """The verbs of a table whose subject may be of this section."""
    return Deck([verb for verb in verb_deck(table).entries if section in verb.subjects])


@cache
def prepositional_verbs(*prepositions: str) -> Deck[Verb]:
    """The verbs with one of these English prepositions that speak of persons."""
    found = [
        verb
        for verb in verb_deck(verbs.PREPOSITIONAL).entries
        if verb.english_preposition in [(p,) for p in prepositions] and "person" in verb.objects and not verb.noun
        and not verb.particle
    ]  # fmt: skip
    return Deck(found)


class Clauses(Phrases):
    """Draws clauses."""

    def clause(self, frame: str, *, simple: bool = False) -> Clause:
        """A clause in a frame; a simple one has neither another clause in it nor anything behind it."""
        kind = (_SMALL_KINDS if simple else _KINDS).draw(self.rng)
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
            verb = verb_deck(_TABLES[kind]).draw(self.rng)
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
            verb = verbs_by_subject(_TABLES[kind], "person").draw(self.rng)
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
            feminine = isinstance(subject, Name) and subject.feminine
            if rng.random() < 0.3 and not feminine and subject.english != "she":
                self._describe(np)
            return np
        if kind < 0.3:
            return self.place()
        if kind < 0.45 and self.room > 3:
            adjective = self.adjective(subject, section, graded=True)
            than = self.noun_phrase(_ALIKE.get(section, (section,)), plain=True, definite=True)
            comparison = ("more", "more", "less", "as")[int(rng.random() * 4)]
            return Compared(adjective, comparison=comparison, than=than)
        if rng.random() < 0.35:
            adjective = self.adjective(subject, section, graded=True)
            return Compared(adjective, idioms(_DEGREES).draw(rng))
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
            degree = idioms(_DEGREES).draw(self.rng)
            return Compared(self.adjective(subject, section, graded=True), degree)
        if self.rng.random() < 0.25 and not isinstance(subject, Pronoun):
            than = self.noun_phrase((section,), plain=True, definite=True)
            comparison = ("more", "more", "less", "as")[int(self.rng.random() * 4)]
            return Compared(self.adjective(subject, section, graded=True), comparison=comparison, than=than)
        return Compared(self.adjective(subject, section))

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
                clause.adjuncts.append(self.place())
            elif self._sociable(clause) and self.chance(0.25, 3):
                clause.adjuncts.append(Prepositional("with", self._company(clause.subject)))
        if frame in ("past", "present", "future") and self.chance(0.17, 2):
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

    # Relative clauses

    def add_relative(self, np: NounPhrase) -> None:
        """A relative clause on the noun: who, that, which, whose, where, with whom, about which."""
        section = np.noun.section
        person = np.noun.person
        kind = self.rng.random()
        frame = ("past", "present", "past")[int(self.rng.random() * 3)]
        if kind < 0.42 and (person or section == "animal"):
            word = "who" if person else "that"
            clause = self._relative_subject(np, frame)
        elif kind < 0.2:
            word, clause = ("that" if self.rng.random() < 0.6 else "which"), self._thing_as_subject(np, frame)
        elif section in ("place", "ground") and kind < 0.6:
            word, clause = "where", self._located_clause(frame)
        elif person and kind < 0.56:
            word, clause = self._relative_company(np, frame)
        elif kind < 0.64 and (person or section in ("place", "event", "abstract")):
            word, clause = self._relative_about(np, frame)
        elif person and kind < 0.72:
            word, clause = "whose", self._relative_owner(np)
        else:
            deck = verbs_by_object("person" if person else section)
            if not deck.entries:
                return
            verb = deck.draw(self.rng)
            word = "that" if self.rng.random() < 0.5 else "whom" if person else "which"
            subject = self._plain_subject()
            clause = Clause(subject, Action(verb, object=Gap(np)))
            self._colour(clause, frame)
        np.relative = Relative(word, clause)

    def _plain_subject(self) -> Nominal:
        """A subject for a clause inside a noun phrase: mostly short."""
        subject = self.subject(("person", "person", "profession"))
        barred = isinstance(subject, Pronoun) and subject.english in ("nobody", "everybody", "somebody")
        return Pronoun("she") if barred else subject

    def _relative_subject(self, np: NounPhrase, frame: str) -> Clause:
        gap = Gap(np)
        section = "animal" if np.noun.section == "animal" else "person"
        kind = _SMALL_KINDS.draw(self.rng)
        if kind in ("being", "thing"):
            clause = Clause(gap, Being(self._attribute(gap)))
        else:
            verb = verbs_by_subject(_TABLES[kind], section).draw(self.rng)
            clause = Clause(gap, self.action(kind, verb, gap, frame))
        self._colour(clause, frame)
        return clause

    def _thing_as_subject(self, np: NounPhrase, frame: str) -> Clause:
        gap = Gap(np)
        section = np.noun.section
        where = section in ("thing", "vehicle") and self.rng.random() < 0.5
        clause = Clause(gap, Being(self.place(plain=True) if where else self._said_of_thing(gap, section)))
        self._colour(clause, frame)
        return clause

    def _relative_company(self, np: NounPhrase, frame: str) -> tuple[str, Clause]:
        preposition = ("with", "to", "for")[int(self.rng.random() * 3)]
        verb = prepositional_verbs(preposition).draw(self.rng)
        while verb.french.infinitive == "appartenir":
            verb = prepositional_verbs(preposition).draw(self.rng)
        clause = Clause(self._plain_subject(), Action(verb, complement=Gap(np)))
        self._colour(clause, frame)
        return f"{preposition} whom", clause

    def _relative_about(self, np: NounPhrase, frame: str) -> tuple[str, Clause]:
        verb = next(v for v in verb_deck(verbs.PREPOSITIONAL).entries if v.french.infinitive == "parler")
        clause = Clause(self._plain_subject(), Action(verb, complement=Gap(np)))
        self._colour(clause, frame)
        return ("about whom" if np.noun.person else "about which"), clause

    def _relative_owner(self, np: NounPhrase) -> Clause:
        sections = ("person", "vehicle", "place", "animal")
        owned = NounPhrase(self.noun(sections), determiner="whose", plural=self.rng.random() < 0.15)
        clause = Clause(owned, Being(self._said_of_thing(owned, owned.noun.section)))
        self._colour(clause, "present" if self.rng.random() < 0.6 else "past")
        return clause


_DEGREES = "very=très; too=trop; quite=assez; really=vraiment; rather=plutôt; a little=un peu|0-0 1-1"
_THINGS = Weighted("thing 26, place 20, vehicle 12, abstract 16, text 12, clothes 8, event 6")
_ALIKE = {"person": ("person",), "profession": ("person",)}
_PASSIVE = frozenset(verbs.PASSIVE.split())
_DATIVE_SHIFT = frozenset(verbs.DATIVE_SHIFT.split())
_EXERTIONS = frozenset(verbs.EXERTIONS.split())
_TOGETHER = frozenset(verbs.TOGETHER.split())
_INWARD = frozenset(verbs.INWARD.split())
