"""The results of a reproduction of the paper: everything that its tables and figures show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rnnsearch.evaluation.aer import AlignmentScore
from rnnsearch.evaluation.bleu import CorpusScore, LengthBin
from rnnsearch.evaluation.significance import Comparison
from rnnsearch.translation import ScoredPair


@dataclass(frozen=True)
class Training:
    """A row of Table 2."""

    updates: int
    epochs: float
    hours: float
    device: str
    train_nll: float
    """On training sentences, in nats per sentence."""
    dev_nll: float
    """On development sentences, likewise."""


@dataclass(frozen=True)
class SystemResult:
    """The results of one system."""

    name: str
    paper: str | None
    """The name of its counterpart in the paper's tables; None where it has none."""
    all: CorpusScore
    no_unk: CorpusScore | None
    """None where every sentence has an unknown word."""
    by_length: list[LengthBin]
    training: Training | None
    """None for a system that was not trained here."""
    aer: AlignmentScore | None
    unread: list[float | None] | None
    """For each bin of `by_length`, the share of its source words that no target word attended to, or None where it has no
    sentence; None for a system without an alignment."""
    unfinished: int
    """The number of translations that reached the length limit without an end symbol."""
    commands: tuple[str, ...]
    """Commands that give these numbers again."""


@dataclass(frozen=True)
class PaperRow:
    """The paper's own numbers for a system."""

    name: str
    all: float
    no_unk: float
    training: Training | None


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, and whether it holds here."""

    statement: str
    place: str
    """The section, table or figure of the paper."""
    test: str
    """What is tested, in a sentence."""
    held: bool | None
    """None where the results do not tell."""
    figures: list[str]


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
    """What was trained on what, for how long, in plain text; a blank line separates paragraphs."""
    settings: dict[str, Any]
    systems: list[SystemResult]
    absent: dict[str, str]
    """Systems of the paper's Table 1 that were not run: the reason, by name."""
    paper: dict[str, PaperRow]
    """The paper's rows, by name."""
    comparison: Comparison
    claims: list[Claim]
    alignments: list[ScoredPair]
    """Those of Figure 3."""
    aligned_by: str
    """The system that `alignments` are of."""
    long_sentences: list[LongSentence]
    long: int
    """The fewest words of a long sentence."""
    commands: tuple[str, ...]
    """Commands that give all these results again."""
