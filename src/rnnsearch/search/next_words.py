"""The words that may follow the beginning of a translation, with their probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from rnnsearch.data.batches import make_batch
from rnnsearch.search.backend import Backend
from rnnsearch.search.beam import Query
from rnnsearch.text.vocabulary import END, UNK

MOST_PIECES = 20
"""A word of more subwords is cut off."""


def next_words(
    backend: Backend,
    words: Sequence[int],
    prefix: Sequence[int],
    count: int,
    forbid_unk: bool,
    continues: Callable[[int], bool],
) -> list[tuple[list[int], float]]:
    """The `count` most probable words after `prefix`: their ids, and p(ids | prefix, source), the most probable first.

    The end symbol counts as a word. `continues` says whether an id continues the word before it, as a subword may: a word
    begins with one of the `count` most probable ids and goes on with the most probable ones, as long as these continue it.
    The backend must have no vocabulary selection.
    """
    query = Query(words, count)
    session = backend.session(1, query.positions)
    batch = make_batch([(words, [])])
    with torch.inference_mode():
        session.encode(torch.from_numpy(batch.source_BS), torch.from_numpy(batch.source_lengths_B))
        session.add(np.zeros(1, np.int64), np.zeros(1, np.int64))
        for word in prefix:
            session.predict()
            session.advance(np.zeros(1, np.int64), np.array([word]))
        banned = np.zeros((1, 2), np.bool_)
        banned[:, UNK] = forbid_unk
        log_p_W, ids_W = (found[0] for found in session.predict().best(count, banned))
        possible = np.flatnonzero(log_p_W > -np.inf)
        found = [([int(ids_W[i])], float(log_p_W[i])) for i in possible]
        growing = [i for i, (ids, _) in enumerate(found) if ids != [END]]
        parents, last = np.zeros(len(growing), np.int64), ids_W[possible[growing]]
        for _ in range(MOST_PIECES - 1):
            if not len(growing):
                break
            session.advance(parents, last)
            log_p_RW, ids_RW = session.predict().best(1, np.zeros((len(growing), 2), np.bool_))
            parents = np.array([row for row, (word,) in enumerate(ids_RW.tolist()) if continues(word)], np.int64)
            growing = [growing[row] for row in parents]
            last = ids_RW[parents, 0]
            for i, row in zip(growing, parents, strict=True):
                ids, log_p = found[i]
                found[i] = ([*ids, int(ids_RW[row, 0])], log_p + float(log_p_RW[row, 0]))
    return sorted(((ids, float(np.exp(log_p))) for ids, log_p in found), key=lambda one: -one[1])
