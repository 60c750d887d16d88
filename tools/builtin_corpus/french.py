"""The French reading of a tree: clauses, verbs, and what stands around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .clitics import as_clitic, clitics, denying_object, is_nothing
from .conjugation import Conjugation, Six, conjugate
from .features import VOUS, Features, denies, features, idiom_words, is_gap, is_personal, is_state
from .french_nouns import FrenchNouns, pronoun_form
from .inflection import agree
from .syntax import (
    Action,
    Adjunct,
    Being,
    Clause,
    Command,
    Compared,
    Exclamation,
    Fixed,
    Fronted,
    Joined,
    Modal,
    Negation,
    NounPhrase,
    Predicate,
    Prepositional,
    Pronoun,
    Question,
    Relative,
    Sentence,
    Statement,
    Tense,
    There,
    This,
    Undergoing,
    WhereIs,
)
from .words import Tag, Word, doubtful

_JOINTS = {"and": "et", "but": "mais", "or": "ou", "so": "donc"}
_QUESTION_WORDS = {
    "where": "où", "when": "quand", "why": "pourquoi", "how": "comment", "what": "que", "if": "si",
    "whom": "qui", "who": "qui",
}  # fmt: skip

_COMPOUND = {
    "perfect": "present",
    "pluperfect": "imperfect",
    "future perfect": "future",
    "perfect subjunctive": "subjunctive",
}

# The French of a state, or of a modal verb, where it is not that of an event.
_OF_STATES = {
    Tense.PAST: "imperfect",
    Tense.PERFECT_SUBJUNCTIVE: "subjunctive",
    Tense.PERFECT: "perfect",
    Tense.WHEN_DONE: "future",
}


class Verbal(NamedTuple):
    """A French predicate taken apart: what the verb group is made of, and what follows it."""

    conjugation: Conjugation
    etre: bool
    clitics: list[Word]
    inner: list[Word]  # between the auxiliary and the participle
    agreement: tuple[bool, bool] | None  # of the participle: feminine, plural
    after: list[Word]


class French:
    """Reads one sentence in French; elision is left to the end, when the words stand side by side."""

    def __init__(self) -> None:
        self._nouns = FrenchNouns(self._relative)
        self.nominal = self._nouns.nominal

    def sentence(self, tree: Sentence) -> list[Word]:
        """The words of a whole sentence, with its last mark."""
        end = "."
        if isinstance(tree, Question | WhereIs):
            end = "?"
        elif isinstance(tree, Exclamation):
            end = "!"
        return [*self._body(tree), Word(end, ((tree, "end"),))]

    def _body(self, tree: Sentence) -> list[Word]:
        if isinstance(tree, Question):
            return self._question(tree)
        if isinstance(tree, WhereIs):
            return self._where_is(tree)
        if isinstance(tree, Command):
            return self._command(tree)
        if isinstance(tree, Exclamation):
            return self.nominal(tree.nominal)
        return self._statement(tree)

    def _statement(self, tree: Statement) -> list[Word]:
        if isinstance(tree, Joined):
            joint = [Word(",", ((tree, ","),)), Word(_JOINTS[tree.conjunction], ((tree, "and"),))]
            return [*self._statement(tree.first), *joint, *self._statement(tree.second)]
        if isinstance(tree, Fronted):
            return [*self._adjunct(tree.adjunct), Word(",", ((tree, ","),)), *self._statement(tree.statement)]
        if isinstance(tree, There):
            return self._there(tree)
        if isinstance(tree, This):
            be = "sont" if tree.nominal.plural else "est"
            words = [Word("ce", ((tree, "this"),)), Word(be, ((tree, "verb"),))]
            return [*words, *self.nominal(tree.nominal)]
        return self.clause(tree)

    # Clauses

    def clause(self, clause: Clause) -> list[Word]:
        """A clause in statement order, which French keeps in questions behind *est-ce que*."""
        agreeing = features(clause.subject)
        words = [*self.nominal(clause.subject), *self._verb_phrase(clause, clause.predicate, agreeing)]
        for i, predicate in enumerate(clause.more):
            joint = "et" if i == len(clause.more) - 1 else ","
            words.append(Word(joint, ((clause, i),)))
            words += self._verb_phrase(clause, predicate, agreeing)
        for adjunct in clause.adjuncts:
            words += self._adjunct(adjunct)
        return words

    def _verb_phrase(self, clause: Clause, predicate: Predicate, agreeing: Features) -> list[Word]:
        first = predicate is clause.predicate
        negation = clause.negation if first else None
        verbal = self._verbal(predicate, agreeing, negated=first and denies(clause))
        inner = verbal.inner
        if first and clause.adverb is not None:
            inner = [*idiom_words(clause.adverb, (clause, "adverb"), english=False), *inner]
        ne, pas = self._negation(clause, predicate, negation)
        verb, aux = (predicate, "verb"), (predicate, "aux")
        tense = clause.tense.french
        if clause.modal is not None:
            modal = (clause, "modal")
            helper = self._modal(clause.modal, clause.tense, agreeing, [*pas, *inner], modal)
            infinitive = Word(verbal.conjugation.infinitive, (verb,), (aux,))
            return [*ne, *helper, *verbal.clitics, infinitive, *verbal.after]
        if is_state(predicate):
            tense = _OF_STATES.get(clause.tense, tense)
        if tense == "near future":
            going = Word(conjugate("aller").present[agreeing.person], (aux,))
            infinitive = Word(verbal.conjugation.infinitive, (verb,))
            return [*ne, going, *pas, *inner, *verbal.clitics, infinitive, *verbal.after]
        if tense in _COMPOUND:
            helper_verb = conjugate("être" if verbal.etre else "avoir")
            helper_form = _forms(helper_verb, _COMPOUND[tense])[agreeing.person]
            participle = agree(verbal.conjugation.participle, *(verbal.agreement or (False, False)))
            return [
                *ne, *verbal.clitics, Word(helper_form, (aux,), (verb,)), *pas, *inner,
                Word(participle, (verb,), (aux,)), *verbal.after,
            ]  # fmt: skip
        form = _forms(verbal.conjugation, tense)[agreeing.person]
        return [*ne, *verbal.clitics, Word(form, (verb,), (aux,)), *pas, *inner, *verbal.after]

    def _modal(self, modal: Modal, tense: Tense, agreeing: Features, inner: Sequence[Word], tag: Tag) -> list[Word]:
        """The finite modal with what stands between it and its infinitive."""
        conjugation = conjugate(modal.value[1])
        french = tense.french
        if modal is Modal.SHOULD:
            french = "conditional"
        elif modal is Modal.CAN:
            french = _OF_STATES.get(tense, french)
        if french == "perfect":  # had to: a dû
            have = doubtful(conjugate("avoir").present[agreeing.person], tag)
            return [have, *inner, Word(conjugation.participle, (tag,))]
        return [Word(_forms(conjugation, french)[agreeing.person], (tag,)), *inner]

    def _negation(self, clause: Clause, predicate: Predicate, negation: Negation | None) -> tuple[list[Word], list[Word]]:
        """The two halves of a negation. Nobody and nothing deny a clause too, without *pas*."""
        if negation is not None:
            tag: Tag = (clause, "not")
            ne = Word("ne", (tag,)) if negation is Negation.NOT else doubtful("ne", tag)
            return [ne], [Word(negation.value[1], (tag,))]
        if isinstance(clause.subject, Pronoun) and clause.subject.english == "nobody":
            return [doubtful("ne", (clause.subject, "pronoun"))], []
        return denying_object(predicate)

    # Predicates

    def _verbal(self, predicate: Predicate, agreeing: Features, *, negated: bool = False) -> Verbal:
        feminine, plural = agreeing.feminine, agreeing.plural
        if isinstance(predicate, Being):
            return Verbal(conjugate("être"), False, [], [], None, self._complement(predicate, agreeing))
        if isinstance(predicate, Undergoing):
            participle = agree(predicate.verb.french.participle, feminine, plural)
            after = [Word(participle, ((predicate, "participle"),))]
            if predicate.agent is not None:
                by = [Word("par", ((predicate, "by"),))]
                after += self.nominal(predicate.agent, preposition=by)
            return Verbal(conjugate("être"), False, [], [], None, after)
        verb = predicate.verb
        agreement = (feminine, plural) if verb.etre else None
        moved = predicate.object
        if not verb.etre and moved is not None and (is_personal(moved) or is_gap(moved)):
            _, many, female = features(moved)
            agreement = (female, many)
        inner = []
        if predicate.inner_manner is not None:
            inner = idiom_words(predicate.inner_manner, (predicate, "inner"), english=False)
        after = self._after(predicate, agreeing, negated=negated)
        return Verbal(verb.french, verb.etre, clitics(predicate, agreeing), inner, agreement, after)

    def _after(self, action: Action, agreeing: Features, *, negated: bool) -> list[Word]:
        """All that follows the verb group."""
        verb = action.verb
        words = [
            Word(form, ((action, "lexical noun"), (action, "verb"))) if not verb.particle
            else Word(form, ((action, "lexical noun"),))
            for form in verb.noun
        ]  # fmt: skip
        if action.manner is not None:
            words += idiom_words(action.manner, (action, "manner"), english=False)
        if action.object is not None and not is_personal(action.object) and not is_nothing(action.object):
            words += self.nominal(action.object, negated=negated)
        if action.recipient is not None and not is_personal(action.recipient):
            to = Word("à", ((action, "to whom"),), () if not action.shifted else ((action, "verb"),))
            words += self.nominal(action.recipient, preposition=[to])
        if action.complement is not None and not self._complement_is_clitic(action):
            words += self.nominal(action.complement, preposition=self._preposition(action))
        if action.place is not None:
            words += self._nouns.prepositional(action.place)
        if action.infinitive is not None:
            to_tags: tuple[Tag, ...] = ((action, "to"),)
            words += [Word(form, to_tags) for form in verb.french_preposition]
            words += self._infinitive(action.infinitive, agreeing)
        if action.desired is not None:
            words += [Word("que", ((action.desired, "that"),)), *self.clause(action.desired)]
        if action.content is not None:
            words += self._content(action, action.content)
        return words

    def _content(self, action: Action, content: Clause) -> list[Word]:
        if action.question_word:
            form = _QUESTION_WORDS[action.question_word]
            return [Word(form, ((action, "question"),)), *self.clause(content)]
        tag: Tag = (content, "that")
        that = Word("que", (tag,)) if action.spoken_that else doubtful("que", (action, "verb"))
        return [that, *self.clause(content)]

    def _preposition(self, action: Action) -> list[Word]:
        """The preposition of a verb; without one in English it is owed to the verb."""
        tag: Tag = (action, "prep")
        french = action.verb.french_preposition
        if action.verb.english_preposition:
            return [Word(form, (tag,)) for form in french]
        return [doubtful(form, (action, "verb")) for form in french]

    def _complement_is_clitic(self, action: Action) -> bool:
        pronoun = action.complement
        if not isinstance(pronoun, Pronoun) or not is_personal(pronoun):
            return is_gap(pronoun)
        return pronoun.english == "it" or as_clitic(action)

    def _infinitive(self, predicate: Predicate, agreeing: Features) -> list[Word]:
        verbal = self._verbal(predicate, agreeing)
        infinitive = Word(verbal.conjugation.infinitive, ((predicate, "verb"),))
        ne, rien = denying_object(predicate)
        return [*ne, *rien, *verbal.inner, *verbal.clitics, infinitive, *verbal.after]

    def _complement(self, being: Being, agreeing: Features) -> list[Word]:
        """What follows *être*."""
        complement = being.complement
        if isinstance(complement, Compared):
            return self._nouns.compared(complement, agreeing.feminine, agreeing.plural)
        if isinstance(complement, Prepositional):
            return self._nouns.prepositional(complement)
        if isinstance(complement, NounPhrase):
            return self._profession(complement, agreeing) or self.nominal(complement)
        return self.nominal(complement)

    def _profession(self, np: NounPhrase, agreeing: Features) -> list[Word]:
        """Il est médecin, elle est actrice: a profession alone has no article."""
        plain = not any((np.before, np.after, np.relative, np.place, np.owner))
        if not (np.noun.as_woman and plain and np.determiner == "a"):
            return []
        form = np.noun.as_woman if agreeing.feminine else np.noun.french[0]
        return [Word(form, ((np, "noun"),), ((np, "det"),))]

    # Around the clause

    def _relative(self, relative: Relative) -> list[Word]:
        word, clause = relative.word, relative.clause
        tag: Tag = (relative, "word")
        if word == "whose":
            return [Word("dont", ((clause.subject, "det"),)), *self.clause(clause)]
        if is_gap(clause.subject):
            pronoun = ["qui"]
        elif word == "where":
            pronoun = ["où"]
        elif word in ("about whom", "about which", "of whom", "of which"):
            pronoun = ["dont"]
        elif word.endswith(" whom"):
            pronoun = [{"with": "avec", "to": "à", "for": "pour"}[word.split()[0]], "qui"]
        else:
            pronoun = ["que"]
        if len(pronoun) == 1:
            return [Word(pronoun[0], (tag,)), *self.clause(clause)]
        return [Word(pronoun[0], (tag,)), Word(pronoun[1], (tag,)), *self.clause(clause)]

    def _adjunct(self, adjunct: Adjunct) -> list[Word]:
        if isinstance(adjunct, Fixed):
            return idiom_words(adjunct, adjunct, english=False)
        if isinstance(adjunct, Prepositional):
            return self._nouns.prepositional(adjunct)
        words = [Word(form, ((adjunct, "conjunction"),)) for form in adjunct.conjunction.french]
        if isinstance(adjunct.clause, Fixed):
            return [*words, *idiom_words(adjunct.clause, adjunct.clause, english=False)]
        return [*words, *self.clause(adjunct.clause)]

    # Other sentences

    def _there(self, tree: There) -> list[Word]:
        there, verb = (tree, "there"), (tree, "verb")
        has = "avait" if tree.tense is Tense.PAST else "a"
        words = [Word("il", (there,)), Word("y", (there,)), Word(has, (verb,))]
        if tree.negated:
            not_tag: Tag = (tree, "not")
            words = [words[0], Word("ne", (not_tag,)), *words[1:], Word("pas", (not_tag,))]
        words += self.nominal(tree.nominal, negated=tree.negated)
        return words + (self._nouns.prepositional(tree.place) if tree.place else [])

    def _where_is(self, tree: WhereIs) -> list[Word]:
        where = Word("où", ((tree, "word"),))
        person = features(tree.nominal).person
        form = conjugate("être").present[person]
        verb: Tag = (tree, "verb")
        if isinstance(tree.nominal, Pronoun):
            return [where, Word(f"{form}-{pronoun_form(tree.nominal)}", (verb, (tree.nominal, "pronoun")))]
        return [where, Word(form, (verb,)), *self.nominal(tree.nominal)]

    def _question(self, tree: Question) -> list[Word]:
        if tree.word == "subject":
            return self.clause(tree.clause)
        opening: list[Word] = []
        if tree.asked is not None:
            opening = self.nominal(tree.asked)
        elif tree.word:
            opening = [Word(_QUESTION_WORDS[tree.word], ((tree, "word"),))]
        tag: Tag = (tree.clause, "question")
        return [*opening, doubtful("est-ce", tag), doubtful("que", tag), *self.clause(tree.clause)]

    def _command(self, tree: Command) -> list[Word]:
        command = Features(VOUS, False, False)
        verbal = self._verbal(tree.predicate, command, negated=tree.negated)
        verb = Word(verbal.conjugation.present[VOUS], ((tree.predicate, "verb"),))
        tag: Tag = (tree, "not")
        if tree.negated:
            ne, pas = Word("ne", (tag,)), Word("pas", (tag,))
            return [ne, *verbal.clitics, verb, pas, *verbal.inner, *verbal.after]
        return [verb, *verbal.inner, *verbal.after]


def _forms(conjugation: Conjugation, tense: str) -> Six:
    forms: Six = getattr(conjugation, tense)
    return forms
