"""The alignment error rate of Och and Ney (2003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rnnsearch.data.word_alignments import GoldLinks, Links
from rnnsearch.errors import RnnsearchError


@dataclass(frozen=True)
class AlignmentScore:
    """The alignments of one system on one test set; all three rates are between 0 and 1."""

    aer: float
    """1 − (|A∩S| + |A∩P|) / (|A| + |S|): lower is better; 0 where A and S are both empty."""
    precision: float
    """|A∩P| / |A|; 1 where A is empty."""
    recall: float
    """|A∩S| / |S|; 1 where S is empty."""
    links: int
    """|A|, the links predicted."""
    sure: int
    """|S|, the sure links of the gold alignment."""


def alignment_error_rate(predicted: Sequence[Links], gold: Sequence[GoldLinks]) -> AlignmentScore:
    """Score predicted links against gold links, counted over all sentences together.

    `predicted[n]` and `gold[n]` belong to sentence n. Raises RnnsearchError where the two differ in number of
    sentences, or where there are none.
    """
    if len(predicted) != len(gold):
        raise RnnsearchError(
            f"there are {len(predicted)} alignments but {len(gold)} gold alignments; "
            "line n of one must belong to line n of the other"
        )
    if not gold:
        raise RnnsearchError("there are 0 alignments to score; give at least one sentence pair and its gold links")
    pairs = list(zip(predicted, gold, strict=True))
    links = sum(len(found) for found in predicted)
    sure = sum(len(wanted.sure) for wanted in gold)
    found_sure = sum(len(found & wanted.sure) for found, wanted in pairs)
    found_possible = sum(len(found & wanted.possible) for found, wanted in pairs)
    return AlignmentScore(
        aer=1 - (found_sure + found_possible) / (links + sure) if links + sure else 0.0,
        precision=found_possible / links if links else 1.0,
        recall=found_sure / sure if sure else 1.0,
        links=links,
        sure=sure,
    )
