"""Drawing relative clauses: who, that, whom, which, whose, where, with whom, about which."""

from __future__ import annotations

from functools import cache

from . import verbs
from .clauses import SMALL_KINDS, TABLES, Clauses, verbs_by_object, verbs_by_subject
from .lexicon import Deck, Verb
from .lexicon import verbs as verb_deck
from .syntax import Action, Being, Clause, Gap, Nominal, NounPhrase, Pronoun, Relative


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


class Relatives(Clauses):
    """Draws relative clauses."""

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
        kind = SMALL_KINDS.draw(self.rng)
        if kind in ("being", "thing"):
            clause = Clause(gap, Being(self._attribute(gap)))
        else:
            verb = verbs_by_subject(TABLES[kind], section).draw(self.rng)
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
