"""The quality of translations by kinds of segments, measured by the edits that a person still has to make.

Several systems translate the same segments, and each is scored on every kind: by length, by tags, by terms, and by the
similarity to the nearest segment of a translation memory. The first system is the model; its confidence is compared with
the quality.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from rnnsearch.evaluation.bleu import corpus_score

FINE = 20.0
"""A segment is fine if at most one word in five has to be edited: its TER, in percent, is not higher than this."""
SHARE_FINE = 0.9
"""The share of the segments that are to be fine, from a threshold of the confidence on."""
FEWEST = 10
"""The smallest number of segments that a threshold is based on."""
SHOWN_WORST = 20
"""The number of segments that are listed as the worst ones."""
_LENGTHS = ((0, 5), (5, 15), (15, 30), (30, None))
_SIMILARITIES = ((0.0, 50.0), (50.0, 70.0), (70.0, 85.0), (85.0, 100.0), (100.0, None))
_BANDS = 10
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_WORD = re.compile(r"[^\W_]+")
_END = ""


@dataclass(frozen=True)
class Segment:
    """A segment, its translations, and its properties."""

    source: str
    reference: str
    translations: Mapping[str, str]
    """The translation of each system."""
    confidence: float
    """The confidence of the model, from 0 to 1."""
    words: int
    """The number of words of the source."""
    similarity: float | None = None
    """The similarity of the source to the nearest segment of the memory, in percent; None without a memory."""
    terms: Sequence[str] = ()
    """The target terms that the glossary has for the source."""


@dataclass(frozen=True)
class Quality:
    """The scores of a system on some segments."""

    bleu: float
    chrf: float
    unedited: float
    """The share of the segments that need no edit, in percent: their TER is 0."""


@dataclass(frozen=True)
class Kind:
    """A kind of segments, and the quality of each system on them."""

    name: str
    segments: int
    quality: dict[str, Quality]


@dataclass(frozen=True)
class Right:
    """The number of terms or tags of the references that each system has right."""

    of: int
    right: dict[str, int]
    extra: dict[str, int]
    """The number of terms or tags of each system that the references lack."""


@dataclass(frozen=True)
class Band:
    """A tenth of the segments, sorted by the confidence of the model."""

    least: float
    most: float
    segments: int
    chrf: float
    """The mean of the segments' chrF."""
    unedited: float
    """The share that needs no edit, in percent."""
    fine: float
    """The share that is fine, in percent."""


@dataclass(frozen=True)
class Worst:
    """One of the worst segments."""

    line: int
    segment: Segment
    chrf: float
    ter: float


@dataclass(frozen=True)
class SegmentReport:
    """The report for a translator who considers using a model."""

    systems: list[str]
    all: Kind
    kinds: dict[str, list[Kind]]
    """The kinds by the property that distinguishes them, such as `length`."""
    terms: Right | None
    """None if no reference has a term of the glossary."""
    tags: Right | None
    """The tags that are at the same place as in the reference; None if no reference has a tag."""
    bands: list[Band]
    correlation: float | None
    """Spearman's rank correlation of the confidence and the segments' chrF; None if one of them is always the same."""
    threshold: float | None
    """The lowest confidence such that 90% of the segments with at least this confidence are fine; None if there is none."""
    above: int
    """The number of segments with at least this confidence."""
    worst: list[Worst]


def report(segments: Sequence[Segment]) -> SegmentReport:
    """Score all systems on all segments and on each kind of them."""
    systems = list(segments[0].translations)
    chrf = [_chrf(one.translations[systems[0]], one.reference) for one in segments]
    ter = [_ter(one.translations[systems[0]], one.reference) for one in segments]
    fine = [value <= FINE for value in ter]
    confidences = [one.confidence for one in segments]
    threshold, above = _threshold(confidences, fine)
    ranked = sorted(range(len(segments)), key=lambda n: (chrf[n], -len(segments[n].reference), n))
    return SegmentReport(
        systems=systems,
        all=_kind("all", segments),
        kinds={name: kinds for name, kinds in _kinds(segments).items() if len(kinds) > 1},
        terms=_terms(segments),
        tags=_tags(segments),
        bands=_bands(confidences, chrf, ter, fine),
        correlation=_rank_correlation(confidences, chrf),
        threshold=threshold,
        above=above,
        worst=[Worst(n + 1, segments[n], chrf[n], ter[n]) for n in ranked[:SHOWN_WORST] if ter[n] > 0],
    )


def _kinds(segments: Sequence[Segment]) -> dict[str, list[Kind]]:
    """Return the kinds of segments, by the property that distinguishes them."""

    def kinds(names: Iterable[str], name_of: Callable[[Segment], str]) -> list[Kind]:
        members: dict[str, list[Segment]] = {name: [] for name in names}
        for one in segments:
            members[name_of(one)].append(one)
        return [_kind(name, its) for name, its in members.items() if its]

    lengths = {f"more than {low} words" if high is None else f"{low + 1} to {high} words": high for low, high in _LENGTHS}
    by_property = {
        "length": kinds(lengths, lambda one: next(n for n, high in lengths.items() if high is None or one.words <= high)),
        "tags": kinds(("without tags", "with tags"), lambda one: "with tags" if _TAG.search(one.source) else "without tags"),
        "terms": kinds(("without terms", "with terms"), lambda one: "with terms" if one.terms else "without terms"),
    }
    if segments[0].similarity is not None:
        similarities = {_similarity(low, high): low for low, high in reversed(_SIMILARITIES)}
        by_property["nearest segment of the memory"] = kinds(
            similarities, lambda one: next(n for n, low in similarities.items() if (one.similarity or 0.0) >= low)
        )
    return by_property


