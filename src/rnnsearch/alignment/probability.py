"""The probability of a link, from both models and from what lies around it: logistic regression.

The posterior probabilities of two models that agreed in training are too sure of themselves. Here they are evidence among
other evidence: is one of the words linked otherwise, are the neighbours linked alongside, is a word frequent, are the two
at the same place of their sentences? No evidence is about a language. The weights were learned from hand-aligned sentences,
two novels of `alibi` (French and English), aligned together with 100,000 pairs of Europarl; `benchmarks/aligners.py --fit`
learns them again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

_REACH = 3
"""Cells so far away are still near."""
EVIDENCE = (
    *("logit forward", "logit backward", "mean", "rival of the source word", "rival of the target word"),
    *("next on the diagonal", "near the diagonal", "forward null", "backward null", "t forward", "t backward"),
    *("source frequency", "target frequency", "distance"),
)
WEIGHTS = np.array(
    [0.067, 0.069, 0.365, -2.403, -1.952, 0.977, 0.324, -1.444, -1.407, 0.083, 0.058, 0.076, 0.092, -2.685, -1.604]
)
"""One for each kind of evidence, and a constant."""


def evidence(
    forward_ST: Floats, backward_ST: Floats, t_ST2: Floats, source_frequency_S: Floats, target_frequency_T: Floats
) -> Floats:
    """What is known of every cell of a pair, source words × target words × kinds.

    The arguments are the posterior probabilities of both models, their translation probabilities, and how often the words
    occur in the text.
    """
    S, T = forward_ST.shape
    mean = np.sqrt(forward_ST * backward_ST)
    near = sum(
        (_moved(mean, i, j) + _moved(mean, -i, -j) for d in (2, 3) for i, j in ((d, d), (d, d - 1), (d - 1, d))),
        np.zeros((S, T)),
    )
    distance = np.abs((np.arange(S) + 0.5)[:, None] / S - (np.arange(T) + 0.5) / T)
    none = np.zeros((S, T))
    return np.stack(
        [
            _logit(forward_ST),
            _logit(backward_ST),
            mean,
            _rival(mean),
            _rival(mean.T).T,
            _moved(mean, 1, 1) + _moved(mean, -1, -1),
            near,
            1 - forward_ST.sum(0) + none,
            1 - backward_ST.sum(1)[:, None] + none,
            np.log(t_ST2[..., 0] + 1e-7),
            np.log(t_ST2[..., 1] + 1e-7),
            np.log(source_frequency_S)[:, None] + none,
            np.log(target_frequency_T) + none,
            distance,
        ],
        axis=-1,
    )


def probability(evidence: Floats) -> Floats:
    """The probability of links, from their evidence (its last axis)."""
    return np.asarray(1 / (1 + np.exp(-(evidence @ WEIGHTS[:-1] + WEIGHTS[-1]))))


def _logit(p: Floats) -> Floats:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(p / (1 - p)))


def _rival(p_ST: Floats) -> Floats:
    """The greatest probability among the other links of the same source word."""
    if p_ST.shape[1] < 2:
        return np.zeros_like(p_ST)
    second, first = np.partition(p_ST, -2, axis=1)[:, -2:].T[:, :, None]
    return np.asarray(np.where(p_ST == first, second, first))


def _moved(p_ST: Floats, i: int, j: int) -> Floats:
    """For each cell the value of the cell that is i words further in the source and j words in the target.

    Beyond the sentences there are no links, but that of their beginnings, and that of their ends.
    """
    S, T = p_ST.shape
    around = np.zeros((S + 2 * _REACH, T + 2 * _REACH), p_ST.dtype)
    around[_REACH : _REACH + S, _REACH : _REACH + T] = p_ST
    around[_REACH - 1, _REACH - 1] = around[_REACH + S, _REACH + T] = 1
    return around[_REACH + i : _REACH + i + S, _REACH + j : _REACH + j + T]
