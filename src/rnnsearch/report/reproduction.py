"""The report of a reproduction: the paper's tables and figures, filled by our own runs, its own numbers beside them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rnnsearch.report.document import in_place, paragraphs, row, text, write_document
from rnnsearch.report.figures import inline_svg
from rnnsearch.report.heatmap import plot_alignment
from rnnsearch.report.length_plot import plot_bleu_by_length
from rnnsearch.report.page_assets import STYLE
from rnnsearch.report.results import Claim, LongSentence, Results, SystemResult, Training

_STYLE = (
    STYLE
    + """
:root {
  --series-3: #3d8a5f; --series-4: #8b5fb0; --series-5: #b03a5b; --series-6: #77702b; --good: #2c7a4b; --bad: #b3372f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --series-3: #7cc79c; --series-4: #c3a2e6; --series-5: #ea8fa8; --series-6: #cfc67a; --good: #7cc79c; --bad: #f0938b;
  }
}
table { border-collapse: collapse; font-variant-numeric: tabular-nums; background: var(--card); }
.scroll { margin: .8rem 0; }
th, td { padding: .35rem .8rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 600; }
th:first-child, td:first-child, td.words { text-align: left; }
td.words { white-space: normal; font-size: .85rem; }
.paper { color: var(--quiet); font-style: italic; border-left: 1px solid var(--line); }
.paper + .paper { border-left: 0; }
caption { caption-side: top; text-align: left; font-weight: 600; padding: .2rem 0; }
.claim {
  margin: .7rem 0; padding: .7rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .7rem;
}
.claim h3 { margin: 0; font-size: 1.05rem; }
.claim ul { margin: .3rem 0 0; padding-left: 1.2rem; color: var(--quiet); }
.held { color: var(--good); } .failed { color: var(--bad); }
.unsure { text-decoration: underline wavy var(--bad) .08em; text-underline-offset: .25em; }
.signature { font: .75rem/1.4 ui-monospace, monospace; color: var(--quiet); overflow-wrap: anywhere; }
"""
)

_PANELS = "abcdefgh"


def draw_figures(results: Results, folder: Path) -> list[Path]:
    """Write Figures 2 and 3 as PNG and PDF."""
    paths = []
    for kind in ("png", "pdf"):
        paths.append(folder / f"figure-2.{kind}")
        plot_bleu_by_length({system.name: system.by_length for system in results.systems}, paths[-1])
        for panel, pair in zip(_PANELS, results.alignments, strict=False):
            paths.append(folder / f"figure-3{panel}.{kind}")
            plot_alignment(pair.alignment, pair.source_tokens, pair.tokens, paths[-1])
    return paths


def write_report(path: str | os.PathLike[str], results: Results) -> None:
    """Write the report to `path`: one HTML file that fetches nothing."""
    title = "Learning to align and translate, again"
    parts = [
        f"<header><h1>{title}</h1>{paragraphs(results.introduction)}</header>",
        "<main>",
        _claims(results.claims),
        _table_1(results),
        _significance(results),
        _figure_2(results),
        _figure_3(results),
        _table_2(results),
        _table_3(results),
        _attention(results),
        _commands(results),
        "</main>",
    ]
    write_document(path, title=title, parts=parts, style=_STYLE)


def _claims(claims: Sequence[Claim]) -> str:
    verdicts = {True: ("held", "✓ holds"), False: ("failed", "✗ does not hold"), None: ("quiet", "cannot be said")}
    cards = []
    for number, claim in enumerate(claims, 1):
        kind, verdict = verdicts[claim.held]
        figures = "".join(f"<li>{text(figure)}</li>" for figure in claim.figures)
        cards.append(
            f'<div class="claim"><h3>{number}. {text(claim.statement)}: <span class="{kind}">{verdict}</span></h3>'
            f"<ul>{figures}</ul></div>"
        )
    return f"<section><h2>The paper's four claims</h2>{''.join(cards)}</section>"


def _table_1(results: Results) -> str:
    rows = []
    for system in results.systems:
        no_unk = "–" if system.no_unk is None else f"{system.no_unk.bleu:.2f}"
        ours = f"<td>{system.all.bleu:.2f}</td><td>{no_unk}</td><td>{system.all.chrf:.1f}</td>"
        rows.append(f"<tr><td>{text(system.name)}</td>{ours}{_paper_scores(results, system.paper)}</tr>")
    for name, reason in results.absent.items():
        reason = f'<td class="words quiet" colspan="3">{text(reason)}</td>'
        rows.append(f"<tr><td>{text(name)}</td>{reason}{_paper_scores(results, name)}</tr>")
    known = next((system.no_unk.sentences for system in results.systems if system.no_unk), 0)
    sentences = f"{results.systems[0].all.sentences:,} sentences; No UNK: the {known:,} without an unknown word"
    head = (
        '<tr><th></th><th colspan="3">this run</th><th class="paper" colspan="3">the paper, on WMT’14</th></tr>'
        "<tr><th></th><th>All</th><th>No UNK°</th><th>chrF</th>"
        '<th class="paper">its name there</th><th class="paper">All</th><th class="paper">No UNK°</th></tr>'
    )
    return (
        f"<section><h2>Table 1: BLEU</h2>{_table(head, rows)}"
        f'<p class="quiet">{sentences}. °: no system may write [UNK] there. The paper’s numbers are of other text and by '
        "another script: compare how its rows stand to each other, not its scores with ours.</p>"
        f"{_signature(results.systems[0].all.bleu_signature)}{_signature(results.systems[0].all.chrf_signature)}</section>"
    )


def _paper_scores(results: Results, name: str | None) -> str:
    found = results.paper.get(name or "")
    cells = ("", "–", "–") if found is None else (text(found.name), f"{found.all:.2f}", f"{found.no_unk:.2f}")
    return "".join(f'<td class="paper">{cell}</td>' for cell in cells)


def _significance(results: Results) -> str:
    found = results.comparison
    head = "<tr><th></th><th>BLEU</th>" + "".join(f"<th>{text(name)}</th>" for name in found.names) + "</tr>"
    rows = []
    for name, bleu, interval, chances in zip(found.names, found.bleu, found.interval, found.p, strict=True):
        cells = "".join(f"<td>{'' if p is None else f'{p:.3f}'}</td>" for p in chances)
        rows.append(f"<tr><td>{text(name)}</td><td>{bleu:.2f} ± {interval:.2f}</td>{cells}</tr>")
    return (
        f"<section><h2>Is it chance?</h2>{_table(head, rows)}"
        '<p class="quiet">BLEU with its 95% interval, and the p-value of each difference by paired bootstrap: below 0.05, '
        f"it is hardly chance.</p>{_signature(found.signature)}</section>"
    )


def _figure_2(results: Results) -> str:
    figure = plot_bleu_by_length({system.name: system.by_length for system in results.systems})
    told = []
    for system in results.systems:
        bins = ", ".join(f"{b.label} words {b.bleu:.1f}" for b in system.by_length if b.bleu is not None)
        told.append(f"{system.name}: {bins}")
    svg = inline_svg(figure, f"BLEU by source length. {'; '.join(told)}.")
    return (
        f'<section><h2>Figure 2: BLEU by length of the sentence</h2><div class="plot">{svg}</div>'
        f"{_signature(results.systems[0].all.bleu_signature)}</section>"
    )


def _figure_3(results: Results) -> str:
    panels = []
    for panel, pair in zip(_PANELS, results.alignments, strict=False):
        svg = inline_svg(
            plot_alignment(pair.alignment, pair.source_tokens, pair.tokens),
            f"Alignment of “{' '.join(pair.source_tokens[:-1])}” with “{' '.join(pair.tokens)}”.",
        )
        panels.append(f'<p>({panel})</p><div class="scroll">{svg}</div>')
    if not panels:
        return ""
    return (
        f"<section><h2>Figure 3: what each word was read from</h2>"
        f'<p class="quiet">Translations by {text(results.aligned_by)}: a row a target word, a column a source word; white '
        "is 1, black 0. (a) is an arbitrary sentence, the others are drawn at random from the test sentences of 10 to 20 "
        f"words without unknown words. Nobody told the model which words belong together.</p>{''.join(panels)}</section>"
    )


def _table_2(results: Results) -> str:
    ours = [(system.name, system.training) for system in results.systems if system.training]
    theirs = [(found.name, found.training) for found in results.paper.values() if found.training]
    return (
        "<section><h2>Table 2: the trainings</h2>"
        + _trainings("This run", ours)
        + _trainings("The paper, on WMT’14", theirs, "paper")
        + '<p class="quiet">NLL: nats a sentence, on training and development sentences. A training that goes on with '
        "another counts from that one’s beginning.</p></section>"
    )


def _trainings(caption: str, rows: Sequence[tuple[str, Training]], kind: str = "ours") -> str:
    head = (
        "<tr><th></th><th>updates</th><th>epochs</th><th>time</th><th>device</th><th>train NLL</th><th>dev NLL</th></tr>"
    )
    lines = [
        f"<tr><td>{text(name)}</td><td>{t.updates:,}</td><td>{t.epochs:.1f}</td><td>{_time(t.hours)}</td>"
        f"<td>{text(t.device)}</td><td>{t.train_nll:.1f}</td><td>{t.dev_nll:.1f}</td></tr>"
        for name, t in rows
    ]
    return _table(head, lines, caption, kind)


def _time(hours: float) -> str:
    if hours < 1:
        return f"{60 * hours:.1f} min"
    return f"{hours:.0f} h" if hours >= 10 else f"{hours:.1f} h"


def _table_3(results: Results) -> str:
    if not results.long_sentences:
        return ""
    cards = "".join(_long_sentence(sentence) for sentence in results.long_sentences)
    return (
        f"<section><h2>Table 3: long sentences</h2>"
        f'<p class="quiet">Drawn at random from those of {results.long} words or more. Underlined: words that the system '
        "itself gave less than a tenth of the probability, or did not know; and where it aligns, the source words that no "
        f"word of the translation attended to.</p>{cards}</section>"
    )


def _long_sentence(sentence: LongSentence) -> str:
    rows = [row("Source", text(sentence.source)), row("Reference", text(sentence.reference))]
    for attempt in sentence.attempts:
        marked = "".join(
            f'{gap}<span class="unsure">{text(word)}</span>' if position in attempt.unsure else f"{gap}{text(word)}"
            for position, (gap, word) in enumerate(in_place(attempt.tokens, attempt.text))
        )
        if attempt.unread:
            unread = " ".join(f'<span class="unsure">{text(word)}</span>' for word in attempt.unread)
            marked += f'<p class="quiet">not read: {unread}</p>'
        rows.append(row(text(attempt.system), marked or "<em>(empty)</em>"))
    return f'<article class="sample"><dl>{"".join(rows)}</dl></article>'


def _attention(results: Results) -> str:
    aligning = [system for system in results.systems if system.unread is not None]
    if not aligning:
        return ""
    labels = [b.label for b in aligning[0].by_length]
    head = "<tr><th></th>" + "".join(f"<th>{label}</th>" for label in labels) + "</tr>"
    rows = []
    for system in aligning:
        shares = "".join(f"<td>{'–' if share is None else f'{100 * share:.1f}%'}</td>" for share in system.unread or [])
        rows.append(f"<tr><td>{text(system.name)}</td>{shares}</tr>")
    return (
        "<section><h2>Beyond the paper: what attention read</h2>"
        + _alignment_errors(aligning)
        + _table(head, rows, "Source words that no target word attended to, by length of the sentence")
        + '<p class="quiet">A word counts as read if some target word gave it a tenth of its attention.</p></section>'
    )


def _alignment_errors(systems: Sequence[SystemResult]) -> str:
    rows = [
        f"<tr><td>{text(system.name)}</td><td>{system.aer.aer:.3f}</td><td>{system.aer.precision:.3f}</td>"
        f"<td>{system.aer.recall:.3f}</td></tr>"
        for system in systems
        if system.aer
    ]
    if not rows:
        return ""
    head = "<tr><th></th><th>AER</th><th>precision</th><th>recall</th></tr>"
    return _table(head, rows, "Alignment error rate against the gold links, given the reference: lower is better")


def _commands(results: Results) -> str:
    steps = [("Everything on this page", results.commands)]
    steps += [(system.name, system.commands) for system in results.systems]
    blocks = "".join(
        f'<div class="step"><p>{text(name)}</p><pre><code>{_lines(commands)}</code></pre></div>' for name, commands in steps
    )
    return (
        "<section><h2>Every number again</h2>"
        f'<p class="quiet">results.json has all numbers, and the settings of each training.</p>{blocks}</section>'
    )


def _lines(lines: Sequence[str]) -> str:
    """Lines of code for the page."""
    return "\n".join(text(line) for line in lines)


def _table(head: str, rows: Sequence[str], caption: str = "", kind: str = "ours") -> str:
    title = f"<caption>{caption}</caption>" if caption else ""
    body = f"<thead>{head}</thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="scroll"><table class="{kind}">{title}{body}</table></div>'


def _signature(signature: str) -> str:
    return f'<p class="signature">{text(signature).replace("|", "|<wbr>")}</p>'
