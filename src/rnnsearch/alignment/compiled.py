"""Loops over the cells of a whole text, compiled by Numba; without Numba, the same in NumPy, more slowly.

`expectations` is the E-step of `agreement`: the recurrences of `hmm`, in both directions, for one pair after the other. A
state whose forward probability is below `_NEGLIGIBLE` is left out of the sums: few positions of a sentence are likely.
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
    """The words of all pairs, and their cells."""

    source_ids: NDArray[np.int32]
    """All source words, by number, one pair after the other."""
    source_starts: NDArray[np.int64]
    """Where each pair begins in `source_ids`, and where the last one ends."""
    target_ids: NDArray[np.int32]
    target_starts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    """Where the cells of each pair begin in `cells`, row after row of source words, and where the last one's end."""
    cells: NDArray[np.int32]
    """The type of each cell."""


class Parameters(NamedTuple):
    """The parameters of both directions: of words, of words of no other word, of jumps."""

    t: NDArray[np.float32]
    """t(target | source) and t(source | target) of each type: types × 2."""
    target_null: NDArray[np.float32]
    source_null: NDArray[np.float32]
    target_jump: NDArray[np.float32]
    """c of the direction that generates the target: classes of the source word that is jumped from × widths, −L to L."""
    source_jump: NDArray[np.float32]
    source_class: NDArray[np.int32]
    """The class of each source word."""
    target_class: NDArray[np.int32]
    p_0: np.float32
    uniform: bool
    """All jumps are equally probable: IBM Model 1."""


class Counts(NamedTuple):
    """What is expected of a text: added to by `expectations`."""

    types: NDArray[np.float64]
    """Of each type, the expected links of each direction: types × 2."""
    target_null: NDArray[np.float64]
    source_null: NDArray[np.float64]
    target_jump: NDArray[np.float64]
    source_jump: NDArray[np.float64]
    log_likelihood: NDArray[np.float64]
    """Of both directions."""


