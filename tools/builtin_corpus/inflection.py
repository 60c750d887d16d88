"""The inflection of nouns, adjectives and participles in both languages, and of English verbs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_VOWELS = "aeiou"


def english_s(word: str) -> str:
    """The -s form: the plural of a noun, the third person of a verb."""
    if re.search(r"(s|x|z|ch|sh)$", word):
        return word + "es"
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + "s"


@dataclass(frozen=True, slots=True)
class EnglishVerb:
    """The forms of one English verb."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str


def english_verb(base: str, past: str = "", participle: str = "") -> EnglishVerb:
    """The forms of a verb, regular where `past` and `participle` are left out."""
    third = {"have": "has", "go": "goes", "do": "does"}.get(base) or english_s(base)
    past = past or english_suffix(base, "ed")
    return EnglishVerb(base, third, past, participle or past, english_suffix(base, "ing"))


def english_suffix(word: str, suffix: str) -> str:
    """A word with -ed, -ing, -er or -est, spelled as English spells it: stopped, dancing, carried, bigger."""
    if suffix == "ing":
        if word.endswith("ie"):
            return word[:-2] + "ying"
        if word.endswith("e") and not word.endswith(("ee", "oe")):
            return word[:-1] + "ing"
    else:
        if word.endswith("e"):
            return word + suffix[1:]
        if re.search(r"[^aeiou]y$", word):
            return word[:-1] + "i" + suffix
    if _doubles(word):
        return word + word[-1] + suffix
    return word + suffix


def _doubles(word: str) -> bool:
    """One stressed syllable, or a stressed last one, ending in a single vowel and a single consonant."""
    short = re.fullmatch(r"[^aeiou]*(qu)?[aeiou][bdgklmnprt]", word) is not None
    return short or word in {"begin", "forget", "prefer", "admit"}


@cache
def an(following: str) -> bool:
    """Whether English says *an* before this word."""
    lower = following.lower()
    if lower.startswith(("hon", "hour")):
        return not lower.startswith("honey")
    return lower[0] in _VOWELS and not lower.startswith(("uni", "use", "eu", "one"))


def french_plural(word: str) -> str:
    """The regular plural of a French noun or masculine adjective."""
    if word[-1] in "sxz":
        return word
    if word.endswith(("eau", "eu")) and word not in {"bleu", "pneu"}:
        return word + "x"
    if word.endswith("al") and word not in {"bal", "fatal", "final", "festival"}:
        return word[:-2] + "aux"
    return word + "s"


def french_feminine(word: str) -> str:
    """The regular feminine of a French adjective."""
    if word.endswith("e"):
        return word
    for ending, feminine in (("eux", "euse"), ("if", "ive"), ("er", "ère")):
        if word.endswith(ending):
            return word.removesuffix(ending) + feminine
    if word.endswith(("el", "eil", "en", "on", "et")):
        return word + word[-1] + "e"
    return word + "e"


@cache
def agree(participle: str, feminine: bool, plural: bool) -> str:
    """A past participle in the given gender and number."""
    form = participle
    if feminine:
        form = "due" if form == "dû" else form + "e"
    if plural and not form.endswith("s"):
        form += "s"
    return form
