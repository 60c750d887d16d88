"""The development set: NLL of its references, BLEU and error rates of its translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rnnsearch.evaluation.bleu import bleu
from rnnsearch.evaluation.error_rates import error_counts
from rnnsearch.model_folder import System
from rnnsearch.translation.scoring import score_pairs
from rnnsearch.translation.translator import Translator


@dataclass(frozen=True)
class DevelopmentSet:
    """Raw lines: the references are compared with as they are, not as the tokenizer would have them."""

    sources: Sequence[str]
    references: Sequence[str]

    def part(self, count: int) -> DevelopmentSet:
        """So many pairs at most, drawn evenly: the documents of a development set differ, and it is often sorted by them."""
        pairs = len(self.sources)
        chosen = range(pairs) if pairs <= count else [number * pairs // count for number in range(count)]
        return DevelopmentSet([self.sources[i] for i in chosen], [self.references[i] for i in chosen])


@dataclass(frozen=True)
class NLL:
    """Negative log-likelihood, in nats."""

    per_word: float
    """A target word, end symbols included."""
    per_sentence: float
    """A sentence: the unit of the paper's Table 2."""


@dataclass(frozen=True)
class Validation:
    """The scores of the development set."""

    nll: NLL
    bleu: float
    """sacreBLEU of greedy translations."""
    wer: float | None = None
    """The share of greedy translations that are not right, in percent; None where the target consists of words."""
    ser: float | None = None
    """Their edit distance, in percent of the symbols of the references; None like `wer`."""


def negative_log_likelihood(
    systems: Sequence[System], sources: Sequence[list[str]], targets: Sequence[list[str]]
) -> NLL:
    """The NLL of tokenised pairs; of several systems, that of the ensemble."""
    scored = score_pairs(systems, sources, targets, with_alignment=False)
    total = -sum(pair.score for pair in scored)
    return NLL(total / sum(len(pair.tokens) + 1 for pair in scored), total / len(scored))


def validate(systems: Sequence[System], development: DevelopmentSet) -> Validation:
    """NLL on the whole development set; BLEU on `training.validate_sentences` of its pairs. Of several systems, the
    ensemble's.

    The translations are greedy: a fraction of beam search's time, and they rank the models of one run as well. What
    `search.*` says of samples and vocabulary selection is for the trained model.
    """
    translator = Translator(systems)
    config = translator.system.config
    nll = negative_log_likelihood(
        systems,
        [translator.source_words(line) for line in development.sources],
        [translator.target_words(line) for line in development.references],
    )
    part = development.part(config.training.validate_sentences)
    translations = translator.translate(
        list(part.sources), beam=1, temperature=0.0, vocabulary_selection=0, split_sentences=False
    )
    hypotheses = [translation.text for translation in translations]
    wer = ser = None
    if config.data.target_units != "words":
        references = [translator.target_words(line) for line in part.references]
        wrong, distance, symbols, lines = error_counts([one.tokens for one in translations], references).sum(0).tolist()
        wer, ser = 100 * wrong / lines, 100 * distance / symbols
    return Validation(nll, bleu(hypotheses, part.references), wer, ser)
