"""Hostile HTML documents: most are given an invented translation, some are translated by the bundled model."""

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
"""One of this many documents is translated by the bundled model."""
WORDS = (
    "Good morning!", "How are you today?", "I don't know.", "The old man sleeps in the house.", "She can't see the red dog.",
    "It's five o'clock.", "Thank you very much", "and the children sing,", "which is why we left.",
)  # fmt: skip


def markup(seed: int, numbers: Sequence[int]) -> Part:
    """Translate a document for each number; a parser must see the same elements, attributes, comments and words."""
    part, outcomes = Part(), Counter[str]()
    translator = load("en-fr")
    for number in numbers:
        random = Random(f"{seed} {number}")
        document = soup.document(random)
        attributes = random.random() < 0.3
        try:
            Markup(document, "en")
            failure = soup.complaint(document, random, attributes)
            outcomes["translated"] += 1
        except RnnsearchError as error:
            failure = f"an error of several lines: {error}" if "\n" in str(error) else None
            outcomes["refused"] += 1
        if not failure and number % REAL == 0:
            text = soup.paragraph(random, WORDS)
            marked_up = Markup(text, "en")
            translations = translator.translate(marked_up.sentences)
            expected = [word for translation in translations for word in translation.text.split()]
            words = soup.text_of(marked_up.joined(translations)).split()
            failure = None if words == expected else f"{text!r}: {words}, and plain {expected}"
            outcomes["with the installed translator"] += 1
        part.attempt(f"{number}", failure)
    part.notes.update(outcomes)
    return part
