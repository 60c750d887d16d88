"""The HTML page of a model, one file with its scores, its training curves, and translations with alignments."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from rnnsearch.evaluation.bleu import LengthBin
from rnnsearch.report.curves import plot_nll, plot_valid_bleu
from rnnsearch.report.document import write_document
from rnnsearch.report.figures import inline_svg
from rnnsearch.report.heatmap import MAX_WORDS, check_alignment
from rnnsearch.report.length_plot import plot_bleu_by_length
from rnnsearch.text.spans import pieces
from rnnsearch.translation import Translation, Translator
from rnnsearch.translation.translation import Aligned

_END_SYMBOL = "</s>"
MOST_SAMPLES = 1000
"""The largest number of sentences that a `SentencePage` shows."""
_LONGEST = 400
"""The largest number of words on a side of a sentence that a `SentencePage` shows with its alignment."""


@dataclass(frozen=True)
class Sample:
    """A translation that is shown on the page."""

    source_tokens: Sequence[str]
    """The source words, with the end symbol `</s>` if the alignment has a column for it."""
    target_tokens: Sequence[str]
    alignment: NDArray[np.floating] | None
    """The weights α_ij, target words × source words; None for a model without an alignment."""
    source_text: str
    translation_text: str
    others: Mapping[str, str] = field(default_factory=dict)
    """Other translations of the source, such as the reference, by their names."""


@dataclass(frozen=True)
class _Aligned:
    """The words of a sample in the spelling of its texts, with the attention weights of each target word."""

    source: list[tuple[str, str]]
    """For each source word except the end symbol, the white space before it, and the word."""
    has_end_symbol: bool
    """Whether the rows of the alignment end with the weight of the end symbol."""
    target: list[tuple[str, str, list[int]]]
    """For each target word, the white space before it, the word, and its row of the alignment in thousandths."""
    is_in_place: bool
    """Whether the target words and the white space between them make up the text of the translation."""
    is_drawable: bool
    """Whether the alignment is small enough for a heat map."""


@dataclass(frozen=True)
class _Card:
    """The data with which the template renders one sample."""

    sample: Sample
    aligned: _Aligned | None


def write_page(
    path: str | os.PathLike[str],
    *,
    title: str,
    introduction: str,
    samples: Sequence[Sample],
    figures: Mapping[str, str] = MappingProxyType({}),
    curves: Sequence[Mapping[str, float | None]] = (),
    length_bins: Sequence[LengthBin] = (),
    next_steps: Sequence[str] = (),
) -> None:
    """Write the page to `path`, atomically. Sections without content are left out.

    `introduction` is text whose paragraphs are separated by blank lines. `figures` maps names to values, for example
    `{"BLEU": "34.2"}`; the second and further lines of a value, such as a signature, are printed small below it. `curves`
    has rows as in `report.curves`. `next_steps` are commands to try; lines that begin with `# ` explain them.

    Raises RnnsearchError if an alignment does not have one finite weight for every pair of target word and source word.
    """
    write_document(
        path,
        "page.html.j2",
        title=title,
        introduction=introduction,
        figures=[(name, *_first_line(value)) for name, value in figures.items()],
        samples=[_Card(sample, _aligned(sample)) for sample in samples],
        curves=_curves(curves),
        bleu_by_length=_bleu_by_length(length_bins),
        next_steps=[_step(step) for step in next_steps],
    )


class SentencePage:
    """A page of translations or scored pairs, which are added one by one; it shows the first `MOST_SAMPLES` of them."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._samples: list[Sample] = []
        self._count = 0

    def reading(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the source lines unchanged, and remember them: the page then shows these lines instead of their words."""
        for line in lines:
            if len(self._lines) < MOST_SAMPLES:
                self._lines.append(line)
            yield line

    def add(self, pair: Aligned, others: Sequence[Translation] = ()) -> None:
        """Add the next sentence, with further translations of it."""
        number, self._count = self._count, self._count + 1
        if number >= MOST_SAMPLES:
            return
        words = pair.source_tokens[:-1]
        is_short = max(len(words), len(pair.tokens)) <= _LONGEST
        self._samples.append(
            Sample(
                source_tokens=pair.source_tokens,
                target_tokens=pair.tokens,
                alignment=pair.alignment if is_short else None,
                source_text=self._lines[number] if self._lines else " ".join(words),
                translation_text=pair.text if isinstance(pair, Translation) else " ".join(pair.tokens),
                others=self._others(pair, others),
            )
        )

    @staticmethod
    def _others(pair: Aligned, others: Sequence[Translation]) -> dict[str, str]:
        """Return the lines below a sentence: the numbers that its translation lacks, and further translations."""
        missing = pair.missing if isinstance(pair, Translation) else ()
        rows = {"Missing numbers": ", ".join(missing)} if missing else {}
        return rows | {f"Translation {rank}": other.text for rank, other in enumerate(others, 2)}

    def pass_over(self, count: int) -> None:
        """Count `count` further sentences that are not shown, because they come after the first `MOST_SAMPLES`."""
        self._count += count

    def write(self, path: str | os.PathLike[str], title: str, translator: Translator) -> None:
        """Write the page to `path`, atomically. If there were too many sentences, print this on standard error."""
        data = translator.system.config.data
        introduction = f"{translator.kind}, {data.source_name} → {data.target_name}."
        if self._count > MOST_SAMPLES:
            shown = f"the first {MOST_SAMPLES:,} of {self._count:,} sentences"
            introduction += f" These are {shown}."
            print(f"rnnsearch: {path} shows {shown}", file=sys.stderr)
        write_page(path, title=title, introduction=introduction, samples=self._samples)


def _first_line(value: str) -> tuple[str, list[str]]:
    first, *others = value.split("\n")
    return first, others


def _aligned(sample: Sample) -> _Aligned | None:
    """Return the aligned words of a sample, or None without an alignment or target words."""
    alignment = sample.alignment
    if alignment is None or not sample.target_tokens:
        return None
    check_alignment(alignment, sample.source_tokens, sample.target_tokens)
    has_end_symbol = bool(sample.source_tokens) and sample.source_tokens[-1] == _END_SYMBOL
    words = sample.source_tokens[:-1] if has_end_symbol else sample.source_tokens
    target = pieces(sample.target_tokens, sample.translation_text)
    return _Aligned(
        source=pieces(words, sample.source_text),
        has_end_symbol=has_end_symbol,
        target=[
            (space, word, [round(1000 * float(weight)) for weight in weights])
            for (space, word), weights in zip(target, alignment, strict=True)
        ],
        is_in_place="".join(space + word for space, word in target) == sample.translation_text.strip(),
        is_drawable=max(alignment.shape) <= MAX_WORDS,
    )


def _curves(rows: Sequence[Mapping[str, float | None]]) -> list[Markup]:
    """Return a separate picture for each curve, so that a narrow screen can show one below the other."""
    if not rows:
        return []
    pictures = [inline_svg(plot_nll(rows), f"NLL per word against updates: {_course(rows, 'valid_nll', '.2f')}.")]
    if any(row.get("valid_bleu") is not None for row in rows):
        course = _course(rows, "valid_bleu", ".1f")
        pictures.append(inline_svg(plot_valid_bleu(rows), f"BLEU against updates: {course}."))
    return pictures


def _course(rows: Sequence[Mapping[str, float | None]], key: str, digits: str) -> str:
    """Describe a curve in words, for screen readers."""
    values = [value for row in rows if (value := row.get(key)) is not None]
    if not values:
        return "not measured on the development set"
    return f"on the development set from {values[0]:{digits}} at first to {values[-1]:{digits}} at last"


def _bleu_by_length(bins: Sequence[LengthBin]) -> Markup | None:
    scored = [f"{b.label} words: {b.bleu:.1f}" for b in bins if b.bleu is not None]
    if not scored:
        return None
    return inline_svg(plot_bleu_by_length({"BLEU": bins}), f"BLEU by source length. {'; '.join(scored)}.")


def _step(step: str) -> tuple[list[str], list[str]]:
    """Split a step into the lines of its explanation and its commands."""
    lines = step.strip().split("\n")
    explanations = [line[2:] for line in lines if line.startswith("# ")]
    return explanations, [line for line in lines if not line.startswith("# ")]
