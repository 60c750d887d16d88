"""What the annotations and the soft alignment of a system do: the evidence for the claims of sections 3.2 and 5.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from rnnsearch.data.batches import make_batch
from rnnsearch.data.word_alignments import GoldLinks
from rnnsearch.devices import batch_tensors, device_of
from rnnsearch.model_folder import System
from rnnsearch.text.vocabulary import UNK
from rnnsearch.translation import ScoredPair

NEAR, FAR = 2, 5
"""An annotation is near to a replaced word at most so many positions from it, and far from so many positions on."""
SENTENCES = 200
"""The most sentences whose annotations are compared."""
AFTER = 3
"""An article's noun is sought among so many source words after the one that the article attends to most."""
ARTICLES = frozenset(("le", "la", "l'", "les", "un", "une", "des", "du", "au", "aux", "ce", "cet", "cette", "ces"))
"""French determiners whose form depends on the noun."""

_BATCH = 50
_REPLACEMENT = 2
"""The most frequent word, which replaces `[UNK]`."""


@dataclass(frozen=True)
class Inspection:
    """Pairs of numbers, one pair for each sentence that has something to count."""

    annotations: list[tuple[float, float]]
    """The relative change of the annotations near to a replaced word, and of those far from it."""
    reversals: list[tuple[int, int]] | None
    """Of the neighbouring target words whose gold links are those of neighbouring source words in reversed order: those that
    attend to just these words, and all. None where there are no gold links."""
    articles: list[tuple[float, float]] | None
    """The weight that articles give to the words after the one that they attend to most, and the weight that the other words
    of the translation give to those; means over the words. None where the target language is not French."""


def inspect(system: System, pairs: Sequence[ScoredPair], gold: Sequence[GoldLinks] | None) -> Inspection:
    """Inspect a system with an alignment, on given pairs that it has scored, which `gold` has links of."""
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
    """How the annotations change, relative to their norms, when the word in the middle of a sentence is replaced by `[UNK]`.

    Sentences that are too short to have far annotations on both sides are left out.
    """
    ids = [system.vocabularies.encode(words, [])[0] for words in sentences]
    chosen = [x for x in ids if len(x) > 2 * FAR][:SENTENCES]
    device = device_of(system.model)
    found = []
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
            found.append((float(change_S[: len(x)][near_S].mean()), float(change_S[: len(x)][far_S].mean())))
    return found


def reversals(alpha_TS: NDArray[np.floating], gold: GoldLinks) -> tuple[int, int]:
    """How many neighbours that are in reversed order by the gold links are attended to so, and how many there are."""
    read_from_T = alpha_TS.argmax(1)
    sources: dict[int, list[int]] = {}
    for source, target in gold.sure:
        sources.setdefault(target, []).append(source)
    only = {target: linked[0] for target, linked in sources.items() if len(linked) == 1 and target < len(alpha_TS)}
    reversed_pairs = [(i, i + 1) for i in only if i + 1 in only and only[i] == only[i + 1] + 1]
    read = sum(all(read_from_T[i] == only[i] for i in pair) for pair in reversed_pairs)
    return read, len(reversed_pairs)


def article_weights(tokens: Sequence[str], alpha_TS: NDArray[np.floating]) -> tuple[float, float] | None:
    """The mean weight of articles, and of other words, on the `AFTER` source words after the one they attend to most.

    None where the translation lacks one of the two kinds.
    """
    after: dict[bool, list[float]] = {True: [], False: []}
    for token, weights_S in zip(tokens, alpha_TS, strict=True):
        most = int(weights_S.argmax())
        after[token.casefold() in ARTICLES].append(float(weights_S[most + 1 : most + 1 + AFTER].sum()))
    if not (after[True] and after[False]):
        return None
    return float(np.mean(after[True])), float(np.mean(after[False]))
