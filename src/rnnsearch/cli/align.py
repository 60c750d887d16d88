"""`rnnsearch align`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from rnnsearch.cli.options import Jobs, ModelOrNone, PageFile, Table, Tokenized, both_sides, check_inputs
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack

    from rnnsearch.alignment import LineLinks
    from rnnsearch.data.word_alignments import GoldLinks, Links

_How: TypeAlias = Literal["grow-diag", "grow-diag-final-and", "intersection", "union", "probability"]


def command(
    model: ModelOrNone = None,
    source: Annotated[
        Path | None, typer.Option("--source", "-s", metavar="FILE", help="Source text, one sentence per line.")
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("--target", "-t", metavar="FILE", help="Its translation; without it, the model translates the source."),
    ] = None,
    tsv: Table = None,
    pairs_file: Annotated[
        Path | None,
        typer.Option(
            "--pairs",
            metavar="FILE",
            help="Without a translator: both sides in one file, `source ||| target` or with a tab between.",
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="FOLDER", help="Without --model: keep the aligner that has learned in this folder."),
    ] = None,
    format_: Annotated[
        Literal["pharaoh", "json"],
        typer.Option("--format", help="`pharaoh`: links between words; `json`: all weights, or the links' probabilities."),
    ] = "pharaoh",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file, not to standard output.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FOLDER", help="Draw the alignments into this folder, as in Figure 3.")
    ] = None,
    plots: Annotated[int, typer.Option("--plots", min=1, help="The largest number of alignments to draw.")] = 20,
    page: PageFile = None,
    gold: Annotated[
        Path | None,
        typer.Option("--gold", metavar="FILE", help="Gold alignments, `1-2` sure and `1p2` possible; prints the AER."),
    ] = None,
    reverse_model: Annotated[
        Path | None,
        typer.Option(
            "--reverse-model",
            metavar="FOLDER",
            help="A model that translates in the other direction; the links of both are combined.",
        ),
    ] = None,
    symmetry: Annotated[
        _How | None,
        typer.Option(
            "--symmetrize",
            help="How to combine the links of both directions: by default `probability`, and `grow-diag` with "
            "--reverse-model.",
        ),
    ] = None,
    reverse_gold: Annotated[bool, typer.Option("--reverse-gold", help="The gold links are written target-source.")] = False,
    tokenized: Tokenized = False,
    jobs: Jobs = 1,
) -> None:
    """Align the words of sentence pairs.

    Without --model, an aligner learns from the pairs themselves, whose words are separated by spaces, and writes the links
    of every line, in order; with the folder of an aligner that was kept by `--save`, this one writes them. With a model that
    translates, the output says which source words each target word attends to, in a given translation or in the model's
    own. Gold links number the words of tokenised text; give `--tokenized` if the files are tokenised as the gold alignments
    are. With --output, a run that was killed goes on where it was.
    """
    if tsv is not None:
        source, target = both_sides(source, target, tsv, "--target")
    if model is None or _is_aligner(model):
        no_use = {"--plot": plot, "--page": page, "--reverse-model": reverse_model, "--jobs": jobs > 1}
        for option, given in no_use.items():
            if given:
                raise RnnsearchError(f"{option} needs a model that translates: give its folder as --model")
        if model is not None and save is not None:
            raise RnnsearchError(f"--save keeps an aligner that learns now, and {model} has learned: give one of the two")
        combined: _How = symmetry or "probability"
        _align_without_translator(model, source, target, pairs_file, save, format_, output, gold, reverse_gold, combined)
        return
    if save is not None:
        raise RnnsearchError("--save is for aligning without a model: a translator learns by `rnnsearch train`")
    if pairs_file is not None:
        raise RnnsearchError("--pairs is for aligning without a translator: with one, give --source and --target")
    if source is None:
        raise RnnsearchError("there is nothing to align: give --source")
    if symmetry == "probability":
        raise RnnsearchError("--symmetrize probability is for an aligner: the attention of a model has no such probability")
    symmetry = symmetry or "grow-diag"
    if target is None and (tokenized or gold is not None):
        raise RnnsearchError("--gold and --tokenized need given pairs: give --target too")
    if reverse_model is not None and (target is None or format_ == "json"):
        raise RnnsearchError("--reverse-model combines the links of given pairs: give --target too, and no --format json")
    check_inputs(source, target, gold, models=[model, reverse_model], outputs=[page])

    import sys
    from contextlib import ExitStack

    from rnnsearch.atomic import atomic_write
    from rnnsearch.cli.bar import bar, beside_output
    from rnnsearch.data.read import read_lines, read_pairs
    from rnnsearch.data.word_alignments import read_gold
    from rnnsearch.shards import Kept, cut
    from rnnsearch.translation import load
    from rnnsearch.translation.corpora import AlignPairs, in_processes, model_digest, pairs_of

    translator = load(model)
    reverse = None if reverse_model is None else load(reverse_model)
    for place, loaded in ((model, translator), (reverse_model, reverse)):
        if loaded is not None and not loaded.system.model.aligns:
            raise RnnsearchError(f"{place}: an RNNencdec has no alignment; train a model with --set model.alignment=mlp")
    if reverse is not None:
        ours, theirs = translator.system.config.data, reverse.system.config.data
        if (ours.source_language, ours.target_language) != (theirs.target_language, theirs.source_language):
            raise RnnsearchError(
                f"{reverse_model}: it translates {theirs.source_language} to {theirs.target_language}; the other direction "
                f"of {model} is {ours.target_language} to {ours.source_language}"
            )
    gold_links = read_gold(gold, reverse=reverse_gold) if gold is not None else []
    predicted: list[Links] = []
    work = AlignPairs(translator, reverse, symmetry, tokenized, format_ == "json")
    pairs: Iterator[tuple[str, str | None]] = (
        ((line, None) for line in read_lines(source)) if target is None else iter(read_pairs([source], [target]))
    )
    sentences, whole = None, plots if plot is not None else 0
    if page is not None:
        from rnnsearch.report.page import MOST_SAMPLES, SentencePage

        sentences, whole = SentencePage(), max(whole, MOST_SAMPLES)
    number = 0
    with ExitStack() as stack:
        kept = None
        if output is not None:
            models = model_digest(model, *([] if reverse_model is None else [reverse_model]))
            how = {"symmetrize": symmetry, "tokenized": tokenized, "format": format_}
            kept = stack.enter_context(Kept(output, {"command": "align", "models": models, **how}))
        processes = stack.enter_context(in_processes(work, translator, jobs))
        out = sys.stdout
        if output is not None:
            out = stack.enter_context(stack.enter_context(atomic_write(output)).open("w", encoding="utf-8", newline="\n"))
        advance = stack.enter_context(bar("aligning", source, wanted=beside_output(output)))
        for result in processes.results(work.shards(cut(pairs), whole), kept):
            out.writelines(line + "\n" for line in result["written"])
            if gold is not None:
                predicted += [frozenset((s, t) for s, t in links) for links in result["links"]]
            found = pairs_of(result, translator)
            for pair in found:
                if sentences is not None:
                    sentences.add(pair)
                if plot is not None and number < plots and pair.tokens:
                    from rnnsearch.report.heatmap import MAX_WORDS, plot_alignment

                    tokens, alignment = pair.with_end()
                    if alignment is not None and max(alignment.shape) <= MAX_WORDS:
                        plot_alignment(alignment, pair.source_tokens, tokens, plot / f"{number + 1:04d}.png")
                    else:
                        reason = f"more than {MAX_WORDS} words on a side"
                        print(f"rnnsearch: pair {number + 1}: {reason}, so it is not drawn", file=sys.stderr)
                number += 1
            if sentences is not None:
                sentences.pass_over(len(result["written"]) - len(found))
            advance(len(result["written"]))
    if page is not None and sentences is not None:
        sentences.write(page, f"Alignments of {source.name}", translator)
    if gold is not None:
        _print_score(predicted, gold_links, gold)


def _is_aligner(folder: Path) -> bool:
    from rnnsearch.alignment import is_aligner

    return is_aligner(folder)


def _align_without_translator(
    model: Path | None,
    source: Path | None,
    target: Path | None,
    pairs_file: Path | None,
    save: Path | None,
    format_: str,
    output: Path | None,
    gold: Path | None,
    reverse_gold: bool,
    symmetry: _How,
) -> None:
    if (pairs_file is None) == (source is None) or (source is None) != (target is None):
        raise RnnsearchError("give the pairs as --source and --target, or both in one file as --pairs")
    check_inputs(source, target, pairs_file, gold, outputs=[output])
    if save is not None and save.exists() and not save.is_dir():
        raise RnnsearchError(f"{save}: this is a file; name a folder to keep the aligner in")

    import json
    import sys
    from contextlib import ExitStack

    from rnnsearch.alignment import Aligner, read_joined
    from rnnsearch.atomic import atomic_write
    from rnnsearch.cli.bar import bar, beside_output
    from rnnsearch.data.read import read_pairs
    from rnnsearch.data.word_alignments import read_gold, to_pharaoh

    gold_links = read_gold(gold, reverse=reverse_gold) if gold is not None else []
    files = [file for file in (source, target, pairs_file) if file is not None]

    def pairs() -> Iterator[tuple[list[str], list[str]]]:
        lines = read_joined(files[0]) if pairs_file is not None else read_pairs([files[0]], [files[1]])
        return ((one.split(), other.split()) for one, other in lines)

    predicted = []
    with ExitStack() as stack:
        if model is not None:
            found, count = Aligner.load(model).align(pairs()), None
        else:
            found, count = _learned(stack, pairs(), files, output, save)
        out = sys.stdout
        if output is not None:
            out = stack.enter_context(stack.enter_context(atomic_write(output)).open("w", encoding="utf-8", newline="\n"))
        advance = stack.enter_context(bar("aligning", files[0], total=count, wanted=beside_output(output)))
        for number, line in enumerate(found):
            links = line.links(symmetry)
            if gold is not None and number < len(gold_links):
                predicted.append(links)
            if format_ == "pharaoh":
                out.write(to_pharaoh(links) + "\n")
            else:
                known = zip(line.source.tolist(), line.target.tolist(), line.probability.tolist(), strict=True)
                weighed = [[s, t, round(p, 4)] for s, t, p in sorted(known) if (s, t) in links]
                out.write(json.dumps({"line": number, "links": weighed}) + "\n")
            advance(1)
    if gold is not None:
        _print_score(predicted, gold_links, gold)


def _learned(
    stack: ExitStack, pairs: Iterator[tuple[list[str], list[str]]], files: list[Path], output: Path | None, save: Path | None
) -> tuple[Iterator[LineLinks], int]:
    """The links of all pairs, from which an aligner learns first, and the number of pairs.

    What it needs on the way is kept beside the output until that is written, or else in a temporary folder.
    """
    import sys

    from rnnsearch.alignment import Corpus, steps, train_aligner
    from rnnsearch.cli.bar import bar
    from rnnsearch.shards import Kept, digest_of

    folder = None
    if output is not None:
        folder = stack.enter_context(Kept(output, {"command": "align", "text": digest_of(*files)})).folder
    corpus = Corpus(pairs, folder)
    print(f"{corpus.lines:,} pairs, {corpus.cells:,} cells", file=sys.stderr)
    with bar("learning", total=corpus.pairs * steps()) as advance:
        aligner = train_aligner(corpus, advance)
    if save is not None:
        aligner.save(save)
    return aligner.align_corpus(corpus), corpus.lines


def _print_score(predicted: list[Links], gold_links: list[GoldLinks], gold: Path) -> None:
    import sys

    from rnnsearch.evaluation.aer import alignment_error_rate

    if len(gold_links) != len(predicted):
        raise RnnsearchError(f"{gold} has {len(gold_links)} lines for {len(predicted)} pairs; give one line per pair")
    score = alignment_error_rate(predicted, gold_links)
    print(
        f"AER {score.aer:.4f} (precision {score.precision:.4f}, recall {score.recall:.4f}, "
        f"{score.links:,} links, {score.sure:,} sure)",
        file=sys.stderr,
    )
