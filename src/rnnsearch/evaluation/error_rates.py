"""Error rates of short sequences, such as pronunciations: of whole lines and of symbols, and which symbols are confused.

The word error rate (WER) is the share of lines that differ from their reference; a line is a word in this field. The symbol
error rate (SER), the phone error rate where symbols are phones, is the edit distance of all lines, divided by the number of
symbols of the references. The 95% confidence intervals are those of bootstrap resampling of the lines.
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
"""So many confusions are kept, the most frequent ones."""
_SEED = 12345


@dataclass(frozen=True)
class Confusion:
    """A difference between translations and references that occurs `count` times."""

    reference: str
    """The symbol of the reference; empty where the translation has one too many."""
    translation: str
    """The symbol of the translation; empty where one is missing."""
    count: int


@dataclass(frozen=True)
class ErrorRates:
    """The error rates of one system on one test set, 0 to 100; SER can be more."""

    wer: float
    wer_interval: tuple[float, float]
    """The lower and the upper end of the 95% interval."""
    ser: float
    ser_interval: tuple[float, float]
    lines: int
    symbols: int
    """Symbols of the references."""
    confusions: list[Confusion]
    """The most frequent first."""


@dataclass(frozen=True)
class RateDifference:
    """The p-values of the differences between two systems, by paired bootstrap resampling."""

    wer: float
    ser: float


def error_rates(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> ErrorRates:
    """Score the symbols of translations against those of their references.

    Raises RnnsearchError where the two differ in number, or where the references have no symbols.
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
        confusions=[Confusion(expected, found, count) for (found, expected), count in ranked],
    )


def compare_error_rates(
    outputs: Mapping[str, Sequence[Sequence[str]]], references: Sequence[Sequence[str]]
) -> dict[tuple[str, str], RateDifference]:
    """For each pair of systems, how probable differences as large as theirs are if both are equally good.

    As sacreBLEU does it for BLEU: the resampled differences are moved to a mean of zero, and those that are then as large as
    the observed one are counted. Raises RnnsearchError as `error_rates` does.
    """
    counts = {name: error_counts(translations, references) for name, translations in outputs.items()}
    draws = _draws(len(references))
    observed = {name: _rates(each.sum(0)) for name, each in counts.items()}
    resampled = {name: _rates(each[draws].sum(1)) for name, each in counts.items()}
    found = {}
    for one in outputs:
        for other in outputs:
            if one != other:
                difference = resampled[one] - resampled[other]
                as_large = np.abs(difference - difference.mean(0)) >= np.abs(observed[one] - observed[other])
                wer, ser = ((as_large.sum(0) + 1) / (RESAMPLES + 1)).tolist()
                found[one, other] = RateDifference(wer, ser)
    return found


def error_counts(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """For each line: whether it is wrong (0 or 1), its edit distance, the symbols of its reference, and 1; (lines, 4)."""
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
        distance = sum(one != other for one, other in aligned_symbols(translation, reference)) if wrong else 0
        rows.append((wrong, distance, len(reference), 1))
    return np.array(rows, dtype=np.int64)


def aligned_symbols(translation: Sequence[str], reference: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of (symbol of the translation, symbol of the reference) of an alignment with the fewest differences.

    An empty string stands for a symbol that is missing. Of several such alignments it is always the same.
    """
    rows, columns = len(translation) + 1, len(reference) + 1
    cost = np.zeros((rows, columns), np.int64)
    cost[0], cost[:, 0] = np.arange(columns), np.arange(rows)
    numbers: dict[str, int] = {}
    other = np.array([numbers.setdefault(symbol, len(numbers)) for symbol in reference], np.int64)
    steps = np.arange(columns)
    for i, symbol in enumerate(translation, 1):
        best = np.minimum(cost[i - 1, 1:] + 1, cost[i - 1, :-1] + (other != numbers.get(symbol, -1)))
        # A symbol of the reference that is missing costs one more than its left neighbour: a running minimum.
        cost[i] = np.minimum.accumulate(np.concatenate([[i], best]) - steps) + steps
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
    """WER and SER, as fractions, of sums of `error_counts`; (…, 2)."""
    wrong, distance, symbols, lines = np.moveaxis(sums, -1, 0)
    return np.stack([wrong / lines, distance / np.maximum(symbols, 1)], -1)


def _draws(lines: int) -> NDArray[np.int64]:
    """The lines of `RESAMPLES` test sets that are drawn, with replacement, from this one; the same for every system."""
    return np.random.default_rng(_SEED).integers(lines, size=(RESAMPLES, lines))
