"""One HTML file that shows what a model has learnt: its scores, its curves, and what each word was read from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rnnsearch.evaluation.bleu import LengthBin
from rnnsearch.report.curves import plot_nll, plot_valid_bleu
from rnnsearch.report.document import in_place, paragraphs, row, text, write_document
from rnnsearch.report.figures import inline_svg
from rnnsearch.report.heatmap import MAX_WORDS, check_alignment, plot_alignment
from rnnsearch.report.length_plot import plot_bleu_by_length
from rnnsearch.report.page_assets import SCRIPT, STYLE

_END_SYMBOL = "</s>"


@dataclass(frozen=True)
class Sample:
    """One translation to show."""

    source_tokens: Sequence[str]
    """With the end symbol `</s>` where the alignment has a column for it."""
    target_tokens: Sequence[str]
    alignment: NDArray[np.floating] | None
    """Target words × source words; None for a model without an alignment."""
    source_text: str
    translation_text: str
    reference_text: str | None = None


def write_page(
    path: str | os.PathLike[str],
    *,
    title: str,
    introduction: str,
    figures: Mapping[str, str],
    curves: Sequence[Mapping[str, float | None]],
    length_bins: Sequence[LengthBin],
    samples: Sequence[Sample],
    next_steps: Sequence[str],
) -> None:
    """Write the page to `path`, whole or not at all. Whatever is empty is left out.

    `introduction`: plain text, a blank line between paragraphs. `figures`: from a name to what is shown, as
    `{"BLEU": "34.2"}`; further lines of a value, such as a signature, are set small beneath it. `curves`:
    rows as in `report.curves`. `next_steps`: commands to try; a line that begins with `# ` says why.
    """
    body = [
        f"<header><h1>{text(title)}</h1>{paragraphs(introduction)}</header>",
        "<main>",
        _figures(figures),
        _samples(samples),
        _curves(curves),
        _by_length(length_bins),
        _next_steps(next_steps),
        "</main>",
    ]
    write_document(path, title=title, parts=body, style=STYLE, script=SCRIPT)


def _figures(figures: Mapping[str, str]) -> str:
    if not figures:
        return ""
    tiles = []
    for name, value in figures.items():
        first, *others = value.split("\n")
        # A signature has no spaces, and a tile on a phone is narrower than it.
        small = "".join(f'<dd class="more">{text(other).replace("|", "|<wbr>")}</dd>' for other in others)
        tiles.append(f"<div><dt>{text(name)}</dt><dd>{text(first)}</dd>{small}</div>")
    return f'<dl class="figures">{"".join(tiles)}</dl>'


def _samples(samples: Sequence[Sample]) -> str:
    if not samples:
        return ""
    aligned = any(sample.alignment is not None for sample in samples)
    told = (
        "Choose a word of a translation, with the mouse, a finger or the arrow keys: the source words that "
        "it was read from light up. Nobody told the model which words belong together."
        if aligned
        else "This model reads a sentence into one fixed vector, so it cannot say what a word was read from."
    )
    cards = "\n".join(_sample(sample, number) for number, sample in enumerate(samples, start=1))
    return f'<section><h2>Translations</h2><p class="quiet">{told}</p>\n{cards}</section>'


def _sample(sample: Sample, number: int) -> str:
    alignment = sample.alignment
    if alignment is None or not sample.target_tokens:
        rows = [
            row("Source", text(sample.source_text), "source"),
            row("Translation", text(sample.translation_text) or "<em>(empty)</em>", "translation"),
        ]
        return f'<article class="sample">{_rows(rows, sample)}</article>'
    check_alignment(alignment, sample.source_tokens, sample.target_tokens)
    source_end = bool(sample.source_tokens) and sample.source_tokens[-1] == _END_SYMBOL
    words = list(sample.source_tokens[:-1]) if source_end else list(sample.source_tokens)
    source = "".join(
        f'{gap}<span class="word">{text(word)}</span>' for gap, word in in_place(words, sample.source_text)
    )
    if source_end:
        source += ' <span class="word end" title="the end of the sentence">⏎</span>'
    placed = in_place(sample.target_tokens, sample.translation_text)
    target = "".join(
        f'{gap}<button type="button" class="word" data-weights="{_weights(weights)}">{text(word)}</button>'
        for (gap, word), weights in zip(placed, alignment, strict=True)
    )
    rows = [row("Source", source, "source"), row("Translation", target, "translation")]
    if "".join(gap + word for gap, word in placed) != sample.translation_text.strip():
        rows.append(row("As text", text(sample.translation_text)))
    return (
        f'<article class="sample aligned">{_rows(rows, sample)}'
        '<div class="reader"><button type="button" class="play" hidden>▶ Read along</button>'
        f'<p role="status"></p></div>{_heat_map(sample, alignment, number)}</article>'
    )


def _rows(rows: list[str], sample: Sample) -> str:
    if sample.reference_text is not None:
        rows = [*rows, row("Reference", text(sample.reference_text))]
    return f"<dl>{''.join(rows)}</dl>"


def _weights(row: NDArray[np.floating]) -> str:
    """A row of the alignment in thousandths."""
    return " ".join(str(round(1000 * float(weight))) for weight in row)


def _heat_map(sample: Sample, alignment: NDArray[np.floating], number: int) -> str:
    if max(alignment.shape) > MAX_WORDS:
        return ""
    figure = plot_alignment(alignment, sample.source_tokens, sample.target_tokens)
    svg = inline_svg(
        figure,
        f"Heat map of translation {number}: a row for each of its {alignment.shape[0]} words, a column for "
        f"each of the {alignment.shape[1]} source words, brighter where more was read.",
    )
    return f'<details><summary>The whole alignment</summary><div class="scroll">{svg}</div></details>'


def _curves(rows: Sequence[Mapping[str, float | None]]) -> str:
    if not rows:
        return ""
    # A picture each, so that a phone can set one under the other.
    parts = [
        inline_svg(plot_nll(rows), f"NLL per word against updates: {_course(rows, 'valid_nll', '.2f')}.")
    ]
    if any(row.get("valid_bleu") is not None for row in rows):
        course = _course(rows, "valid_bleu", ".1f")
        parts.append(inline_svg(plot_valid_bleu(rows), f"BLEU against updates: {course}."))
    return f'<section><h2>How it learnt</h2><div class="plot">{"".join(parts)}</div></section>'


def _course(rows: Sequence[Mapping[str, float | None]], key: str, digits: str) -> str:
    """What a curve says, in words."""
    values = [value for row in rows if (value := row.get(key)) is not None]
    if not values:
        return "not measured on the development set"
    return f"on the development set from {values[0]:{digits}} at first to {values[-1]:{digits}} at last"


def _by_length(bins: Sequence[LengthBin]) -> str:
    scored = [f"{b.label} words: {b.bleu:.1f}" for b in bins if b.bleu is not None]
    if not scored:
        return ""
    svg = inline_svg(plot_bleu_by_length({"BLEU": bins}), f"BLEU by source length. {'; '.join(scored)}.")
    return (
        "<section><h2>Short sentences, long sentences</h2>"
        '<p class="quiet">Figure 2 of the paper for this model: a '
        "model that has to squeeze a sentence into one vector falls off to the right.</p>"
        f'<div class="plot">{svg}</div></section>'
    )


def _next_steps(steps: Sequence[str]) -> str:
    if not steps:
        return ""
    parts = []
    for step in steps:
        lines = step.strip().split("\n")
        told = "".join(f"<p>{text(line[2:])}</p>" for line in lines if line.startswith("# "))
        commands = "\n".join(text(line) for line in lines if not line.startswith("# "))
        parts.append(f'<div class="step">{told}<pre><code>{commands}</code></pre></div>')
    return f"<section><h2>What to try next</h2>{''.join(parts)}</section>"
