"""Drawing whole sentences at random."""

from __future__ import annotations

from . import adverbials, verbs
from .clauses import FRAMES, verbs_by_object
from .features import is_state, section_of
from .lexicon import Conjunction, idioms
from .lexicon import verbs as verb_deck
from .phrases import Weighted
from .relatives import Relatives
from .syntax import (
    Action,
    Being,
    Clause,
    Command,
    Exclamation,
    Fixed,
    Fronted,
    Gap,
    Joined,
    Modal,
    Negation,
    Nominal,
    NounPhrase,
    Prepositional,
    Pronoun,
    Question,
    Sentence,
    Statement,
    Subordinate,
    Tense,
    There,
    This,
    WhereIs,
)

_SHAPES = Weighted("statement 83, question 9, command 4, exclamation 2, where 1, this 2")
_THIS = Weighted("this 3, that 2, these 1, those 1")
_QUESTIONS = Weighted("yes 38, when 8, why 11, how 7, where 10, what 9, whom 5, which 6, subject 9")


class Grammar(Relatives):
    """Draws sentences, from three words to about sixty."""

    def sentence(self) -> Sentence:
        """One sentence."""
        rng = self.rng
        self.room = rng.gammavariate(2.3, 7.8)
        if rng.random() < 0.05:
            self.room = rng.uniform(40, 75)
        shape = _SHAPES.draw(rng) if self.room < 24 else "statement"
        if shape == "question":
            return self._question()
        if shape == "command":
            return self._command()
        if shape == "exclamation":
            return self._exclamation()
        if shape == "where":
            if rng.random() < 0.35:
                return WhereIs(Pronoun(("he", "she", "it", "they")[int(rng.random() * 4)]))
            return WhereIs(self.noun_phrase(("place", "person", "vehicle", "thing"), subject=True, definite=True))
        if shape == "this":
            return self._this()
        return self.statement()

    # Statements

    def statement(self) -> Statement:
        """A clause, or several, as there is room."""
        rng = self.rng
        if self.room > 15 and rng.random() < (0.42 if self.room < 30 else 0.7):
            return self._joined()
        if self.chance(0.055, 2):
            front = idioms(adverbials.SENTENCE).draw(rng)
            return Fronted(Fixed(front), self._core())
        if self.room < 20 and rng.random() < 0.05:
            return self._there()
        return self._core()

    def _joined(self) -> Joined:
        """Two statements, sharing the room between them."""
        share = self.room * self.rng.uniform(0.35, 0.65)
        rest = self.room - share
        self.room = share - 2
        first = self.statement() if share > 15 else self._core()
        self.room = rest
        second = self.statement() if rest > 15 else self._core()
        conjunction = ("and", "but", "and", "so")[int(self.rng.random() * 4)]
        return Joined(first, conjunction, second)

    def _core(self) -> Statement:
        """One clause with its frame, perhaps with a subordinate clause or a date in front or behind."""
        rng = self.rng
        frame = FRAMES.draw(rng)
        if self.chance(0.2, 6):
            return self._with_subordinate(frame)
        if self.chance(0.07, 3):
            when = self.time(frame)
            clause = self._open_clause(frame)
            _date(clause)
            clause.adjuncts = [adjunct for adjunct in clause.adjuncts if not isinstance(adjunct, Fixed)]
            return Fronted(when, clause)
        return self._open_clause(frame)

    def _open_clause(self, frame: str) -> Clause:
        """A main clause; with room to spare its subject may do a second thing, and a third."""
        clause = self.clause(frame)
        plain = clause.negation is None and clause.modal is None and not isinstance(clause.predicate, Being)
        shareable = clause.tense in (Tense.PRESENT, Tense.PAST, Tense.FUTURE)
        action = clause.predicate
        if not (plain and shareable and isinstance(action, Action)) or clause.adjuncts:
            return clause
        if action.verb.english.base == "be" or (action.content or action.desired) is not None:
            return clause
        if section_of(clause.subject) not in ("person", "profession"):
            return clause
        for _ in range(2):
            if len(clause.more) == 1 and self.rng.random() < 0.6:
                break
            if not self.chance(0.1, 4):
                break
            clause.more.append(self._another(clause, frame))
        return clause

    def _another(self, clause: Clause, frame: str) -> Action:
        """A second predicate that shares the tense of the first."""
        while True:
            predicate = self._short_action(clause.subject, frame)
            nothing = _names_nobody(predicate.object)
            shows_tense = clause.tense is not Tense.PAST or predicate.verb.english.past != predicate.verb.english.base
            alike = clause.tense is not Tense.PAST or is_state(predicate) == is_state(clause.predicate)
            said = [clause.predicate, *clause.more]
            repeated = any(isinstance(done, Action) and done.verb is predicate.verb for done in said)
            if not nothing and not repeated and shows_tense and alike:
                return predicate

    def _with_subordinate(self, frame: str) -> Statement:
        """A main clause and a subordinate one, in either order."""
        conjunction = self.lexicon.conjunctions.draw(self.rng)
        if conjunction.mood == "c":
            frame = "future" if self.rng.random() < 0.6 else "conditional"
        share = self.room
        self.room = share * 0.5
        front = self.rng.random() < 0.4 and conjunction.english[0] not in ("because", "until", "so")
        if front:
            subordinate = self._subordinate(conjunction, frame)
            self.room += share * 0.5
            return Fronted(subordinate, self._main(frame))
        clause = self._main(frame)
        self.room += share * 0.5
        clause.adjuncts.append(self._subordinate(conjunction, frame))
        return clause

    def _main(self, frame: str) -> Clause:
        """A main clause that leaves no doubt about where a subordinate clause belongs."""
        while True:
            clause = self.clause(frame)
            _date(clause)
            predicate = clause.predicate
            if not (isinstance(predicate, Action) and (predicate.content or predicate.desired) is not None):
                return clause

    def _subordinate(self, conjunction: Conjunction, frame: str) -> Subordinate:
        word = conjunction.english[0]
        if word in ("because", "when", "while") and frame in ("past", "present") and self.rng.random() < 0.08:
            return Subordinate(conjunction, Fixed(idioms(adverbials.WEATHER[frame]).draw(self.rng)))
        if conjunction.mood == "c":
            return Subordinate(conjunction, self._condition(frame))
        inner = frame if frame in ("past", "present") else "present"
        if conjunction.mood == "i" and word == "while" and inner == "past":
            inner = "background"
        clause = self.clause(inner, simple=self.room < 8)
        while not _suits(clause, word):
            clause = self.clause(inner, simple=self.room < 8)
        if conjunction.mood in "sf":
            self._subordinate_tense(clause, conjunction, frame)
        return Subordinate(conjunction, clause)

    def _subordinate_tense(self, clause: Clause, conjunction: Conjunction, frame: str) -> None:
        """Give a clause the tense its conjunction asks for."""
        word = conjunction.english[0]
        clause.adverb = None
        clause.adjuncts = [adjunct for adjunct in clause.adjuncts if isinstance(adjunct, Prepositional)]
        if clause.modal is not None:
            clause.modal = Modal.CAN
        elif clause.negation is Negation.NO_LONGER:
            clause.negation = None
        if word == "after":
            clause.tense = {"past": Tense.PLUPERFECT, "future": Tense.WHEN_DONE}.get(frame, Tense.PERFECT)
        elif conjunction.mood == "f":
            clause.tense = {"past": Tense.PAST, "future": Tense.WHEN_FUTURE}.get(frame, Tense.PRESENT)
        elif frame != "past":
            clause.tense = Tense.SUBJUNCTIVE
        elif word == "although":
            clause.tense = Tense.PERFECT_SUBJUNCTIVE
        else:
            clause.tense = Tense.PAST_SUBJUNCTIVE
        if word == "so":
            clause.modal = Modal.CAN
        self._show_past(clause)

    def _condition(self, frame: str) -> Clause:
        clause = self.clause("present", simple=self.room < 8)
        clause.adverb = None
        clause.adjuncts = [adjunct for adjunct in clause.adjuncts if isinstance(adjunct, Prepositional)]
        clause.modal = None
        clause.tense = Tense.IF_PAST if frame == "conditional" else Tense.PRESENT
        self._show_past(clause)
        return clause

    def _show_past(self, clause: Clause) -> None:
        """A past that looks like a present is denied with *did*, which does not."""
        predicate = clause.predicate
        if isinstance(predicate, Action) and clause.modal is None:
            forms = predicate.verb.english
            if forms.past == forms.base and clause.negation is None:
                predicate.verb = next(v for v in verb_deck(verbs.TRANSITIVE).entries if v.english.base == "buy")

    def _there(self) -> There:
        rng = self.rng
        np = self.noun_phrase(("person", "thing", "animal", "vehicle", "food", "dish"))
        negated = rng.random() < 0.2
        if negated:
            np.determiner = ""
            np.superlative = False
        elif np.noun.mass:
            np.determiner = "some"
        elif np.plural:
            if np.determiner in _DEFINITE_DETERMINERS:
                np.determiner = "some"
        else:
            np.determiner = "a"
        np.superlative = False
        np.owner = None
        if np.before in self.lexicon.order:
            np.before = None
        place = self.place() if np.relative is None and np.place is None else None
        return There(np, Tense.PAST if rng.random() < 0.4 else Tense.PRESENT, negated, place)

    def _this(self) -> This:
        pronoun = _THIS.draw(self.rng)
        np = self.noun_phrase(("person", "thing", "place", "vehicle", "text", "clothes"))
        np.plural = pronoun in ("these", "those")
        if np.determiner not in ("my", "his", "her", "our", "your", "their"):
            np.determiner = "the" if np.plural or np.superlative or np.before in self.lexicon.order else "a"
        if np.owner is not None:
            np.determiner = "the"
        return This(pronoun, np)

    # Questions, commands, exclamations

    def _question(self) -> Question:
        rng = self.rng
        kind = _QUESTIONS.draw(rng)
        frame = FRAMES.draw(rng)
        if kind == "where":
            return Question(self._plain(self._located_clause(frame)), "where")
        if kind in ("what", "whom", "which"):
            return self._question_of_object(kind, frame)
        if kind == "subject":
            who = Pronoun("who")
            action = self._short_action(who, frame)
            while _names_nobody(action.object):
                action = self._short_action(who, frame)
            clause = Clause(who, action)
            clause.tense = self.tense(clause.predicate, frame, who)
            return Question(clause, "subject")
        clause = self._plain(self.clause(frame, simple=True))
        while not _askable(clause, kind):
            clause = self._plain(self.clause(frame, simple=True))
        return Question(clause, "" if kind == "yes" else kind)

    def _question_of_object(self, kind: str, frame: str) -> Question:
        section = {"what": "thing", "whom": "person"}.get(kind) or _ASKED.draw(self.rng)
        verb = verbs_by_object(section).draw(self.rng)
        asked = None
        of: NounPhrase | Pronoun = Pronoun("something" if kind == "what" else "somebody")
        if kind == "which":
            asked = self.noun_phrase((section,), plain=True)
            asked.superlative = asked.very = False
            asked.plural = self.rng.random() < 0.5 and not asked.noun.mass
            asked.determiner = "how many" if asked.plural and self.rng.random() < 0.7 else "which"
            if asked.before in self.lexicon.order:
                asked.before = None
            of = asked
        clause = Clause(self._plain_subject(), Action(verb, object=Gap(of)))
        clause.tense = self.tense(clause.predicate, frame, clause.subject)
        self._plain(clause)
        return Question(clause, "" if asked else kind, asked)

    def _plain(self, clause: Clause) -> Clause:
        """The clause without what English cannot say, or not without ambiguity, before the subject."""
        clause.negation = clause.adverb = None
        if clause.tense is Tense.USED_TO:
            clause.tense = Tense.PAST
        if clause.modal is Modal.MUST or (clause.modal and clause.tense is Tense.FUTURE):
            clause.modal = Modal.SHOULD if clause.tense is Tense.PRESENT else None
        if clause.modal is Modal.SHOULD:
            clause.tense = Tense.PRESENT
        return clause

    def _command(self) -> Command:
        deck = verb_deck(verbs.TRANSITIVE if self.rng.random() < 0.75 else verbs.GIVING)
        verb = deck.draw(self.rng)
        while verb.state or verb.english.base in ("hear", "lose", "find", "meet", "receive", "recognize"):
            verb = deck.draw(self.rng)
        action = Action(verb)
        section = verb.objects[int(self.rng.random() * len(verb.objects))]
        action.object = self.nominal((section,), single=True)
        if deck is verb_deck(verbs.GIVING):
            action.recipient = self.nominal(("person", "profession"), single=True)
        negated = self.rng.random() < 0.25
        return Command(action, negated, self.rng.random() < 0.6)

    def _exclamation(self) -> Exclamation:
        np = self.noun_phrase(("thing", "person", "place", "vehicle", "animal", "clothes"), plain=True)
        while np.before is None and np.after is None:
            self._describe(np)
        if np.before in self.lexicon.order:
            np.before = None
            np.after = self.lexicon.after_persons.draw(self.rng)
        np.superlative = np.very = False
        np.determiner = "what" if np.plural else "what a"
        return Exclamation(np)


