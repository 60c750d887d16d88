"""Given pairs: their log-probability, word by word, and their alignment."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from rnnsearch.data.batches import make_batch
from rnnsearch.data.length_batches import by_length
from rnnsearch.data.read import read_pairs
from rnnsearch.errors import RnnsearchError
from rnnsearch.model_folder import System
from rnnsearch.ops import fast_products
from rnnsearch.text.vocabulary import END_SYMBOL
from rnnsearch.translation.notebook import as_html
from rnnsearch.translation.translation import Alignment, by_words, rounded

if TYPE_CHECKING:
    from rnnsearch.translation.translator import Translator

LONGEST = 5000
"""A given pair is read whole, so its alignment has to fit in memory: no side may have more words than this."""


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
    """α, (tokens, source_tokens); None for RNNencdec, or where it was not asked for."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; weights are rounded to four places."""
        return {
            "source_tokens": self.source_tokens,
            "tokens": self.tokens,
            "score": round(self.score, 6),
            "word_scores": [round(score, 6) for score in self.word_scores],
            "alignment": rounded(self.alignment),
        }

    def __repr__(self) -> str:
        """The target words and the score; the rest is in the attributes."""
        return f"ScoredPair({' '.join(self.tokens)!r}, score={self.score:.4f})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the target words above their alignment."""
        remark = f"log p = {self.score:.2f}"
        return as_html(" ".join(self.tokens), remark, self.source_tokens, self.tokens, self.alignment)


@torch.inference_mode()
def score_pairs(
    system: System,
    sources: Sequence[list[str]],
    targets: Sequence[list[str]],
    with_alignment: bool = True,
    first_line: int = 1,
    others: Sequence[System] = (),
) -> list[ScoredPair]:
    """Score tokenised pairs; like a translation, a score does not depend on the pairs beside it.

    `first_line` is the number of the first pair, for errors. With `others`, an ensemble: the probability of each word, or
    of each piece of one, and its alignment, is the mean of all models'.
    """
    if len(sources) != len(targets):
        raise RnnsearchError(f"{len(sources)} source lines but {len(targets)} target lines; line n translates line n")
    for line, (source, target) in enumerate(zip(sources, targets, strict=True), first_line):
        if max(len(source), len(target)) > LONGEST:
            raise RnnsearchError(
                f"line {line}: {len(source)} and {len(target)} words; a pair to be scored or aligned has at most "
                f"{LONGEST} on each side, so split it"
            )
    models = [member.model for member in (system, *others)]
    device = next(system.model.parameters()).device
    scored: list[ScoredPair | None] = [None] * len(sources)
    ids = [
        (system.source_vocabulary.encode(source), system.target_vocabulary.encode(target))
        for source, target in zip(sources, targets, strict=True)
    ]
    for indices in by_length([max(len(x), len(y)) + 1 for x, y in ids], system.config.training.batch_size):
        batch = make_batch([ids[i] for i in indices])
        arrays = (batch.source_BS, batch.source_lengths_B, batch.target_BT, batch.target_lengths_B)
        tensors = [torch.from_numpy(array).to(device) for array in arrays]
        logs_p_P, alphas_TBS = [], []
        for model in models:
            with fast_products():
                forced = model(*tensors)
                log_p_of_model_P = -torch.nn.functional.cross_entropy(forced.logits_PV, forced.words_P, reduction="none")
            logs_p_P.append(log_p_of_model_P.double())
            if with_alignment and forced.decoded.alpha_TBS is not None:
                alphas_TBS.append(forced.decoded.alpha_TBS)
        log_p_P = torch.stack(logs_p_P).logsumexp(0) - math.log(len(models))
        alpha_TBS = torch.stack(alphas_TBS).mean(0) if alphas_TBS else None
        for b, i in enumerate(indices):
            x, y = ids[i]
            source_owners = system.source_vocabulary.owners(sources[i])
            target_owners = system.target_vocabulary.owners(targets[i])
            scores = log_p_P[forced.sentences_P == b].cpu().numpy()
            word_scores = np.bincount([*target_owners, len(targets[i])], scores)
            alignment = None
            if alpha_TBS is not None:
                # A copy: a view would keep the whole batch's alignments alive.
                alpha = alpha_TBS[: len(y), b, : len(x) + 1].float().cpu().numpy().copy()
                alignment = by_words(alpha, target_owners, source_owners)
            scored[i] = ScoredPair(
                source_tokens=[*sources[i], END_SYMBOL],
                tokens=targets[i],
                score=float(word_scores.sum()),
                word_scores=word_scores.tolist(),
                alignment=alignment,
            )
    return [pair for pair in scored if pair is not None]


def score_files(
    translator: Translator,
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    tokenized: bool = False,
    with_alignment: bool = False,
) -> Iterator[ScoredPair]:
    """Score the pairs of two files, line by line; `tokenized` files are cut at spaces alone."""
    pairs = read_pairs([Path(source)], [Path(target)])
    number = 0
    while group := list(itertools.islice(pairs, 2000)):
        if tokenized:
            sources, targets = ([line.split() for line in side] for side in zip(*group, strict=True))
        else:
            sources = [translator.source_words(line) for line, _ in group]
            targets = [translator.target_words(line) for _, line in group]
        yield from translator.score_words(sources, targets, with_alignment=with_alignment, first_line=number + 1)
        number += len(group)