def _similarity(low: float, high: float | None) -> str:
    if high is None:
        return "the same"
    return f"{low:.0f}% to {high:.0f}% similar" if low else f"less than {high:.0f}% similar"


def _kind(name: str, segments: Sequence[Segment]) -> Kind:
    references = [one.reference for one in segments]
    quality = {}
    for system in segments[0].translations:
        translations = [one.translations[system] for one in segments]
        score = corpus_score(translations, references)
        same = sum(a.split() == b.split() for a, b in zip(translations, references, strict=True))  # what TER 0 is
        quality[system] = Quality(round(score.bleu, 2), round(score.chrf, 2), round(100 * same / len(segments), 1))
    return Kind(name, len(segments), quality)


def _chrf(translation: str, reference: str) -> float:
    return round(float(CHRF().sentence_score(translation, [reference]).score), 2)


def _ter(translation: str, reference: str) -> float:
    if not reference.split():
        return 100.0 * bool(translation.split())
    return round(float(TER(case_sensitive=True).sentence_score(translation, [reference]).score), 1)


def _terms(segments: Sequence[Segment]) -> Right | None:
    """Count the terms that the reference contains as well; for others, the human translator has chosen other words."""
    systems = segments[0].translations
    right, extra, of = dict.fromkeys(systems, 0), dict.fromkeys(systems, 0), 0
    for one in segments:
        spaced = {name: _spaced(text) for name, text in {**one.translations, _END: one.reference}.items()}
        for term in map(_spaced, one.terms):
            expected = term in spaced[_END]
            of += expected
            for system in systems:
                right[system] += expected and term in spaced[system]
                extra[system] += not expected and term in spaced[system]
    return Right(of, right, extra) if of else None


def terms_in(source: str, terms: Mapping[str, str]) -> list[str]:
    """Return the translations of the terms that a source has, whatever their case."""
    spaced = _spaced(source)
    return [target for term, target in terms.items() if _spaced(term) in spaced]


def _spaced(text: str) -> str:
    """Return the lower-case words of a text with spaces around each, so that terms can be searched for as substrings."""
    return f" {' '.join(_WORD.findall(_TAG.sub(' ', text).casefold()))} "


def _tags(segments: Sequence[Segment]) -> Right | None:
    """Count the tags whose preceding or following word is the same as in the reference."""
    systems = segments[0].translations
    right, extra, of = dict.fromkeys(systems, 0), dict.fromkeys(systems, 0), 0
    for one in segments:
        expected = places_of_tags(one.reference)
        of += len(expected)
        for system in systems:
            actual = places_of_tags(one.translations[system])
            extra[system] += sum((Counter(tag for tag, *_ in actual) - Counter(tag for tag, *_ in expected)).values())
            for tag, before, after in expected:
                match = next((each for each in actual if each[0] == tag and (each[1] == before or each[2] == after)), None)
                if match is not None:
                    right[system] += 1
                    actual.remove(match)
    return Right(of, right, extra) if of else None


def places_of_tags(text: str) -> list[tuple[str, str, str]]:
    """Return the tags of a text, each with the words before and after it; other tags do not count as words."""
    pieces = re.findall(rf"{_TAG.pattern}|\w+|[^\w\s]", text)
    words = [_END if _TAG.fullmatch(piece) else piece for piece in pieces]
    return [
        (
            piece,
            next((word for word in reversed(words[:place]) if word), _END),
            next((word for word in words[place:] if word), _END),
        )
        for place, piece in enumerate(pieces)
        if not words[place]
    ]


def _bands(confidences: Sequence[float], chrf: Sequence[float], ter: Sequence[float], fine: Sequence[bool]) -> list[Band]:
    """Return tenths of the segments, the least confident first; fewer parts if there are fewer than 10 segments."""
    order = sorted(range(len(confidences)), key=confidences.__getitem__)
    count = min(_BANDS, len(order))
    bands = []
    for part in range(count):
        its = order[part * len(order) // count : (part + 1) * len(order) // count]

        def share(right: Iterable[bool], size: int = len(its)) -> float:
            return round(100 * sum(right) / size, 1)

        bands.append(
            Band(
                confidences[its[0]],
                confidences[its[-1]],
                len(its),
                round(sum(chrf[n] for n in its) / len(its), 1),
                share(ter[n] == 0 for n in its),
                share(fine[n] for n in its),
            )
        )
    return bands


def _threshold(confidences: Sequence[float], fine: Sequence[bool]) -> tuple[float | None, int]:
    """Return the lowest confidence from which on enough segments are fine, and the number of these segments."""
    order = sorted(range(len(confidences)), key=lambda n: -confidences[n])
    best: tuple[float | None, int] = None, 0
    right = 0
    for count, number in enumerate(order, 1):
        right += fine[number]
        last = count == len(order) or confidences[order[count]] < confidences[number]
        if last and count >= FEWEST and right >= SHARE_FINE * count:
            best = confidences[number], count
    return best


def _rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation; equal values have their mean rank."""
    one, other = _ranks(np.array(first)), _ranks(np.array(second))
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return round(float(np.corrcoef(one, other)[0, 1]), 3)


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]
