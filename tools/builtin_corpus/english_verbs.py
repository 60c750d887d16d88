"""English verb groups: the auxiliaries of every tense, modals, and negation."""

from __future__ import annotations

from .features import IL, JE
from .inflection import EnglishVerb
from .syntax import Action, Clause, Modal, Negation, Predicate, Tense
from .words import Word

BE = EnglishVerb("be", "is", "was", "been", "being")

# Moses leaves the n of n't with the verb: does + n't is `doesn` `'t`.
_WITH_NOT = {"can": "can", "will": "won", "do": "don"}


def verb_forms(predicate: Predicate) -> EnglishVerb:
    """The forms of the word that carries the tense: the verb itself, or *be*."""
    if isinstance(predicate, Action) and predicate.verb.english.base != "be":
        return predicate.verb.english
    return BE


def is_past(tense: Tense) -> bool:
    """Whether the clause has the simple past in English, whatever it has in French."""
    return tense in (Tense.PAST, Tense.IF_PAST, Tense.PAST_SUBJUNCTIVE, Tense.PERFECT_SUBJUNCTIVE)


def _present(verb: EnglishVerb, person: int) -> str:
    if verb.base == "be":
        return {JE: "am", IL: "is"}.get(person, "are")
    return verb.third if person == IL else verb.base


def _past(verb: EnglishVerb, person: int) -> str:
    if verb.base == "be":
        return "was" if person in (JE, IL) else "were"
    return verb.past


def chain(tense: Tense, verb: EnglishVerb, person: int) -> tuple[list[str], str]:
    """The auxiliaries of a tense and the form of the verb behind them."""
    if is_past(tense):
        return [], _past(verb, person)
    match tense:
        case Tense.PROGRESSIVE:
            return [_present(BE, person)], verb.gerund
        case Tense.WAS_DOING:
            return [_past(BE, person)], verb.gerund
        case Tense.USED_TO:
            return ["used", "to"], verb.base
        case Tense.PERFECT:
            return ["has" if person == IL else "have"], verb.participle
        case Tense.PLUPERFECT:
            return ["had"], verb.participle
        case Tense.FUTURE:
            return ["will"], verb.base
        case Tense.GOING_TO:
            return [_present(BE, person), "going", "to"], verb.base
        case Tense.CONDITIONAL:
            return ["would"], verb.base
    return [], _present(verb, person)


def modal_auxiliaries(modal: Modal, tense: Tense) -> list[str]:
    """A modal in its tense; where it has none of its own another verb steps in."""
    past, future = is_past(tense), tense is Tense.FUTURE
    if modal is Modal.CAN:
        return ["could"] if past else ["will", "be", "able", "to"] if future else ["can"]
    if modal is Modal.MUST:
        return ["had", "to"] if past else ["will", "have", "to"] if future else ["must"]
    return ["should"]


def deny(words: list[Word], clause: Clause, has_finite_first: bool) -> list[Word]:
    """The verb group with its negation: after the finite auxiliary, or before the bare verb."""
    assert clause.negation is not None
    tag = (clause, "not")
    denial = [Word(form, (tag,)) for form in clause.negation.value[0].split()]
    place = 1 if has_finite_first else 0
    if clause.negation is Negation.NOT:
        first = words[0]
        if first.form == "can" and not clause.contracted:
            return [Word("cannot", (*first.sure, tag), first.possible), *words[1:]]
        if clause.contracted and first.form != "am":
            form = _WITH_NOT.get(first.form, first.form + "n")
            words = [Word(form, first.sure, (*first.possible, tag)), *words[1:]]
            denial = [Word("'t", (tag,))]
    return [*words[:place], *denial, *words[place:]]
