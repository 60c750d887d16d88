"""The features of links that `probability` reads, the sums of its networks, and the choice of the links of a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from rnnsearch.compiled_code import compiled_loop


@compiled_loop
def evidence(
    text: Any,
    first: int,
    last: int,
    p_DMN: Any,
    t_NMD: Any,
    source_share: Any,
    target_share: Any,
    likely: Any,
    starts: Any,
    reach: int,
) -> Any:
    """Return `probability.evidence`; those of `likely` that belong to a pair begin at its number in `starts`."""
    features = np.empty((len(likely), 11 * p_DMN.shape[1] + 3))
    for p in range(first, last):
        here = slice(starts[p - first], starts[p - first + 1])
        if here.start == here.stop:
            continue
        e = text.source_ids[text.source_starts[p] : text.source_starts[p + 1]]
        f = text.target_ids[text.target_starts[p] : text.target_starts[p + 1]]
        offset = text.offsets[p]
        begin = offset - text.offsets[first]
        cells, types = likely[here] - begin, text.cells[offset : text.offsets[p + 1]]
        _of_models(p_DMN, begin, t_NMD, types, len(e), len(f), cells, reach, features[here])
        # The frequencies of both words, and the distance of their relative positions.
        S, T = len(e), len(f)
        for n in range(len(cells)):
            i, j = cells[n] // T, cells[n] % T
            row = features[here.start + n]
            row[-3], row[-2] = np.log(source_share[e[i]]), np.log(target_share[f[j]])
            row[-1] = abs((i + 0.5) / S - (j + 0.5) / T)
    return features


@compiled_loop
def _of_models(
    p_DMN: Any, begin: int, t_NMD: Any, types: Any, S: int, T: int, likely: Any, reach: int, features: Any
) -> None:
    """Compute the features of all models for a sentence pair, whose position pairs begin at `begin` in `p_DMN`."""
    M = p_DMN.shape[1]
    around = np.zeros((S + 2 * reach, T + 2 * reach))
    # The two greatest means of each word, and the probability that it is NULL-aligned.
    of_source, of_target, none_S, none_T = np.empty((S, 2)), np.empty((T, 2)), np.empty(S), np.empty(T)
    for m in range(M):
        of_source[:], of_target[:], none_S[:], none_T[:] = 0, 0, 1, 1
        # The geometric mean of both directions, with a margin; outside the sentences, only their corners are linked.
        around[reach - 1, reach - 1] = around[reach + S, reach + T] = 1
        for i in range(S):
            for j in range(T):
                forward, backward = p_DMN[0, m, begin + i * T + j], p_DMN[1, m, begin + i * T + j]
                none_T[j] -= forward
                none_S[i] -= backward
                mean = np.sqrt(forward * backward)
                around[reach + i, reach + j] = mean
                if mean > of_source[i, 0]:
                    of_source[i, 1], of_source[i, 0] = of_source[i, 0], mean
                elif mean > of_source[i, 1]:
                    of_source[i, 1] = mean
                if mean > of_target[j, 0]:
                    of_target[j, 1], of_target[j, 0] = of_target[j, 0], mean
                elif mean > of_target[j, 1]:
                    of_target[j, 1] = mean
        for n in range(len(likely)):
            i, j = likely[n] // T, likely[n] % T
            x, y = reach + i, reach + j
            # The logits of the posterior probabilities, and log t, of both directions.
            for d in range(2):
                p = min(max(float(p_DMN[d, m, begin + likely[n]]), 1e-6), 1 - 1e-6)
                features[n, d * M + m] = np.log(p / (1 - p))
                features[n, (2 + d) * M + m] = np.log(t_NMD[types[likely[n]], m, d] + 1e-7)
            # The probability that each word is NULL-aligned; the mean, and the greatest mean among the other links of each
            # word; the next position pairs on the diagonal, and those near it.
            features[n, 4 * M + m], features[n, 5 * M + m] = none_T[j], none_S[i]
            mean = around[x, y]
            features[n, 6 * M + m] = mean
            features[n, 7 * M + m] = of_source[i, 1] if mean == of_source[i, 0] else of_source[i, 0]
            features[n, 8 * M + m] = of_target[j, 1] if mean == of_target[j, 0] else of_target[j, 0]
            features[n, 9 * M + m] = around[x + 1, y + 1] + around[x - 1, y - 1]
            near = 0.0
            for d in range(2, reach + 1):
                near += around[x + d, y + d] + around[x - d, y - d]
                near += around[x + d, y + d - 1] + around[x - d, y - d + 1]
                near += around[x + d - 1, y + d] + around[x - d + 1, y - d]
            features[n, 10 * M + m] = near


@compiled_loop
def surroundings(p_N: Any, i_N: Any, j_N: Any, starts_P: Any, lengths_P2: Any, around: Any, certain: float) -> Any:
    """Return `probability.surroundings`; `around` and `certain` are its constants."""
    K = 1 + len(around)
    features = np.empty((len(p_N), K + 4))
    for pair in range(len(lengths_P2)):
        begin, end, (S, T) = starts_P[pair], starts_P[pair + 1], lengths_P2[pair]
        if begin == end:
            continue
        # The predictions, with a margin; outside the sentences, only their corners are linked. The sum of each word's
        # predictions, and the two greatest ones.
        p_ST = np.zeros((S + 4, T + 4))
        p_ST[1, 1] = p_ST[S + 2, T + 2] = 1
        of_source, of_target = np.zeros((S, 3)), np.zeros((T, 3))
        for n in range(begin, end):
            p_ST[i_N[n] + 2, j_N[n] + 2] = p_N[n]
            _add(of_source[i_N[n]], p_N[n])
            _add(of_target[j_N[n]], p_N[n])
        for n in range(begin, end):
            i, j, row = i_N[n], j_N[n], features[n]
            p = min(max(p_N[n], certain), 1 - certain)
            row[0] = np.log(p / (1 - p))
            for k in range(len(around)):
                row[1 + k] = p_ST[i + 2 + around[k, 0], j + 2 + around[k, 1]]
            row[K], row[K + 1] = of_source[i, 0] - p_N[n], of_target[j, 0] - p_N[n]
            row[K + 2] = of_source[i, 2] if p_N[n] == of_source[i, 1] else of_source[i, 1]
            row[K + 3] = of_target[j, 2] if p_N[n] == of_target[j, 1] else of_target[j, 1]
    return features


@compiled_loop
def _add(of_word: Any, p: float) -> None:
    """Add a prediction to the sum of those of a word, and to its two greatest ones."""
    of_word[0] += p
    if p > of_word[1]:
        of_word[2], of_word[1] = of_word[1], p
    elif p > of_word[2]:
        of_word[2] = p


@compiled_loop
def linked(probability: Any, likely: float, share: float) -> Any:
    """Return `LineLinks.linked`: the indices of all probabilities above `likely`, or of the greatest, in ascending order."""
    count, total = 0, 0.0
    for p in probability:
        count += p > likely
        total += p
    count = max(count, int(share * total))
    # Of equal probabilities, the first ones are linked.
    best = np.argsort(-probability, kind="mergesort")[:count]
    best.sort()
    return best


@compiled_loop
def sums(x_NK: Any, mean_K: Any, deviation_K: Any, linear_K: Any, hidden_KH: Any, bias_H: Any) -> Any:
    """Return the linear part (N) and the arguments of the hidden units (N, H) of `probability.probability`."""
    N, K = x_NK.shape
    H = len(bias_H)
    z_N, z_NH = np.zeros(N), np.empty((N, H))
    for n in range(N):
        for h in range(H):
            z_NH[n, h] = bias_H[h]
        for k in range(K):
            x = (x_NK[n, k] - mean_K[k]) / deviation_K[k]
            z_N[n] += x * linear_K[k]
            for h in range(H):
                z_NH[n, h] += x * hidden_KH[k, h]
    return z_N, z_NH
