"""The alignment error rate (AER) of Och and Ney (2003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rnnsearch.data.word_alignments import GoldLinks, Links
from rnnsearch.errors import RnnsearchError


@dataclass(frozen=True)
class AlignmentScore:
    """The scores of the predicted links A against the sure links S and the possible links P; rates are between 0 and 1."""

    aer: float
    """1 − (|A∩S| + |A∩P|) / (|A| + |S|), where lower is better; 0 if A and S are both empty."""
    precision: float
    """|A∩P| / |A|; 1 if A is empty."""
    recall: float
    """|A∩S| / |S|; 1 if S is empty."""
    links: int
    """|A|, the number of predicted links."""
    sure: int
    """|S|, the number of sure gold links."""


def alignment_error_rate(predicted: Sequence[Links], gold: Sequence[GoldLinks]) -> AlignmentScore:
    """Score predicted links against gold links; the links of all sentences are counted together.

    `predicted[n]` and `gold[n]` belong to sentence n. Raises RnnsearchError if the numbers of sentences differ or are zero.
    """
    if len(predicted) != len(gold):
        raise RnnsearchError(
            f"there are {len(predicted)} alignments but {len(gold)} gold alignments; "
            "line n of one must belong to line n of the other"
        )
    if not gold:
        raise RnnsearchError("there are 0 alignments to score; give at least one sentence pair and its gold links")
    pairs = list(zip(predicted, gold, strict=True))
    links = sum(len(A) for A in predicted)
    sure = sum(len(sentence.sure) for sentence in gold)
    correct_sure = sum(len(A & sentence.sure) for A, sentence in pairs)
    correct_possible = sum(len(A & sentence.possible) for A, sentence in pairs)
    return AlignmentScore(
        aer=1 - (correct_sure + correct_possible) / (links + sure) if links + sure else 0.0,
        precision=correct_possible / links if links else 1.0,
        recall=correct_sure / sure if sure else 1.0,
        links=links,
        sure=sure,
    )
