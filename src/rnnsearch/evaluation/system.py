"""The evaluation of a system on a test set: the scores of the paper, chrF, and the error rates of short sequences."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from rnnsearch.evaluation.bleu import CorpusScore, LengthBin, bleu_by_length, corpus_score, no_unk_subset, tokenized_bleu
from rnnsearch.evaluation.error_rates import ErrorRates, error_rates
from rnnsearch.translation import Translation, Translator

Translate = Callable[..., list[Translation]]
"""A function with the arguments and the result of `Translator.translate` for a list of lines."""


@dataclass(frozen=True)
class Evaluation:
    """The scores of one system on one test set."""

    all: CorpusScore
    """The scores on all sentences: the column *All* of Table 1."""
    no_unk: CorpusScore | None
    """The scores on the sentences without unknown words in source and reference, with `[UNK]` forbidden: *No UNK°*. None if
    there is no such sentence, or if the target does not consist of words."""
    tokenized_bleu: float
    """BLEU of the tokens of all sentences by the rules of `multi-bleu.perl` (see the function `tokenized_bleu`)."""
    by_length: list[LengthBin]
    """BLEU by source length, as in Figure 2."""
    errors: ErrorRates | None
    """The error rates if the target consists of units other than words, such as phones; otherwise None."""
    seconds: float
    """The time in seconds to translate all sentences."""
    unfinished: int
    """The number of translations that reached the length limit without an end symbol."""
    translations: list[Translation]

    def to_dict(self) -> dict[str, Any]:
        """Return all scores as values that JSON can represent, without the translations."""
        return {key: value for key, value in asdict(replace(self, translations=[])).items() if key != "translations"}


def evaluate(
    translator: Translator,
    sources: list[str],
    references: list[str],
    translate: Translate | None = None,
    **settings: Any,
) -> Evaluation:
    """Translate `sources`, and score the translations against `references`; both are raw lines.

    `settings` are those of `Translator.translate`; every line counts as one sentence unless they contain `split_sentences`.
    `translate` replaces `Translator.translate`, for example by a function that uses several processes. Raises RnnsearchError
    if the numbers of sources and references differ or are zero.
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
        without_unk = {**settings, "forbid_unk": True, "replace_unk": False}
        known_translations = translate([sources[i] for i in known], **without_unk)
        no_unk = corpus_score([t.text for t in known_translations], [references[i] for i in known])
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
