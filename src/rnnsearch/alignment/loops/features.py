"""The features of links that `probability` reads, for some position pairs of a sentence pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from rnnsearch.compiled_code import compiled_loop


@compiled_loop
def evidence(p_DMST: Any, t_NMD: Any, types: Any, source_share_S: Any, target_share_T: Any, likely: Any, reach: int) -> Any:
    """Return `probability.evidence` of the position pairs `likely`, whose word-type pairs are `types[likely]`.

    The axes are directions D, models M, source positions S, target positions T, and word-type pairs N.
    """
    _, M, S, T = p_DMST.shape
    features = np.empty((len(likely), 11 * M + 3))
    around = np.zeros((S + 2 * reach, T + 2 * reach))
    # The two greatest means of each word, and the probability that it is NULL-aligned.
    of_source, of_target, none_S, none_T = np.empty((S, 2)), np.empty((T, 2)), np.empty(S), np.empty(T)
    for m in range(M):
        of_source[:], of_target[:], none_S[:], none_T[:] = 0, 0, 1, 1
        # The geometric mean of both directions, with a margin; outside the sentences, only their corners are linked.
        around[reach - 1, reach - 1] = around[reach + S, reach + T] = 1
        for i in range(S):
            for j in range(T):
                forward, backward = p_DMST[0, m, i, j], p_DMST[1, m, i, j]
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
                p = min(max(float(p_DMST[d, m, i, j]), 1e-6), 1 - 1e-6)
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
    # The frequencies of both words, and the distance of their relative positions.
    for n in range(len(likely)):
        i, j = likely[n] // T, likely[n] % T
        features[n, -3], features[n, -2] = np.log(source_share_S[i]), np.log(target_share_T[j])
        features[n, -1] = abs((i + 0.5) / S - (j + 0.5) / T)
    return features
