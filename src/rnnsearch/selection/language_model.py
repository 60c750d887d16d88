"""An n-gram language model with modified Kneser–Ney smoothing, stored in sorted arrays.

This is the interpolated model of Chen and Goodman (1999). c is the adjusted count of an n-gram, h its history, and h' the
history without its first word:

    p(w | h) = max(c(h w) − D(c(h w)), 0) / Σ_v c(h v)  +  γ(h) p(w | h')
    γ(h) = (D(1) N_1(h •) + D(2) N_2(h •) + D(3) N_3+(h •)) / Σ_v c(h v)

N_k(h •) is the number of different words that follow h with count k. The adjusted count of the longest n-grams, and of
n-grams that begin a sentence, is the number of their occurrences; that of all others is the number of different words that
precede them, N_1+(• h w). The recursion ends with the uniform distribution, 1 / (number of words). The discounts D(1), D(2)
and D(3 and more) of each order are computed from the numbers of n-grams with counts 1 to 4.

The key of an n-gram of order k consists of the number of its history among the n-grams of order k − 1 and its last word:

    key = number of the history · V + word

The keys of an order are sorted 64-bit integers, and the number of an n-gram is the index of its key. Bisection therefore
finds the n-grams of a whole block of text at once. To count n-grams, blocks of keys are sorted and merged. The memory for
this grows with the number of different n-grams; the text itself takes 4 bytes per word.
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
    """The n-grams of one order; entry i of each array belongs to the n-gram with number i."""

    keys: Integers
    """The keys in ascending order."""
    weights: Floats
    """max(c − D(c), 0) / Σ c, the part of its probability that comes from this order."""
    backoffs: Floats
    """γ of the n-gram as a history; 1 if no word follows it, and for n-grams of the highest order."""


class LanguageModel:
    """An n-gram model p(word | preceding words) over the ids of a vocabulary, including the end symbol (id 0)."""

    def __init__(self, size: int, orders: list[_Order]) -> None:
        """`size` is the number of words; the symbol for the beginning of a sentence has the id `size`."""
        self._size = size
        self._orders = orders

    @classmethod
    def train(cls, text: Collection[Sentences], size: int, order: int = 4) -> LanguageModel:
        """Train a model on `text`, blocks of sentences whose ids are below `size`. The text is read once for each order."""
        begin = size
        keys = [np.arange(size + 1)]
        counts = [_unigram_counts(text, size)]
        for _ in range(order - 1):
            blocks = (_block_keys(_with_ends(sentences, begin), keys, begin) for sentences in text)
            order_keys, order_counts = _count(blocks)
            keys.append(order_keys)
            counts.append(order_counts)
        return cls(size, _smoothed(keys, counts, size + 1))

    def log2_probabilities(self, sentences: Sentences) -> Floats:
        """Return log₂ p of every word of these sentences, one sentence after another, each followed by its end symbol."""
        words = _with_ends(sentences, self._size)
        numbers = words
        probabilities = self._orders[0].weights[words]
        # From order to order: p(w | h) = γ(h) p(w | h'), plus the weight of the n-gram h w if the model has it.
        for shorter, order in zip(self._orders[:-1], self._orders[1:], strict=True):
            histories = _shifted(numbers)
            known = np.flatnonzero(histories != _ABSENT)
            probabilities[known] *= shorter.backoffs[histories[known]]
            numbers = _find(order.keys, histories, words, self._size)
            present = np.flatnonzero(numbers != _ABSENT)
            probabilities[present] += order.weights[numbers[present]]
        return np.asarray(np.log2(probabilities[words != self._size]))

    def cross_entropies(self, sentences: Sentences) -> Floats:
        """Return H(s) = −1/(|s| + 1) Σ log₂ p of each sentence s, in bits per word; the end symbol counts as a word."""
        lengths = sentences.lengths.astype(np.int64) + 1
        if not len(lengths):
            return np.zeros(0)
        starts = np.cumsum(lengths) - lengths
        return -np.add.reduceat(self.log2_probabilities(sentences), starts) / lengths


def perplexity(model: LanguageModel, text: Iterable[Sentences]) -> float:
    """Return 2 to the power of the cross-entropy of `text` in bits per word; end symbols count as words."""
    bits, words = 0.0, 0
    for sentences in text:
        logs = model.log2_probabilities(sentences)
        bits -= float(logs.sum())
        words += len(logs)
    return float(2 ** (bits / words))


def _with_ends(sentences: Sentences, begin: int) -> Integers:
    """Return the words of all sentences in one array, each sentence between the symbol `begin` and the end symbol."""
    lengths = sentences.lengths.astype(np.int64)
    ends = np.cumsum(lengths + 2)
    words = np.full(ends[-1] if len(ends) else 0, END, dtype=np.int64)
    words[ends - lengths - 2] = begin
    inner = np.repeat(2 * np.arange(len(lengths)) + 1, lengths) + np.arange(len(sentences.ids))
    words[inner] = sentences.ids
    return words


def _shifted(numbers: Integers) -> Integers:
    """Return at each position the number of the n-gram that ends at the position before."""
    histories = np.empty_like(numbers)
    histories[:1] = _ABSENT
    histories[1:] = numbers[:-1]
    return histories


def _find(keys: Integers, histories: Integers, words: Integers, begin: int) -> Integers:
    """Return the numbers of the n-grams with these histories and last words, or −1 for those that are not in `keys`.

    No n-gram of order 2 or more ends with the symbol `begin`, so none spans two sentences.
    """
    numbers = np.full(len(words), _ABSENT)
    known = np.flatnonzero(histories != _ABSENT)
    if len(keys) and len(known):
        text_keys = histories[known] * (begin + 1) + words[known]
        indices = np.minimum(np.searchsorted(keys, text_keys), len(keys) - 1)
        numbers[known] = np.where(keys[indices] == text_keys, indices, _ABSENT)
    return numbers


# Counting -------------------------------------------------------------------------------------------------------------


def _unigram_counts(text: Iterable[Sentences], size: int) -> Integers:
    """Return the counts of all words, of the end symbol (id 0) and of the symbol for the beginning (id `size`)."""
    counts = np.zeros(size + 1, dtype=np.int64)
    for sentences in text:
        counts += np.bincount(sentences.ids, minlength=size + 1)
        counts[END] += len(sentences.lengths)
        counts[size] += len(sentences.lengths)
    return counts


def _block_keys(words: Integers, keys: list[Integers], begin: int) -> Integers:
    """Return the keys of all n-grams of a block whose order is one higher than the highest in `keys`."""
    numbers = words
    for shorter in keys[1:]:
        numbers = _find(shorter, _shifted(numbers), words, begin)
    histories = _shifted(numbers)
    within = (histories != _ABSENT) & (words != begin)
    return np.asarray(histories[within] * (begin + 1) + words[within])


def _count(blocks: Iterable[Integers]) -> tuple[Integers, Integers]:
    """Return the sorted distinct keys of all blocks, and the number of occurrences of each.

    Counted blocks are merged in pairs of similar size, so that each key is merged about log(blocks) times.
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
    """Merge two arrays of sorted distinct keys, and add the counts of keys that both have."""
    keys = np.concatenate([one[0], other[0]])
    order = np.argsort(keys, kind="stable")  # a stable sort merges sorted runs in linear time
    keys, counts = keys[order], np.concatenate([one[1], other[1]])[order]
    first = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return keys[first], np.add.reduceat(counts, np.flatnonzero(first)) if len(keys) else counts


