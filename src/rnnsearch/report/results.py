"""What a reproduction of the paper found: all that its tables and figures are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rnnsearch.evaluation.aer import AlignmentScore
from rnnsearch.evaluation.bleu import CorpusScore, LengthBin
from rnnsearch.evaluation.significance import Comparison


@dataclass(frozen=True)
class Training:
    """A row of Table 2."""

    updates: int
    epochs: float
    hours: float
    device: str
    train_nll: float
    """Nats a sentence."""
    dev_nll: float


@dataclass(frozen=True)
class SystemResult:
    """What one system was found to be."""

    name: str
    paper: str | None
    """Its row in the paper's tables, if it has one there."""
    all: CorpusScore
    no_unk: CorpusScore | None
    """None where no sentence is without an unknown word."""
    by_length: list[LengthBin]
    training: Training | None
    """None for a system that was not trained here."""
    aer: AlignmentScore | None
    unread: list[float | None] | None
    """For each bin of `by_length`, the share of its source words that no target word attended to (None: no sentence);
    None for a system without an alignment."""
    unfinished: int
    """Translations that broke off at the length limit."""
    commands: tuple[str, ...]
    """What gives these numbers again."""


@dataclass(frozen=True)
class PaperRow:
    """The paper's own numbers for a system."""

    name: str
    all: float
    no_unk: float
    training: Training | None


@dataclass(frozen=True)
class Claim:
    """One of the paper's claims, and whether it holds."""

    statement: str
    held: bool | None
    """None where the test set cannot tell."""
    figures: list[str]


@dataclass(frozen=True)
class AlignedSentence:
    """A panel of Figure 3."""

    source_tokens: Sequence[str]
    """With the end symbol."""
    tokens: Sequence[str]
    alignment: NDArray[np.floating]


@dataclass(frozen=True)
class Attempt:
    """One system's translation of a long sentence."""

    system: str
    text: str
    tokens: Sequence[str]
    unsure: Sequence[int]
    """Positions of the tokens that are underlined."""
    unread: Sequence[str] | None
    """Source words that no target word attended to; None for a system without an alignment."""


@dataclass(frozen=True)
class LongSentence:
    """An entry of Table 3."""

    source: str
    reference: str
    attempts: Sequence[Attempt]


@dataclass(frozen=True)
class Results:
    """One reproduction."""

    scale: str
    introduction: str
    """What was trained on what, for how long, in plain text; a blank line between paragraphs."""
    settings: dict[str, Any]
    systems: list[SystemResult]
    absent: dict[str, str]
    """Systems of the paper's Table 1 that were not run: by name, why."""
    paper: dict[str, PaperRow]
    """The paper's rows, by name."""
    comparison: Comparison
    claims: list[Claim]
    alignments: list[AlignedSentence]
    aligned_by: str
    """The system whose alignments they are."""
    long_sentences: list[LongSentence]
    long: int
    """Words from which on a sentence is long."""
    commands: tuple[str, ...]
    """What gives everything again."""
