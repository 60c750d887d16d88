"""What French does where two words meet: elision, contraction, and the forms that vowels call for."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache

from .words import Word, merge

# The aspirated h of these stems is silent, but keeps the vowel before it: le héros, la hache, le huit.
_ASPIRATED = (
    "hache", "hall", "hameau", "hamster", "haricot", "harpe", "hasard", "haut", "héros", "hérisson",
    "hibou", "honte", "huit", "hutte", "hongrois", "hollandais", "hangar", "homard",
)  # fmt: skip

_ELIDED = {
    "le": "l'", "la": "l'", "je": "j'", "me": "m'", "te": "t'", "se": "s'", "ne": "n'", "de": "d'",
    "que": "qu'", "jusque": "jusqu'", "lorsque": "lorsqu'", "puisque": "puisqu'",
}  # fmt: skip

_BEFORE_VOWEL = {
    "ma": "mon", "sa": "son", "ta": "ton", "ce": "cet",
    "beau": "bel", "nouveau": "nouvel", "vieux": "vieil",
}  # fmt: skip


@cache
def starts_with_vowel_sound(form: str) -> bool:
    """Whether a French word begins with a vowel to the ear, so that `le` before it becomes `l'`."""
    lower = form.lower()
    first = unicodedata.normalize("NFD", lower)[0]
    if first == "h":
        return not lower.startswith(_ASPIRATED)
    if first == "y":
        return lower == "y"
    return first in "aeiouœ" and lower not in {"onze", "oui"}


def elide(words: Sequence[Word]) -> list[Word]:
    """The sentence with every vowel dropped that French drops: l'homme, qu'il, s'il, c'est."""
    out = list(words)
    for i in range(len(out) - 1):
        word, following = out[i], out[i + 1].form
        form = word.form
        if form in _ELIDED:
            if starts_with_vowel_sound(following):
                out[i] = word._replace(form=_ELIDED[form])
        elif form == "si":
            if following in ("il", "ils"):
                out[i] = word._replace(form="s'")
        elif form == "ce" and following in ("est", "était"):
            out[i] = word._replace(form="c'")
    return out


def before_noun(form: str, following: str) -> str:
    """The shape of a determiner or adjective within its noun phrase: mon amie, cet homme, un bel arbre."""
    if form in _BEFORE_VOWEL and starts_with_vowel_sound(following):
        return _BEFORE_VOWEL[form]
    return form


def contract(preposition: Sequence[Word], phrase: Sequence[Word]) -> list[Word]:
    """A preposition before a noun phrase: `de` and `à` melt with the articles `le` and `les`.

    Only noun phrases come here: before an infinitive `le` is a pronoun and stays (`de le voir`). Before a
    vowel the article is elided instead (`de l'homme`), which `elide` does later.
    """
    last, first = preposition[-1], phrase[0]
    if last.form in ("de", "à") and first.form in ("le", "les") and len(phrase) > 1:
        elided = first.form == "le" and starts_with_vowel_sound(phrase[1].form)
        if not elided:
            form = {"dele": "du", "deles": "des", "àle": "au", "àles": "aux"}[last.form + first.form]
            return [*preposition[:-1], merge(form, last, first), *phrase[1:]]
    return [*preposition, *phrase]
