"""The E-step of training over all sentence pairs, under IBM Model 1 and under the hidden Markov model of `hmm`.

States whose forward probability is below `_NEGLIGIBLE` are omitted from sums, because only few positions of a sentence are
probable. t is (Ty, Tx) in the direction that generates the target, and (Tx, Ty) in the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rnnsearch.alignment.hmm import NEAR
from rnnsearch.compiled_code import compiled_loop

f32 = np.float32
_NEGLIGIBLE = f32(1e-7)
_SMALLEST = f32(1e-30)
_LANES = 16
"""The number of widths of short jumps, 2 · NEAR + 1, and one more, so that instructions on 8 or 16 numbers fit."""


@compiled_loop
def expectations(
    text: Any,
    first: int,
    last: int,
    parameters: Any,
    counts: Any,
    only_posteriors: bool,
    target_posterior: Any,
    source_posterior: Any,
    log_likelihoods: Any,
    agree: bool,
) -> None:
    """Add the expected counts of pairs `first` to `last` − 1 to `counts`, or store their posteriors and log-likelihoods.

    See `compiled.expectations` and `compiled.posteriors`; `only_posteriors` selects the second.
    """
    if parameters.uniform and not only_posteriors:
        _expect_model_1(text, parameters, counts, agree)
        return
    # Scratch memory for the longest sentence pair.
    cells, words = 0, 0
    for p in range(first, last):
        Tx, Ty = text.source_starts[p + 1] - text.source_starts[p], text.target_starts[p + 1] - text.target_starts[p]
        cells, words = max(cells, Tx * Ty), max(words, Tx, Ty)
    t_to_target, t_to_source, links, back_links, turned = (
        np.empty(cells, f32), np.empty(cells, f32), np.empty(cells, f32), np.empty(cells, f32), np.empty(cells, f32)
    )  # fmt: skip
    n, null = np.empty(words, f32), np.empty(words, f32)
    scratch = np.empty(2 * cells + 5 * words + 2 * _LANES, f32)
    # The expected jumps of a sentence pair, and those of all of them.
    classes = len(parameters.target_jump)
    jumps = np.zeros((classes, _LANES + 1), f32)
    target_jumps, source_jumps = np.zeros((classes, _LANES + 1)), np.zeros((classes, _LANES + 1))
    target_near, source_near = _near_jumps(parameters.target_jump), _near_jumps(parameters.source_jump)
    for p in range(first, last):
        e = text.source_ids[text.source_starts[p] : text.source_starts[p + 1]]
        f = text.target_ids[text.target_starts[p] : text.target_starts[p + 1]]
        Tx, Ty, offset = len(e), len(f), text.offsets[p]
        if Tx * Ty == 0:
            continue
        # t(f | e) and t(e | f) of every position pair, as matrices of the two directions.
        t_f, t_e = t_to_target[: Tx * Ty].reshape(Ty, Tx), t_to_source[: Tx * Ty].reshape(Tx, Ty)
        for i in range(Tx):
            for j in range(Ty):
                kind = text.cells[offset + i * Ty + j]
                t_f[j, i], t_e[i, j] = parameters.t[kind, 0], parameters.t[kind, 1]
        # The direction that generates the target.
        forward, backward = links[: Tx * Ty].reshape(Ty, Tx), back_links[: Tx * Ty].reshape(Tx, Ty)
        ce, cf = parameters.source_class[e], parameters.target_class[f]
        for j in range(Ty):
            n[j] = parameters.target_null[f[j]]
        likelihood = _forward_backward(
            t_f, n, parameters.target_jump, target_near, ce, parameters.p_0, forward, null, jumps, scratch
        )
        _add_jumps(target_jumps, jumps, ce)
        if only_posteriors:
            log_likelihoods[p - first, 0] = likelihood
        else:
            counts.log_likelihood[0] += likelihood
            for j in range(Ty):
                counts.target_null[f[j]] += null[j]
        # The direction that generates the source.
        for i in range(Tx):
            n[i] = parameters.source_null[e[i]]
        likelihood = _forward_backward(
            t_e, n, parameters.source_jump, source_near, cf, parameters.p_0, backward, null, jumps, scratch
        )
        _add_jumps(source_jumps, jumps, cf)
        # The posteriors of both directions in the order of `cells`, Tx × Ty.
        for i in range(Tx):
            for j in range(Ty):
                turned[i * Ty + j] = forward[j, i]
        if only_posteriors:
            log_likelihoods[p - first, 1] = likelihood
            here = offset - text.offsets[first]
            target_posterior[here : here + Tx * Ty] = turned[: Tx * Ty]
            source_posterior[here : here + Tx * Ty] = back_links[: Tx * Ty]
            continue
        counts.log_likelihood[1] += likelihood
        for i in range(Tx):
            counts.source_null[e[i]] += null[i]
        _add_links(counts.types, text.cells[offset : offset + Tx * Ty], turned, back_links, agree)
    if not only_posteriors:
        _add_widths(counts.target_jump, target_jumps)
        _add_widths(counts.source_jump, source_jumps)


@compiled_loop
def _expect_model_1(text: Any, parameters: Any, counts: Any, agree: bool) -> None:
    """Add the expected counts under IBM Model 1 (Brown et al. 1993).

    All positions are equally probable, so that p(a_j = i | e, f) ∝ t(f_j | e_i).
    """
    # Scratch memory for the longest sentence pair.
    p_0, t = parameters.p_0, parameters.t
    cells, words = 0, 0
    for p in range(len(text.offsets) - 1):
        Tx, Ty = text.source_starts[p + 1] - text.source_starts[p], text.target_starts[p + 1] - text.target_starts[p]
        cells, words = max(cells, Tx * Ty), max(words, Tx, Ty)
    to_target, to_source = np.empty(cells, f32), np.empty(cells, f32)
    of_target, of_source = np.empty(words, f32), np.empty(words, f32)
    for p in range(len(text.offsets) - 1):
        e = text.source_ids[text.source_starts[p] : text.source_starts[p + 1]]
        f = text.target_ids[text.target_starts[p] : text.target_starts[p + 1]]
        Tx, Ty, offset = len(e), len(f), text.offsets[p]
        if Tx * Ty == 0:
            continue
        share, back_share = (f32(1) - p_0) / f32(Tx), (f32(1) - p_0) / f32(Ty)
        # p(f_j | e) = p_0 n(f_j) + Σ_i (1 − p_0) / Tx · t(f_j | e_i) of all target words, and the same of all source words.
        for j in range(Ty):
            of_target[j] = p_0 * parameters.target_null[f[j]]
        for i in range(Tx):
            row = to_source[i * Ty : (i + 1) * Ty]
            for j in range(Ty):
                kind = text.cells[offset + i * Ty + j]
                to_target[i * Ty + j], row[j] = share * t[kind, 0], back_share * t[kind, 1]
            for j in range(Ty):
                of_target[j] += to_target[i * Ty + j]
            of_source[i] = _sum(row, Ty)
        for j in range(Ty):
            # The posterior probability of NULL, and 1 / p(f_j | e), by which the terms of the sum are multiplied below.
            none = p_0 * parameters.target_null[f[j]]
            total = max(of_target[j], _SMALLEST)
            counts.log_likelihood[0] += np.log(total)
            counts.target_null[f[j]] += none / total
            of_target[j] = f32(1) / total
        for i in range(Tx):
            none = p_0 * parameters.source_null[e[i]]
            total = max(of_source[i] + none, _SMALLEST)
            counts.log_likelihood[1] += np.log(total)
            counts.source_null[e[i]] += none / total
            of_source[i] = f32(1) / total
        # The posterior probabilities of both directions, which become the expected links.
        for i in range(Tx):
            for j in range(Ty):
                to_target[i * Ty + j] *= of_target[j]
                to_source[i * Ty + j] *= of_source[i]
        _add_links(counts.types, text.cells[offset : offset + Tx * Ty], to_target, to_source, agree)


@compiled_loop
def _add_links(types: Any, cells: Any, to_target: Any, to_source: Any, agree: bool) -> None:
    """Add the posterior probabilities of position pairs, or with agreement their product, to those of their types."""
    if agree:
        for k in range(len(cells)):
            both = to_target[k] * to_source[k]
            types[cells[k], 0] += both
            types[cells[k], 1] += both
    else:
        for k in range(len(cells)):
            types[cells[k], 0] += to_target[k]
            types[cells[k], 1] += to_source[k]


@compiled_loop
def _near_jumps(jump: Any) -> Any:
    """Return for each class c of the short jumps, its difference from c of a long jump, c of a long jump, and partial sums.

    The first two are classes × _LANES, where the last column is 0. The partial sums, of the same shape, are those of the
    first 0, 1, … short jumps.
    """
    classes, L = len(jump), jump.shape[1] // 2
    near, rise = np.zeros((classes, _LANES), f32), np.zeros((classes, _LANES), f32)
    far, sums = np.empty(classes, f32), np.zeros((classes, _LANES), np.float64)
    for k in range(classes):
        far[k] = jump[k, L + NEAR + 1]
        for w in range(2 * NEAR + 1):
            near[k, w] = jump[k, L - NEAR + w]
            rise[k, w] = near[k, w] - far[k]
            sums[k, w + 1] = sums[k, w] + near[k, w]
    return near, rise, far, sums


@compiled_loop
def _forward_backward(
    t: Any, n: Any, jump: Any, jumps_near: Any, c: Any, p_0: Any, links: Any, null: Any, jumps: Any, scratch: Any
) -> Any:
    """Compute `hmm.forward_backward` into `links`, `null` and `jumps`; return the log-likelihood.

    All long jumps from a position have the same probability. Their sum is therefore computed once for all positions, and
    short jumps contribute the difference from a long one. `t` is (Ty, Tx), `n` (Ty), `jump` classes × widths, `jumps_near`
    the result of `_near_jumps` for it, and `c` the classes of the words (Tx). `jumps` is classes × (_LANES + 1): the
    expected short jumps, and in the last column all jumps; they are added to its values.
    """
    near, rise, far, sums = jumps_near
    Ty, Tx = t.shape
    L = jump.shape[1] // 2
    # Views into the scratch memory, which is allocated once for all sentence pairs; `wide` has a margin on both sides.
    word, none = scratch[: Ty * Tx].reshape(Ty, Tx), scratch[Ty * Tx : 2 * Ty * Tx].reshape(Ty, Tx)
    rest = scratch[2 * Ty * Tx :]
    to, beta, part, scale = rest[:Tx], rest[Tx : 2 * Tx], rest[2 * Tx : 3 * Tx], rest[3 * Tx : 3 * Tx + Ty]
    wide = rest[3 * Tx + Ty : 4 * Tx + Ty + _LANES]
    lanes = rest[4 * Tx + Ty + _LANES : 4 * Tx + Ty + 2 * _LANES]
    log_likelihood = 0.0
    # (1 − p_0) / Σ_i c(i − i') for the jumps from each position i'; the normaliser of the first jump, which starts at −1.
    first_total = f32(0)
    for i in range(Tx):
        low, high = max(NEAR - i, 0), min(NEAR + Tx - i, 2 * NEAR + 1)
        to[i] = (f32(1) - p_0) / f32(sums[c[i], high] - sums[c[i], low] + (Tx - (high - low)) * far[c[i]])
        first_total += jump[0, L + i + 1]
    # The forward recurrence, scaled at every step; `word` and `none` are the states in which e_i or NULL generates f_j.
    for j in range(Ty):
        stay = p_0 * n[j]
        if j == 0:
            for i in range(Tx):
                first = jump[0, L + i + 1] / first_total
                word[j, i], none[j, i] = (f32(1) - p_0) * first * t[j, i], stay * first
        else:
            # Σ over the previous states k: `long` as if all jumps were long, and `wide` the differences of the short jumps.
            # NULL keeps the position from which the next jump starts.
            long = f32(0)
            for k in range(Tx + _LANES):
                wide[k] = f32(0)
            for k in range(Tx):
                before = word[j - 1, k] + none[j - 1, k]
                none[j, k] = stay * before
                if before > _NEGLIGIBLE:
                    before *= to[k]
                    kind = c[k]
                    long += before * far[kind]
                    for w in range(_LANES):
                        wide[k + w] += before * rise[kind, w]
            for i in range(Tx):
                word[j, i] = max(long + wide[i + NEAR], f32(0)) * t[j, i]
        # The scale p(f_j | f_1 … f_{j−1}), and the scaled forward probabilities; the log-likelihood is the sum of its logs.
        for i in range(Tx):
            part[i] = word[j, i] + none[j, i]
        total = max(_sum(part, Tx), _SMALLEST)
        scale[j] = total
        log_likelihood += np.log(total)
        for i in range(Tx):
            word[j, i] /= total
            none[j, i] /= total
    # The last jump, which ends at Tx.
    total = f32(0)
    for i in range(Tx):
        total += (word[Ty - 1, i] + none[Ty - 1, i]) * jump[c[i], L + Tx - i]
    total = max(total, _SMALLEST)
    log_likelihood += np.log(total)
    for i in range(Tx):
        beta[i] = jump[c[i], L + Tx - i] / total
    for k in range(Tx + _LANES):
        wide[k] = f32(0)
    # The backward recurrence; forward times backward probabilities are the posteriors and the expected jumps.
    for j in range(Ty - 1, -1, -1):
        if j < Ty - 1:
            # The probability of everything after a jump to i, and its sum over all i.
            for i in range(Tx):
                part[i] = t[j + 1, i] * beta[i] / scale[j + 1]
                wide[i + NEAR] = part[i]
            anywhere = _sum(part, Tx)
            # If f_{j+1} is NULL-aligned, the position stays. The expected short jumps, and all jumps, are counted by class.
            stay = p_0 * n[j + 1] / scale[j + 1]
            for k in range(Tx):
                here = word[j, k] + none[j, k]
                if here > _NEGLIGIBLE:
                    here *= to[k]
                    kind = c[k]
                    for w in range(_LANES):
                        jumps[kind, w] += here * near[kind, w] * wide[k + w]
                        lanes[w] = rise[kind, w] * wide[k + w]
                    # The sum of the lanes, by halves.
                    for w in range(8):
                        lanes[w] += lanes[w + 8]
                    for w in range(4):
                        lanes[w] += lanes[w + 4]
                    more = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3])
                    total = max(far[kind] * anywhere + more, f32(0))
                    jumps[kind, _LANES] += here * total
                    beta[k] = to[k] * total + stay * beta[k]
                else:
                    beta[k] = f32(0)
        # The posteriors p(a_j = i | e, f), and that of NULL, summed over the positions that it keeps.
        for i in range(Tx):
            links[j, i] = word[j, i] * beta[i]
            part[i] = none[j, i] * beta[i]
        null[j] = _sum(part, Tx)
    return log_likelihood


@compiled_loop
def _add_jumps(counts: Any, jumps: Any, c: Any) -> None:
    """Add the expected jumps of a sentence pair to `counts`, and set them to zero; c are the classes of its words."""
    for k in c:
        for w in range(_LANES + 1):
            counts[k, w] += jumps[k, w]
            jumps[k, w] = f32(0)


@compiled_loop
def _add_widths(counts: Any, jumps: Any) -> None:
    """Add sums of expected jumps to the counts of classes and widths; all long jumps are added to a single width."""
    middle = counts.shape[1] // 2
    for k in range(len(jumps)):
        long = jumps[k, _LANES]
        for w in range(2 * NEAR + 1):
            counts[k, middle - NEAR + w] += jumps[k, w]
            long -= jumps[k, w]
        counts[k, middle + NEAR + 1] += max(long, 0.0)


@compiled_loop
def _sum(numbers: Any, count: int) -> Any:
    """Return the sum of the first `count` numbers of an array, by eight partial sums, which a CPU computes in parallel."""
    s0, s1, s2, s3, s4, s5, s6, s7 = f32(0), f32(0), f32(0), f32(0), f32(0), f32(0), f32(0), f32(0)
    rest = count - count % 8
    for k in range(0, rest, 8):
        s0 += numbers[k]
        s1 += numbers[k + 1]
        s2 += numbers[k + 2]
        s3 += numbers[k + 3]
        s4 += numbers[k + 4]
        s5 += numbers[k + 5]
        s6 += numbers[k + 6]
        s7 += numbers[k + 7]
    for k in range(rest, count):
        s0 += numbers[k]
    return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))
