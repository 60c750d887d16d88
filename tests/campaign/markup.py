"""Hostile HTML documents, most with an invented translation, and some through the installed translator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

import soup
from campaign.trial import Part
from rnnsearch.errors import RnnsearchError
from rnnsearch.translation import load
from rnnsearch.translation.markup import Markup

REAL = 50
"""One of so many documents is translated by the installed translator."""
WORDS = (
    "Good morning!", "How are you today?", "I don't know.", "The old man sleeps in the house.", "She can't see the red dog.",
    "It's five o'clock.", "Thank you very much", "and the children sing,", "which is why we left.",
)  # fmt: skip


def markup(seed: int, numbers: Sequence[int]) -> Part:
    """As many documents: a parser must find the same elements, attributes and comments, and the same words."""
    part, came = Part(), Counter[str]()
    translator = load("en-fr")
    for number in numbers:
        random = Random(f"{seed} {number}")
        document = soup.document(random)
        attributes = random.random() < 0.3
        try:
            Markup(document, "en")
            failure = soup.complaint(document, random, attributes)
            came["translated"] += 1
        except RnnsearchError as error:
            failure = f"an error of several lines: {error}" if "\n" in str(error) else None
            came["refused"] += 1
        if not failure and number % REAL == 0:
            text = soup.paragraph(random, WORDS)
            found = Markup(text, "en")
            translations = translator.translate(found.sentences)
            expected = [word for translation in translations for word in translation.text.split()]
            words = soup.text_of(found.joined(translations)).split()
            failure = None if words == expected else f"{text!r}: {words}, and plain {expected}"
            came["with the installed translator"] += 1
        part.attempt(f"{number}", failure)
    part.notes.update(came)
    return part
