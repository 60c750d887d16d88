"""The two ways of addressing people in French, *tu* and *vous*, which a sentence does not mix."""

from __future__ import annotations

from rnnsearch.text.expressions import Expression

_FAMILIAR = Expression(r"(?i)(?<!\p{L})(?:tu|toi|te|ton|ta|tes|t['’]\p{L}*)(?!\p{L})")
_FORMAL = Expression(r"(?i)(?<!\p{L}|(?<!\p{L})rendez-)(?:vous|votre|vos)(?!\p{L})")


def mixes_address(text: str, language: str) -> bool:
    """Return whether a text of this language, such as « Tu as oublié votre voiture », has both; only a French one can.

    The text may be detokenised, or words between spaces.
    """
    return language == "fr" and _FAMILIAR.search(text) is not None and _FORMAL.search(text) is not None
