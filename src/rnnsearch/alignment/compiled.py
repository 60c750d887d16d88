"""Loops over the position pairs of a whole text, compiled by Numba; without Numba, slower NumPy code does the same.

`expectations` is the E-step of `agreement`: the forward-backward algorithm of `hmm` in both directions, for each sentence
pair in turn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment.hmm import forward_backward

loops: Any
try:
    from rnnsearch.alignment import loops
except ImportError:  # Numba is not installed
    loops = None


class Text(NamedTuple):
    """The words and the position pairs of all sentence pairs."""

    source_ids: NDArray[np.int32]
    """The numbers of all source words, of one sentence pair after the other."""
    source_starts: NDArray[np.int64]
    """The beginning of each sentence pair in `source_ids`, and the end of the last one: pairs + 1."""
    target_ids: NDArray[np.int32]
    """The numbers of all target words."""
    target_starts: NDArray[np.int64]
    """The beginning of each sentence pair in `target_ids`, and the end of the last one: pairs + 1."""
    offsets: NDArray[np.int64]
    """The beginning of each sentence pair in `cells`, and the end of the last one: pairs + 1."""
    cells: NDArray[np.int32]
    """The number of the word-type pair of each position pair, a matrix Tx × Ty for each sentence pair."""


class Parameters(NamedTuple):
    """The parameters of both directions: translation probabilities, NULL-aligned words, jumps."""

    t: NDArray[np.float32]
    """t(target | source) and t(source | target) of each word-type pair: types × 2."""
    target_null: NDArray[np.float32]
    """n(f), the distribution of NULL-aligned target words."""
    source_null: NDArray[np.float32]
    """n(e), the distribution of NULL-aligned source words."""
    target_jump: NDArray[np.float32]
    """c of the direction that generates the target: classes of the source word where a jump starts × widths −L to L."""
    source_jump: NDArray[np.float32]
    """c of the direction that generates the source: classes of the target word where a jump starts × widths −L to L."""
    source_class: NDArray[np.int32]
    """The class of each source word."""
    target_class: NDArray[np.int32]
    """The class of each target word."""
    p_0: np.float32
    """The probability of NULL."""
    uniform: bool
    """Whether all jumps are equally probable, as in IBM Model 1."""


class Counts(NamedTuple):
    """The expected counts of a text, to which `expectations` adds; the shapes are those of `Parameters`."""

    types: NDArray[np.float32]
    """The expected links of each word-type pair in each direction: types × 2."""
    target_null: NDArray[np.float64]
    """The expected NULL-aligned occurrences of each target word."""
    source_null: NDArray[np.float64]
    """The expected NULL-aligned occurrences of each source word."""
    target_jump: NDArray[np.float64]
    """The expected jumps of the direction that generates the target."""
    source_jump: NDArray[np.float64]
    """The expected jumps of the direction that generates the source."""
    log_likelihood: NDArray[np.float64]
    """The log-likelihoods of both directions, in nats: 2."""


def index_cells(text: Text, source_words: int, target_words: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Fill `text.cells`; return the source and the target word of each word-type pair, in the order of source words."""
    # `rows` are the first word-type pair of each source word; the differences are the numbers of its pairs.
    type_target, rows = (loops.index_cells if loops else _index_plain)(text, source_words, target_words)
    return np.repeat(np.arange(source_words, dtype=np.int32), np.diff(rows)), type_target


def expectations(text: Text, parameters: Parameters, counts: Counts, agree: bool) -> None:
    """Add the expected counts of a text under these parameters to `counts`.

    With `agree`, the expected count of a link is the product of its posterior probabilities in both directions; otherwise,
    it is the posterior probability in each direction.
    """
    # The loop that also computes posteriors needs no space for them here.
    none, pairs = np.empty(0, np.float32), len(text.offsets) - 1
    of_pairs = np.empty((0, 2))
    (loops.expectations if loops else _expect_plain)(text, 0, pairs, parameters, counts, False, none, none, of_pairs, agree)


def posteriors(text: Text, parameters: Parameters, first: int, last: int) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return the posterior probabilities and log-likelihoods of sentence pairs `first` to `last` − 1, in both directions.

    The posterior probabilities are directions × position pairs, and the log-likelihoods pairs × directions.
    """
    probabilities = np.zeros((2, text.offsets[last] - text.offsets[first]), np.float32)
    log_likelihoods = np.zeros((last - first, 2))
    # No counts are computed, so their arrays are empty.
    none = Counts(np.empty((0, 2), np.float32), np.empty(0), np.empty(0), np.empty((0, 0)), np.empty((0, 0)), np.empty(0))
    (loops.expectations if loops else _expect_plain)(
        text, first, last, parameters, none, True, probabilities[0], probabilities[1], log_likelihoods, True
    )
    return probabilities, log_likelihoods


def _index_plain(text: Text, source_words: int, target_words: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Fill `text.cells`; return the target words of the word-type pairs, and the first pair of each source word."""
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
    """Return the source words and the target words of a sentence pair."""
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
    """Do the same as `loops.expectations`, without compiled code."""
    # In IBM Model 1, all jumps are equally probable.
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
        # The posteriors are stored by source position, Tx × Ty.
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
