"""The report of a reproduction: the paper's tables and figures with our numbers, beside the numbers of the paper."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from markupsafe import Markup

from rnnsearch.report.document import write_document
from rnnsearch.report.figures import inline_svg
from rnnsearch.report.heatmap import check_alignment, plot_alignment
from rnnsearch.report.length_plot import plot_bleu_by_length
from rnnsearch.report.results import Results
from rnnsearch.translation.alignments import Alignment

_PANELS = "abcdefgh"


def draw_figures(results: Results, folder: Path) -> list[Path]:
    """Write Figures 2 and 3 as PNG and PDF, and return the paths of the files."""
    paths = []
    for kind in ("png", "pdf"):
        paths.append(folder / f"figure-2.{kind}")
        plot_bleu_by_length({system.name: system.by_length for system in results.systems}, paths[-1])
        for panel, source_tokens, tokens, alignment in _panels(results):
            paths.append(folder / f"figure-3{panel}.{kind}")
            plot_alignment(alignment, source_tokens, tokens, paths[-1])
    return paths


def write_report(path: str | os.PathLike[str], results: Results) -> None:
    """Write the report to `path`, atomically, as one HTML file that loads no other files.

    Raises RnnsearchError if an alignment does not have one finite weight for every pair of target word and source word.
    """
    for _, source_tokens, tokens, alignment in _panels(results):
        check_alignment(alignment, source_tokens, tokens)
    write_document(
        path,
        "reproduction.html.j2",
        title="Learning to align and translate, reproduced",
        introduction=results.introduction,
        results=results,
        known_sentences=next((system.no_unk.sentences for system in results.systems if system.no_unk), 0),
        figure_2=_figure_2(results),
        panels=list(_panels(results)),
        aligning=[system for system in results.systems if system.unread is not None],
    )


def _panels(results: Results) -> Iterator[tuple[str, list[str], list[str], Alignment]]:
    """Yield the panels of Figure 3: the letter, the source words, the target words with the end symbol, and the weights."""
    for letter, pair in zip(_PANELS, results.alignments, strict=False):
        tokens, alignment = pair.with_end()
        assert alignment is not None
        yield letter, pair.source_tokens, tokens, alignment


def _figure_2(results: Results) -> Markup:
    figure = plot_bleu_by_length({system.name: system.by_length for system in results.systems})
    descriptions = []
    for system in results.systems:
        bins = ", ".join(f"{b.label} words {b.bleu:.1f}" for b in system.by_length if b.bleu is not None)
        descriptions.append(f"{system.name}: {bins}")
    return inline_svg(figure, f"BLEU by source length. {'; '.join(descriptions)}.")
