"""The results of a reproduction of the paper: the data of its tables and figures."""

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
    """The NLL of training sentences, in nats per sentence."""
    dev_nll: float
    """The NLL of development sentences, in nats per sentence."""


@dataclass(frozen=True)
class SystemResult:
    """The results of one system."""

    name: str
    paper: str | None
    """The name of its counterpart in the paper's tables; None if it has none."""
    all: CorpusScore
    """The scores on all sentences of the test set."""
    no_unk: CorpusScore | None
    """The scores on the sentences without unknown words; None if there are none."""
    by_length: list[LengthBin]
    training: Training | None
    """The row of Table 2; None for a system that was not trained here."""
    aer: AlignmentScore | None
    unread: list[float | None] | None
    """For each bin of `by_length`, the share of its source words that no target word attends to, or None for an empty bin;
    None for a system without an alignment."""
    unfinished: int
    """The number of translations that reached the length limit without an end symbol."""
    commands: tuple[str, ...]
    """The commands that reproduce these numbers."""


@dataclass(frozen=True)
class PaperRow:
    """The numbers that the paper reports for a system."""

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
    """A sentence that describes the test."""
    held: bool | None
    """Whether the claim holds; None if the results do not decide it."""
    figures: list[str]
    """The numbers on which the verdict is based, as text."""


@dataclass(frozen=True)
class Attempt:
    """One system's translation of a long sentence."""

    system: str
    text: str
    tokens: Sequence[str]
    unsure: Sequence[int]
    """The positions of the tokens of which the system is unsure; the report underlines them."""
    unread: Sequence[str] | None
    """The source words that no target word attends to; None for a system without an alignment."""


@dataclass(frozen=True)
class LongSentence:
    """An entry of Table 3."""

    source: str
    reference: str
    attempts: Sequence[Attempt]


@dataclass(frozen=True)
class Results:
    """The results of one reproduction."""

    scale: str
    introduction: str
    """A text about the systems, their training text and their training time, with blank lines between paragraphs."""
    settings: dict[str, Any]
    systems: list[SystemResult]
    absent: dict[str, str]
    """The systems of the paper's Table 1 that were not run, with the reasons."""
    paper: dict[str, PaperRow]
    """The rows of the paper's tables by the names of the systems."""
    comparison: Comparison
    claims: list[Claim]
    alignments: list[ScoredPair]
    """The panels of Figure 3."""
    aligned_by: str
    """The name of the system that computed `alignments`."""
    long_sentences: list[LongSentence]
    long: int
    """The smallest number of words of a long sentence."""
    commands: tuple[str, ...]
    """The commands that reproduce all these results."""
