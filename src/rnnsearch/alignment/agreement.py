"""An aligner that learns from the text that it aligns: two hidden Markov models that agree (Liang, Taskar and Klein 2006).

One model generates the target words from the source words, the other the source words from the target words (`hmm`). Both
are trained together by expectation maximisation, as IBM Model 1 at first, then with jumps. What is expected of a cell (i, j)
is the product of both posterior probabilities,

    p(a_j = i | e, f; forward) · p(b_i = j | e, f; backward)

so that only links count of which both are convinced. Translation probabilities are smoothed towards those of word stems,
the first letters of the words (C counts over stems): most words of a text are rare, and most rare words are forms of others.

    t(f | e) = (C(e, f) + α q(f | e)) / (C(e) + α)
    q(f | e) = C(stem e, stem f) / C(stem e) · frequency(f) / frequency(stem f) + β s(e, f) / (1 + Σ_f s(e, f))

Here s is how alike two words are written (`spelling`).

The probability of a link follows from both posterior probabilities and other evidence (`probability`). All sums are taken
in the order of the text, so that the same text has the same links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment import compiled
from rnnsearch.alignment.bitext import Bitext
from rnnsearch.alignment.compiled import Counts, Parameters
from rnnsearch.alignment.probability import evidence, probability
from rnnsearch.alignment.spelling import likeness
from rnnsearch.data.word_alignments import Links, Symmetry, symmetrize

Doubles = NDArray[np.float64]

# Chosen on two of the novels of `alibi`, aligned together with text of Europarl.
MODEL_1_STEPS, HMM_STEPS = 4, 6
_P_0 = 0.05
_STEM = 4
"""Letters of a stem."""
_MARKS = frozenset((".", "!", "?", "…", "...", ":", ";", ","))
"""One stem, since translators punctuate freely: a comma is often a semicolon in the other language."""
_ALPHA, _BETA = 3.0, 0.3
_NULL_PRIOR = 10.0
"""So many words are added to those of no other word, by their frequency."""
_NEAR = 7
"""Jumps of more words than this have one probability."""
THRESHOLD = 0.5
"""A link is drawn if it is more probable than this."""
_LEAST = 0.01
"""Cells that neither model gives a greater probability are not returned."""
_BLOCK = 1000
"""Pairs that are aligned at a time."""


@dataclass(frozen=True)
class LineLinks:
    """What the aligner says of one line: all cells that either model believes in at least a little."""

    source: NDArray[np.int64]
    """The source position of each cell, from 0."""
    target: NDArray[np.int64]
    forward: NDArray[np.float32]
    """The posterior probability of each in the model that generates the target."""
    backward: NDArray[np.float32]
    """The same in the model that generates the source."""

    probability: NDArray[np.float64]
    """The probability that the two words are linked."""

    def links(self, how: Symmetry | Literal["probability"] = "probability", threshold: float = THRESHOLD) -> Links:
        """The links of a probability above `threshold`, or those of each model by itself, combined (`symmetrize`).

        By itself, a model links each word that it generates with the word that it most probably came from, if that is more
        probable than that it came from none.
        """
        if how == "probability":
            found = self.probability > threshold
            return frozenset(zip(self.source[found].tolist(), self.target[found].tolist(), strict=True))
        forward = self._most_probable(self.target, self.forward)
        backward = self._most_probable(self.source, self.backward)
        return symmetrize(forward, backward, how)

    def _most_probable(self, words: NDArray[np.int64], probability: NDArray[np.float32]) -> Links:
        order = np.lexsort((-probability, words))
        _, first = np.unique(words[order], return_index=True)
        best = order[first]
        total = np.bincount(words, probability)
        best = best[probability[best] > 1 - total[words[best]]]
        return frozenset(zip(self.source[best].tolist(), self.target[best].tolist(), strict=True))


class Aligner:
    """The parameters of both models, for the types of one text."""

    def __init__(self, bitext: Bitext, parameters: Parameters) -> None:
        self._bitext = bitext
        self._frequencies = bitext.source.frequencies, bitext.target.frequencies
        self.parameters = parameters

    def lines(self) -> Iterator[LineLinks]:
        """The links of every line of the text, in order; of an empty line there are none."""
        bitext, text = self._bitext, self._bitext.text
        found: list[tuple[NDArray[Any], ...]] = []
        line = 0
        for first in range(0, len(bitext.line), _BLOCK):
            last = min(first + _BLOCK, len(bitext.line))
            forward, backward = compiled.posteriors(text, self.parameters, first, last)
            for p in range(first, last):
                if bitext.line[p] != line:
                    yield _line(found)
                    found, line = [], line + 1
                here = slice(text.offsets[p] - text.offsets[first], text.offsets[p + 1] - text.offsets[first])
                found.append(self._cells(p, forward[here], backward[here]))
        if bitext.lines:
            yield _line(found)

    def _cells(self, p: int, forward: NDArray[np.float32], backward: NDArray[np.float32]) -> tuple[NDArray[Any], ...]:
        """The columns of `LineLinks` for pair p."""
        bitext, sides = self._bitext, (self._bitext.source, self._bitext.target)
        frequencies = [
            known[side.ids[side.starts[p] : side.starts[p + 1]]]
            for side, known in zip(sides, self._frequencies, strict=True)
        ]
        shape = len(frequencies[0]), len(frequencies[1])
        if 0 in shape:
            return tuple(np.empty(0, kind) for kind in (np.int64, np.int64, np.float32, np.float32, np.float64))
        text = bitext.text
        t = self.parameters.t[text.cells[text.offsets[p] : text.offsets[p + 1]]].reshape(*shape, 2)
        known = evidence(forward.reshape(shape), backward.reshape(shape), t, *frequencies)
        kept = np.flatnonzero(np.maximum(forward, backward) > _LEAST)
        found = probability(known.reshape(-1, known.shape[-1])[kept])
        i, j = np.divmod(kept, shape[1])
        return i + bitext.first[p, 0], j + bitext.first[p, 1], forward[kept], backward[kept], found


def train_aligner(
    bitext: Bitext,
    model_1_steps: int = MODEL_1_STEPS,
    hmm_steps: int = HMM_STEPS,
    progress: Callable[[int, int, Doubles], None] | None = None,
) -> Aligner:
    """Learn to align a text; `progress` is told after each step its number, how many there are, and both log-likelihoods.

    (The likelihoods may fall: agreement constrains the expectations. They are those before the step.)
    """
    text = bitext.text
    sides = bitext.target, bitext.source
    frequencies = [side.frequencies / max(1.0, len(side.ids)) for side in sides]
    types = bitext.type_target, bitext.type_source
    stems = [_stems(side.words) for side in sides]
    longest = int(max(side.lengths.max(initial=0) for side in sides))
    alike = likeness(bitext.source.words, bitext.target.words, bitext.type_source, bitext.type_target)
    smoothed = [
        _Smoothing(types[1 - k], types[k], stems[1 - k], stems[k], frequencies[k], len(sides[1 - k].words), alike)
        for k in (0, 1)
    ]
    widths = np.arange(-longest - 1, longest + 2)
    jump = _jumps(np.exp(-np.abs(widths - 1) / 3.0) + 1e-4, widths)
    parameters = Parameters(
        np.stack([frequencies[k][types[k]] + smoothed[k].alike for k in (0, 1)], axis=1).astype(np.float32),
        frequencies[0].astype(np.float32), frequencies[1].astype(np.float32), jump, jump, np.float32(_P_0), True,
    )  # fmt: skip
    steps = model_1_steps + hmm_steps
    for step in range(steps):
        counts = Counts(
            np.zeros(len(types[0])), np.zeros(len(sides[0].words)), np.zeros(len(sides[1].words)),
            np.zeros(len(widths)), np.zeros(len(widths)), np.zeros(2),
        )  # fmt: skip
        compiled.expectations(text, parameters._replace(uniform=step < model_1_steps), counts)
        for k in (0, 1):
            parameters.t[:, k] = smoothed[k].probabilities(counts.types)
        nulls = [
            ((count + _NULL_PRIOR * frequency) / (count.sum() + _NULL_PRIOR)).astype(np.float32)
            for count, frequency in zip((counts.target_null, counts.source_null), frequencies, strict=True)
        ]
        parameters = parameters._replace(target_null=nulls[0], source_null=nulls[1])
        if step >= model_1_steps:
            jumps = [_jumps(count, widths) for count in (counts.target_jump, counts.source_jump)]
            parameters = parameters._replace(target_jump=jumps[0], source_jump=jumps[1])
        if progress is not None:
            progress(step + 1, steps, counts.log_likelihood)
    return Aligner(bitext, parameters._replace(uniform=hmm_steps == 0))


class _Smoothing:
    """t(word | given word) from the counts of types, smoothed towards stems."""

    def __init__(
        self,
        given: NDArray[np.int32],
        word: NDArray[np.int32],
        given_stems: NDArray[np.int32],
        word_stems: NDArray[np.int32],
        frequency: Doubles,
        given_words: int,
        alike: NDArray[np.float32],
    ) -> None:
        self._given, self._given_words = given, given_words
        stems = int(word_stems.max(initial=0)) + 1
        pairs, self._pair = np.unique(given_stems[given].astype(np.int64) * stems + word_stems[word], return_inverse=True)
        self._pair = self._pair.astype(np.int32)
        self._given_stem = pairs // stems
        of_stem = np.bincount(word_stems, frequency)
        self.alike = (_BETA * alike / (1 + np.bincount(given, alike, minlength=given_words))[given]).astype(np.float32)
        """β s(e, f) / (1 + Σ_f s(e, f))"""
        self._share = (frequency / np.maximum(of_stem[word_stems], 1e-30))[word].astype(np.float32)

    def probabilities(self, counts: Doubles) -> Doubles:
        """The probability of each type."""
        of_pair = np.bincount(self._pair, counts, minlength=len(self._given_stem))
        of_stem = np.bincount(self._given_stem, of_pair)
        q = (of_pair / np.maximum(of_stem[self._given_stem], 1e-9))[self._pair] * self._share + self.alike
        totals = np.bincount(self._given, counts, minlength=self._given_words) + _ALPHA
        found: Doubles = (counts + _ALPHA * q) / totals[self._given]
        return found


def _stems(words: Sequence[str]) -> NDArray[np.int32]:
    numbers: dict[str, int] = {}
    stems = ("." if word in _MARKS else word[:_STEM] for word in words)
    return np.array([numbers.setdefault(stem, len(numbers)) for stem in stems], np.int32)


def _jumps(counts: Doubles, widths: NDArray[np.int64]) -> NDArray[np.float32]:
    """c(width), from expected counts: far jumps share theirs."""
    counts = counts.copy()
    far = np.abs(widths) > _NEAR
    counts[far] = counts[far].mean() if far.any() else 0
    counts += 1e-6 * counts.sum() + 1e-30
    return np.asarray(counts / counts.sum(), np.float32)


def _line(found: list[tuple[NDArray[Any], ...]]) -> LineLinks:
    return LineLinks(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
