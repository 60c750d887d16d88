"""An n-gram model of text, with modified Kneser–Ney smoothing, in sorted arrays.

Chen and Goodman (1999), interpolated; c is the adjusted count of an n-gram, h its history, h' that without its first word:

    p(w | h) = max(c(h w) − D(c(h w)), 0) / Σ_v c(h v)  +  γ(h) p(w | h')
    γ(h) = (D(1) N_1(h •) + D(2) N_2(h •) + D(3) N_3+(h •)) / Σ_v c(h v)

N_k(h •) is how many words follow h with count k. The adjusted count of the longest n-grams, and of those that begin a
sentence, is how often they occur; of all others, in how many words' company they do: N_1+(• h w). The recursion ends at
p(w | nothing) = 1 / (number of words). The discounts D(1), D(2), D(3 and more) of each order follow from how many n-grams
have counts 1 to 4.

An n-gram of order k is the number of its first k − 1 words among those of order k − 1, and its last word:

    key = number of the history · V + word

Keys are sorted 64-bit integers, so that an n-gram of any order is found by bisection, for a whole block of text at a time,
and its number is where it stands. Counting sorts blocks and merges them: the memory taken grows with the number of different
n-grams, and 4 bytes a word for the text itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rnnsearch.data.pack import Sentences
from rnnsearch.text import END

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_ABSENT = -1


@dataclass(frozen=True)
class _Order:
    """The n-grams of one order, by number."""

    keys: Integers
    """Sorted; the number of an n-gram is where its key stands."""
    weights: Floats
    """max(c − D(c), 0) / Σ c: the n-gram's own share of its probability."""
    backoffs: Floats
    """γ of the n-gram as a history; 1 where nothing follows it, and for the longest."""


class LanguageModel:
    """p(word | words before it) for ids below a vocabulary's size, the end symbol (id 0) included."""

    def __init__(self, size: int, orders: list[_Order]) -> None:
        """`size` is the number of words; the symbol that begins a sentence comes after them, with id `size`."""
        self._size = size
        self._orders = orders

    @classmethod
    def train(cls, text: Collection[Sentences], size: int, order: int = 4) -> LanguageModel:
        """A model of `text`, blocks of sentences whose ids lie below `size`. It is read once for each order."""
        begin = size
        keys = [np.arange(size + 1)]
        counts = [_unigram_counts(text, size)]
        for _ in range(order - 1):
            blocks = (_block_keys(_with_ends(sentences, begin), keys, begin) for sentences in text)
            found, times = _count(blocks)
            keys.append(found)
            counts.append(times)
        return cls(size, _smoothed(keys, counts, size + 1))

    def log2_probabilities(self, sentences: Sentences) -> Floats:
        """log₂ p of every word of these sentences and of each sentence's end: one sentence after the other."""
        words = _with_ends(sentences, self._size)
        numbers = words
        probabilities = self._orders[0].weights[words]
        for shorter, order in zip(self._orders[:-1], self._orders[1:], strict=True):
            histories = _shifted(numbers)
            known = np.flatnonzero(histories != _ABSENT)
            probabilities[known] *= shorter.backoffs[histories[known]]
            numbers = _find(order.keys, histories, words, self._size)
            found = np.flatnonzero(numbers != _ABSENT)
            probabilities[found] += order.weights[numbers[found]]
        return np.asarray(np.log2(probabilities[words != self._size]))

    def cross_entropies(self, sentences: Sentences) -> Floats:
        """H(s) = −1/(|s| + 1) Σ log₂ p of each sentence s, in bits a word, its end counted as a word."""
        lengths = sentences.lengths.astype(np.int64) + 1
        if not len(lengths):
            return np.zeros(0)
        starts = np.cumsum(lengths) - lengths
        return -np.add.reduceat(self.log2_probabilities(sentences), starts) / lengths


def perplexity(model: LanguageModel, text: Iterable[Sentences]) -> float:
    """2 to the cross-entropy of the whole of `text`, each sentence's end counted as a word."""
    bits, words = 0.0, 0
    for sentences in text:
        logs = model.log2_probabilities(sentences)
        bits -= float(logs.sum())
        words += len(logs)
    return float(2 ** (bits / words))


def _with_ends(sentences: Sentences, begin: int) -> Integers:
    """The sentences end to end, each between `begin` and the end symbol."""
    lengths = sentences.lengths.astype(np.int64)
    ends = np.cumsum(lengths + 2)
    words = np.full(ends[-1] if len(ends) else 0, END, dtype=np.int64)
    words[ends - lengths - 2] = begin
    inner = np.repeat(2 * np.arange(len(lengths)) + 1, lengths) + np.arange(len(sentences.ids))
    words[inner] = sentences.ids
    return words


def _shifted(numbers: Integers) -> Integers:
    """At each place, the number of the n-gram that ends one place before."""
    histories = np.empty_like(numbers)
    histories[:1] = _ABSENT
    histories[1:] = numbers[:-1]
    return histories


def _find(keys: Integers, histories: Integers, words: Integers, begin: int) -> Integers:
    """The numbers of these n-grams, or −1. None ends in the symbol that begins a sentence: so none spans two sentences."""
    numbers = np.full(len(words), _ABSENT)
    known = np.flatnonzero(histories != _ABSENT)
    if len(keys) and len(known):
        wanted = histories[known] * (begin + 1) + words[known]
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        numbers[known] = np.where(keys[places] == wanted, places, _ABSENT)
    return numbers


