"""Evaluation of a system on a test set: the scores that the paper reports, chrF, and the error rates of short sequences."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from rnnsearch.evaluation.bleu import CorpusScore, LengthBin, bleu_by_length, corpus_score, no_unk_subset, tokenized_bleu
from rnnsearch.evaluation.error_rates import ErrorRates, error_rates
from rnnsearch.translation import Translation, Translator

Translate = Callable[..., list[Translation]]
"""As `Translator.translate` of a list of lines."""


@dataclass(frozen=True)
class Evaluation:
    """Scores of one system on one test set."""

    all: CorpusScore
    """On every sentence: the *All* column of Table 1."""
    no_unk: CorpusScore | None
    """On the sentences without unknown words in source or reference, with `[UNK]` forbidden: *No UNK°*. None where there is
    no such sentence, or where the target does not consist of words."""
    tokenized_bleu: float
    """BLEU of the tokens of all sentences by the script of the paper (`tokenized_bleu`)."""
    by_length: list[LengthBin]
    """BLEU by source length: Figure 2."""
    errors: ErrorRates | None
    """The error rates where the target consists of other units than words, such as phones; else None."""
    seconds: float
    """Time to translate all sentences."""
    unfinished: int
    """The number of translations that reached the length limit without an end symbol."""
    translations: list[Translation]

    def to_dict(self) -> dict[str, Any]:
        """All scores as plain values, without the translations."""
        return {key: value for key, value in asdict(replace(self, translations=[])).items() if key != "translations"}


def evaluate(
    translator: Translator,
    sources: list[str],
    references: list[str],
    translate: Translate | None = None,
    **settings: Any,
) -> Evaluation:
    """Translate `sources` and score the translations against `references`; both are raw lines.

    `settings` are those of `Translator.translate`, which `translate` may stand in for: one in many processes, say. Lines are
    taken to be sentences, unless `split_sentences` is among them. Raises RnnsearchError where sources and references differ
    in number, or where there are none.
    """
    settings = {"split_sentences": False, **settings}
    translate = translate or translator.translate
    began = time.monotonic()
    translations = translate(sources, **settings)
    seconds = time.monotonic() - began
    hypotheses = [translation.text for translation in translations]
    source_words = [translator.source_words(line) for line in sources]
    reference_words = [translator.target_words(line) for line in references]
    of_words = translator.system.config.data.target_units == "words"
    known = no_unk_subset(source_words, reference_words, *translator.system.vocabularies) if of_words else []
    no_unk = None
    if known:
        forbidden = {**settings, "forbid_unk": True, "replace_unk": False}
        free = translate([sources[i] for i in known], **forbidden)
        no_unk = corpus_score([t.text for t in free], [references[i] for i in known])
    return Evaluation(
        all=corpus_score(hypotheses, references),
        no_unk=no_unk,
        tokenized_bleu=tokenized_bleu([translation.tokens for translation in translations], reference_words),
        by_length=bleu_by_length([len(words) for words in source_words], hypotheses, references),
        errors=None if of_words else error_rates([translation.tokens for translation in translations], reference_words),
        seconds=seconds,
        unfinished=sum(not translation.finished for translation in translations),
        translations=translations,
    )
