"""French determiners that agree with the word after them, where the model did not know that word."""

from __future__ import annotations

from collections.abc import Sequence

from rnnsearch.text import elision

_DETERMINERS = (
    ("le", "la", "les"),
    ("un", "une", "des"),
    ("du", "de la", "des"),
    ("au", "à la", "aux"),
    ("ce", "cette", "ces"),
    ("mon", "ma", "mes"),
    ("ton", "ta", "tes"),
    ("son", "sa", "ses"),
    ("notre", "notre", "nos"),
    ("votre", "votre", "vos"),
    ("leur", "leur", "leurs"),
)
"""French determiners, and prepositions with an article: masculine, feminine, plural."""
_FORMS = {form: forms for forms in reversed(_DETERMINERS) for form in forms} | {
    "l'": _DETERMINERS[0], "de l'": _DETERMINERS[2], "à l'": _DETERMINERS[3], "cet": _DETERMINERS[4],
}  # fmt: skip


def before_word(words: Sequence[str], following: str, agreement: str, language: str) -> tuple[int, list[str]]:
    """Return the number of words at the end of `words` that change before another word, and what they become.

    A model chooses the determiner without knowing the word: « le chaudière » becomes « la chaudière ».
    """
    for count in (2, 1):
        last = [word.lower().replace("’", "'") for word in words[-count:]]
        forms = _FORMS.get(" ".join(last)) if language == "fr" and agreement and len(last) == count else None
        if forms is not None:
            *first, determiner = forms["mfp".index(agreement)].split(" ")
            changed = [*first, *elision.before(determiner, following, language)]
            if words[-count][:1].isupper():
                changed[0] = changed[0][0].upper() + changed[0][1:]
            return count, changed
    return (1, elision.before(words[-1], following, language)) if words else (0, [])
