"""Sentence pairs from the units of a file, or from the messages of two files, and what is left out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from rnnsearch.errors import RnnsearchError, RnnsearchWarning
from rnnsearch.formats.languages import Chosen, Languages, choose
from rnnsearch.formats.opening import File, opened
from rnnsearch.formats.units import NO_TEXT, Format, Message, MessageFormat, Unit

Pair = tuple[str, str]
_FEW = 10_000
"""The number of units, at the beginning of a file, from which its languages are determined."""
_SHOWN = 5
"""The number of places that the warning lists for each reason why units are left out."""


class LeftOut:
    """Counts pairs, and the units that are left out by reason."""

    def __init__(self, places: str) -> None:
        """`places` is what the numbers of units count."""
        self.units = self.pairs = 0
        self._places = places
        self._by_reason: dict[str, tuple[list[int], int]] = {}

    def add(self, reason: str, place: int) -> None:
        """Count a unit that is left out."""
        shown, count = self._by_reason.get(reason, ([], 0))
        if len(shown) < _SHOWN and place not in shown:
            shown.append(place)
        self._by_reason[reason] = shown, count + 1

    def __bool__(self) -> bool:
        return bool(self._by_reason)

    def __str__(self) -> str:
        total = sum(count for _, count in self._by_reason.values())
        reasons = []
        for reason, (shown, count) in sorted(self._by_reason.items(), key=lambda item: -item[1][1]):
            plural = "" if len(shown) == 1 else "s"
            more = ", …" if len(shown) == _SHOWN < count else ""
            reasons.append(f"{count:,} {reason} ({self._places}{plural} {', '.join(map(str, shown))}{more})")
        units = "1 unit" if self.units == 1 else f"{self.units:,} units"
        return f"{total:,} of {units} left out: {'; '.join(reasons)}"


def pairs_of(
    format_: Format, file: File, path: Path, requested: Languages = (None, None), tags: bool = False
) -> Iterator[Pair]:
    """Yield the pairs of a file; see `Text.line` for `tags`.

    A unit with several variants gives a pair for each. At the end, an RnnsearchWarning reports the units that are left out.
    Raises RnnsearchError if there are no pairs, or if the languages are ambiguous.
    """
    units, chosen = _sampled(format_, file, path, requested)
    left_out = LeftOut(format_.places)
    for unit in units:
        left_out.units += 1
        for pair in _pairs_of_unit(unit, chosen, tags, left_out):
            left_out.pairs += 1
            yield pair
    _tell(left_out, path)


def languages_of(format_: Format, path: Path, requested: Languages) -> Languages:
    """Return the codes of the source and the target language of a file; None for a language that it does not state."""
    with opened(path) as file:
        return _sampled(format_, file, path, requested)[1].languages(format_.assumed_source)


def _sampled(format_: Format, file: File, path: Path, requested: Languages) -> tuple[Iterable[Unit], Chosen]:
    """Return the units of a file, and the choice of source and target among their languages."""
    units = format_.units(file, path)
    head = list(islice(units, _FEW))
    if not head:
        raise RnnsearchError(f"{path}: {format_.name} without units; there is nothing to read")
    usable = [unit for unit in head if unit.left_out is None]
    try:
        return chain(head, units), choose(usable or head, requested, path)
    except RnnsearchError:
        if usable:
            raise
        left_out = LeftOut(format_.places)
        left_out.units = len(head)
        for unit in head:
            left_out.add(unit.left_out or NO_TEXT, unit.place)
        raise RnnsearchError(f"{path}: no pairs; {left_out}") from None


def _pairs_of_unit(unit: Unit, chosen: Chosen, tags: bool, left_out: LeftOut) -> Iterator[Pair]:
    if unit.left_out is not None:
        left_out.add(unit.left_out, unit.place)
        return
    sides = [chosen.texts(unit, side) for side in (0, 1)]
    for side, name in enumerate(("source", "target")):
        if not sides[side]:
            left_out.add(f"without the {name} language", unit.place)
            return
    pairs = [
        (source.line(tags), target.line(tags))
        for source in sides[0]
        for target in sides[1]
        if source.form == target.form and source.line(False) and target.line(False)
    ]
    if not pairs:
        left_out.add(NO_TEXT, unit.place)
    yield from dict.fromkeys(pairs)


def pairs_of_messages(
    format_: MessageFormat, files: tuple[File, File], paths: tuple[Path, Path], tags: bool = False
) -> Iterator[Pair]:
    """Yield the pairs of two files of messages: those with the same key, in the order of the source.

    At the end, an RnnsearchWarning reports the messages that are left out. Raises RnnsearchError if no key is in both files.
    """
    targets: dict[str, list[Message]] = {}
    for message in format_.messages(files[1], paths[1]):
        targets.setdefault(message.key, []).append(message)
    left_out = LeftOut(format_.places)
    for message in format_.messages(files[0], paths[0]):
        left_out.units += 1
        same = targets.get(message.key)
        other = same.pop(0) if same else None
        reason = message.left_out or (f"not in {paths[1].name}" if other is None else other.left_out)
        if reason or other is None:
            left_out.add(reason or NO_TEXT, message.place)
        elif not (message.text.line(False) and other.text.line(False)):
            left_out.add(NO_TEXT, message.place)
        else:
            left_out.pairs += 1
            yield message.text.line(tags), other.text.line(tags)
    _tell(left_out, paths[0])


def _tell(left_out: LeftOut, path: Path) -> None:
    if not left_out.pairs:
        raise RnnsearchError(f"{path}: no pairs; {left_out}")
    if left_out:
        pairs = "1 pair" if left_out.pairs == 1 else f"{left_out.pairs:,} pairs"
        warnings.warn(RnnsearchWarning(f"{path}: {pairs}; {left_out}"), stacklevel=2)
