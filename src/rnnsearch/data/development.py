"""The development set: separate files, or pairs of the training text that are held out."""

from __future__ import annotations

import heapq
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rnnsearch.config import DataConfig
from rnnsearch.data.clean import Cleaner
from rnnsearch.data.inputs import check_repeatable
from rnnsearch.data.neighbourhoods import choose_dissimilar, neighbourhoods
from rnnsearch.data.read import read_pairs
from rnnsearch.errors import RnnsearchError
from rnnsearch.text.units import Units

HELD_OUT = ("held-out.source", "held-out.target")
"""The files of a prepared folder that contain the held-out pairs, as raw lines of the training text."""

FEWEST = 4
"""The smallest number of pairs that `choose_neighbours` holds out."""

NO_DEVELOPMENT_SET = (
    "there is no development set: give --valid-source and --valid-target, or --hold-out N to take N pairs from the training "
    "text"
)


def check_development_set(
    valid_sources: Sequence[Path], valid_targets: Sequence[Path], hold_out: int | None, data: str | os.PathLike[str] | None
) -> None:
    """Raise RnnsearchError unless exactly one kind of development set is named: files, or pairs to hold out.

    If `hold_out` is None and there are no files, pairs are chosen (`choose_neighbours`). Prepared `data` has to contain
    held-out pairs; this function does not check that it does.
    """
    if hold_out is not None and hold_out < 0:
        raise RnnsearchError(f"--hold-out {hold_out}: give the number of pairs to hold out, 1 or more")
    if hold_out and (valid_sources or valid_targets):
        raise RnnsearchError("give either --valid-source and --valid-target or --hold-out, not both")
    if hold_out and data is not None:
        raise RnnsearchError(f"--hold-out {hold_out}: {data} is prepared already; give --hold-out to `rnnsearch prepare`")
    if hold_out == 0 and not (valid_sources or valid_targets or data is not None):
        raise RnnsearchError(NO_DEVELOPMENT_SET)


@dataclass(frozen=True)
class HeldOut:
    """The pairs that are held out of the training text for a development set."""

    pairs: Sequence[tuple[str, str]]
    """The raw lines of the pairs, in the order of the text."""
    words: frozenset[tuple[str, str]]
    """The same pairs, tokenised. Every pair of the text with the same words is held out, and so are repetitions."""

    def __contains__(self, pair: tuple[Sequence[str], Sequence[str]]) -> bool:
        """Whether this tokenised pair is held out."""
        return _joined(*pair) in self.words


def choose_held_out(
    sources: Sequence[Path], targets: Sequence[Path], count: int, config: DataConfig, units: tuple[Units, Units]
) -> HeldOut:
    """Draw `count` different pairs at random, with the seed `data.seed`, from the pairs that cleaning would keep.

    The text is read here and once more by `prepare`, so it cannot come from pipes. Raises RnnsearchError if there are too
    few such pairs.
    """
    check_repeatable(*sources, *targets)
    cleaner, generator = Cleaner(replace(config, remove_duplicates=False)), random.Random(config.seed)
    # Every pair gets a random number, and the pairs with the lowest numbers are chosen. The heap has entries
    # (−number, line, pair, words), so that the chosen pair with the highest number is its first entry.
    chosen: list[tuple[float, int, tuple[str, str], tuple[str, str]]] = []
    words_of_chosen: set[tuple[str, str]] = set()
    for line, pair in enumerate(read_pairs(sources, targets, config.languages, config.protects)):
        priority = -generator.random()
        if len(chosen) == count and priority < chosen[0][0]:
            continue
        tokenised = units[0].tokenize(pair[0]), units[1].tokenize(pair[1])
        words = _joined(*tokenised)
        if words in words_of_chosen or not cleaner.keep(*tokenised):
            continue
        words_of_chosen.add(words)
        heapq.heappush(chosen, (priority, line, pair, words))
        if len(chosen) > count:
            words_of_chosen.remove(heapq.heappop(chosen)[3])
    if len(chosen) < count:
        raise RnnsearchError(
            f"cannot hold out {count:,} pairs: the training text has only {len(chosen):,} different ones after cleaning"
        )
    return HeldOut([pair for _, _, pair, _ in sorted(chosen, key=lambda entry: entry[1])], frozenset(words_of_chosen))


def choose_neighbours(
    sources: Sequence[Path], targets: Sequence[Path], config: DataConfig, units: tuple[Units, Units]
) -> HeldOut:
    """Choose pairs of whole neighbourhoods that no training pair is similar to; see `rnnsearch.data.neighbourhoods`.

    Their number follows that of the pairs. Raises RnnsearchError if hardly any pair differs enough from all others.
    """
    check_repeatable(*sources, *targets)

    def pairs() -> Iterator[tuple[str, str]]:
        return read_pairs(sources, targets, config.languages, config.protects)

    runs, count = neighbourhoods(pairs(), config.seed)
    cleaner = Cleaner(replace(config, remove_duplicates=False))
    chosen: dict[tuple[str, str], tuple[str, str]] = {}
    drawn = {first + place: pair for first, run in runs for place, pair in enumerate(run)}
    for number in choose_dissimilar(pairs(), runs, count):
        tokenised = units[0].tokenize(drawn[number][0]), units[1].tokenize(drawn[number][1])
        if cleaner.keep(*tokenised):
            chosen.setdefault(_joined(*tokenised), drawn[number])
    if len(chosen) < FEWEST:
        raise RnnsearchError(
            f"{sources[0]}: cannot choose a development set: hardly any pair differs from all others; give "
            "--valid-source and --valid-target, or --hold-out N to draw N pairs at random"
        )
    return HeldOut(list(chosen.values()), frozenset(chosen))


def _joined(source: Sequence[str], target: Sequence[str]) -> tuple[str, str]:
    return " ".join(source), " ".join(target)
