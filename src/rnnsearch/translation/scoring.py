"""Given pairs: their log-probability, word by word, and their alignment."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rnnsearch.data.batches import Batch, make_batch
from rnnsearch.data.length_batches import by_length
from rnnsearch.data.word_alignments import Links, hard_alignment
from rnnsearch.devices import batch_tensors, device_of
from rnnsearch.errors import RnnsearchError
from rnnsearch.model_folder import System
from rnnsearch.text.vocabulary import END_SYMBOL
from rnnsearch.translation.notebook import as_html
from rnnsearch.translation.translation import (
    Alignment,
    as_arrays,
    as_rows,
    by_words,
    end_by_words,
    links_above,
    links_by_words,
    rounded_view,
    with_end,
)

LONGEST = 5000
"""A given pair is read whole, so its alignment has to fit in memory: no side may have more words, or subwords, than this."""


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
    end_alignment: Alignment | None = None
    """α of the step that predicts the end symbol, (source_tokens); None like `alignment`."""
    link_probabilities: Alignment | None = None
    """The probability that two words are linked, (tokens, source_tokens − 1), by the alignment layer; None where the model
    has none, or where no alignment was asked for."""

    @property
    def links(self) -> Links | None:
        """Hard alignment; see `Translation.links`."""
        if self.link_probabilities is not None:
            return links_above(self.link_probabilities)
        return None if self.alignment is None else hard_alignment(self.alignment)

    def with_end(self) -> tuple[list[str], Alignment | None]:
        """The target words and the end symbol, and their alignment; see `Translation.with_end`."""
        return with_end(self.tokens, self.alignment, self.end_alignment)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; weights are rounded to four places."""
        view = rounded_view(self)
        of_words = {name: view.pop(name) for name in ("source_tokens", "tokens", "score")}
        return {**of_words, "word_scores": [round(score, 6) for score in self.word_scores], **view}

    def to_plain(self) -> dict[str, Any]:
        """All of it as values of JSON, from which `from_plain` makes the same pair, to the last bit."""
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
        """The target words and the score; the rest is in the attributes."""
        return f"ScoredPair({' '.join(self.tokens)!r}, score={self.score:.4f})"

    def _repr_html_(self) -> str:
        """HTML for notebooks: the target words above their alignment."""
        remark = f"log p = {self.score:.2f}"
        return as_html(" ".join(self.tokens), remark, self.source_tokens, *self.with_end())


def score_pairs(
    systems: Sequence[System],
    sources: Sequence[list[str]],
    targets: Sequence[list[str]],
    with_alignment: bool = True,
    first_line: int = 1,
) -> list[ScoredPair]:
    """Score tokenised pairs; like a translation, a score does not depend on the pairs beside it.

    `first_line` is the number of the first pair, for errors. Of several systems, the probability of each word, or
    each of its subwords, and its alignment, is the mean of all models'.
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
    for indices in by_length([max(len(x), len(y)) + 1 for x, y in ids], system.config.training.batch_size):
        log_p_P, sentences_P, alpha_TBS, p_BTS = _read(systems, make_batch([ids[i] for i in indices]), with_alignment)
        for b, i in enumerate(indices):
            x, y = ids[i]
            source_word_ids = system.vocabularies.source.word_ids(seen[i][0])
            target_word_ids = system.vocabularies.target.word_ids(seen[i][1])
            scores = log_p_P[sentences_P == b]
            word_scores = np.bincount([*target_word_ids, len(targets[i])], scores)
            alignment = end_alignment = link_probabilities = None
            if alpha_TBS is not None:
                # A copy: a view would keep the whole batch's alignments alive.
                alpha = alpha_TBS[: len(y) + 1, b, : len(x) + 1].copy()
                alignment = by_words(alpha[:-1], target_word_ids, source_word_ids)
                end_alignment = end_by_words(alpha[-1], source_word_ids)
            if p_BTS is not None:
                link_probabilities = links_by_words(p_BTS[b, : len(y), : len(x)], target_word_ids, source_word_ids)
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


def _read(
    systems: Sequence[System], batch: Batch, with_alignment: bool
) -> tuple[NDArray[np.float64], NDArray[np.int64], Alignment | None, Alignment | None]:
    """What the models make of the pairs of a minibatch: log p of each target word and the number of its pair, both (P); α
    (T, B, S); and the probabilities of links (B, T, S).
    """
    import torch  # translation does without

    from rnnsearch.ops import fast_products

    first, logs_p_P, alphas_TBS = systems[0], [], []
    p_BTS: Alignment | None = None
    with torch.inference_mode():
        tensors = batch_tensors(batch, device_of(first.model))
        for system in systems:
            with fast_products():
                output = system.model(*tensors)
                log_p_of_model_P = -torch.nn.functional.cross_entropy(output.logits_PV, output.words_P, reduction="none")
            logs_p_P.append(log_p_of_model_P.double())
            if with_alignment and output.decoded.alpha_TBS is not None:
                alphas_TBS.append(output.decoded.alpha_TBS)
                if system is first and first.alignment_layer is not None:
                    p_BTS = first.alignment_layer(first.model, output, *tensors).sigmoid().cpu().numpy()
        log_p_P = torch.stack(logs_p_P).logsumexp(0) - math.log(len(systems))
        alpha_TBS = torch.stack(alphas_TBS).mean(0).float().cpu().numpy() if alphas_TBS else None
        return log_p_P.cpu().numpy(), output.sentences_P.cpu().numpy(), alpha_TBS, p_BTS
