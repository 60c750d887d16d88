"""Scores of given pairs: their log-probability, word by word, and their alignment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnnsearch.data.batches import Batch, make_batch
from rnnsearch.data.length_batches import by_length
from rnnsearch.data.word_alignments import Links, hard_alignment
from rnnsearch.errors import RnnsearchError
from rnnsearch.search import OnnxPairScorer, PairScorer, PairScores
from rnnsearch.system import System
from rnnsearch.text.vocabulary import END_SYMBOL
from rnnsearch.translation.alignments import (
    Alignment,
    as_arrays,
    as_rows,
    by_words,
    end_by_words,
    links_above,
    links_by_words,
    with_end,
)
from rnnsearch.translation.notebook import as_html
from rnnsearch.translation.translation import Segment, Translation, rounded_view

LONGEST = 5000
"""The largest number of words or subwords of a side. A pair is not cut, so its alignment has to fit in memory."""


@dataclass(frozen=True, repr=False)
class ScoredPair:
    """The score and the alignment of a given sentence pair."""

    source_tokens: list[str]
    """The source words and the end symbol."""
    tokens: list[str]
    """The target words, without the end symbol."""
    score: float
    """log p(target | source) in nats, the end symbol included."""
    word_scores: list[float]
    """log p of each target word, and of the end symbol, given those before it; they add up to `score`."""
    alignment: Alignment | None
    """α, (tokens, source_tokens); None for RNNencdec, or if it was not requested."""
    end_alignment: Alignment | None = None
    """α of the step that predicts the end symbol, (source_tokens); None like `alignment`."""
    link_probabilities: Alignment | None = None
    """The link probabilities of the alignment layer, (tokens, source_tokens − 1); None if the model has no such layer, or if
    no alignment was requested."""

    @property
    def links(self) -> Links | None:
        """Return the hard alignment; see `Translation.links`."""
        if self.link_probabilities is not None:
            return links_above(self.link_probabilities)
        return None if self.alignment is None else hard_alignment(self.alignment)

    def as_translation(self, text: str) -> Translation:
        """Return the pair as a translation of its source whose text is `text`, the target."""
        links = self.link_probabilities
        segment = Segment(0, self.source_tokens[:-1], 0, self.tokens, self.alignment, self.end_alignment)
        linker = None if links is None else lambda source, target: links
        return Translation(text, self.score, finished=True, segments=[segment], linker=linker)

    def with_end(self) -> tuple[list[str], Alignment | None]:
        """Return the target words and the end symbol with their alignment; see `Translation.with_end`."""
        return with_end(self.tokens, self.alignment, self.end_alignment)

    def to_dict(self) -> dict[str, Any]:
        """Return the pair as JSON values; weights are rounded to four places."""
        view = rounded_view(self)
        of_words = {name: view.pop(name) for name in ("source_tokens", "tokens", "score")}
        return {**of_words, "word_scores": [round(score, 6) for score in self.word_scores], **view}

    def to_plain(self) -> dict[str, Any]:
        """Convert the pair to JSON values, from which `from_plain` restores the same pair, bit for bit."""
        names = ("alignment", "end_alignment", "link_probabilities")
        return {**vars(self), **{name: as_rows(getattr(self, name)) for name in names}}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> ScoredPair:
        """See `to_plain`."""
        columns, links = len(plain["source_tokens"]), plain["link_probabilities"]
        if links is not None:
            links = np.array(links, np.float32).reshape(len(plain["tokens"]), columns - 1)
        return cls(**{**plain, **as_arrays(plain, columns), "link_probabilities": links})

    def __repr__(self) -> str:
        """Return the target words and the score."""
        return f"ScoredPair({' '.join(self.tokens)!r}, score={self.score:.4f})"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the target words above their alignment."""
        remark = f"log p = {self.score:.2f}"
        return as_html(" ".join(self.tokens), remark, self.source_tokens, *self.with_end())


