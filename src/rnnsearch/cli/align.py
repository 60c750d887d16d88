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
    reverse_model: Annotated[
        Path | None,
        typer.Option("--reverse-model", metavar="MODEL", help="A model of the other direction: the links of both together."),
    ] = None,
    symmetry: Annotated[
        Literal["grow-diag", "intersection"],
        typer.Option("--symmetrize", help="With --reverse-model: how two sets of links become one."),
    ] = "grow-diag",
    reverse_gold: Annotated[bool, typer.Option("--reverse-gold", help="The gold links are target-source.")] = False,
    tokenized: Tokenized = False,
) -> None:
    """Align given pairs, or the model's own translations: which source words it reads for each target word.

    Gold links count words as tokenised; give `--tokenized` where the files are tokenised as the gold links were.
    """
    import sys
    from collections.abc import Iterable

    from rnnsearch.data.read import read_lines
    from rnnsearch.data.word_alignments import hard_alignment, read_gold, symmetrize, to_pharaoh
    from rnnsearch.errors import RnnsearchError
    from rnnsearch.evaluation.aer import alignment_error_rate
    from rnnsearch.translation import ScoredPair, Translation, load, score_files
    from rnnsearch.translation.formats import pair_as_json

    translator = load(model)
    reverse = None if reverse_model is None else load(reverse_model)
    for place, loaded in ((model, translator), (reverse_model, reverse)):
        if loaded is not None and not loaded.system.model.aligns:
            raise RnnsearchError(f"{place}: an RNNencdec has no alignment; train with --set model.alignment=mlp")
    if reverse is not None:
        ours, theirs = translator.system.config.data, reverse.system.config.data
        if (ours.source_language, ours.target_language) != (theirs.target_language, theirs.source_language):
            raise RnnsearchError(
                f"{reverse_model}: it translates {theirs.source_language} to {theirs.target_language}; the other direction "
                f"of {model} is {ours.target_language} to {ours.source_language}"
            )
        if target is None or format_ == "json":
            raise RnnsearchError("--reverse-model links given pairs: give --target too, and no --format json")
    gold_links = read_gold(gold, reverse=reverse_gold) if gold is not None else []
    predicted = []
    if target is None and (tokenized or gold is not None):
        raise RnnsearchError("--gold and --tokenized are for given pairs: give --target too")
    pairs: Iterable[ScoredPair | Translation] = (
        (translation for translation, *_ in translator.stream(read_lines(source)))
        if target is None
        else score_files(translator, source, target, tokenized, with_alignment=True)
    )
    backward = iter([]) if reverse is None or target is None else score_files(reverse, target, source, tokenized, True)
    for number, pair in enumerate(pairs):
        assert pair.alignment is not None
        links = hard_alignment(pair.alignment)
        if reverse is not None:
            turned = next(backward).alignment
            assert turned is not None
            links = symmetrize(links, frozenset((s, t) for t, s in hard_alignment(turned)), symmetry)
        predicted.append(links)
        print(to_pharaoh(links) if format_ == "pharaoh" else pair_as_json(pair, number))
        if plot is not None and number < plots and pair.tokens:
            from rnnsearch.report.heatmap import MAX_WORDS, plot_alignment

            if max(pair.alignment.shape) <= MAX_WORDS:
                plot_alignment(pair.alignment, pair.source_tokens, pair.tokens, plot / f"{number + 1:04d}.png")
            else:
                print(f"pair {number + 1}: more than {MAX_WORDS} words on a side, not drawn", file=sys.stderr)
    if gold is not None:
        if len(gold_links) != len(predicted):
            raise RnnsearchError(f"{gold}: {len(gold_links)} lines of links for {len(predicted)} pairs")
        score = alignment_error_rate(predicted, gold_links)
        print(
            f"AER {score.aer:.4f} (precision {score.precision:.4f}, recall {score.recall:.4f}, "
            f"{score.links:,} links, {score.sure:,} sure)",
            file=sys.stderr,
        )
