"""The French reading of noun phrases and what goes with them: articles, adjectives, prepositions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .adverbials import NUMBERS, PREPOSITIONS
from .features import features, idiom_words
from .lexicon import Adjective, entries
from .sandhi import before_noun, contract
from .syntax import Compared, Coordination, Name, Nominal, NounPhrase, Prepositional, Pronoun, Relative
from .words import Word, doubtful

_NUMBERS = dict(entry.split("=") for entry in entries(NUMBERS))

# Determiners by [feminine + 2 * plural].
_DETERMINERS = {
    "the": ("le", "la", "les", "les"),
    "a": ("un", "une", "des", "des"),
    "some": ("un", "une", "des", "des"),
    "": ("un", "une", "des", "des"),
    "this": ("ce", "cette", "ces", "ces"),
    "my": ("mon", "ma", "mes", "mes"),
    "his": ("son", "sa", "ses", "ses"),
    "our": ("notre", "notre", "nos", "nos"),
    "your": ("votre", "votre", "vos", "vos"),
    "their": ("leur", "leur", "leurs", "leurs"),
    "each": ("chaque", "chaque", "", ""),
    "several": ("", "", "plusieurs", "plusieurs"),
    "which": ("quel", "quelle", "quels", "quelles"),
    "another": ("un autre", "une autre", "", ""),
    "all the": ("tout le", "toute la", "tous les", "toutes les"),
}
for _same, _as in {
    "that": "this", "these": "this", "those": "this", "her": "his", "its": "his", "every": "each",
    "what a": "which", "what": "which", "whose": "the",
}.items():  # fmt: skip
    _DETERMINERS[_same] = _DETERMINERS[_as]

# Quantities: a noun follows with bare `de`.
_QUANTITIES = {
    "many": "beaucoup de", "a lot of": "beaucoup de", "too many": "trop de", "too much": "trop de",
    "how many": "combien de", "few": "peu de", "enough": "assez de", "more": "plus de",
}  # fmt: skip

_DISJUNCTIVE = {"I": "moi", "you": "vous", "he": "lui", "she": "elle", "it": "lui", "we": "nous"}
_SUBJECTS = {
    "I": "je", "you": "vous", "he": "il", "she": "elle", "we": "nous", "who": "qui", "nobody": "personne",
    "everybody": "tout le monde", "somebody": "quelqu' un", "something": "quelque chose", "nothing": "rien",
}  # fmt: skip


def pronoun_form(pronoun: Pronoun) -> str:
    """The subject form of a pronoun."""
    if pronoun.english == "it":
        return "elle" if pronoun.feminine else "il"
    if pronoun.english == "they":
        return "elles" if pronoun.feminine else "ils"
    return _SUBJECTS[pronoun.english]


def disjunctive_form(pronoun: Pronoun) -> str:
    """The form of a pronoun after a preposition: avec moi, pour eux."""
    if pronoun.english == "they":
        return "elles" if pronoun.feminine else "eux"
    return _DISJUNCTIVE.get(pronoun.english) or _SUBJECTS[pronoun.english]


class FrenchNouns:
    """Reads noun phrases; `relative` reads the relative clauses that hang on them."""

    def __init__(self, relative: Callable[[Relative], list[Word]]) -> None:
        self._relative = relative

    def nominal(
        self,
        nominal: Nominal,
        *,
        preposition: Sequence[Word] = (),
        disjunctive: bool = False,
        negated: bool = False,
    ) -> list[Word]:
        """A noun phrase behind a preposition, if there is one; `negated` objects have *de* for *un*."""
        after_de = bool(preposition) and preposition[-1].form == "de"
        if isinstance(nominal, NounPhrase):
            words = self._noun_phrase(nominal, bare=after_de, negated=negated)
            if after_de:  # de stands for the article it swallows, too
                de = preposition[-1]
                de = de._replace(possible=(*de.possible, (nominal, "det")))
                swallowed = nominal.determiner == "some" and nominal.owner is None
                preposition = [*preposition[:-1], de] if swallowed else preposition
        elif isinstance(nominal, Pronoun):
            form = disjunctive_form(nominal) if preposition or disjunctive else pronoun_form(nominal)
            words = [Word(part, ((nominal, "pronoun"),)) for part in form.split()]
        elif isinstance(nominal, Name):
            same = len(nominal.english) == len(nominal.french)
            words = [Word(w, ((nominal, i if same else 0),)) for i, w in enumerate(nominal.french)]
        elif isinstance(nominal, Coordination):
            # French repeats à and de before every part: à Paul et à Marie.
            words = self.nominal(nominal.parts[0], preposition=preposition, negated=negated)
            repeated = preposition if preposition and preposition[-1].form in ("de", "à") else ()
            for i, part in enumerate(nominal.parts[1:], 1):
                joint = "et" if i == len(nominal.parts) - 1 else ","
                words.append(Word(joint, ((nominal, i),)))
                words += self.nominal(part, preposition=repeated[-1:], disjunctive=bool(preposition), negated=negated)
            return words
        else:
            return []
        return contract(preposition, words) if preposition else words

    def _noun_phrase(self, np: NounPhrase, *, bare: bool, negated: bool) -> list[Word]:
        _, plural, feminine = features(np)
        gender = feminine + 2 * plural
        head = self._determiner(np, bare=bare, negated=negated)
        if np.before is not None:
            superlative = np.superlative and np.after is None
            if np.very and np.after is None:
                head.append(Word("très", ((np, "very"),)))
            head += _adjective(np, "before", np.before, superlative)
        forms = np.noun.french_plural if plural else np.noun.french
        head.append(Word(forms[0], ((np, "noun"),)))
        if not plural:
            for i in range(len(head) - 2, -1, -1):
                head[i] = head[i]._replace(form=before_noun(head[i].form, head[i + 1].form))
        words = [*head, *(doubtful(form, (np, "noun")) for form in forms[1:])]
        if np.after is not None:
            if np.superlative:
                words.append(doubtful(_DETERMINERS["the"][gender], (np, "det"), (np, "most")))
            if np.very:
                words.append(Word("très", ((np, "very"),)))
            words += _adjective(np, "after", np.after, np.superlative)
        for modifier in (np.owner, np.of):
            if modifier is not None:
                words += self.nominal(modifier, preposition=[Word("de", ((np, "of"),))])
        if np.place is not None:
            words += self.prepositional(np.place)
        if np.relative is not None:
            words += self._relative(np.relative)
        return words

    def _determiner(self, np: NounPhrase, *, bare: bool, negated: bool) -> list[Word]:
        tag = (np, "det")
        _, plural, feminine = features(np)
        if np.owner is not None:
            return [doubtful(_DETERMINERS["the"][feminine + 2 * plural], tag)]
        english = np.determiner
        if english in _QUANTITIES:
            return [Word(form, (tag,)) for form in _QUANTITIES[english].split()]
        if english in _NUMBERS or english.isdigit():
            return [Word(_NUMBERS.get(english, english), (tag,))]
        if english in ("a", "some", ""):
            if negated:
                return [Word("de", (tag,))]
            if np.noun.mass or plural:
                if bare:
                    return []
                if plural:
                    return [Word("de" if np.before is not None else "des", (tag,))]
                article = Word("la" if feminine else "le", (tag,))
                return _partitive(article, tag, np, feminine)
        forms = _DETERMINERS[english][feminine + 2 * plural].split()
        if english == "whose":
            return [doubtful(forms[0], tag)]
        return [Word(form, (tag,)) for form in forms]

    def prepositional(self, phrase: Prepositional) -> list[Word]:
        """A preposition and its noun phrase; names of places have prepositions of their own."""
        english, nominal = phrase.preposition, phrase.nominal
        tag = (phrase, "prep")
        if english in ("at chez", "to chez"):
            return self.nominal(nominal, preposition=[Word("chez", (tag,))])
        if isinstance(nominal, Name) and (nominal.country or nominal.town):
            return [*_into_place(english, nominal, phrase), *self.nominal(nominal)]
        words = [Word(form, (tag,)) for form in PREPOSITIONS[english].split()]
        return self.nominal(nominal, preposition=words)

    def compared(self, said: Compared, feminine: bool, plural: bool) -> list[Word]:
        """An adjective after *être*, with its degree."""
        adjective = Word(said.adjective.agreeing(feminine, plural), ((said, "adjective"),))
        words = [adjective]
        if said.degree is not None:
            words = [*idiom_words(said.degree, (said, "degree"), english=False), adjective]
        if said.comparison:
            assert said.than is not None
            degree = (said, "comparison")
            if said.comparison == "more" and said.adjective.english in _BETTER:
                form = _agree_better(said.adjective, feminine, plural)
                words = [Word(form, ((said, "adjective"), degree))]
            else:
                much = {"more": "plus", "less": "moins", "as": "aussi"}[said.comparison]
                words = [Word(much, (degree,)), *words]
            than = Word("que", ((said, "than"),))
            words += [than, *self.nominal(said.than, disjunctive=True)]
        return words


_BETTER = {"good": "meilleur", "bad": "pire"}


def _agree_better(adjective: Adjective, feminine: bool, plural: bool) -> str:
    stem = _BETTER[adjective.english]
    return stem + ("e" if feminine and stem == "meilleur" else "") + ("s" if plural else "")


def _adjective(np: NounPhrase, role: str, adjective: Adjective, superlative: bool) -> list[Word]:
    _, plural, feminine = features(np)
    tag, most = (np, role), (np, "most")
    if superlative and adjective.english in _BETTER:
        return [Word(_agree_better(adjective, feminine, plural), (tag, most))]
    word = Word(adjective.agreeing(feminine, plural), (tag,))
    return [Word("plus", (most,)), word] if superlative else [word]


def _partitive(article: Word, tag: tuple[object, str], np: NounPhrase, feminine: bool) -> list[Word]:
    """Du pain, de la viande, de l'eau."""
    follower = np.before.agreeing(feminine, False) if np.before else np.noun.french[0]
    return contract([Word("de", (tag,))], [article, Word(follower, ())])[:-1]


def _into_place(english: str, name: Name, phrase: Prepositional) -> list[Word]:
    """The preposition, and for countries with an article what is left of it."""
    tag = (phrase, "prep")
    if name.country is None:
        return [Word(form, (tag,)) for form in {"in": "à", "to": "à", "at": "à", "from": "de"}.get(
            english, PREPOSITIONS[english]
        ).split()]  # fmt: skip
    form = name.country.into
    if english == "from":
        form = {"en": "de", "au": "du", "aux": "des"}[form]
    return [Word(form, (tag,), ((name, 0),))]
