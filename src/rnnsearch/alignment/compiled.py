"""Loops over the position pairs of a whole text, compiled by Numba; without Numba, slower NumPy code does the same.

`expectations` is the E-step of `agreement`: the recurrences of `hmm`, in both directions, for one sentence pair after the
other. States whose forward probability is below `_NEGLIGIBLE` are left out of the sums, for only few positions of a sentence
are likely.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment.hmm import forward_backward

try:
    from numba import njit

    from rnnsearch.compiled_code import keep
except ImportError:
    njit = None

f32 = np.float32
_NEGLIGIBLE = f32(1e-7)
_SMALLEST = f32(1e-30)


class Text(NamedTuple):
    """The words and the position pairs of all sentence pairs."""

    source_ids: NDArray[np.int32]
    """All source words, by number, one pair after the other."""
    source_starts: NDArray[np.int64]
    """Where each pair begins in `source_ids`, and where the last one ends."""
    target_ids: NDArray[np.int32]
    target_starts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    """Where the position pairs of each sentence pair begin in `cells`, by source position, and where the last ones end."""
    cells: NDArray[np.int32]
    """The number of the word-type pair of each position pair."""


class Parameters(NamedTuple):
    """The parameters of both directions: translation, NULL-aligned words, jumps."""

    t: NDArray[np.float32]
    """t(target | source) and t(source | target) of each word-type pair: types × 2."""
    target_null: NDArray[np.float32]
    """n(f), the distribution of NULL-aligned target words."""
    source_null: NDArray[np.float32]
    """n(e), the distribution of NULL-aligned source words."""
    target_jump: NDArray[np.float32]
    """c of the direction that generates the target: classes of the source word where a jump starts × widths, −L to L."""
    source_jump: NDArray[np.float32]
    """c of the direction that generates the source."""
    source_class: NDArray[np.int32]
    """The class of each source word."""
    target_class: NDArray[np.int32]
    p_0: np.float32
    """The probability of NULL."""
    uniform: bool
    """Whether all jumps are equally probable, as in IBM Model 1."""


class Counts(NamedTuple):
    """The expected counts of a text, to which `expectations` adds; the shapes are those of `Parameters`."""

    types: NDArray[np.float64]
    """The expected links of each word-type pair in each direction: types × 2."""
    target_null: NDArray[np.float64]
    source_null: NDArray[np.float64]
    target_jump: NDArray[np.float64]
    source_jump: NDArray[np.float64]
    log_likelihood: NDArray[np.float64]
    """The log-likelihoods of both directions."""


def index_cells(text: Text, source_words: int, target_words: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Fill `text.cells`; return the source and the target word of each word-type pair, in the order of source words."""
    type_target, rows = (_index_compiled if njit else _index_plain)(text, source_words, target_words)
    return np.repeat(np.arange(source_words, dtype=np.int32), np.diff(rows)), type_target


def expectations(text: Text, parameters: Parameters, counts: Counts, agree: bool) -> None:
    """Add the expected counts of a text under these parameters to `counts`.

    With `agree`, the expected count of a link is the product of its posterior probabilities in both directions; otherwise,
    it is the posterior probability in each direction.
    """
    none, pairs = np.empty(0, np.float32), len(text.offsets) - 1
    of_pairs = np.empty((0, 2))
    (_expect_compiled if njit else _expect_plain)(text, 0, pairs, parameters, counts, False, none, none, of_pairs, agree)


def posteriors(text: Text, parameters: Parameters, first: int, last: int) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Compute the posterior probabilities, in both directions, of pairs `first` to `last` − 1.

    Return those of their position pairs, directions × position pairs, and the log-likelihoods, pairs × directions.
    """
    probabilities = np.zeros((2, text.offsets[last] - text.offsets[first]), np.float32)
    log_likelihoods = np.zeros((last - first, 2))
    none = Counts(np.empty((0, 2)), np.empty(0), np.empty(0), np.empty((0, 0)), np.empty((0, 0)), np.empty(0))
    (_expect_compiled if njit else _expect_plain)(
        text, first, last, parameters, none, True, probabilities[0], probabilities[1], log_likelihoods, True
    )
    return probabilities, log_likelihoods


def _index_plain(text: Text, source_words: int, target_words: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Fill `text.cells`; return the target words of the word-type pairs, and where those of each source word begin."""
    # The key e · (number of target words) + f of each position pair; equal keys are the same word-type pair.
    pairs = range(len(text.offsets) - 1)
    keys = np.empty(len(text.cells), np.int64)
    for p in pairs:
        e, f = _words(text, p)
        keys[text.offsets[p] : text.offsets[p + 1]] = (e.astype(np.int64)[:, None] * target_words + f).ravel()
    types, text.cells[:] = np.unique(keys, return_inverse=True)
    rows = np.searchsorted(types, np.arange(source_words + 1) * target_words)
    return (types % max(target_words, 1)).astype(np.int32), rows