_ASKED = Weighted("person 2, thing 3, place 1, text 2, clothes 1, food 2, vehicle 1")
_DEFINITE_DETERMINERS = frozenset({"the", "my", "his", "her", "our", "your", "their", "these", "those", "all the", ""})


def _names_nobody(nominal: Nominal | None) -> bool:
    return isinstance(nominal, Pronoun) and nominal.english in ("nobody", "nothing")


def _askable(clause: Clause, kind: str) -> bool:
    """Whether one would ask this, with this question word."""
    predicate = clause.predicate
    if isinstance(predicate, Being) and kind in ("when", "how"):
        return False
    found = predicate.object if isinstance(predicate, Action) else None
    return not (_names_nobody(clause.subject) or _names_nobody(found))


def _looks_present(clause: Clause) -> bool:
    """Whether the English past of the verb is spelled like its present: read, cut."""
    forms = clause.predicate.verb.english if isinstance(clause.predicate, Action) else None
    return forms is not None and forms.past == forms.base


def _date(clause: Clause) -> None:
    """Give a clause that says when it happened the simple past: English has no dates with the perfect."""
    if clause.tense is Tense.PERFECT and not _looks_present(clause):
        clause.tense = Tense.PAST


def _suits(clause: Clause, conjunction: str) -> bool:
    """Whether the clause can stand behind the conjunction.

    Events come after, and as soon as, events; what goes on while something else does takes time; a purpose is
    something one can do.
    """
    predicate = clause.predicate
    if conjunction in ("after", "as"):
        return not is_state(predicate) and clause.modal is None
    if conjunction == "while":
        return not (isinstance(predicate, Action) and predicate.verb.moment)
    if conjunction == "so":
        return isinstance(predicate, Action) and predicate.verb.english.base not in ("be", "belong", "have")
    return True
