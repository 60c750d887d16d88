"""The scores of a model on the development set: NLL of the references, BLEU and error rates of the translations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rnnsearch.evaluation.bleu import bleu
from rnnsearch.evaluation.error_rates import error_counts
from rnnsearch.search.plain import PlainPairScorer
from rnnsearch.system import System
from rnnsearch.translation.scoring import score_pairs
from rnnsearch.translation.translator import Translator


@dataclass(frozen=True)
class DevelopmentSet:
    """The raw lines of a development set; BLEU compares with the references as they are, without tokenisation of ours."""

    sources: Sequence[str]
    references: Sequence[str]

    def part(self, count: int) -> DevelopmentSet:
        """Return at most `count` pairs at even intervals, so that all documents of the development set are represented."""
        pairs = len(self.sources)
        chosen = range(pairs) if pairs <= count else [number * pairs // count for number in range(count)]
        return DevelopmentSet([self.sources[i] for i in chosen], [self.references[i] for i in chosen])


@dataclass(frozen=True)
class NLL:
    """Negative log-likelihood, in nats."""

    per_word: float
    """The NLL per target word, where end symbols count as words."""
    per_sentence: float
    """The NLL per sentence, which is the unit of the paper's Table 2."""


@dataclass(frozen=True)
class Validation:
    """The scores of a model on the development set."""

    nll: NLL
    bleu: float
    """The sacreBLEU score of greedy translations."""
    wer: float | None = None
    """The share of greedy translations that differ from their references, in percent; None if the target units are words."""
    ser: float | None = None
    """The edit distance of greedy translations in percent of the symbols of the references; None if `wer` is None."""


def negative_log_likelihood(systems: Sequence[System], sources: Sequence[list[str]], targets: Sequence[list[str]]) -> NLL:
    """Return the NLL of tokenised pairs under a system or, of several systems, under their ensemble."""
    scorers = [PlainPairScorer(system.model) for system in systems]  # ONNX graphs would be out of date after each update
    scored = score_pairs(systems, sources, targets, with_alignment=False, scorers=scorers)
    total = -sum(pair.score for pair in scored)
    return NLL(total / sum(len(pair.tokens) + 1 for pair in scored), total / len(scored))


def validate(systems: Sequence[System], development: DevelopmentSet) -> Validation:
    """Score a system or, of several systems, their ensemble, on the development set.

    The NLL is that of the whole set; BLEU and the error rates are those of `training.validate_sentences` of its pairs. The
    translations come from greedy search, which takes a fraction of the time of beam search and ranks the models of one run
    just as well. Sampling and vocabulary selection (`search.*`) are switched off.
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
        tokens = [translation.tokens for translation in translations]
        wrong, distance, symbols, lines = error_counts(tokens, references).sum(0).tolist()
        wer, ser = 100 * wrong / lines, 100 * distance / symbols
    return Validation(nll, bleu(hypotheses, part.references), wer, ser)
