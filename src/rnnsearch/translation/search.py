"""Beam search (section 4.2 and appendix B.2), over many sentences side by side.

Each sentence keeps its `beam` best partial translations, by summed log-probability. One that ends leaves the beam, which
shrinks by it; the sentence is done when nothing is left in its beam. No sentence sees another: scores are computed from
its own source alone, and its candidates compete only with each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rnnsearch.config import SearchConfig
from rnnsearch.model import RNNsearch
from rnnsearch.text.vocabulary import END, UNK


@dataclass(frozen=True)
class Hypothesis:
    """One translation of one sentence, as word ids."""

    words: list[int]
    """Without the end symbol."""
    score: float
    """log p(words | source), the end symbol's included if it is finished."""
    finished: bool
    """False if the search ran into the length limit before the end symbol."""
    alignment: NDArray[np.float32] | None
    """α, (words, source positions); None where the model has no alignment."""

    def rank(self, length_normalization: float) -> float:
        """What hypotheses are compared by: log p / length^normalization, the end symbol counted."""
        length = len(self.words) + 1
        return self.score / math.pow(length, length_normalization)


@dataclass
class _Step:
    """What one step wrote: for following a hypothesis back to its beginning."""

    row_of: dict[int, int]
    """Sentence → its row in `parents` and `words`."""
    parents: NDArray[np.int64]
    words: NDArray[np.int64]
    row_before: dict[int, int]
    """Sentence → its row in `alpha`."""
    alpha: NDArray[np.float32] | None
    """(B, K, S), by the hypotheses of the step before."""


@dataclass
class _Beam:
    """One sentence's search."""

    sentence: int
    source_length: int
    shortest: float
    longest: int
    width: int
    ended: list[Hypothesis] = field(default_factory=list)


@torch.inference_mode()
def beam_search(
    model: RNNsearch,
    x_BS: Tensor,
    lengths_B: Tensor,
    config: SearchConfig,
    max_steps: Sequence[int] | None = None,
) -> list[list[Hypothesis]]:
    """The translations of each sentence, best first.

    `x_BS` holds word ids with the end symbol and padding after it, `lengths_B` the lengths, end symbol included.
    A sentence takes at most `maximum_length_ratio` × its length steps, or `max_steps` of it. Where nothing finishes,
    the unfinished hypotheses are returned, marked so.
    """
    lengths = lengths_B.tolist()
    beams = [
        _Beam(
            sentence=b,
            source_length=length,
            shortest=config.minimum_length_ratio * length,
            longest=max_steps[b] if max_steps else max(1, int(config.maximum_length_ratio * length)),
            width=config.beam,
        )
        for b, length in enumerate(lengths)
    ]
    live = list(beams)
    history: list[_Step] = []
    source = model.encode(x_BS, lengths_B)
    hypotheses = model.start(source)
    scores_BK = x_BS.new_zeros(len(beams), 1, dtype=hypotheses.state_BKD.dtype)

    while live:
        look = model.look(hypotheses, source)
        log_p_BKV = look.log_p_BKV
        written = len(history)
        too_short = [row for row, beam in enumerate(live) if written < beam.shortest]
        if too_short:
            log_p_BKV[too_short, :, END] = -torch.inf
        if config.forbid_unk:
            log_p_BKV[:, :, UNK] = -torch.inf

        totals, parents, words = _best_continuations(scores_BK, log_p_BKV, max(beam.width for beam in live))
        alpha = None if look.alpha_BKS is None else look.alpha_BKS.float().cpu().numpy()
        row_before = history[-1].row_of if history else {beam.sentence: row for row, beam in enumerate(live)}

        rows: list[int] = []
        kept: list[list[tuple[float, int, int]]] = []
        for row, beam in enumerate(live):
            going_on, ended = [], 0
            candidates = zip(totals[row], parents[row], words[row], strict=True)
            for score, parent, word in list(candidates)[: beam.width]:
                if score == -np.inf:
                    break
                if word == END:
                    path, alignment = _trace(history, beam, parent, alpha, row)
                    beam.ended.append(Hypothesis(path, float(score), True, alignment))
                    ended += 1
                else:
                    going_on.append((float(score), int(parent), int(word)))
            beam.width = beam.width - ended if going_on else 0
            if not going_on and not beam.ended:
                # Every word is forbidden (the shortlist is nothing but the two symbols): what there is breaks off.
                path, alignment = _trace(history, beam, 0, alpha, row)
                beam.ended.append(Hypothesis(path, float(scores_BK[row, 0]), False, alignment))
            if going_on and written + 1 >= beam.longest:
                if not beam.ended:
                    for score, parent, word in going_on:
                        path, alignment = _trace(history, beam, parent, alpha, row, word)
                        beam.ended.append(Hypothesis(path, score, False, alignment))
                beam.width = 0
            if beam.width:
                rows.append(row)
                kept.append(going_on)
        live = [live[row] for row in rows]
        if not live:
            break

        K = max(len(going_on) for going_on in kept)
        padded = [going_on + [(-np.inf, 0, END)] * (K - len(going_on)) for going_on in kept]
        table = np.array(padded)
        step_parents, step_words = table[..., 1].astype(np.int64), table[..., 2].astype(np.int64)
        row_of = {beam.sentence: row for row, beam in enumerate(live)}
        history.append(_Step(row_of, step_parents, step_words, row_before, alpha))

        device = x_BS.device
        rows_b = torch.tensor(rows, device=device)
        scores_BK = torch.from_numpy(table[..., 0]).to(device, scores_BK.dtype)
        hypotheses = model.write(
            look, rows_b, torch.from_numpy(step_parents).to(device), torch.from_numpy(step_words).to(device)
        )
        if len(rows) < len(source.real_BS):
            source = source.select(rows_b)

    return [
        sorted(beam.ended, key=lambda hypothesis: -hypothesis.rank(config.length_normalization)) for beam in beams
    ]


