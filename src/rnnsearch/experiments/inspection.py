"""Measurements of the annotations and the soft alignment of a system: evidence for the claims of sections 3.2 and 5.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from rnnsearch.data.batches import make_batch
from rnnsearch.data.word_alignments import GoldLinks
from rnnsearch.devices import batch_tensors, device_of
from rnnsearch.system import System
from rnnsearch.text.vocabulary import UNK
from rnnsearch.translation import ScoredPair

NEAR, FAR = 2, 5
"""An annotation is near a replaced word at a distance of at most `NEAR` positions, and far at `FAR` positions or more."""
SENTENCES = 200
"""The largest number of sentences whose annotations are compared."""
AFTER = 3
"""The number of source words, after the one to which an article attends most, among which its noun is expected."""
ARTICLES = frozenset(("le", "la", "l'", "les", "un", "une", "des", "du", "au", "aux", "ce", "cet", "cette", "ces"))
"""French determiners whose form depends on the noun."""

_BATCH = 50
_REPLACEMENT = 2
"""The id of the most frequent word, which replaces a word that is `[UNK]` already."""


@dataclass(frozen=True)
class Inspection:
    """The measurements of a system: lists of pairs of numbers, one pair for each sentence that could be measured."""

    annotations: list[tuple[float, float]]
    """The mean relative changes of the annotations near a replaced word, and of those far from it."""
    reversals: list[tuple[int, int]] | None
    """Counts of pairs of neighbouring target words that are linked, by gold links, to neighbouring source words in reversed
    order: the pairs that attend most to these source words, and all pairs. None without gold links."""
    articles: list[tuple[float, float]] | None
    """The mean weights that articles, and that other target words, give to the `AFTER` source words after the one to which
    they attend most. None if the target language is not French."""


def inspect(system: System, pairs: Sequence[ScoredPair], gold: Sequence[GoldLinks] | None) -> Inspection:
    """Measure a system with an alignment on pairs that it has scored; `gold` are the gold links of these pairs."""
    alignments = [(pair, pair.alignment) for pair in pairs]
    french = system.config.data.target_language == "fr"
    return Inspection(
        annotations=annotation_changes(system, [pair.source_tokens[:-1] for pair in pairs]),
        reversals=None
        if gold is None
        else [
            counts
            for (_, alpha), links in zip(alignments, gold, strict=True)
            if alpha is not None and (counts := reversals(alpha, links))[1]
        ],
        articles=[
            weights
            for pair, alpha in alignments
            if alpha is not None and (weights := article_weights(pair.tokens, alpha)) is not None
        ]
        if french
        else None,
    )


@torch.inference_mode()
def annotation_changes(system: System, sentences: Sequence[list[str]]) -> list[tuple[float, float]]:
    """Return the mean relative changes of near and far annotations if the middle word of a sentence is replaced by `[UNK]`.

    The change of an annotation h_j is ‖h'_j − h_j‖ / ‖h_j‖. Sentences that are too short to have far annotations on both
    sides are left out.
    """
    ids = [system.vocabularies.encode(words, [])[0] for words in sentences]
    chosen = [x for x in ids if len(x) > 2 * FAR][:SENTENCES]
    device = device_of(system.model)
    changes = []
    for start in range(0, len(chosen), _BATCH):
        group = chosen[start : start + _BATCH]
        changed = [list(x) for x in group]
        for x in changed:
            middle = len(x) // 2
            x[middle] = _REPLACEMENT if x[middle] == UNK else UNK
        annotations = []
        for side in (group, changed):
            x_BS, lengths_B, _, _ = batch_tensors(make_batch([(x, []) for x in side]), device)
            annotations.append(system.model.encode(x_BS, lengths_B).annotations_BSC.float())
        before_BSC, after_BSC = annotations
        change_BS = ((after_BSC - before_BSC).norm(dim=2) / before_BSC.norm(dim=2).clamp_min(1e-9)).cpu().numpy()
        for x, change_S in zip(group, change_BS, strict=True):
            distance_S = np.abs(np.arange(len(x)) - len(x) // 2)
            near_S, far_S = (distance_S > 0) & (distance_S <= NEAR), distance_S >= FAR
            changes.append((float(change_S[: len(x)][near_S].mean()), float(change_S[: len(x)][far_S].mean())))
    return changes


def reversals(alpha_TS: NDArray[np.floating], gold: GoldLinks) -> tuple[int, int]:
    """Count the pairs of neighbouring target words whose sure links are to neighbouring source words in reversed order.

    Returns the number of pairs whose words attend most to their linked source words, and the number of all pairs. Only
    target words with exactly one sure link are considered.
    """
    attended_T = alpha_TS.argmax(1)
    sources: dict[int, list[int]] = {}
    for source, target in gold.sure:
        sources.setdefault(target, []).append(source)
    only = {target: linked[0] for target, linked in sources.items() if len(linked) == 1 and target < len(alpha_TS)}
    reversed_pairs = [(i, i + 1) for i in only if i + 1 in only and only[i] == only[i + 1] + 1]
    attended = sum(all(attended_T[i] == only[i] for i in pair) for pair in reversed_pairs)
    return attended, len(reversed_pairs)


def article_weights(tokens: Sequence[str], alpha_TS: NDArray[np.floating]) -> tuple[float, float] | None:
    """Return the mean weights of articles and of other words on the source words after the one to which they attend most.

    The weight of a word is summed over `AFTER` source words. The result is None if the translation has no articles, or no
    other words.
    """
    after: dict[bool, list[float]] = {True: [], False: []}
    for token, weights_S in zip(tokens, alpha_TS, strict=True):
        most = int(weights_S.argmax())
        after[token.casefold() in ARTICLES].append(float(weights_S[most + 1 : most + 1 + AFTER].sum()))
    if not (after[True] and after[False]):
        return None
    return float(np.mean(after[True])), float(np.mean(after[False]))