def index_cells(text: Text, source_words: int, target_words: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Fill `text.cells`; the source and the target word of each type, which are in the order of source words."""
    type_target, rows = (_index_compiled if njit else _index_plain)(text, source_words, target_words)
    return np.repeat(np.arange(source_words, dtype=np.int32), np.diff(rows)), type_target


def expectations(text: Text, parameters: Parameters, counts: Counts, agree: bool) -> None:
    """Add what the parameters expect of a text to `counts`.

    If the directions `agree`, a link counts in both by the product of both posterior probabilities, and else in each by its
    own.
    """
    none, pairs = np.empty(0, np.float32), len(text.offsets) - 1
    (_expect_compiled if njit else _expect_plain)(text, 0, pairs, parameters, counts, False, none, none, agree)


def posteriors(text: Text, parameters: Parameters, first: int, last: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The posterior probability of every cell of the pairs from `first` to before `last`, in both directions."""
    found = [np.zeros(text.offsets[last] - text.offsets[first], np.float32) for _ in "ts"]
    none = Counts(np.empty((0, 2)), np.empty(0), np.empty(0), np.empty((0, 0)), np.empty((0, 0)), np.empty(0))
    (_expect_compiled if njit else _expect_plain)(text, first, last, parameters, none, True, found[0], found[1], True)
    return found[0], found[1]


def _index_plain(text: Text, source_words: int, target_words: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Fill `text.cells`; return the target words of the types, and where those of each source word begin."""
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
    agree: bool,
) -> None:
    jumps = [np.ones_like(jump) if parameters.uniform else jump for jump in (parameters.target_jump, parameters.source_jump)]
    for p in range(first, last):
        e, f = _words(text, p)
        Tx, Ty = len(e), len(f)
        if Tx * Ty == 0:
            continue
        types = text.cells[text.offsets[p] : text.offsets[p + 1]].reshape(Tx, Ty)
        directions = (
            (parameters.t[types, 0].T, parameters.target_null[f], jumps[0], parameters.source_class[e]),
            (parameters.t[types, 1], parameters.source_null[e], jumps[1], parameters.target_class[f]),
        )
        forward, backward = (forward_backward(*direction, float(parameters.p_0)) for direction in directions)
        links = np.stack([forward.links.T, backward.links], axis=-1)
        if only_posteriors:
            here = slice(text.offsets[p] - text.offsets[first], text.offsets[p + 1] - text.offsets[first])
            target_posterior[here], source_posterior[here] = links.reshape(-1, 2).T
            continue
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
        pairs = len(text.offsets) - 1
        occurrences = len(text.source_ids)
        start = np.zeros(source_words + 1, np.int64)
        for k in range(occurrences):
            start[text.source_ids[k] + 1] += 1
        for e in range(source_words):
            start[e + 1] += start[e]
        pair, position, filled = np.empty(occurrences, np.int64), np.empty(occurrences, np.int64), start.copy()
        for p in range(pairs):
            for k in range(text.source_starts[p], text.source_starts[p + 1]):
                e = text.source_ids[k]
                pair[filled[e]], position[filled[e]] = p, k - text.source_starts[p]
                filled[e] += 1
        seen_with, number = np.full(target_words, -1, np.int32), np.empty(target_words, np.int32)
        types, rows, count = np.empty(1024, np.int32), np.zeros(source_words + 1, np.int64), 0
        for e in range(source_words):
            for k in range(start[e], start[e + 1]):
                p = pair[k]
                first, Ty = text.target_starts[p], text.target_starts[p + 1] - text.target_starts[p]
                cell = text.offsets[p] + position[k] * Ty
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
        """See `hmm.forward_backward`; `jump` with `uniform` is not read, and the results are `links`, `null`, `jumps`."""
        Ty, Tx = t.shape
        L = jump.shape[1] // 2
        word, none = scratch[: Ty * Tx].reshape(Ty, Tx), scratch[Ty * Tx : 2 * Ty * Tx].reshape(Ty, Tx)
        rest = scratch[2 * Ty * Tx :]
        to, beta, reached, scale = rest[:Tx], rest[Tx : 2 * Tx], rest[2 * Tx : 3 * Tx], rest[3 * Tx : 3 * Tx + Ty]
        log_likelihood = 0.0
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
        first_total = f32(0)
        for i in range(Tx):
            total = f32(0)
            for k in range(Tx):
                total += jump[c[i], L + k - i]
            to[i] = (f32(1) - p_0) / total
            first_total += jump[0, L + i + 1]
        for j in range(Ty):
            for i in range(Tx):
                word[j, i] = (f32(1) - p_0) * jump[0, L + i + 1] / first_total if j == 0 else f32(0)
                none[j, i] = p_0 * n[j] * (jump[0, L + i + 1] / first_total if j == 0 else word[j - 1, i] + none[j - 1, i])
            if j > 0:
                for k in range(Tx):
                    before = word[j - 1, k] + none[j - 1, k]
                    if before > _NEGLIGIBLE:
                        before *= to[k]
                        for i in range(Tx):
                            word[j, i] += before * jump[c[k], L + i - k]
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
        total = f32(0)
        for i in range(Tx):
            total += (word[Ty - 1, i] + none[Ty - 1, i]) * jump[c[i], L + Tx - i]
        total = max(total, _SMALLEST)
        log_likelihood += np.log(total)
        for i in range(Tx):
            beta[i] = jump[c[i], L + Tx - i] / total
        for j in range(Ty - 1, -1, -1):
            if j < Ty - 1:
                for i in range(Tx):
                    reached[i] = t[j + 1, i] * beta[i] / scale[j + 1]
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
        agree: bool,
    ) -> None:
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
            t_f, t_e = t_to_target[: Tx * Ty].reshape(Ty, Tx), t_to_source[: Tx * Ty].reshape(Tx, Ty)
            for i in range(Tx):
                for j in range(Ty):
                    kind = text.cells[offset + i * Ty + j]
                    t_f[j, i], t_e[i, j] = parameters.t[kind, 0], parameters.t[kind, 1]
            forward, backward = links[: Tx * Ty].reshape(Ty, Tx), back_links[: Tx * Ty].reshape(Tx, Ty)
            reach = max(Tx, Ty) + 1
            middle = len(jumps[0]) // 2
            ce, cf = parameters.source_class[e], parameters.target_class[f]
            for j in range(Ty):
                n[j] = parameters.target_null[f[j]]
            likelihood = _forward_backward(
                t_f, n, parameters.target_jump, ce, parameters.p_0, parameters.uniform, forward, null, jumps, scratch
            )
            if not only_posteriors:
                counts.log_likelihood[0] += likelihood
                for i in range(Tx):
                    for d in range(middle - reach, middle + reach + 1):
                        counts.target_jump[ce[i], d] += jumps[ce[i], d]
                        jumps[ce[i], d] = f32(0)
            for i in range(Tx):
                n[i] = parameters.source_null[e[i]]
            likelihood = _forward_backward(
                t_e, n, parameters.source_jump, cf, parameters.p_0, parameters.uniform, backward, back_null, jumps, scratch
            )
            if only_posteriors:
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
