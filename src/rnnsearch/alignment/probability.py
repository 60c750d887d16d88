"""The probability of a link, from all models and from what lies around it: a small network.

The posterior probabilities of models that agreed in training are too sure of themselves, and those of models that did not
agree are wrong more often. Here they are evidence among other evidence: is one of the words linked otherwise, are the
neighbours linked alongside, is a word frequent, are the two at the same place of their sentences? No evidence is about a
language, or about the size of a text. The weights were learned from hand-aligned sentences, two novels of `alibi` (French
and English), and from training sentences of the built-in corpus; `benchmarks/alignment/link_weights.py` learns them again.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rnnsearch.errors import RnnsearchError
from rnnsearch.untrusted import Array, check_arrays, read_json

Floats = NDArray[np.floating]

_REACH = 3
"""Cells so far away are still near."""
_OF_MODELS = (
    *("logit forward", "logit backward", "t forward", "t backward", "forward null", "backward null"),
    *("mean", "rival of the source word", "rival of the target word", "next on the diagonal", "near the diagonal"),
)
EVIDENCE = (
    *(f"{kind}, {models}" for kind in _OF_MODELS for models in ("agreeing", "independent")),
    *("source frequency", "target frequency", "distance"),
)
WEIGHTS = Path(__file__).with_name("link_weights.json")


def evidence(p_DMST: Floats, t_STMD: Floats, source_share_S: Floats, target_share_T: Floats) -> Floats:
    """What is known of every cell of a pair: kinds × source words × target words.

    The arguments are the posterior probabilities of both directions (forward and backward) of the agreeing and of the
    independent models, their translation probabilities, and the share of each word in all words of the text.
    """
    _, M, S, T = p_DMST.shape
    mean = np.sqrt(p_DMST[0] * p_DMST[1])
    around = np.zeros((M, S + 2 * _REACH, T + 2 * _REACH))
    around[:, _REACH:-_REACH, _REACH:-_REACH] = mean
    # Beyond the sentences there are no links, but that of their beginnings, and that of their ends.
    around[:, _REACH - 1, _REACH - 1] = around[:, _REACH + S, _REACH + T] = 1

    def at(i: int, j: int) -> Floats:
        """For each cell the value of the cell that is i words further in the source and j words in the target."""
        return around[:, _REACH + i : _REACH + i + S, _REACH + j : _REACH + j + T]

    p = np.clip(p_DMST, 1e-6, 1 - 1e-6)
    found = np.empty((len(EVIDENCE), S, T))
    of_models = found[: len(_OF_MODELS) * M].reshape(len(_OF_MODELS), M, S, T)
    of_models[0:2] = np.log(p / (1 - p))
    of_models[2:4] = np.log(t_STMD + 1e-7).transpose(3, 2, 0, 1)
    of_models[4] = 1 - p_DMST[0].sum(1)[:, None, :]
    of_models[5] = 1 - p_DMST[1].sum(2)[:, :, None]
    of_models[6] = mean
    of_models[7] = _rival(mean)
    of_models[8] = _rival(mean.swapaxes(1, 2)).swapaxes(1, 2)
    of_models[9] = at(1, 1) + at(-1, -1)
    of_models[10] = sum(at(i, j) + at(-i, -j) for d in (2, 3) for i, j in ((d, d), (d, d - 1), (d - 1, d)))
    found[-3] = np.log(source_share_S)[:, None]
    found[-2] = np.log(target_share_T)
    found[-1] = np.abs((np.arange(S) + 0.5)[:, None] / S - (np.arange(T) + 0.5) / T)
    return found


def probability(evidence_NK: Floats) -> Floats:
    """The probability of N links, from their evidence."""
    w = _weights()
    x_NK = (evidence_NK - w["mean"]) / w["deviation"]
    z_N = x_NK @ w["linear"] + np.tanh(x_NK @ w["hidden"] + w["bias"]) @ w["out"] + w["constant"]
    return np.asarray(1 / (1 + np.exp(-z_N)))


@cache
def _weights() -> dict[str, Floats]:
    try:
        arrays: dict[str, Floats] = {name: np.array(values, np.float64) for name, values in read_json(WEIGHTS).items()}
        kinds, hidden = len(EVIDENCE), len(arrays.get("bias", ()))
        of_kinds = {name: Array("float64", (kinds,)) for name in ("mean", "linear")}
        of_hidden = {name: Array("float64", (hidden,)) for name in ("bias", "out")}
        expected = of_kinds | of_hidden | {"constant": Array("float64", ()), "hidden": Array("float64", (kinds, hidden))}
        check_arrays(arrays, expected | {"deviation": Array("float64", (kinds,), 1e-12)})
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise RnnsearchError(f"{WEIGHTS}: damaged ({error}); install rnnsearch again") from None
    return arrays


def _rival(p_MST: Floats) -> Floats:
    """The greatest probability among the other links of the same source word."""
    if p_MST.shape[2] < 2:
        return np.zeros_like(p_MST)
    greatest = np.partition(p_MST, -2, axis=2)
    second, first = greatest[:, :, -2, None], greatest[:, :, -1, None]
    return np.asarray(np.where(p_MST == first, second, first))
