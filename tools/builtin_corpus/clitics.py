"""The French pronouns that stand before the verb, and the words that deny it without *pas*."""

from __future__ import annotations

from .features import Features, features, is_personal
from .syntax import Action, Nominal, Predicate, Pronoun
from .words import Tag, Word, doubtful

_CLITICS = {"I": "me", "you": "vous", "we": "nous"}
_REFLEXIVE = ("me", "te", "se", "nous", "vous", "se")
# These keep the stressed pronoun: il pense à elle, not il lui pense.
_STRESSED = frozenset({"penser", "participer", "intéresser", "jouer"})


def clitics(action: Action, agreeing: Features) -> list[Word]:
    """The pronouns before the verb, in the order French keeps: me le, le lui, m'y, s'en."""
    ranked: list[tuple[int, Word]] = []
    if action.verb.reflexive:
        ranked.append((0, doubtful(_REFLEXIVE[agreeing.person], (action, "verb"))))
    if isinstance(action.object, Pronoun) and is_personal(action.object):
        form, rank = _direct(action.object)
        ranked.append((rank, Word(form, ((action.object, "pronoun"),))))
    if isinstance(action.recipient, Pronoun) and is_personal(action.recipient):
        form, rank = _indirect(action.recipient)
        ranked.append((rank, Word(form, ((action.recipient, "pronoun"),), ((action, "to whom"),))))
    if isinstance(action.complement, Pronoun) and is_personal(action.complement):
        pronoun = action.complement
        tag, helps = (pronoun, "pronoun"), (action, "prep")
        if as_clitic(action):
            form, rank = _indirect(pronoun)
            ranked.append((rank, Word(form, (tag,), (helps, (action, "verb")))))
        elif pronoun.english == "it":
            form, rank = ("y", 3) if action.verb.french_preposition == ("à",) else ("en", 4)
            ranked.append((rank, Word(form, (tag,), (helps,))))
    ranked.sort(key=lambda entry: entry[0])
    return [word for _, word in ranked]


def is_nothing(nominal: Nominal) -> bool:
    """Whether the object is *rien*, which stands among the pronouns."""
    return isinstance(nominal, Pronoun) and nominal.english == "nothing"


def denying_object(predicate: Predicate) -> tuple[list[Word], list[Word]]:
    """Ne ... rien and ne ... personne: the second of these stands where an object does."""
    if isinstance(predicate, Action) and isinstance(predicate.object, Pronoun):
        tag: Tag = (predicate.object, "pronoun")
        if predicate.object.english == "nothing":
            return [doubtful("ne", tag)], [Word("rien", (tag,))]
        if predicate.object.english == "nobody":
            return [doubtful("ne", tag)], []
    return [], []


def _direct(pronoun: Pronoun) -> tuple[str, int]:
    if pronoun.english in _CLITICS:
        return _CLITICS[pronoun.english], 0
    if pronoun.english == "they":
        return "les", 1
    return ("la" if features(pronoun).feminine else "le"), 1


def _indirect(pronoun: Pronoun) -> tuple[str, int]:
    if pronoun.english in _CLITICS:
        return _CLITICS[pronoun.english], 0
    return ("leur" if pronoun.english == "they" else "lui"), 2


def as_clitic(action: Action) -> bool:
    """Whether a pronoun behind the verb's *à* becomes lui or leur."""
    verb = action.verb
    return (
        verb.french_preposition == ("à",)
        and not verb.reflexive
        and verb.french.infinitive not in _STRESSED
        and isinstance(action.complement, Pronoun)
        and action.complement.english != "it"
    )