# Counting -------------------------------------------------------------------------------------------------------------


def _unigram_counts(text: Iterable[Sentences], size: int) -> Integers:
    counts = np.zeros(size + 1, dtype=np.int64)
    for sentences in text:
        counts += np.bincount(sentences.ids, minlength=size + 1)
        counts[END] += len(sentences.lengths)
        counts[size] += len(sentences.lengths)
    return counts


def _block_keys(words: Integers, keys: list[Integers], begin: int) -> Integers:
    """The keys, one order longer than the longest in `keys`, of all n-grams of a block."""
    numbers = words
    for shorter in keys[1:]:
        numbers = _find(shorter, _shifted(numbers), words, begin)
    histories = _shifted(numbers)
    within = (histories != _ABSENT) & (words != begin)
    return np.asarray(histories[within] * (begin + 1) + words[within])


def _count(blocks: Iterable[Integers]) -> tuple[Integers, Integers]:
    """Sorted distinct keys of all blocks, and how often each occurs.

    Counted blocks are merged two by two, like with like in size, so that each key is merged about log(blocks) times.
    """
    runs: list[tuple[Integers, Integers]] = []
    for block in blocks:
        runs.append(np.unique(block, return_counts=True))
        while len(runs) > 1 and len(runs[-2][0]) < 2 * len(runs[-1][0]):
            runs.append(_merged(runs.pop(), runs.pop()))
    while len(runs) > 1:
        runs.append(_merged(runs.pop(), runs.pop()))
    return runs[0] if runs else (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def _merged(one: tuple[Integers, Integers], other: tuple[Integers, Integers]) -> tuple[Integers, Integers]:
    keys = np.concatenate([one[0], other[0]])
    order = np.argsort(keys, kind="stable")  # merges runs that are sorted already
    keys, counts = keys[order], np.concatenate([one[1], other[1]])[order]
    first = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return keys[first], np.add.reduceat(counts, np.flatnonzero(first)) if len(keys) else counts


# Smoothing ------------------------------------------------------------------------------------------------------------


def _smoothed(keys: list[Integers], counts: list[Integers], base: int) -> list[_Order]:
    """The orders of a model, from the sorted keys of each and how often each occurs. `base` is V in the keys."""
    begin = base - 1
    adjusted = list(_adjusted(keys, counts, base))
    adjusted[0][begin] = 0  # it is given, and never predicted
    weights, backoffs = [], []
    for order, (own, count) in enumerate(zip(keys, adjusted, strict=True)):
        histories = own // base if order else np.zeros(base, dtype=np.int64)
        size = len(keys[order - 1]) if order else 1
        discounts = _discounts(count)
        discount = discounts[np.minimum(count, 3)]
        totals = np.bincount(histories, weights=count, minlength=size)
        removed = np.bincount(histories, weights=discount, minlength=size)
        followed = totals > 0
        shares = np.divide(removed, totals, out=np.ones(size), where=followed)
        backoffs.append(shares)
        weights.append(np.divide(count - discount, totals[histories], out=np.zeros(len(own)), where=followed[histories]))
    # Below the single words lies the uniform distribution: over all words, but not the symbol that begins a sentence.
    weights[0] += backoffs[0][0] / begin
    weights[0][begin] = 0.0
    following = [*backoffs[1:], np.ones(len(keys[-1]))]
    return [_Order(*parts) for parts in zip(keys, weights, following, strict=True)]


def _adjusted(keys: list[Integers], counts: list[Integers], base: int) -> Iterator[Integers]:
    """The adjusted counts of each order: N_1+(• w_1 … w_k), but the counts themselves where no word can stand before."""
    # Of each n-gram: the number of what is left without its first word, and whether it begins a sentence.
    suffixes = np.zeros(base, dtype=np.int64)
    begins = np.arange(base) == base - 1
    for order, (own, count) in enumerate(zip(keys, counts, strict=True)):
        if order + 1 == len(keys):
            yield count
            return
        longer = keys[order + 1]
        histories, words = np.divmod(longer, base)
        longer_suffixes = np.searchsorted(own, suffixes[histories] * base + words)
        companions = np.bincount(longer_suffixes, minlength=len(own))
        yield np.where(begins, count, companions)
        suffixes, begins = longer_suffixes, begins[histories]


def _discounts(counts: Integers) -> Floats:
    """D(0) = 0, D(1), D(2) and D(3 and more), as Chen and Goodman (1999) estimate them.

        Y = n_1 / (n_1 + 2 n_2)      D(k) = k − (k + 1) Y n_{k+1} / n_k

    n_k is how many n-grams have count k. Where the text is too small to tell, 1/2, 1 and 3/2.
    """
    n = np.bincount(np.minimum(counts, 5), minlength=6).astype(float)
    discounts = np.array([0.0, 0.5, 1.0, 1.5])
    if n[1:5].all():
        k = np.arange(1, 4)
        estimates = k - (k + 1) * n[1] / (n[1] + 2 * n[2]) * n[2:5] / n[1:4]
        if (estimates > 0).all():
            discounts[1:] = estimates
    return discounts
