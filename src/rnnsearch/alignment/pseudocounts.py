"""Pseudo-counts from the prior knowledge of a training: from `Priors`, or from an aligner whose training continues."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment.agreement import Models
from rnnsearch.alignment.lexicon import Pseudocounts, Totals
from rnnsearch.alignment.priors import NULL, Priors
from rnnsearch.alignment.vocabulary import Words, normalize

Doubles = NDArray[np.float64]


def from_priors(priors: Priors, words: tuple[Words, Words], classes: int, reach: int) -> Pseudocounts:
    """Return the counts of `priors` for the words of a text.

    Priors do not distinguish classes of words. Their jumps count for class 0 and, because each class is smoothed by the
    jumps of all classes, also influence the other classes. The models have no fertilities.
    """
    # The counts of word-type pairs, of words and of NULL-aligned words. Normalised forms of several words may be the same.
    numbers = [{word: n for n, word in enumerate(side.words)} for side in words]
    links: dict[int, float] = {}
    totals, nulls = [np.zeros(len(side)) for side in words], [np.zeros(len(side)) for side in words[::-1]]
    for (source, target), count in priors.lexicon.items():
        e, f = (of.get(normalize(word)) for of, word in zip(numbers, (source, target), strict=True))
        if source == NULL or target == NULL:
            side, word = (0, f) if source == NULL else (1, e)
            if word is not None:
                nulls[side][word] += count
            continue
        # A word's total also contains its links to words that do not occur in the text.
        for side, word in enumerate((e, f)):
            if word is not None:
                totals[side][word] += count
        if e is not None and f is not None:
            key = e * len(words[1]) + f
            links[key] = links.get(key, 0) + count
    keys = np.array(sorted(links), np.int64)
    counts = np.array([links[key] for key in keys.tolist()], np.float32)
    none = np.zeros(len(words[0])), np.zeros(len(words[1]))
    return Pseudocounts(
        keys,
        np.stack([counts, counts], axis=1),
        Totals((totals[0], totals[1]), none),
        (nulls[0], nulls[1]),
        (_jumps(priors.forward_jumps, classes, reach), _jumps(priors.reverse_jumps, classes, reach)),
    )


def _jumps(counts: Mapping[int, float], classes: int, reach: int) -> Doubles:
    """Return counts of jumps as an array, classes × (2 · reach + 1), where only class 0 has jumps."""
    jumps = np.zeros((classes, 2 * reach + 1))
    for width, count in counts.items():
        jumps[0, min(max(width, -reach), reach) + reach] += count
    return jumps


def from_models(
    models: Models,
    known: tuple[Words, Words],
    words: tuple[Words, Words],
    numbers: tuple[NDArray[np.int32], NDArray[np.int32]],
    reach: int,
) -> Pseudocounts:
    """Return the expected counts from which `models` were learned.

    `known` are the words of the models, `words` those of the text, and `numbers` the numbers of the former among the latter.
    The models do not keep the counts of jumps but their probabilities, so the counts are estimated: as many jumps start from
    a word as it has links.
    """
    # The links of word-type pairs, whose keys are renumbered.
    lexicon = models.lexicon
    source, target = np.divmod(lexicon.keys, max(1, known[1].known))
    keys = numbers[0][source].astype(np.int64) * len(words[1]) + numbers[1][target]
    order = np.argsort(keys)

    def spread(values: Doubles, side: int) -> Doubles:
        """Return the values of the words of a side, indexed by their numbers in the text."""
        spread = np.zeros(len(words[side]))
        spread[numbers[side]] = values
        return spread

    jumps = []
    for side, jump in enumerate(models.jumps):
        middle = jump.shape[1] // 2
        # The distribution of jumps of each old class, for all widths.
        of_class = jump[:, np.clip(np.arange(-reach, reach + 1), -middle, middle) + middle].astype(np.float64)
        of_class /= of_class.sum(1, keepdims=True)
        # The class of a word may have changed; its jumps are counted for its new class. `counts` are the jumps of words by
        # their new and their old class.
        old, new = known[side].classes[: known[side].known], words[side].classes[numbers[side]]
        counts = np.zeros((len(jump), len(jump)))
        np.add.at(counts, (new, old), lexicon.totals.links[side])
        jumps.append(counts @ of_class)
    totals, likeness = ((spread(pair[0], 0), spread(pair[1], 1)) for pair in (lexicon.totals.links, lexicon.totals.likeness))
    nulls = spread(models.nulls[0], 1), spread(models.nulls[1], 0)
    return Pseudocounts(keys[order], lexicon.links[order], Totals(totals, likeness), nulls, (jumps[0], jumps[1]))
