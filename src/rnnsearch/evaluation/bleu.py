"""BLEU and chrF by sacreBLEU, on a whole test set, by sentence length, and on sentences without unknown words.

Scores are those of detokenised, cased text with sacreBLEU's own tokenisation (13a). sacreBLEU's signature, which records
this, is part of each score, because BLEU scores with different signatures cannot be compared.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from rnnsearch.errors import RnnsearchError

PAPER_EDGES = (10, 20, 30, 40, 50, 60)
"""The edges of the bins of source lengths in the paper's Figure 2, in words."""


@dataclass(frozen=True)
class CorpusScore:
    """The scores of one system on one test set."""

    bleu: float
    """BLEU, from 0 to 100."""
    bleu_signature: str
    chrf: float
    """chrF2, from 0 to 100."""
    chrf_signature: str
    brevity_penalty: float
    """The factor of BLEU that penalises translations for being shorter than the references; 1 if they are not."""
    length_ratio: float
    """The number of words of the translations divided by that of the references."""
    sentences: int


@dataclass(frozen=True)
class LengthBin:
    """The sentences whose source has more than `low` and at most `high` words, and the BLEU on them."""

    low: int
    high: int | None
    """The upper edge; None for the last bin, which has none."""
    sentences: int
    bleu: float | None
    """The BLEU score of these sentences; None if the bin is empty."""

    @property
    def label(self) -> str:
        """The range of lengths as text, such as `11–20`, or `61+` for the last bin."""
        return f"{self.low + 1}+" if self.high is None else f"{self.low + 1}–{self.high}"


def corpus_score(hypotheses: Sequence[str], references: Sequence[str]) -> CorpusScore:
    """Score detokenised translations against one detokenised reference each.

    Raises RnnsearchError if the numbers of translations and references differ or are zero.
    """
    _check_pairs(hypotheses, references)
    bleu_metric, chrf_metric = BLEU(), CHRF()
    bleu_score = bleu_metric.corpus_score(hypotheses, [references])
    chrf_score = chrf_metric.corpus_score(hypotheses, [references])
    return CorpusScore(
        bleu=bleu_score.score,
        bleu_signature=str(bleu_metric.get_signature()),
        chrf=chrf_score.score,
        chrf_signature=str(chrf_metric.get_signature()),
        brevity_penalty=bleu_score.bp,
        length_ratio=bleu_score.ratio,
        sentences=len(hypotheses),
    )


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Return the `bleu` of `corpus_score` without its other scores, for validation during training."""
    _check_pairs(hypotheses, references)
    # force: sacreBLEU otherwise logs, at every validation, that the text looks tokenised.
    return float(BLEU(force=True).corpus_score(hypotheses, [references]).score)


def tokenized_bleu(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    """Return BLEU of the given tokens without smoothing, as the script `multi-bleu.perl` of Moses computes it.

    The paper does not name its script; this BLEU of cased tokens of the Moses tokeniser comes closest to its numbers. Unlike
    `corpus_score`, it depends on the tokenisation.
    """
    _check_pairs(hypotheses, references)
    metric = BLEU(tokenize="none", smooth_method="none", force=True)
    score = metric.corpus_score([" ".join(tokens) for tokens in hypotheses], [[" ".join(tokens) for tokens in references]])
    return float(score.score)


def bleu_by_length(
    source_lengths: Sequence[int],
    hypotheses: Sequence[str],
    references: Sequence[str],
    edges: Sequence[int] = PAPER_EDGES,
) -> list[LengthBin]:
    """Return BLEU by the length of the source sentence, as in the paper's Figure 2.

    The bins are (0, edges[0]], (edges[0], edges[1]], …, (edges[-1], ∞), in words without the end symbol. Every sentence is
    in exactly one bin; an empty source is in the first.

    Raises RnnsearchError if the numbers of lengths, hypotheses and references differ or are zero, or if `edges` are not
    positive and increasing.
    """
    _check_pairs(hypotheses, references)
    if len(source_lengths) != len(hypotheses):
        raise RnnsearchError(
            f"BLEU by length: there are {len(source_lengths)} source lengths for {len(hypotheses)} translations; "
            "give one length for each sentence"
        )
    bounds = [0, *edges]
    if any(low >= high for low, high in pairwise(bounds)):
        raise RnnsearchError(f"BLEU by length: the edges {list(edges)} are not positive and increasing; try 10 20 30")
    members: list[list[int]] = [[] for _ in bounds]
    for index, length in enumerate(source_lengths):
        members[bisect_left(edges, length)].append(index)
    return [
        LengthBin(
            low=low,
            high=high,
            sentences=len(chosen),
            bleu=bleu([hypotheses[i] for i in chosen], [references[i] for i in chosen]) if chosen else None,
        )
        for low, high, chosen in zip(bounds, [*edges, None], members, strict=True)
    ]


def no_unk_subset(
    source_tokens: Sequence[Sequence[str]],
    reference_tokens: Sequence[Sequence[str]],
    source_vocabulary: Container[str],
    target_vocabulary: Container[str],
) -> list[int]:
    """Return the indices of the pairs without unknown words in source and reference: *No UNK* in Table 1.

    Raises RnnsearchError if the numbers of sources and references differ.
    """
    if len(source_tokens) != len(reference_tokens):
        raise RnnsearchError(
            f"there are {len(source_tokens)} sources but {len(reference_tokens)} references; "
            "line n of one must belong to line n of the other"
        )
    return [
        index
        for index, (source, reference) in enumerate(zip(source_tokens, reference_tokens, strict=True))
        if all(word in source_vocabulary for word in source) and all(word in target_vocabulary for word in reference)
    ]


def _check_pairs(hypotheses: Sequence[object], references: Sequence[object]) -> None:
    if len(hypotheses) != len(references):
        raise RnnsearchError(
            f"there are {len(hypotheses)} translations but {len(references)} references; "
            "line n of one must belong to line n of the other"
        )
    if not hypotheses:
        raise RnnsearchError("there are 0 translations to score; give at least one sentence and its reference")
