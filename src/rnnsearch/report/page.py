"""One HTML file that shows what a model has learnt: its scores, its curves, and what each word was read from.

The file is complete in itself: it works from a disk, without a network. All text in it comes from corpora and
models, so all of it is escaped, and a content security policy lets no script run but the page's own.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from rnnsearch.evaluation.bleu import LengthBin
from rnnsearch.files import write_text
from rnnsearch.report.curves import plot_nll, plot_valid_bleu
from rnnsearch.report.figures import inline_svg, printable
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
        f"<header><h1>{_text(title)}</h1>{_paragraphs(introduction)}</header>",
        "<main>",
        _figures(figures),
        _samples(samples),
        _curves(curves),
        _by_length(length_bins),
        _next_steps(next_steps),
        "</main>",
    ]
    script_hash = base64.b64encode(hashlib.sha256(SCRIPT.encode("utf-8")).digest()).decode("ascii")
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{script_hash}'"
    )
    write_text(
        path,
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + f"\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
    )


def _text(text: str) -> str:
    """Text for the page, in an element or in an attribute."""
    return escape(printable(text))


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{_text(paragraph)}</p>" for paragraph in text.split("\n\n") if paragraph.strip())


def _figures(figures: Mapping[str, str]) -> str:
    if not figures:
        return ""
    tiles = []
    for name, value in figures.items():
        first, *others = value.split("\n")
        # A signature has no spaces, and a tile on a phone is narrower than it.
        small = "".join(f'<dd class="more">{_text(other).replace("|", "|<wbr>")}</dd>' for other in others)
        tiles.append(f"<div><dt>{_text(name)}</dt><dd>{_text(first)}</dd>{small}</div>")
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
            _row("Source", _text(sample.source_text), "source"),
            _row("Translation", _text(sample.translation_text) or "<em>(empty)</em>", "translation"),
        ]
        return f'<article class="sample">{_rows(rows, sample)}</article>'
    check_alignment(alignment, sample.source_tokens, sample.target_tokens)
    source_end = bool(sample.source_tokens) and sample.source_tokens[-1] == _END_SYMBOL
    words = list(sample.source_tokens[:-1]) if source_end else list(sample.source_tokens)
    source = "".join(
        f'{gap}<span class="word">{_text(word)}</span>' for gap, word in _in_place(words, sample.source_text)
    )
    if source_end:
        source += ' <span class="word end" title="the end of the sentence">⏎</span>'
    in_place = _in_place(sample.target_tokens, sample.translation_text)
    target = "".join(
        f'{gap}<button type="button" class="word" data-weights="{_weights(row)}">{_text(word)}</button>'
        for (gap, word), row in zip(in_place, alignment, strict=True)
    )
    rows = [_row("Source", source, "source"), _row("Translation", target, "translation")]
    if "".join(gap + word for gap, word in in_place) != sample.translation_text.strip():
        rows.append(_row("As text", _text(sample.translation_text)))
    return (
        f'<article class="sample aligned">{_rows(rows, sample)}'
        '<div class="reader"><button type="button" class="play" hidden>▶ Read along</button>'
        f'<p role="status"></p></div>{_heat_map(sample, alignment, number)}</article>'
    )


def _rows(rows: list[str], sample: Sample) -> str:
    if sample.reference_text is not None:
        rows = [*rows, _row("Reference", _text(sample.reference_text))]
    return f"<dl>{''.join(rows)}</dl>"


def _row(name: str, content: str, kind: str = "plain") -> str:
    return f'<dt>{name}</dt><dd class="{kind}" dir="auto">{content}</dd>'


def _weights(row: NDArray[np.floating]) -> str:
    """A row of the alignment in thousandths."""
    return " ".join(str(round(1000 * float(weight))) for weight in row)


def _in_place(words: Sequence[str], text: str) -> list[tuple[str, str]]:
    """The words as they stand in the detokenised text, each with the space before it.

    Where they do not stand there one after the other (an unknown word was replaced, a quote was turned), they
    are set apart by spaces.
    """
    found: list[tuple[str, str]] = []
    rest = text.strip()
    for word in words:
        gap = " " if rest != rest.lstrip() else ""
        rest = rest.lstrip()
        if rest[: len(word)].lower() != word.lower():
            break
        found.append((gap, rest[: len(word)]))
        rest = rest[len(word) :]
    if rest or len(found) < len(words):
        return [(" " if i else "", word) for i, word in enumerate(words)]
    return found


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
        told = "".join(f"<p>{_text(line[2:])}</p>" for line in lines if line.startswith("# "))
        commands = "\n".join(_text(line) for line in lines if not line.startswith("# "))
        parts.append(f'<div class="step">{told}<pre><code>{commands}</code></pre></div>')
    return f"<section><h2>What to try next</h2>{''.join(parts)}</section>"
