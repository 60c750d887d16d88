"""The probability of a link, which two small neural networks predict, the second from the predictions of the first.

The posterior probabilities of the models that were trained to agree are overconfident, and those of the independent models
are wrong more often. The first network therefore receives them together with other features: whether one of the two words
has another likely link, whether the neighbouring words are linked, how frequent the words are, and how far apart their
relative positions are. It predicts each link by itself. The second network corrects its predictions by those of the links
around: two words are more likely to be linked if the words before and after them are, and less if each has a better link.

No feature depends on a language or on the size of a text. The weights were learned from hand-aligned sentences: two novels
of `alibi` (French and English), and news and other text of Spanish, Italian, Dutch, Portuguese and Russian with English; and
from training sentences of the built-in corpus. `benchmarks/alignment/link_weights.py` learns them again.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment import compiled
from rnnsearch.alignment.compiled import Text
from rnnsearch.errors import RnnsearchError
from rnnsearch.untrusted import Array, check_arrays, read_json

Floats = NDArray[np.floating]
Ids = NDArray[np.integer]

_REACH = 3
"""The greatest distance, in words, of the neighbouring position pairs."""
_CERTAIN = 1e-4
"""The second network reads no logit of a prediction nearer to 0 or 1 than this."""
# The features of each model, and the names of all features.
_OF_MODELS = (
    *("logit forward", "logit backward", "t forward", "t backward", "forward null", "backward null"),
    *("mean", "rival of the source word", "rival of the target word", "next on the diagonal", "near the diagonal"),
)
EVIDENCE = (
    *(f"{kind}, {models}" for kind in _OF_MODELS for models in ("agreeing", "independent")),
    *("source frequency", "target frequency", "distance"),
)
# The position pairs around a position pair whose predictions the second network reads: (source, target) distances in words.
_AROUND = (
    *((1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1)),
    *((0, -1), (1, -1), (-1, 1), (2, 2), (-2, -2)),
)
SURROUNDINGS = (
    "logit",
    *(f"prediction at {i:+}, {j:+}" for i, j in _AROUND),
    *("other links of the source word", "other links of the target word"),
    *("rival of the source word", "rival of the target word"),
)
WEIGHTS = Path(__file__).with_name("link_weights.json")


def evidence(
    text: Text, first: int, last: int, p_DMN: Floats, t_NMD: Floats, shares: tuple[Floats, Floats], likely: Ids
) -> Floats:
    """Return the features of some position pairs of the sentence pairs `first` to `last` − 1: position pairs × features.

    `likely` are the numbers of these position pairs, in ascending order, counted from the first one of sentence pair
    `first`. The other arguments are, for all N position pairs of these sentence pairs, the posterior probabilities of both
    directions D (forward and backward) of the agreeing and the independent models M; the translation probabilities of N
    word-type pairs; and the share of each source word and target word in all words of the text.
    """
    starts = np.searchsorted(likely, text.offsets[first : last + 1] - text.offsets[first])
    if compiled.loops:
        features: Floats = compiled.loops.evidence(text, first, last, p_DMN, t_NMD, *shares, likely, starts, _REACH)
        return features
    features = np.empty((len(likely), len(EVIDENCE)))
    for p in range(first, last):
        begin, end = text.offsets[p] - text.offsets[first], text.offsets[p + 1] - text.offsets[first]
        if begin == end:
            continue
        e = text.source_ids[text.source_starts[p] : text.source_starts[p + 1]]
        f = text.target_ids[text.target_starts[p] : text.target_starts[p + 1]]
        shape = len(e), len(f)
        t_STMD = t_NMD[text.cells[text.offsets[p] : text.offsets[p + 1]]].reshape(*shape, *t_NMD.shape[1:])
        all_of_pair = _evidence(p_DMN[:, :, begin:end].reshape(*p_DMN.shape[:2], *shape), t_STMD, shares[0][e], shares[1][f])
        here = slice(starts[p - first], starts[p - first + 1])
        features[here] = all_of_pair.reshape(len(EVIDENCE), -1)[:, likely[here] - begin].T
    return features


def _evidence(p_DMST: Floats, t_STMD: Floats, source_share_S: Floats, target_share_T: Floats) -> Floats:
    """Return the features of every position pair: features × source words × target words."""
    # The same as `loops.evidence`, for all position pairs at once.
    _, M, S, T = p_DMST.shape
    mean = np.sqrt(p_DMST[0] * p_DMST[1])
    # The geometric mean of both directions, with a margin of _REACH on all sides.
    around = np.zeros((M, S + 2 * _REACH, T + 2 * _REACH))
    around[:, _REACH:-_REACH, _REACH:-_REACH] = mean
    # Outside the sentences, only their beginnings are linked with each other, and their ends.
    around[:, _REACH - 1, _REACH - 1] = around[:, _REACH + S, _REACH + T] = 1

    def at(i: int, j: int) -> Floats:
        """Return, for each position pair, the value of the one i words further in the source and j words in the target."""
        return around[:, _REACH + i : _REACH + i + S, _REACH + j : _REACH + j + T]

    p = np.clip(p_DMST, 1e-6, 1 - 1e-6)
    features = np.empty((len(EVIDENCE), S, T))
    of_models = features[: len(_OF_MODELS) * M].reshape(len(_OF_MODELS), M, S, T)
    # Posterior probabilities as logits, translation probabilities, and the probability that each word is NULL-aligned.
    of_models[0:2] = np.log(p / (1 - p))
    of_models[2:4] = np.log(t_STMD + 1e-7).transpose(3, 2, 0, 1)
    of_models[4] = 1 - p_DMST[0].sum(1)[:, None, :]
    of_models[5] = 1 - p_DMST[1].sum(2)[:, :, None]
    # The geometric mean of both directions; that of the best other link of each word; those of the neighbours.
    of_models[6] = mean
    of_models[7] = _rival(mean)
    of_models[8] = _rival(mean.swapaxes(1, 2)).swapaxes(1, 2)
    of_models[9] = at(1, 1) + at(-1, -1)
    of_models[10] = sum(at(i, j) + at(-i, -j) for d in (2, 3) for i, j in ((d, d), (d, d - 1), (d - 1, d)))
    # The frequencies of both words, and the distance of their relative positions.
    features[-3] = np.log(source_share_S)[:, None]
    features[-2] = np.log(target_share_T)
    features[-1] = np.abs((np.arange(S) + 0.5)[:, None] / S - (np.arange(T) + 0.5) / T)
    return features


def surroundings(p_N: Floats, i_N: Ids, j_N: Ids, starts_P: Ids, lengths_P2: Ids) -> Floats:
    """Return the features of the second network: N position pairs × SURROUNDINGS.

    p are the predictions of the first network, and 0 for all position pairs that are not given; i and j are the positions of
    the two words. `starts_P` says where the position pairs of each sentence pair begin, and where the last ones end;
    `lengths_P2` are the numbers of source words and of target words of each sentence pair.
    """
    if compiled.loops:
        features: Floats = compiled.loops.surroundings(p_N, i_N, j_N, starts_P, lengths_P2, np.array(_AROUND), _CERTAIN)
        return features
    features = np.empty((len(p_N), len(SURROUNDINGS)))
    for begin, end, (S, T) in zip(starts_P[:-1], starts_P[1:], lengths_P2, strict=True):
        p, i, j = p_N[begin:end], i_N[begin:end], j_N[begin:end]
        # As in `_evidence`, there is a margin on all sides, and only the corners outside are linked.
        p_ST = np.zeros((S + 4, T + 4))
        p_ST[i + 2, j + 2] = p
        p_ST[1, 1] = p_ST[S + 2, T + 2] = 1
        inside = p_ST[2:-2, 2:-2]
        here = features[begin:end]
        clipped = np.clip(p, _CERTAIN, 1 - _CERTAIN)
        here[:, 0] = np.log(clipped / (1 - clipped))
        for n, (down, right) in enumerate(_AROUND, 1):
            here[:, n] = p_ST[i + 2 + down, j + 2 + right]
        here[:, -4], here[:, -3] = inside.sum(1)[i] - p, inside.sum(0)[j] - p
        here[:, -2], here[:, -1] = _rival(inside[None])[0][i, j], _rival(inside.T[None])[0].T[i, j]
    return features


class Network(NamedTuple):
    """The weights of a network with a linear part, one hidden layer of H tanh units, and a sigmoid output.

    The linear part and the hidden layer read the K features, each standardised by its mean and its standard deviation.
    """

    mean: Floats
    deviation: Floats
    linear: Floats
    hidden: Floats
    bias: Floats
    out: Floats
    constant: Floats

    def __call__(self, x_NK: Floats) -> Floats:
        """Return the probabilities of N links (N) from their features (N, K)."""
        # The sums are taken in the same order for any number of links, so that a link does not depend on others.
        parts = self.mean, self.deviation, self.linear, self.hidden, self.bias
        z_N, z_NH = (compiled.loops.sums if compiled.loops else _sums)(x_NK, *parts)
        z_N = z_N + (np.tanh(z_NH) * self.out).sum(1) + self.constant
        return np.asarray(1 / (1 + np.exp(-z_N)))


def probability(evidence_NK: Floats, i_N: Ids, j_N: Ids, starts_P: Ids, lengths_P2: Ids) -> Floats:
    """Return the probabilities of N links (N) from their evidence (N, K); see `surroundings` for the other arguments."""
    first, second = networks()
    return second(surroundings(first(evidence_NK), i_N, j_N, starts_P, lengths_P2))


def _sums(
    x_NK: Floats, mean_K: Floats, deviation_K: Floats, linear_K: Floats, hidden_KH: Floats, bias_H: Floats
) -> tuple[Floats, Floats]:
    """Return the same as `loops.sums`."""
    x_NK = (x_NK - mean_K) / deviation_K
    return np.einsum("nk,k->n", x_NK, linear_K), np.einsum("nk,kh->nh", x_NK, hidden_KH) + bias_H


@cache
def networks() -> tuple[Network, Network]:
    """Read both networks. Raises RnnsearchError if their file is damaged."""
    try:
        of_networks = read_json(WEIGHTS)
        return (_network(of_networks["first"], len(EVIDENCE)), _network(of_networks["second"], len(SURROUNDINGS)))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise RnnsearchError(f"{WEIGHTS}: damaged ({error}); install rnnsearch again") from None


def _network(weights: dict[str, list[float]], features: int) -> Network:
    """Return the network of these weights, after a check of their shapes. Raises ValueError if one is wrong."""
    arrays: dict[str, Floats] = {name: np.array(values, np.float64) for name, values in weights.items()}
    units = len(arrays.get("bias", ()))
    of_features = {name: Array("float64", (features,)) for name in ("mean", "linear")}
    of_units = {name: Array("float64", (units,)) for name in ("bias", "out")}
    expected = of_features | of_units | {"constant": Array("float64", ()), "hidden": Array("float64", (features, units))}
    check_arrays(arrays, expected | {"deviation": Array("float64", (features,), 1e-12)})
    return Network(**arrays)


def _rival(p_MST: Floats) -> Floats:
    """Return, for each position pair, the greatest probability among the other links of the same source word."""
    if p_MST.shape[2] < 2:
        return np.zeros_like(p_MST)
    # The rival of the most probable link is the second most probable one; that of all other links is the most probable one.
    greatest = np.partition(p_MST, -2, axis=2)
    second, first = greatest[:, :, -2, None], greatest[:, :, -1, None]
    return np.asarray(np.where(p_MST == first, second, first))