def score_pairs(
    systems: Sequence[System],
    sources: Sequence[list[str]],
    targets: Sequence[list[str]],
    with_alignment: bool = True,
    first_line: int = 1,
    scorers: Sequence[PairScorer] = (),
) -> list[ScoredPair]:
    """Score tokenised pairs; like a translation, a score does not depend on the other pairs of a minibatch.

    `first_line` is the number of the first pair, for errors. Several systems form an ensemble: the probability of each word
    or subword, and its alignment, is the mean over all models. `scorers` are those of the systems, if they exist already.
    """
    if len(sources) != len(targets):
        raise RnnsearchError(f"{len(sources)} source lines but {len(targets)} target lines; line n translates line n")
    system = systems[0]
    scored: list[ScoredPair | None] = [None] * len(sources)
    seen = [system.seen(source, target) for source, target in zip(sources, targets, strict=True)]
    ids = [system.vocabularies.encode(*pair) for pair in seen]
    unit = "subwords" if system.vocabularies.source.subwords else "words"
    for line, (x, y) in enumerate(ids, first_line):
        if max(len(x), len(y)) > LONGEST:
            raise RnnsearchError(
                f"line {line}: {len(x)} and {len(y)} {unit}; a pair to be scored or aligned has at most {LONGEST} on each "
                "side, so split it"
            )
    scorers = scorers or [scorer_of(one) for one in systems]
    for indices in by_length([max(len(x), len(y)) + 1 for x, y in ids], system.config.training.batch_size):
        scores = _scores(scorers, make_batch([ids[i] for i in indices]), with_alignment)
        for b, i in enumerate(indices):
            x, y = ids[i]
            source_word_ids = system.vocabularies.source.word_ids(seen[i][0])
            target_word_ids = system.vocabularies.target.word_ids(seen[i][1])
            word_scores = np.bincount([*target_word_ids, len(targets[i])], scores.log_p_BT[b, : len(y) + 1])
            alignment = end_alignment = link_probabilities = None
            if scores.alpha_BTS is not None:
                # The alignment is copied, because a view would keep the alignments of the whole minibatch in memory.
                alpha = scores.alpha_BTS[b, : len(y) + 1, : len(x) + 1].copy()
                alignment = by_words(alpha[:-1], target_word_ids, source_word_ids)
                end_alignment = end_by_words(alpha[-1], source_word_ids)
            if scores.links_BTS is not None:
                links = scores.links_BTS[b, : len(y), : len(x)]
                link_probabilities = links_by_words(links, target_word_ids, source_word_ids)
            scored[i] = ScoredPair(
                source_tokens=[*sources[i], END_SYMBOL],
                tokens=targets[i],
                score=float(word_scores.sum()),
                word_scores=word_scores.tolist(),
                alignment=alignment,
                end_alignment=end_alignment,
                link_probabilities=link_probabilities,
            )
    return [pair for pair in scored if pair is not None]


def scorer_of(system: System) -> PairScorer:
    """Return the scorer of given pairs: ONNX Runtime, or PyTorch if the model is on a GPU or needs a plugin."""
    if system.runs_as_graphs:
        layer = system.alignment_layer_weights if system.has_alignment_layer else None
        return OnnxPairScorer(system.config.model, system.weights, layer)
    from rnnsearch.search.plain import PlainPairScorer

    return PlainPairScorer(system.model, system.alignment_layer)


def _scores(scorers: Sequence[PairScorer], batch: Batch, with_alignment: bool) -> PairScores:
    """Return the scores and alignments of an ensemble for a minibatch of pairs; the links are those of the first model."""
    several = [scorer(batch, links=with_alignment and scorer is scorers[0]) for scorer in scorers]
    log_p_BT = np.logaddexp.reduce([scores.log_p_BT for scores in several]) - math.log(len(several))
    alphas = [scores.alpha_BTS for scores in several if scores.alpha_BTS is not None]
    return PairScores(log_p_BT, np.mean(alphas, 0) if alphas and with_alignment else None, several[0].links_BTS)
