"""`rnnsearch align`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from rnnsearch.cli.options import Jobs, ModelOrNone, PageFile, Table, Tokenized, both_sides, check_inputs, once
from rnnsearch.cli.pictures import Page, Pictures
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import ExitStack

    from rnnsearch.alignment import LineLinks
    from rnnsearch.data.word_alignments import GoldLinks, Links
    from rnnsearch.translation.translator import Translator

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
    judge = _Judge(gold, reverse_gold)
    if model is None or _is_aligner(model):
        for option, given in {"--plot": plot, "--page": page, "--reverse-model": reverse_model, "--jobs": jobs > 1}.items():
            if given:
                raise RnnsearchError(f"{option} needs a model that translates: give its folder as --model")
        if model is not None and save is not None:
            raise RnnsearchError(f"--save keeps an aligner that learns now, and {model} has learned: give one of the two")
        files = _files_of_pairs(source, target, pairs_file)
        if save is not None and save.exists() and not save.is_dir():
            raise RnnsearchError(f"{save}: this is a file; name a folder to keep the aligner in")
        check_inputs(*files, gold, outputs=[output], folders=[save, model], printed=output is None)
        _align_by_aligner(model, files, save, output, format_, symmetry or "probability", judge)
        return
    if save is not None:
        raise RnnsearchError("--save is for aligning without a model: a translator learns by `rnnsearch train`")
    if pairs_file is not None:
        raise RnnsearchError("--pairs is for aligning without a translator: with one, give --source and --target")
    if source is None:
        raise RnnsearchError("there is nothing to align: give --source")
    if symmetry == "probability":
        raise RnnsearchError("--symmetrize probability is for an aligner: the attention of a model has no such probability")
    if target is None and (tokenized or gold is not None):
        raise RnnsearchError("--gold and --tokenized need given pairs: give --target too")
    if reverse_model is not None and (target is None or format_ == "json"):
        raise RnnsearchError("--reverse-model combines the links of given pairs: give --target too, and no --format json")
    texts = [source] if target is None else once(source, target)
    outputs, printed = [output, page], output is None
    check_inputs(*texts, gold, models=[model, reverse_model], outputs=outputs, folders=[plot], printed=printed)
    how = {"symmetrize": symmetry or "grow-diag", "tokenized": tokenized, "format": format_}
    pictures = Pictures(plot, plots)
    _align_by_translator(model, reverse_model, source, target, how, output, pictures, Page(page), judge, jobs)


def _is_aligner(folder: Path) -> bool:
    from rnnsearch.alignment import is_aligner

    return is_aligner(folder)


def _files_of_pairs(source: Path | None, target: Path | None, joined: Path | None) -> list[Path]:
    """The two files of the pairs, or the one file that has both sides."""
    if joined is not None and source is None and target is None:
        return [joined]
    if joined is None and source is not None and target is not None:
        return [*once(source, target)]
    raise RnnsearchError("give the pairs as --source and --target, or both in one file as --pairs")


class _Judge:
    """Counts the errors of links beside gold links, where there are any."""

    def __init__(self, gold: Path | None, reverse: bool) -> None:
        self._gold, self._reverse = gold, reverse
        self._links: list[GoldLinks] = []
        self._predicted: list[Links] = []

    @property
    def lines(self) -> int:
        """The number of pairs that have gold links."""
        return len(self._links)

    def read(self) -> None:
        """Reads the gold links, before any work is done."""
        from rnnsearch.data.word_alignments import read_gold

        if self._gold is not None:
            self._links = read_gold(self._gold, reverse=self._reverse)

    def add(self, predicted: Iterable[Links]) -> None:
        """Takes the links of the next pairs."""
        if self._gold is not None:
            self._predicted.extend(predicted)

    def check(self) -> None:
        """Raises RnnsearchError unless there are gold links for each pair, before anything has its final name."""
        if self._gold is not None and len(self._links) != len(self._predicted):
            raise RnnsearchError(
                f"{self._gold} has {len(self._links)} lines for {len(self._predicted)} pairs; give one line per pair"
            )

    def print(self) -> None:
        """Prints the alignment error rate."""
        import sys

        from rnnsearch.evaluation.aer import alignment_error_rate

        if self._gold is None:
            return
        score = alignment_error_rate(self._predicted, self._links)
        print(
            f"AER {score.aer:.4f} (precision {score.precision:.4f}, recall {score.recall:.4f}, "
            f"{score.links:,} links, {score.sure:,} sure)",
            file=sys.stderr,
        )


def _align_by_translator(
    model: Path,
    reverse_model: Path | None,
    source: Path,
    target: Path | None,
    how: dict[str, Any],
    output: Path | None,
    pictures: Pictures,
    page: Page,
    judge: _Judge,
    jobs: int,
) -> None:
    from rnnsearch.cli.bar import bar, beside_output
    from rnnsearch.data.read import read_lines, read_pairs
    from rnnsearch.jobs import cut, job
    from rnnsearch.translation.stages import Align

    translator, reverse = _load_directions(model, reverse_model)
    judge.read()
    models = [model, *([] if reverse_model is None else [reverse_model])]
    stage = Align(translator, reverse, models, how["symmetrize"], how["tokenized"], how["format"] == "json")
    pairs: Iterator[tuple[str, str | None]] = (
        ((line, None) for line in read_lines(source)) if target is None else iter(read_pairs([source], [target]))
    )
    aligned = 0
    with job(stage, output, jobs, bar("aligning", source, wanted=beside_output(output))) as aligning:
        for done in aligning.rows(cut(pairs), max(pictures.most, page.most)):
            judge.add([frozenset((s, t) for s, t in done.note)])
            if done.record is not None:
                pictures.add(done.record)
            page.add(done.record)
            aligned += 1
        if not aligned:
            raise _nothing_to_align([source, target])
        judge.check()
    page.write(f"Alignments of {source.name}", translator)
    judge.print()


def _load_directions(model: Path, reverse_model: Path | None) -> tuple[Translator, Translator | None]:
    """The translator, and that of the other direction."""
    from rnnsearch.translation import load

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
    return translator, reverse


def _align_by_aligner(
    model: Path | None,
    files: list[Path],
    save: Path | None,
    output: Path | None,
    format_: str,
    symmetry: _How,
    judge: _Judge,
) -> None:
    from contextlib import ExitStack

    from rnnsearch.alignment import Aligner, read_joined
    from rnnsearch.cli.bar import bar, beside_output
    from rnnsearch.data.read import read_pairs
    from rnnsearch.data.word_alignments import to_pharaoh
    from rnnsearch.jobs.output import written
    from rnnsearch.text.tokenize import split_at_spaces

    judge.read()
    lines = read_joined(files[0]) if len(files) == 1 else read_pairs([files[0]], [files[1]])
    pairs = ((split_at_spaces(one), split_at_spaces(other)) for one, other in lines)
    with ExitStack() as stack:
        if model is not None:
            found, count = Aligner.load(model).align(pairs), None
        else:
            found, count = _learned(stack, pairs, files, output, save)
        out = stack.enter_context(written(output))
        advance = stack.enter_context(bar("aligning", files[0], total=count, wanted=beside_output(output)))
        number = -1
        for number, line in enumerate(found):
            links = line.links(symmetry)
            if number < judge.lines:  # the gold links may be those of the first pairs only
                judge.add([links])
            out.write((to_pharaoh(links) if format_ == "pharaoh" else _as_json(number, line, links)) + "\n")
            advance(1)
        if number < 0:
            raise _nothing_to_align(files)
        judge.check()
    judge.print()


def _nothing_to_align(files: Iterable[Path | None]) -> RnnsearchError:
    return RnnsearchError(f"{', '.join(str(file) for file in files if file is not None)}: no pairs to align")


def _as_json(number: int, line: LineLinks, links: Links) -> str:
    """The links of a line with their probabilities."""
    import json

    known = zip(line.source.tolist(), line.target.tolist(), line.probability.tolist(), strict=True)
    return json.dumps({"line": number, "links": [[s, t, round(p, 4)] for s, t, p in sorted(known) if (s, t) in links]})


def _learned(
    stack: ExitStack, pairs: Iterator[tuple[list[str], list[str]]], files: list[Path], output: Path | None, save: Path | None
) -> tuple[Iterator[LineLinks], int]:
    """The links of all pairs, from which an aligner learns first, and the number of pairs.

    What it needs on the way is kept beside the output until that is written, or else in a temporary folder: without an
    output, and where the text comes from a pipe, so that no other run could go on with it.
    """
    import sys

    from rnnsearch.alignment import Corpus, steps, train_aligner
    from rnnsearch.cli.bar import bar
    from rnnsearch.data.read import read_only_once
    from rnnsearch.jobs import Kept, digest_of

    folder = None
    if output is not None and not any(map(read_only_once, files)):
        folder = stack.enter_context(Kept(output, {"command": "align", "text": digest_of(*files)})).folder
    corpus = Corpus(pairs, folder)
    if not corpus.lines:
        raise _nothing_to_align(files)
    print(f"{corpus.lines:,} pairs, {corpus.cells:,} cells", file=sys.stderr)
    with bar("learning", total=corpus.pairs * steps()) as advance:
        aligner = train_aligner(corpus, advance)
    if save is not None:
        aligner.save(save)
    return aligner.align_corpus(corpus), corpus.lines
