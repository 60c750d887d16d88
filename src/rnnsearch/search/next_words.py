"""The prediction of the words that may follow the beginning of a translation, with their probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rnnsearch.data.batches import make_batch
from rnnsearch.search.backend import Backend
from rnnsearch.text.vocabulary import END, UNK

MOST_PIECES = 20
"""The largest number of subwords of a word; a longer word is cut off."""


def next_words(
    backend: Backend,
    words: Sequence[int],
    prefix: Sequence[int],
    count: int,
    forbid_unk: bool,
    continues: Callable[[int], bool],
) -> list[tuple[list[int], float]]:
    """Return the `count` most probable words after `prefix`: their ids, and p(ids | prefix, source), best first.

    The end symbol counts as a word. `continues` tells whether an id continues the preceding word, as a subword can. A word
    begins with one of the `count` most probable ids, and is extended greedily while the most probable id continues it.
    The backend must have no vocabulary selection.
    """
    # Force the words of the prefix, one per step.
    session = backend.session()
    batch = make_batch([(words, [])])
    session.encode(batch.source_BS, batch.source_lengths_B)
    session.add(np.zeros(1, np.int64))
    for word in prefix:
        session.predict(1)
        session.advance(np.zeros(1, np.int64), np.array([word]))
    # The most probable first ids; one more is predicted because `[UNK]` may be among them.
    prediction = session.predict(count + forbid_unk)
    pairs = zip(prediction.words_RW[0].tolist(), prediction.log_p_RW[0].tolist(), strict=True)
    possible = [pair for pair in pairs if pair[1] > -np.inf and not (forbid_unk and pair[0] == UNK)]
    found = [([word], log_p) for word, log_p in possible[:count]]
    # Extend all words at once, each by its most probable next id while this id continues the word. The rows of the session
    # are the words that still grow; p of a word is the product over its ids.
    growing = [i for i, (ids, _) in enumerate(found) if ids != [END]]
    parents, last = np.zeros(len(growing), np.int64), np.array([found[i][0][0] for i in growing], np.int64)
    for _ in range(MOST_PIECES - 1):
        if not len(growing):
            break
        session.advance(parents, last)
        prediction = session.predict(1)
        best_R, log_p_R = prediction.words_RW[:, 0], prediction.log_p_RW[:, 0]
        parents = np.array([row for row, word in enumerate(best_R.tolist()) if continues(word)], np.int64)
        growing = [growing[row] for row in parents]
        last = best_R[parents]
        for i, row in zip(growing, parents, strict=True):
            ids, log_p = found[i]
            found[i] = ([*ids, int(best_R[row])], log_p + float(log_p_R[row]))
    return sorted(((ids, float(np.exp(log_p))) for ids, log_p in found), key=lambda one: -one[1])
