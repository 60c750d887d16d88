"""The forms that small words take before another word: « l'IBAN » and « d'Anna » in French, "an" and "a" in English.

A model that sees a symbol in place of a word does not know with which sound the word begins.
"""

from __future__ import annotations

import unicodedata

from rnnsearch.text.expressions import Expression

_ELIDED = {
    "le": "l'", "la": "l'", "de": "d'", "que": "qu'", "jusque": "jusqu'", "lorsque": "lorsqu'", "puisque": "puisqu'",
    "quoique": "quoiqu'",
}  # fmt: skip
_BEFORE_VOWELS = {
    **_ELIDED, "du": "de l'", "au": "à l'", "ce": "cet", "nouveau": "nouvel", "beau": "bel", "vieux": "vieil", "ma": "mon",
    "ta": "ton", "sa": "son",
}  # fmt: skip
_ALWAYS = {
    **_ELIDED, "je": "j'", "me": "m'", "te": "t'", "se": "s'", "ne": "n'", "du": "de l'", "au": "à l'", "ma": "mon",
    "ta": "ton", "sa": "son",
}  # fmt: skip
_LIKE_CONSONANTS = frozenset(["un", "une", "oui", "onze", "onzième", "ouate", "uns", "unes"])
"""Words that may follow without elision, such as the number in « la une »."""
_BEFORE_CONSONANTS = {
    **{elided: word for word, elided in _ELIDED.items() if elided != "l'"},
    "cet": "ce", "nouvel": "nouveau", "bel": "beau", "vieil": "vieux",
}  # fmt: skip
"""« l' » is not among them, because it does not show the gender; nor is « mon »."""
_WORD = Expression(r"\p{L}[\p{L}\p{M}\p{N}'’-]+(?![^\s,])")
_VOWEL = Expression(r"(?!onz|oui(?![eï])|ouistiti|uhlan|yaourt)(?:[aeiou]|y[^aeiouy])")
_CONSONANT = Expression(r"[bcdfgjklmnpqrstvwxz]|y[aeiou]|onz|oui(?![eï])")
_PRONOUNCED = Expression(r"[BCDFGJKLMNPQRSTVWXZ][AEIOU]\p{Lu}{1,4}")
"""Abbreviations that are read as words; as names of organisations, such as « la NASA », most are feminine."""
_H = Expression(r"h(?!ar|ou|om)")
"""The beginning of words for food whose h is mute, such as « huile »."""
_AFTER_AMOUNTS = frozenset([
    "de", "du", "des", "et", "ou", "à", "au", "aux", "dans", "par",
    "pour", "en", "avec", "sans", "puis", "si", "sur", "plus",
])  # fmt: skip
"""Words that may follow an amount without « de »."""
_ENGLISH_VOWEL = Expression(r"(?!eu|uni|us[ae]|uk|one(?![a-z])|once)[aeiou]")
_ENGLISH_CONSONANT = Expression(r"[bcdfgjklmnpqrstvwxyz]|eu|uni|us[ae]|one(?![a-z])|once")


def before(word: str, following: str, language: str) -> list[str]:
    """Return the words that `word` becomes before `following`, mostly itself: « du » is « de l' » before IBAN.

    Nothing changes before h, whose sound is not known. There is no elision before an address, a number or a placeholder, and
    English abbreviations that may be spelt letter by letter keep the article of the model.
    """
    forms = _forms(word.lower().replace("’", "'"), following, language)
    if forms is None:
        return [word]
    if word.isupper() and sum(map(str.isalpha, word)) > 1:
        forms = forms.upper()
    elif word[0].isupper():
        forms = forms[0].upper() + forms[1:]
    return forms.split()


def between(word: str, following: str, language: str) -> list[str]:
    """Return the words that `word` becomes before an ordinary word: « me » is « m' » before « épouseras ».

    Only what is never right without elision changes, and nothing before a single letter or h.
    """
    small = word.lower()
    is_word = following.islower() and following.replace("-", "").isalpha() and len(following) > 1
    if language != "fr" or small not in _ALWAYS or not is_word or following in _LIKE_CONSONANTS:
        return [word]
    if not _VOWEL.match(_sounds(following)):
        return [word]
    elided = _ALWAYS[small]
    return (elided[0].upper() + elided[1:] if word[0].isupper() else elided).split()


def of(word: str) -> list[str]:
    """Return « de » or « d' » if a French word needs it after an amount: « 2 c. à s. » and « sel »."""
    if not word.isalpha() or word.lower() in _AFTER_AMOUNTS:
        return []
    sounds = _sounds(word)
    return ["d'" if _VOWEL.match(sounds) or _H.match(sounds) else "de"]


def _forms(word: str, following: str, language: str) -> str | None:
    """Return the form or the two forms of a word in lower case; None if it does not change."""
    match = _WORD.match(following)
    if language == "fr":
        if match is None:
            return _BEFORE_CONSONANTS.get(word) if word.endswith("'") and following[:1] != "1" else None
        if _VOWEL.match(_sounds(match[0])):
            return _BEFORE_VOWELS.get(word)
        if word == "l'" and _PRONOUNCED.fullmatch(match[0]):
            return "la"
        return _BEFORE_CONSONANTS.get(word) if _CONSONANT.match(_sounds(match[0])) else None
    if language == "en" and match is not None and word in ("a", "an"):
        if match[0].isupper():
            return "an" if match[0][0] in "AEIO" else None
        if _ENGLISH_VOWEL.match(_sounds(match[0])):
            return "an"
        return "a" if _ENGLISH_CONSONANT.match(_sounds(match[0])) else None
    return None


def _sounds(word: str) -> str:
    """Return a word in lower case without accents."""
    letters = unicodedata.normalize("NFD", word.lower().replace("œ", "oe").replace("æ", "ae"))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
