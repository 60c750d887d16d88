"""`rnnsearch align`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rnnsearch.cli.options import Model, Tokenized


def command(
    model: Model,
    source: Annotated[Path, typer.Option("--source", "-s", help="Source text, a sentence a line.")],
    target: Annotated[
        Path | None,
        typer.Option("--target", "-t", help="Its translation, line by line; the model's own translations if not given."),
    ] = None,
    format_: Annotated[
        Literal["pharaoh", "json"], typer.Option("--format", help="`pharaoh` links, or `json` with all weights.")
    ] = "pharaoh",
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="DIR", help="Draw each pair's alignment into this folder (Figure 3).")
    ] = None,
    plots: Annotated[int, typer.Option("--plots", min=1, help="Draw at most this many.")] = 20,
    gold: Annotated[
        Path | None,
        typer.Option("--gold", metavar="FILE", help="Gold links, `1-2` sure and `1p2` possible: prints the AER."),
    ] = None,
    reverse_gold: Annotated[bool, typer.Option("--reverse-gold", help="The gold links are target-source.")] = False,
    tokenized: Tokenized = False,
) -> None:
    """Align given pairs, or the model's own translations: which source words it reads for each target word.

    Gold links count words as tokenised; give `--tokenized` where the files are tokenised as the gold links were.
    """
    import sys
    from collections.abc import Iterable

    from rnnsearch.corpus.links import hard_links, read_gold, to_pharaoh
    from rnnsearch.corpus.read import read_lines
    from rnnsearch.errors import RnnsearchError
    from rnnsearch.evaluation.aer import alignment_error_rate
    from rnnsearch.translation import ScoredPair, Translation, load, score_files
    from rnnsearch.translation.formats import pair_as_json

    translator = load(model)
    if not translator.system.model.aligns:
        raise RnnsearchError(f"{model}: an RNNencdec has no alignment; train with --set model.alignment=mlp")
    gold_links = read_gold(gold, reverse=reverse_gold) if gold is not None else []
    predicted = []
    if target is None and (tokenized or gold is not None):
        raise RnnsearchError("--gold and --tokenized are for given pairs: give --target too")
    pairs: Iterable[ScoredPair | Translation] = (
        (translation for translation, *_ in translator.stream(read_lines(source)))
        if target is None
        else score_files(translator, source, target, tokenized, with_alignment=True)
    )
    for number, pair in enumerate(pairs):
        assert pair.alignment is not None
        links = hard_links(pair.alignment)
        predicted.append(links)
        print(to_pharaoh(links) if format_ == "pharaoh" else pair_as_json(pair, number))
        if plot is not None and number < plots and pair.tokens:
            from rnnsearch.report.heatmap import plot_alignment

            plot_alignment(pair.alignment, pair.source_tokens, pair.tokens, plot / f"{number + 1:04d}.png")
    if gold is not None:
        if len(gold_links) != len(predicted):
            raise RnnsearchError(f"{gold}: {len(gold_links)} lines of links for {len(predicted)} pairs")
        score = alignment_error_rate(predicted, gold_links)
        print(
            f"AER {score.aer:.4f} (precision {score.precision:.4f}, recall {score.recall:.4f}, "
            f"{score.links:,} links, {score.sure:,} sure)",
            file=sys.stderr,
        )