def _words(text: Text, p: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return (
        text.source_ids[text.source_starts[p] : text.source_starts[p + 1]],
        text.target_ids[text.target_starts[p] : text.target_starts[p + 1]],
    )


def _expect_plain(
    text: Text,
    first: int,
    last: int,
    parameters: Parameters,
    counts: Counts,
    only_posteriors: bool,
    target_posterior: NDArray[np.float32],
    source_posterior: NDArray[np.float32],
    log_likelihoods: NDArray[np.float64],
    agree: bool,
) -> None:
    jumps = [np.ones_like(jump) if parameters.uniform else jump for jump in (parameters.target_jump, parameters.source_jump)]
    for p in range(first, last):
        e, f = _words(text, p)
        Tx, Ty = len(e), len(f)
        if Tx * Ty == 0:
            continue
        types = text.cells[text.offsets[p] : text.offsets[p + 1]].reshape(Tx, Ty)
        # Both directions generate one side from the other, so their matrices are the transposes of each other.
        directions = (
            (parameters.t[types, 0].T, parameters.target_null[f], jumps[0], parameters.source_class[e]),
            (parameters.t[types, 1], parameters.source_null[e], jumps[1], parameters.target_class[f]),
        )
        forward, backward = (forward_backward(*direction, float(parameters.p_0)) for direction in directions)
        links = np.stack([forward.links.T, backward.links], axis=-1)
        if only_posteriors:
            here = slice(text.offsets[p] - text.offsets[first], text.offsets[p + 1] - text.offsets[first])
            target_posterior[here], source_posterior[here] = links.reshape(-1, 2).T
            log_likelihoods[p - first] = forward.log_likelihood, backward.log_likelihood
            continue
        # The expected counts of links (with agreement, the product), NULL-aligned words and jumps.
        np.add.at(counts.types, types, links.prod(-1, keepdims=True) if agree else links)
        np.add.at(counts.target_null, f, forward.null)
        np.add.at(counts.source_null, e, backward.null)
        counts.target_jump[:] += forward.jumps
        counts.source_jump[:] += backward.jumps
        counts.log_likelihood[:] += forward.log_likelihood, backward.log_likelihood


if njit:
    # Sums keep their order: if the compiler may change it, code from its cache rounds otherwise than code just compiled.
    def _compiled(function: Any) -> Any:
        return keep(njit(nogil=True)(function), function)

    @_compiled
    def _index_compiled(text: Text, source_words: int, target_words: int) -> Any:
        # Counting sort of all occurrences of source words, by word: their sentence pairs and positions.
        pairs = len(text.offsets) - 1
        occurrences = len(text.source_ids)
        start = np.zeros(source_words + 1, np.int64)
        for k in range(occurrences):
            start[text.source_ids[k] + 1] += 1
        for e in range(source_words):
            start[e + 1] += start[e]
        # All occurrences of each word, in the order of the text: sentence pair and position.
        pair, position, filled = np.empty(occurrences, np.int64), np.empty(occurrences, np.int64), start.copy()
        for p in range(pairs):
            for k in range(text.source_starts[p], text.source_starts[p + 1]):
                e = text.source_ids[k]
                pair[filled[e]], position[filled[e]] = p, k - text.source_starts[p]
                filled[e] += 1
        # For each source word e, all target words of the same sentence pairs: a target word that was not seen with e before
        # makes a new word-type pair.
        seen_with, number = np.full(target_words, -1, np.int32), np.empty(target_words, np.int32)
        types, rows, count = np.empty(1024, np.int32), np.zeros(source_words + 1, np.int64), 0
        for e in range(source_words):
            for k in range(start[e], start[e + 1]):
                p = pair[k]
                first, Ty = text.target_starts[p], text.target_starts[p + 1] - text.target_starts[p]
                cell = text.offsets[p] + position[k] * Ty
                # An array that is too short is replaced by one of twice the length.
                if count + Ty > len(types):
                    larger = np.empty(2 * len(types) + Ty, np.int32)
                    larger[:count] = types[:count]
                    types = larger
                for j in range(Ty):
                    f = text.target_ids[first + j]
                    if seen_with[f] != e:
                        seen_with[f], number[f], types[count] = e, count, f
                        count += 1
                    text.cells[cell + j] = number[f]
            rows[e + 1] = count
        return types[:count].copy(), rows

    @_compiled
    def _forward_backward(
        t: Any, n: Any, jump: Any, c: Any, p_0: Any, uniform: bool, links: Any, null: Any, jumps: Any, scratch: Any
    ) -> Any:
        """Compute `hmm.forward_backward` into `links`, `null` and `jumps`; return the log-likelihood.

        With `uniform`, for IBM Model 1, `jump` is not used.
        """
        Ty, Tx = t.shape
        L = jump.shape[1] // 2
        # Views into the scratch memory, which is allocated once for all sentence pairs.
        word, none = scratch[: Ty * Tx].reshape(Ty, Tx), scratch[Ty * Tx : 2 * Ty * Tx].reshape(Ty, Tx)
        rest = scratch[2 * Ty * Tx :]
        to, beta, reached, scale = rest[:Tx], rest[Tx : 2 * Tx], rest[2 * Tx : 3 * Tx], rest[3 * Tx : 3 * Tx + Ty]
        log_likelihood = 0.0
        # IBM Model 1: all positions are equally probable, so p(a_j = i | e, f) ∝ t(f_j | e_i).
        if uniform:
            share = (f32(1) - p_0) / f32(Tx)
            for j in range(Ty):
                total = p_0 * n[j]
                for i in range(Tx):
                    total += share * t[j, i]
                total = max(total, _SMALLEST)
                log_likelihood += np.log(total)
                for i in range(Tx):
                    links[j, i] = share * t[j, i] / total
                null[j] = p_0 * n[j] / total
            return log_likelihood
        # The normalisers of the jumps from each position, and of the first jump, which starts at −1.
        first_total = f32(0)
        for i in range(Tx):
            total = f32(0)
            for k in range(Tx):
                total += jump[c[i], L + k - i]
            to[i] = (f32(1) - p_0) / total
            first_total += jump[0, L + i + 1]
        # The forward recurrence, normalised at every step; `word` are states that generate from e_i, `none` from NULL.
        for j in range(Ty):
            for i in range(Tx):
                word[j, i] = (f32(1) - p_0) * jump[0, L + i + 1] / first_total if j == 0 else f32(0)
                none[j, i] = p_0 * n[j] * (jump[0, L + i + 1] / first_total if j == 0 else word[j - 1, i] + none[j - 1, i])
            # Σ over the state before, where NULL keeps the position from which the next jump starts.
            if j > 0:
                for k in range(Tx):
                    before = word[j - 1, k] + none[j - 1, k]
                    if before > _NEGLIGIBLE:
                        before *= to[k]
                        for i in range(Tx):
                            word[j, i] += before * jump[c[k], L + i - k]
            # The probability of f_j, and normalised forward probabilities; the log-likelihood is the sum of log p(f_j).
            total = f32(0)
            for i in range(Tx):
                word[j, i] *= t[j, i]
                total += word[j, i] + none[j, i]
            total = max(total, _SMALLEST)
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
        # The backward recurrence; forward times backward probabilities are the posteriors and the expected jumps.
        for j in range(Ty - 1, -1, -1):
            if j < Ty - 1:
                for i in range(Tx):
                    reached[i] = t[j + 1, i] * beta[i] / scale[j + 1]
                # p(f_{j+1} is NULL-aligned), which keeps the position; jumps to every i are counted by class and width.
                stay = p_0 * n[j + 1] / scale[j + 1]
                for k in range(Tx):
                    here = word[j, k] + none[j, k]
                    if here > _NEGLIGIBLE:
                        here *= to[k]
                        total = f32(0)
                        for i in range(Tx):
                            onward = jump[c[k], L + i - k] * reached[i]
                            total += onward
                            jumps[c[k], L + i - k] += here * onward
                        beta[k] = to[k] * total + stay * beta[k]
                    else:
                        beta[k] = f32(0)
            # The posteriors p(a_j = i | e, f), and that of NULL, summed over the positions that it keeps.
            total = f32(0)
            for i in range(Tx):
                links[j, i] = word[j, i] * beta[i]
                total += none[j, i] * beta[i]
            null[j] = total
        return log_likelihood

    @_compiled
    def _expect_compiled(
        text: Text,
        first: int,
        last: int,
        parameters: Parameters,
        counts: Counts,
        only_posteriors: bool,
        target_posterior: Any,
        source_posterior: Any,
        log_likelihoods: Any,
        agree: bool,
    ) -> None:
        # Scratch memory for the longest sentence pair.
        cells, words = 0, 0
        for p in range(first, last):
            Tx, Ty = text.source_starts[p + 1] - text.source_starts[p], text.target_starts[p + 1] - text.target_starts[p]
            cells, words = max(cells, Tx * Ty), max(words, Tx, Ty)
        t_to_target, t_to_source, links, back_links = (
            np.empty(cells, f32), np.empty(cells, f32), np.empty(cells, f32), np.empty(cells, f32)
        )  # fmt: skip
        n, null, back_null = np.empty(words, f32), np.empty(words, f32), np.empty(words, f32)
        scratch = np.empty(2 * cells + 4 * words, f32)
        jumps = np.zeros(parameters.target_jump.shape, f32)
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
            # The direction that generates the target; only jumps of at most max(Tx, Ty) + 1 positions occur in this pair.
            forward, backward = links[: Tx * Ty].reshape(Ty, Tx), back_links[: Tx * Ty].reshape(Tx, Ty)
            reach = max(Tx, Ty) + 1
            middle = len(jumps[0]) // 2
            ce, cf = parameters.source_class[e], parameters.target_class[f]
            for j in range(Ty):
                n[j] = parameters.target_null[f[j]]
            likelihood = _forward_backward(
                t_f, n, parameters.target_jump, ce, parameters.p_0, parameters.uniform, forward, null, jumps, scratch
            )
            if only_posteriors:
                log_likelihoods[p - first, 0] = likelihood
            else:
                counts.log_likelihood[0] += likelihood
                for i in range(Tx):
                    for d in range(middle - reach, middle + reach + 1):
                        counts.target_jump[ce[i], d] += jumps[ce[i], d]
                        jumps[ce[i], d] = f32(0)
            # The direction that generates the source.
            for i in range(Tx):
                n[i] = parameters.source_null[e[i]]
            likelihood = _forward_backward(
                t_e, n, parameters.source_jump, cf, parameters.p_0, parameters.uniform, backward, back_null, jumps, scratch
            )
            if only_posteriors:
                log_likelihoods[p - first, 1] = likelihood
                for i in range(Tx):
                    for j in range(Ty):
                        cell = offset - text.offsets[first] + i * Ty + j
                        target_posterior[cell], source_posterior[cell] = forward[j, i], backward[i, j]
                continue
            counts.log_likelihood[1] += likelihood
            for i in range(Ty):
                for d in range(middle - reach, middle + reach + 1):
                    counts.source_jump[cf[i], d] += jumps[cf[i], d]
                    jumps[cf[i], d] = f32(0)
            # The expected counts of NULL-aligned words and of links; with agreement, a link counts by the product.
            for i in range(Tx):
                counts.source_null[e[i]] += back_null[i]
                for j in range(Ty):
                    kind = text.cells[offset + i * Ty + j]
                    if agree:
                        both = forward[j, i] * backward[i, j]
                        counts.types[kind, 0] += both
                        counts.types[kind, 1] += both
                    else:
                        counts.types[kind, 0] += forward[j, i]
                        counts.types[kind, 1] += backward[i, j]
            for j in range(Ty):
                counts.target_null[f[j]] += null[j]