def _best_continuations(
    scores_BK: Tensor, log_p_BKV: Tensor, width: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Of all hypotheses of a sentence and all words, the `width` best: scores, parents, words, each (B, ≤ width)."""
    # A sentence's best continuations are among the best of each of its hypotheses: two small sorts, not one large.
    best_BKW, words_BKW = log_p_BKV.topk(min(width, log_p_BKV.shape[-1]), -1)
    W = best_BKW.shape[-1]
    totals_BX = (scores_BK.unsqueeze(-1) + best_BKW).flatten(1)
    totals_BW, places_BW = totals_BX.topk(min(width, totals_BX.shape[1]), -1)
    words_BW = words_BKW.flatten(1).gather(1, places_BW)
    return totals_BW.double().cpu().numpy(), (places_BW // W).cpu().numpy(), words_BW.cpu().numpy()


def _trace(
    history: list[_Step],
    beam: _Beam,
    parent: int,
    alpha: NDArray[np.float32] | None,
    row: int,
    last_word: int | None = None,
) -> tuple[list[int], NDArray[np.float32] | None]:
    """Words and alignment of the hypothesis `parent`, and of `last_word`, if the current step has written one."""
    words, alignment = [], []
    if last_word is not None:
        words.append(last_word)
        if alpha is not None:
            alignment.append(alpha[row, parent])
    for step in reversed(history):
        row = step.row_of[beam.sentence]
        words.append(int(step.words[row, parent]))
        parent = int(step.parents[row, parent])
        if step.alpha is not None:
            alignment.append(step.alpha[step.row_before[beam.sentence], parent])
    words.reverse()
    if alpha is None:
        return words, None
    length = beam.source_length
    matrix = np.zeros((len(words), length), np.float32)
    for i, row_alpha in enumerate(reversed(alignment)):
        matrix[i] = row_alpha[:length]
    return words, matrix