# Smoothing ------------------------------------------------------------------------------------------------------------


def _smoothed(keys: list[Integers], counts: list[Integers], base: int) -> list[_Order]:
    """Return the orders of a model from the sorted keys and the counts of each order. `base` is V in the keys."""
    begin = base - 1
    adjusted = list(_adjusted(keys, counts, base))
    adjusted[0][begin] = 0  # the symbol for the beginning is never predicted
    weights, backoffs = [], []
    for order, (own, count) in enumerate(zip(keys, adjusted, strict=True)):
        histories = own // base if order else np.zeros(base, dtype=np.int64)
        size = len(keys[order - 1]) if order else 1
        discounts = _discounts(count)
        discount = discounts[np.minimum(count, 3)]
        # Of each history h: Σ_v c(h v), and Σ_v D(c(h v)), whose quotient is γ(h).
        totals = np.bincount(histories, weights=count, minlength=size)
        removed = np.bincount(histories, weights=discount, minlength=size)
        followed = totals > 0
        shares = np.divide(removed, totals, out=np.ones(size), where=followed)
        backoffs.append(shares)
        weights.append(np.divide(count - discount, totals[histories], out=np.zeros(len(own)), where=followed[histories]))
    # Unigrams are interpolated with the uniform distribution over all words except the symbol for the beginning.
    weights[0] += backoffs[0][0] / begin
    weights[0][begin] = 0.0
    following = [*backoffs[1:], np.ones(len(keys[-1]))]
    return [_Order(*parts) for parts in zip(keys, weights, following, strict=True)]


def _adjusted(keys: list[Integers], counts: list[Integers], base: int) -> Iterator[Integers]:
    """Yield the adjusted counts of each order: N_1+(• w_1 … w_k), or the counts if no word can precede the n-gram."""
    # For each n-gram: the number of the n-gram without its first word, and whether it begins a sentence.
    suffixes = np.zeros(base, dtype=np.int64)
    begins = np.arange(base) == base - 1
    for order, (own, count) in enumerate(zip(keys, counts, strict=True)):
        if order + 1 == len(keys):
            yield count
            return
        longer = keys[order + 1]
        histories, words = np.divmod(longer, base)
        longer_suffixes = np.searchsorted(own, suffixes[histories] * base + words)
        preceding_words = np.bincount(longer_suffixes, minlength=len(own))
        yield np.where(begins, count, preceding_words)
        suffixes, begins = longer_suffixes, begins[histories]


def _discounts(counts: Integers) -> Floats:
    """Return the discounts D(0) = 0, D(1), D(2) and D(3 and more) of Chen and Goodman (1999).

        Y = n_1 / (n_1 + 2 n_2)      D(k) = k − (k + 1) Y n_{k+1} / n_k

    n_k is the number of n-grams with count k. If the text is too small for these estimates, they are 1/2, 1 and 3/2.
    """
    n = np.bincount(np.minimum(counts, 5), minlength=6).astype(float)
    discounts = np.array([0.0, 0.5, 1.0, 1.5])
    if n[1:5].all():
        k = np.arange(1, 4)
        estimates = k - (k + 1) * n[1] / (n[1] + 2 * n[2]) * n[2:5] / n[1:4]
        if (estimates > 0).all():
            discounts[1:] = estimates
    return discounts
