"""Error rates of short sequences, such as pronunciations: WER, SER, and the symbols that are confused with each other.

The word error rate (WER) is the share of lines that differ from their reference; in this field, a line is a word. The symbol
error rate (SER), called phone error rate if the symbols are phones, is the sum of the edit distances of all lines divided by
the number of symbols of the references. The 95% confidence intervals come from bootstrap resampling of the lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rnnsearch.errors import RnnsearchError
from rnnsearch.evaluation.significance import RESAMPLES

SHOWN_CONFUSIONS = 20
"""The number of confusions in a result, the most frequent ones."""
_SEED = 12345


@dataclass(frozen=True)
class Confusion:
    """A difference between translations and references that occurs `count` times."""

    reference: str
    """The symbol of the reference; empty if the translation has an additional symbol."""
    translation: str
    """The symbol of the translation; empty if it lacks the symbol of the reference."""
    count: int


@dataclass(frozen=True)
class ErrorRates:
    """The error rates of one system on one test set, in percent; SER can exceed 100."""

    wer: float
    wer_interval: tuple[float, float]
    """The lower and the upper end of the 95% confidence interval."""
    ser: float
    ser_interval: tuple[float, float]
    lines: int
    symbols: int
    """The number of symbols of the references."""
    confusions: list[Confusion]
    """The most frequent confusions, by descending count."""


@dataclass(frozen=True)
class RateDifference:
    """The p-values of the differences between two systems in WER and in SER, by paired bootstrap resampling."""

    wer: float
    ser: float


def error_rates(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> ErrorRates:
    """Score the symbols of translations against those of their references.

    Raises RnnsearchError if the numbers of translations and references differ, or if the references have no symbols.
    """
    counts = error_counts(translations, references)
    drawn = 100 * _rates(counts[_draws(len(counts))].sum(1))
    wer, ser = (100 * _rates(counts.sum(0))).tolist()
    (low_wer, low_ser), (high_wer, high_ser) = np.quantile(drawn, (0.025, 0.975), axis=0).tolist()
    confusions: Counter[tuple[str, str]] = Counter()
    for translation, reference in zip(translations, references, strict=True):
        if list(translation) != list(reference):
            confusions.update(pair for pair in aligned_symbols(translation, reference) if pair[0] != pair[1])
    ranked = sorted(confusions.items(), key=lambda item: (-item[1], item[0]))[:SHOWN_CONFUSIONS]
    return ErrorRates(
        wer=wer,
        wer_interval=(low_wer, high_wer),
        ser=ser,
        ser_interval=(low_ser, high_ser),
        lines=len(counts),
        symbols=int(counts[:, 2].sum()),
        confusions=[Confusion(expected, produced, count) for (produced, expected), count in ranked],
    )


def compare_error_rates(
    outputs: Mapping[str, Sequence[Sequence[str]]], references: Sequence[Sequence[str]]
) -> dict[tuple[str, str], RateDifference]:
    """Return for each pair of systems the probability of differences as large as the observed ones if both are equally good.

    The method is that of sacreBLEU for BLEU: the resampled differences are shifted to a mean of zero, and the p-value is the
    share of those that are then at least as large as the observed difference. Raises RnnsearchError as `error_rates` does.
    """
    counts = {name: error_counts(translations, references) for name, translations in outputs.items()}
    draws = _draws(len(references))
    observed = {name: _rates(counts_L4.sum(0)) for name, counts_L4 in counts.items()}
    resampled = {name: _rates(counts_L4[draws].sum(1)) for name, counts_L4 in counts.items()}
    p_values = {}
    for first in outputs:
        for second in outputs:
            if first != second:
                difference = resampled[first] - resampled[second]
                as_large = np.abs(difference - difference.mean(0)) >= np.abs(observed[first] - observed[second])
                wer, ser = ((as_large.sum(0) + 1) / (RESAMPLES + 1)).tolist()
                p_values[first, second] = RateDifference(wer, ser)
    return p_values


def error_counts(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Return for each line whether it is wrong (0 or 1), its edit distance, the symbols of its reference, and 1; (lines, 4).

    Sums of rows are counts of wrong lines, edits, symbols and lines. Raises RnnsearchError as `error_rates` does.
    """
    if len(translations) != len(references):
        raise RnnsearchError(
            f"there are {len(translations)} translations but {len(references)} references; "
            "line n of one must belong to line n of the other"
        )
    if not any(references):
        raise RnnsearchError("there are 0 symbols to compare with; give at least one line and its reference")
    rows = []
    for translation, reference in zip(translations, references, strict=True):
        wrong = list(translation) != list(reference)
        distance = sum(ours != theirs for ours, theirs in aligned_symbols(translation, reference)) if wrong else 0
        rows.append((wrong, distance, len(reference), 1))
    return np.array(rows, dtype=np.int64)


def aligned_symbols(translation: Sequence[str], reference: Sequence[str]) -> list[tuple[str, str]]:
    """Align two sequences with the fewest differences; return pairs (symbol of the translation, symbol of the reference).

    An empty string stands for a missing symbol. If there are several such alignments, the choice is deterministic.
    """
    rows, columns = len(translation) + 1, len(reference) + 1
    cost = np.zeros((rows, columns), np.int64)
    cost[0], cost[:, 0] = np.arange(columns), np.arange(rows)
    numbers: dict[str, int] = {}
    other = np.array([numbers.setdefault(symbol, len(numbers)) for symbol in reference], np.int64)
    steps = np.arange(columns)
    # cost[i, j] is the edit distance of the first i symbols of the translation and the first j of the reference.
    for i, symbol in enumerate(translation, 1):
        best = np.minimum(cost[i - 1, 1:] + 1, cost[i - 1, :-1] + (other != numbers.get(symbol, -1)))
        # A missing symbol costs one more than the left neighbour in the row: cost[j] = min over k ≤ j of best[k] + (j − k).
        cost[i] = np.minimum.accumulate(np.concatenate([[i], best]) - steps) + steps
    # Trace back from the end: prefer a substitution or a match, then an additional symbol, then a missing one.
    pairs = []
    i, j = rows - 1, columns - 1
    while i or j:
        if i and j and cost[i, j] == cost[i - 1, j - 1] + (translation[i - 1] != reference[j - 1]):
            i, j = i - 1, j - 1
            pairs.append((translation[i], reference[j]))
        elif i and cost[i, j] == cost[i - 1, j] + 1:
            i -= 1
            pairs.append((translation[i], ""))
        else:
            j -= 1
            pairs.append(("", reference[j]))
    return pairs[::-1]


def _rates(sums: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return WER and SER as fractions, shape (…, 2), from sums of the rows of `error_counts`, shape (…, 4)."""
    wrong, distance, symbols, lines = np.moveaxis(sums, -1, 0)
    return np.stack([wrong / lines, distance / np.maximum(symbols, 1)], -1)


def _draws(lines: int) -> NDArray[np.int64]:
    """Return the lines of `RESAMPLES` test sets, drawn with replacement, the same for every system; (RESAMPLES, lines)."""
    return np.random.default_rng(_SEED).integers(lines, size=(RESAMPLES, lines))
