"""Random segmentations of words into subwords: BPE-dropout, and sampling from a unigram language model.

sentencepiece can draw such segmentations too, but its generator cannot be seeded: before version 0.2.2, a thread cannot
change its first seed, and since then the seed is mixed with a value that differs from process to process. Here the caller
passes the generator, so that a segmentation depends only on the word, alpha and the generator. The distributions are those
of sentencepiece.

A `Sampler` is called with a word in the form of sentencepiece (with `▁` as its first character), alpha, and the generator.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, pairwise, repeat
from random import Random

Sampler = Callable[[str, float, Random], Sequence[str]]


def bpe_dropout(scores: Mapping[str, float]) -> Sampler:
    """Return a sampler for BPE-dropout, which drops every merge with probability alpha, 0 < alpha < 1.

    The method is that of Provilkov et al. (2020). `scores` holds the scores of all subwords; of the possible merges, the one
    with the highest score is done first. A dropped merge is possible again only when one of its two parts has changed.
    """

    def segment(word: str, merges_to_next_dropout: Callable[[], float]) -> list[str]:
        """Merge the letters of a word; the function returns the number of merges before the next one is dropped."""
        parts, left = list(word), merges_to_next_dropout()
        possible = [scores.get(one + other, -math.inf) for one, other in pairwise(parts)]
        while possible and (best := max(possible)) > -math.inf:
            i = possible.index(best)
            if left < 1:
                possible[i], left = -math.inf, merges_to_next_dropout()
                continue
            left -= 1
            parts[i : i + 2] = [parts[i] + parts[i + 1]]
            del possible[i]
            for j in range(max(0, i - 1), min(i + 1, len(possible))):
                possible[j] = scores.get(parts[j] + parts[j + 1], -math.inf)
        return parts

    @functools.lru_cache(maxsize=1 << 16)
    def without_dropout(word: str) -> list[str]:
        return segment(word, lambda: math.inf)

    def sample(word: str, alpha: float, random: Random) -> list[str]:
        log_kept = math.log1p(-alpha)
        # The number of merges before the first dropped one, rounded down, is geometrically distributed.
        first = math.log(1 - random.random()) / log_kept
        usual = without_dropout(word)
        if first >= len(word) - len(usual):  # the number of merges of this word: none is dropped
            return usual
        runs = chain([first], (math.log(1 - random.random()) / log_kept for _ in repeat(None)))
        return segment(word, runs.__next__)

    return sample


def unigram_sampling(scores: Mapping[str, float]) -> Sampler:
    """Return a sampler that draws a segmentation with a probability proportional to p(segmentation) to the power alpha.

    p(segmentation) is the product of the probabilities of its subwords, and `scores` holds log p of all subwords (Kudo
    2018). The sample is exact: a forward pass sums over all segmentations of every prefix of the word, and a backward pass
    draws the subwords, the last one first.
    """
    longest = max(map(len, scores))
    # As in sentencepiece, this is log p of a letter that is no subword, so that every word has a segmentation.
    unknown = min(scores.values()) - 10

    @functools.lru_cache(maxsize=1 << 14)
    def last_subwords(word: str, alpha: float) -> list[tuple[list[float], list[str]]]:
        """Return for every non-empty prefix of a word its possible last subwords with their cumulative probabilities."""
        log_sums, last = [0.0], []
        for end in range(1, len(word) + 1):
            subwords, logs = [], []
            for start in range(max(0, end - longest), end):
                log_p = scores.get(word[start:end], unknown if start == end - 1 else None)
                if log_p is not None:
                    subwords.append(word[start:end])
                    logs.append(log_sums[start] + alpha * log_p)
            highest = max(logs)
            log_sums.append(highest + math.log(math.fsum(math.exp(log - highest) for log in logs)))
            cumulative, total = [], 0.0
            for log in logs:
                total += math.exp(log - log_sums[end])
                cumulative.append(total)
            last.append((cumulative, subwords))
        return last

    def sample(word: str, alpha: float, random: Random) -> list[str]:
        last, parts, end = last_subwords(word, alpha), list[str](), len(word)
        while end:
            cumulative, subwords = last[end - 1]
            parts.append(subwords[bisect(cumulative, random.random(), hi=len(cumulative) - 1)])
            end -= len(parts[-1])
        return parts[::-1]

    return sample
