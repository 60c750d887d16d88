"""The English reading of a tree."""

from __future__ import annotations

from collections.abc import Sequence

from .english_verbs import chain, deny, is_past, modal_auxiliaries, verb_forms
from .features import IL, JE, PERSONAL, Features, denies, features, idiom_words, is_gap, section_of
from .inflection import an
from .nouns import PERSONS
from .syntax import (
    Adjunct,
    Being,
    Clause,
    Command,
    Compared,
    Coordination,
    Exclamation,
    Fixed,
    Fronted,
    Joined,
    Name,
    Negation,
    Nominal,
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

_OBJECT_FORMS = {"I": "me", "he": "him", "she": "her", "we": "us", "they": "them"}

_SHORT = {"am": "'m", "is": "'s", "are": "'re", "will": "'ll"}


class English:
    """Reads one sentence, left to right, and settles on the way what each *it* and *they* stands for."""

    def __init__(self) -> None:
        self._thing = False  # whether the last thing named is feminine in French
        self._things = False  # the same of the last several things
        self._persons: bool | None = None  # and of the last several persons, whom *they* rather stands for

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
            be = self._be(tree.nominal)
            return [Word("where", ((tree, "word"),)), Word(be, ((tree, "verb"),)), *self.nominal(tree.nominal)]
        if isinstance(tree, Command):
            return self._command(tree)
        if isinstance(tree, Exclamation):
            return self.nominal(tree.nominal)
        return self._statement(tree)

    def _statement(self, tree: Statement) -> list[Word]:
        if isinstance(tree, Joined):
            first = self._statement(tree.first)
            joint = [Word(",", ((tree, ","),)), Word(tree.conjunction, ((tree, "and"),))]
            return [*first, *joint, *self._statement(tree.second)]
        if isinstance(tree, Fronted):
            return [*self._adjunct(tree.adjunct), Word(",", ((tree, ","),)), *self._statement(tree.statement)]
        if isinstance(tree, There):
            return self._there(tree)
        if isinstance(tree, This):
            be = "are" if tree.nominal.plural else "is"
            words = [Word(tree.pronoun, ((tree, "this"),)), Word(be, ((tree, "verb"),))]
            return [*words, *self.nominal(tree.nominal)]
        return self.clause(tree)

    # Noun phrases

    def nominal(self, nominal: Nominal, *, as_object: bool = False, negated: bool = False) -> list[Word]:
        """A noun phrase of any kind; `negated` objects have *any* for *some*."""
        if isinstance(nominal, NounPhrase):
            return self._noun_phrase(nominal, negated)
        if isinstance(nominal, Pronoun):
            if nominal.english == "it":
                nominal.feminine = self._thing
            elif nominal.english == "they":
                nominal.feminine = self._things if self._persons is None else self._persons
            form = _OBJECT_FORMS.get(nominal.english, nominal.english) if as_object else nominal.english
            return [Word(form, ((nominal, "pronoun"),))]
        if isinstance(nominal, Name):
            same = len(nominal.english) == len(nominal.french)
            return [Word(w, ((nominal, i if same else 0),)) for i, w in enumerate(nominal.english)]
        if isinstance(nominal, Coordination):
            words = self.nominal(nominal.parts[0])
            for i, part in enumerate(nominal.parts[1:], 1):
                joint = "and" if i == len(nominal.parts) - 1 else ","
                words += [Word(joint, ((nominal, i),)), *self.nominal(part)]
            self._name_several(nominal, section_of(nominal) in PERSONS)
            return words
        return []

    def _noun_phrase(self, np: NounPhrase, negated: bool) -> list[Word]:
        words: list[Word] = []
        if np.owner is not None:
            words += [*self.nominal(np.owner), Word("'s", ((np, "of"),), ((np, "det"),))]
        elif np.determiner:
            determiner = "any" if negated and np.determiner == "some" else np.determiner
            words += [Word(form, ((np, "det"),)) for form in determiner.split()]
        if np.very:
            words.append(Word("very", ((np, "very"),)))
        for role, adjective in (("before", np.before), ("after", np.after)):
            if adjective is None:
                continue
            tag = (np, role)
            if not np.superlative:
                words.append(Word(adjective.english, (tag,)))
            elif adjective.superlative:
                words.append(Word(adjective.superlative, (tag, (np, "most"))))
            else:
                words += [Word("most", ((np, "most"),)), Word(adjective.english, (tag,))]
        forms = np.noun.english_plural if np.plural else np.noun.english
        last = len(forms) - 1
        # Where English has no article of its own, the French one is owed to the noun.
        implied = ((np, "det"),) if np.owner is not None or not np.determiner else ()
        words += [
            Word(form, ((np, "noun"),), implied) if i == last else doubtful(form, (np, "noun"))
            for i, form in enumerate(forms)
        ]
        if np.owner is None and np.determiner.endswith("a"):
            i = next(i for i, word in enumerate(words) if word.form == "a")
            if an(words[i + 1].form):
                words[i] = words[i]._replace(form="an")
        if np.plural:
            self._name_several(np, np.noun.person)
        elif not np.noun.person:
            self._thing = np.noun.feminine
        if np.of is not None:
            words += [Word("of", ((np, "of"),)), *self.nominal(np.of)]
        if np.place is not None:
            words += self._prepositional(np.place)
        if np.relative is not None:
            words += self._relative(np.relative)
        return words

    def _name_several(self, nominal: Nominal, persons: bool) -> None:
        if persons:
            self._persons = features(nominal).feminine
        else:
            self._things = features(nominal).feminine

    def _relative(self, relative: Relative) -> list[Word]:
        if relative.word == "whose":
            return self.clause(relative.clause)
        return [*(Word(w, ((relative, "word"),)) for w in relative.word.split()), *self.clause(relative.clause)]

    def _prepositional(self, phrase: Prepositional) -> list[Word]:
        if phrase.preposition in ("at chez", "to chez"):
            house = [doubtful("'s", (phrase, "prep")), doubtful("house", (phrase, "prep"))]
            return [Word(phrase.preposition[:2], ((phrase, "prep"),)), *self.nominal(phrase.nominal), *house]
        # "walks to the station" goes as far as it: French tells the two apart.
        english = "to" if phrase.preposition == "as far as" else phrase.preposition
        words = [Word(form, ((phrase, "prep"),)) for form in english.split()]
        return [*words, *self.nominal(phrase.nominal, as_object=True)]

    # Clauses

    def clause(self, clause: Clause, *, inverted: bool = False, opening: Sequence[Word] = ()) -> list[Word]:
        """A clause; in questions `opening` comes first and the finite verb before the subject."""
        subject = self.nominal(clause.subject)
        agreeing = features(clause.subject)
        group = self._verb_group(clause, agreeing, inverted)
        if inverted:
            question = group[0]._replace(possible=(*group[0].possible, (clause, "question")))
            words = [*opening, question, *subject, *group[1:]]
        else:
            words = [*opening, *subject, *self._shortened(clause, group)]
        words += self._complements(clause.predicate, negated=denies(clause))
        for i, predicate in enumerate(clause.more):
            joint = "and" if i == len(clause.more) - 1 else ","
            words.append(Word(joint, ((clause, i),)))
            tense = clause.tense
            _, main = chain(Tense.FUTURE if tense is Tense.FUTURE else tense, verb_forms(predicate), agreeing.person)
            words += [*self._main(predicate, main), *self._complements(predicate)]
        for adjunct in clause.adjuncts:
            words += self._adjunct(adjunct)
        return words

    def _verb_group(self, clause: Clause, agreeing: Features, inverted: bool) -> list[Word]:
        """The verb with its auxiliaries, negation and adverb, the finite word first."""
        predicate = clause.predicate
        verb = verb_forms(predicate)
        auxiliaries, main = chain(clause.tense, verb, agreeing.person)
        aux_tag: Tag = (predicate, "aux")
        if clause.modal is not None:
            auxiliaries, main = modal_auxiliaries(clause.modal, clause.tense), verb.base
            aux_tag = (clause, "modal")
        support = False
        if not auxiliaries and verb.base != "be" and (clause.negation is Negation.NOT or inverted):
            support = True
            auxiliaries = ["did" if main == verb.past and is_past(clause.tense) else "do"]
            if auxiliaries == ["do"] and agreeing.person == IL:
                auxiliaries = ["does"]
            main = verb.base
        helps_little = clause.tense in (Tense.PROGRESSIVE, Tense.WAS_DOING) and clause.modal is None
        words = []
        for form in auxiliaries:
            if support:
                words.append(doubtful(form, (predicate, "verb"), (predicate, "aux"), (clause, "not")))
            elif helps_little or form == "to" or (len(auxiliaries) > 1 and form in ("am", "is", "are", "will")):
                words.append(doubtful(form, aux_tag, (predicate, "aux")))
            else:
                words.append(Word(form, (aux_tag,)))
        words += self._main(predicate, main)
        if clause.negation is not None:
            words = deny(words, clause, has_finite_first=bool(auxiliaries) or verb.base == "be")
        if clause.adverb is not None:
            after = 1 if auxiliaries or verb.base == "be" else 0
            if clause.negation is Negation.NOT:
                after += words[0].form != "cannot"
            words[after:after] = idiom_words(clause.adverb, (clause, "adverb"), english=True)
        return words

    def _main(self, predicate: Predicate, form: str) -> list[Word]:
        """The lexical verb in the form given, with its particle or, in the passive, its participle."""
        if isinstance(predicate, Being):
            return [Word(form, ((predicate, "verb"),))]
        if isinstance(predicate, Undergoing):
            participle = Word(predicate.verb.english.participle, ((predicate, "participle"),))
            return [Word(form, ((predicate, "verb"),), ((predicate, "aux"),)), participle]
        words = [Word(form, ((predicate, "verb"),))]
        for particle in predicate.verb.particle:
            if predicate.verb.noun:
                words.append(Word(particle, ((predicate, "lexical noun"),)))
            elif particle in ("for", "at", "to", "a"):
                words.append(doubtful(particle, (predicate, "verb")))
            else:
                words.append(Word(particle, ((predicate, "verb"),)))
        return words

    def _shortened(self, clause: Clause, group: list[Word]) -> list[Word]:
        """The verb group with its first word leaning on the pronoun before it: he 's, they 'll."""
        subject = clause.subject
        if not clause.contracted or not isinstance(subject, Pronoun) or subject.english not in PERSONAL:
            return group
        short = _SHORT.get(group[0].form)
        return [group[0]._replace(form=short), *group[1:]] if short else group

    def _complements(self, predicate: Predicate, *, negated: bool = False) -> list[Word]:
        if isinstance(predicate, Being):
            return self._complement(predicate.complement)
        if isinstance(predicate, Undergoing):
            if predicate.agent is None:
                return []
            return [Word("by", ((predicate, "by"),)), *self.nominal(predicate.agent, as_object=True)]
        words: list[Word] = []
        if predicate.recipient is not None and predicate.shifted:
            words += self.nominal(predicate.recipient, as_object=True)
        if predicate.object is not None:
            words += self.nominal(predicate.object, as_object=True, negated=negated)
        if predicate.recipient is not None and not predicate.shifted and not is_gap(predicate.recipient):
            words.append(Word("to", ((predicate, "to whom"),)))
            words += self.nominal(predicate.recipient, as_object=True)
        if predicate.complement is not None and not is_gap(predicate.complement):
            words += [Word(form, ((predicate, "prep"),)) for form in predicate.verb.english_preposition]
            words += self.nominal(predicate.complement, as_object=True, negated=negated)
        if predicate.place is not None:
            words += self._prepositional(predicate.place)
        for manner, role in ((predicate.manner, "manner"), (predicate.inner_manner, "inner")):
            if manner is not None:
                words += idiom_words(manner, (predicate, role), english=True)
        if predicate.infinitive is not None:
            words += [Word("to", ((predicate, "to"),), ((predicate.infinitive, "verb"),))]
            words += self._infinitive(predicate.infinitive)
        if predicate.desired is not None:
            wished = predicate.desired
            words += [*self.nominal(wished.subject, as_object=True), Word("to", ((wished, "that"),))]
            words += self._infinitive(wished.predicate)
        if predicate.content is not None:
            if predicate.question_word:
                words.append(Word(predicate.question_word, ((predicate, "question"),)))
            elif predicate.spoken_that:
                words.append(Word("that", ((predicate.content, "that"),)))
            words += self.clause(predicate.content)
        return words

    def _infinitive(self, predicate: Predicate) -> list[Word]:
        return [*self._main(predicate, verb_forms(predicate).base), *self._complements(predicate)]

    def _complement(self, complement: Compared | Nominal | Prepositional) -> list[Word]:
        """What follows *be*."""
        if isinstance(complement, Compared):
            return self._compared(complement)
        if isinstance(complement, Prepositional):
            return self._prepositional(complement)
        return self.nominal(complement, as_object=True)

    def _compared(self, said: Compared) -> list[Word]:
        adjective = said.adjective
        words = [Word(adjective.english, ((said, "adjective"),))]
        if said.degree is not None:
            words = [*idiom_words(said.degree, (said, "degree"), english=True), *words]
        if not said.comparison:
            return words
        assert said.than is not None
        degree, than = (said, "comparison"), Word("than", ((said, "than"),))
        if said.comparison == "more" and adjective.comparative:
            words = [Word(adjective.comparative, ((said, "adjective"), degree))]
        else:
            words = [Word(said.comparison, (degree,)), *words]
        if said.comparison == "as":
            than = than._replace(form="as")
        return [*words, than, *self.nominal(said.than, as_object=True)]

    def _adjunct(self, adjunct: Adjunct) -> list[Word]:
        if isinstance(adjunct, Fixed):
            return idiom_words(adjunct, adjunct, english=True)
        if isinstance(adjunct, Prepositional):
            return self._prepositional(adjunct)
        words = [Word(form, ((adjunct, "conjunction"),)) for form in adjunct.conjunction.english]
        if isinstance(adjunct.clause, Fixed):
            return [*words, *idiom_words(adjunct.clause, adjunct.clause, english=True)]
        return [*words, *self.clause(adjunct.clause)]

    # Other sentences

    def _be(self, nominal: Nominal) -> str:
        person = features(nominal).person
        return {JE: "am", IL: "is"}.get(person, "are")

    def _there(self, tree: There) -> list[Word]:
        plural, past = tree.nominal.plural, tree.tense is Tense.PAST
        be = ("were" if past else "are") if plural else ("was" if past else "is")
        words = [Word("there", ((tree, "there"),)), Word(be, ((tree, "verb"),))]
        nominal = self.nominal(tree.nominal)
        if tree.negated:
            words.append(Word("no", ((tree, "not"),), ((tree.nominal, "det"),)))
        words += nominal
        return words + (self._prepositional(tree.place) if tree.place else [])

    def _question(self, tree: Question) -> list[Word]:
        if tree.word == "subject":
            return self.clause(tree.clause)
        opening = []
        if tree.asked is not None:
            opening = self.nominal(tree.asked)
        elif tree.word:
            opening = [Word("who" if tree.word == "whom" else tree.word, ((tree, "word"),))]
        return self.clause(tree.clause, inverted=True, opening=opening)

    def _command(self, tree: Command) -> list[Word]:
        words = [*self._infinitive(tree.predicate)]
        if tree.negated:
            tag = (tree, "not")
            do, no = ("don", "'t") if tree.contracted else ("do", "not")
            words = [doubtful(do, tag, (tree.predicate, "verb")), Word(no, (tag,)), *words]
        return words
