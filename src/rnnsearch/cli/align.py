"""`rnnsearch align`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from rnnsearch.cli.aligner_output import AlignerOutput, Format
from rnnsearch.cli.judge import Judge
from rnnsearch.cli.options import (
    Jobs,
    Languages,
    ModelOrNone,
    Output,
    PageFile,
    PairsFile,
    Quality,
    Table,
    Tokenized,
    both_sides,
    check_inputs,
    files_of_pairs,
    model_option,
    once,
)
from rnnsearch.cli.pictures import Page, Pictures
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import ExitStack

    from rnnsearch.alignment import Aligner, Corpus
    from rnnsearch.data.word_alignments import Symmetry
    from rnnsearch.translation.translator import Translator

_How: TypeAlias = Literal["grow-diag", "grow-diag-final", "grow-diag-final-and", "intersection", "union", "probability"]


_Source = Annotated[Path | None, typer.Option("--source", "-s", metavar="FILE", help="Source text, one sentence per line.")]
_Target = Annotated[
    Path | None,
    typer.Option("--target", "-t", metavar="FILE", help="Its translation; without it, the model translates the source."),
]
_PairsFile = Annotated[
    Path | None,
    typer.Option(
        "--pairs",
        metavar="FILE",
        help="Without a translator: both sides in one file, `source ||| target` or with a tab between.",
    ),
]
_Save = Annotated[
    Path | None,
    typer.Option("--save", metavar="FOLDER", help="Without --model: keep the aligner that has learned in this folder."),
]
_From = Annotated[
    Path | None,
    typer.Option("--from", metavar="FOLDER", help="Without --model: go on from the aligner in this folder with more text."),
]
_Format = Annotated[
    Format,
    typer.Option(
        "--format",
        help="`pharaoh`: links between words; `json`: all weights, or the links' probabilities; of an aligner, also `tsv`: "
        "source, target and links in columns, and `giza`, `giza-reverse`: as in A3.final.",
    ),
]
_Lexicon = Annotated[
    list[Path] | None,
    typer.Option(
        "--lexicon",
        metavar="FILE",
        help="By an aligner: also write a lexical translation table. Its ending says which: `.s2t`, `.t2s`, `.f2e`, `.e2f`, "
        "`.vmap`, with `.gz` compressed. May be repeated.",
    ),
]
_SourceSubwords = Annotated[
    Path | None,
    typer.Option(
        "--source-subwords", metavar="FILE", help="By an aligner: the source in subwords; links are in their positions."
    ),
]
_TargetSubwords = Annotated[
    Path | None, typer.Option("--target-subwords", metavar="FILE", help="The same for the target; one side may be in words.")
]
_Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FOLDER", help="Draw the alignments into this folder, as in Figure 3.")
]
_Plots = Annotated[int, typer.Option("--plots", min=1, help="The largest number of alignments to draw.")]
_Gold = Annotated[
    Path | None,
    typer.Option("--gold", metavar="FILE", help="Gold alignments, `1-2` sure and `1p2` possible; prints the AER."),
]
_ReverseModel = Annotated[
    Path | None,
    model_option("A model that translates in the other direction; the links of both are combined.", "--reverse-model"),
]
_Symmetry = Annotated[
    _How | None,
    typer.Option(
        "--symmetrize",
        help="How to combine the links of both directions: by default `probability`, and `grow-diag` with --reverse-model.",
    ),
]
_ReverseGold = Annotated[bool, typer.Option("--reverse-gold", help="The gold links are written target-source.")]


def command(
    file: PairsFile = None,
    model: ModelOrNone = None,
    source: _Source = None,
    target: _Target = None,
    tsv: Table = None,
    languages: Languages = None,
    pairs_file: _PairsFile = None,
    save: _Save = None,
    from_: _From = None,
    quality: Quality = "best",
    format_: _Format = "pharaoh",
    lexicon: _Lexicon = None,
    source_subwords: _SourceSubwords = None,
    target_subwords: _TargetSubwords = None,
    output: Output = None,
    plot: _Plot = None,
    plots: _Plots = 20,
    page: PageFile = None,
    gold: _Gold = None,
    reverse_model: _ReverseModel = None,
    symmetry: _Symmetry = None,
    reverse_gold: _ReverseGold = False,
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
    from rnnsearch.formats.languages import parse_languages

    if file is not None or tsv is not None:
        source, target = both_sides(file, source, target, tsv, "--target")
    shared = _Shared(output, symmetry, Judge(gold, reverse_gold), parse_languages(languages))
    if model is None or _is_aligner(model):
        _refuse({"--plot": plot, "--page": page, "--reverse-model": reverse_model, "--jobs": jobs > 1},
                "needs a model that translates: give its folder as --model")  # fmt: skip
        form = AlignerOutput(format_, lexicon or (), (source_subwords, target_subwords))
        text = _Text(source, target, pairs_file, shared.languages)
        _by_aligner(model, _Learning(from_, save, quality), text, form, shared)
    else:
        _refuse({"--save": save, "--from": from_, "--quality": quality != "best"},
                "is for aligning without a model: a translator learns by `rnnsearch train`")  # fmt: skip
        _refuse({"--pairs": pairs_file}, "is for aligning without a translator: with one, give --source and --target")
        _refuse({"--lexicon": lexicon, "--source-subwords": source_subwords,
                 "--target-subwords": target_subwords, f"--format {format_}": format_ not in ("pharaoh", "json")},
                "is for aligning without a translator")  # fmt: skip
        pictures = Pictures(plot, plots)
        _by_translator(model, reverse_model, source, target, tokenized, format_ == "json", shared, pictures, page, jobs)


@dataclass(frozen=True)
class _Shared:
    """The options of both kinds of models."""

    output: Path | None
    symmetry: _How | None
    judge: Judge
    languages: tuple[str | None, str | None]


@dataclass(frozen=True)
class _Learning:
    """The options of an aligner that learns now."""

    from_: Path | None
    save: Path | None
    quality: Quality


def _refuse(given: dict[str, object], reason: str) -> None:
    for option, value in given.items():
        if value:
            raise RnnsearchError(f"{option} {reason}")


def _is_aligner(folder: Path) -> bool:
    from rnnsearch.alignment import is_aligner

    return is_aligner(folder)


def _by_translator(
    model: Path,
    reverse_model: Path | None,
    source: Path | None,
    target: Path | None,
    tokenized: bool,
    as_json: bool,
    shared: _Shared,
    pictures: Pictures,
    page_file: Path | None,
    jobs: int,
) -> None:
    """Aligns by the attention, or the alignment layer, of a model that translates."""
    output, judge = shared.output, shared.judge
    if source is None:
        raise RnnsearchError("there is nothing to align: give --source")
    symmetry: Symmetry = "grow-diag"
    if shared.symmetry == "probability":
        raise RnnsearchError("--symmetrize probability is for an aligner: the attention of a model has no such probability")
    if shared.symmetry is not None:
        symmetry = shared.symmetry
    if target is None and (tokenized or judge.gold is not None):
        raise RnnsearchError("--gold and --tokenized need given pairs: give --target too")
    if reverse_model is not None and (target is None or as_json):
        raise RnnsearchError("--reverse-model combines the links of given pairs: give --target too, and no --format json")
    texts, models = [source] if target is None else once(source, target), [model, reverse_model]
    check_inputs(
        *texts, judge.gold, models=models, outputs=[output, page_file], folders=[pictures.folder], printed=output is None
    )

    from rnnsearch.cli.bar import bar, beside_output
    from rnnsearch.data.lines import read_lines
    from rnnsearch.data.read import read_pairs
    from rnnsearch.jobs import cut, job
    from rnnsearch.translation.stages import Align

    page = Page(page_file)
    translator, reverse = _load_directions(model, reverse_model)
    judge.read()
    stage = Align(translator, reverse, [one for one in models if one is not None], symmetry, tokenized, as_json)
    data = translator.system.config.data
    languages = shared.languages if any(shared.languages) else data.languages
    pairs: Iterator[tuple[str, str | None]] = (
        ((line, None) for line in read_lines(source))
        if target is None
        else iter(read_pairs([source], [target], languages, data.protects))
    )
    aligned = 0
    with job(stage, output, jobs, bar("aligning", source, None, beside_output(output))) as aligning:
        for done in aligning.rows(cut(pairs), max(pictures.most, page.most)):
            aligned += 1
            judge.add([frozenset((s, t) for s, t in done.note)])
            pictures.add(done.record)
            page.add(done.record)
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
        if loaded is not None and not loaded.system.aligns:
            raise RnnsearchError(f"{place}: an RNNencdec has no alignment; train a model with --set model.alignment=mlp")
    if reverse is not None:
        ours, theirs = translator.system.config.data, reverse.system.config.data
        if (ours.source_language, ours.target_language) != (theirs.target_language, theirs.source_language):
            raise RnnsearchError(
                f"{reverse_model}: it translates {theirs.source_language} to {theirs.target_language}; the other direction "
                f"of {model} is {ours.target_language} to {ours.source_language}"
            )
    return translator, reverse


class _Text:
    """The pairs that an aligner reads, from two files or from one."""

    def __init__(
        self, source: Path | None, target: Path | None, joined: Path | None, languages: tuple[str | None, str | None]
    ) -> None:
        self.files = files_of_pairs(source, target, joined, "--pairs")
        self._joined, self._languages = joined, languages

    def pairs(self) -> Iterator[tuple[str, str]]:
        from rnnsearch.alignment import read_joined
        from rnnsearch.data.read import read_pairs

        if self._joined is not None:
            return read_joined(self._joined)
        return iter(read_pairs(self.files[:1], self.files[-1:], self._languages))

    def nothing(self) -> RnnsearchError:
        """The error for a text without pairs."""
        return _nothing_to_align(self.files)


def _by_aligner(model: Path | None, learning: _Learning, text: _Text, form: AlignerOutput, shared: _Shared) -> None:
    """Aligns by an aligner that was kept, or that learns from the pairs now."""
    output, judge, save, from_ = shared.output, shared.judge, learning.save, learning.from_
    for option, other in (("--save", save), ("--from", from_), ("--quality", learning.quality != "best")):
        if model is not None and other:
            raise RnnsearchError(f"{option} is for an aligner that learns now, and {model} has learned: give one of the two")
    if save is not None and save.exists() and not save.is_dir():
        raise RnnsearchError(f"{save}: this is a file; name a folder to keep the aligner in")
    form.check(text.files)
    outputs = [output, *form.lexicons]
    check_inputs(*text.files, judge.gold, outputs=outputs, folders=[save, model, from_], printed=output is None)

    from contextlib import ExitStack

    from rnnsearch.alignment import Aligner
    from rnnsearch.cli.bar import bar, beside_output
    from rnnsearch.jobs.output import written

    judge.read()
    with ExitStack() as stack:
        if model is not None:
            found, count = Aligner.load(model).align(text.pairs()), None
        else:
            aligner, corpus = _learned(stack, text, learning, output)
            if save is not None:
                aligner.save(save)
            found, count = aligner.align(corpus), corpus.lines
        out = stack.enter_context(written(output))
        advance = stack.enter_context(bar("aligning", text.files[0], count, beside_output(output)))
        aligned = 0
        links = ((line, line.links(shared.symmetry or "probability")) for line in found)
        for line in form.lines(text.pairs(), judge.judged(links)):
            out.write(line)
            advance(1)
            aligned += 1
        if not aligned:
            raise text.nothing()
        judge.check()
    judge.print()


def _nothing_to_align(files: Iterable[Path | None]) -> RnnsearchError:
    return RnnsearchError(f"{', '.join(str(file) for file in files if file is not None)}: no pairs to align")


def _learned(stack: ExitStack, text: _Text, learning: _Learning, output: Path | None) -> tuple[Aligner, Corpus]:
    """An aligner that has learned from these pairs, or has gone on from another with them.

    What it needs on the way is kept beside the output until that is written, or else in a temporary folder: without an
    output, and where the text comes from a pipe, so that no other run could go on with it.
    """
    from rnnsearch.alignment import Aligner, Corpus, steps
    from rnnsearch.cli.bar import bar
    from rnnsearch.data.inputs import read_only_once
    from rnnsearch.jobs import JobCheckpoint, digest_of

    from_, quality = learning.from_, learning.quality
    known = None if from_ is None else Aligner.load(from_)
    folder = None
    if output is not None and not any(map(read_only_once, text.files)):
        identity = {"command": "align", "text": digest_of(*text.files), "quality": quality}
        if from_ is not None:
            identity["from"] = digest_of(from_ / "aligner.json")  # which has the digest of the other files
        folder = stack.enter_context(JobCheckpoint(output, identity)).folder
    corpus = Corpus(text.pairs(), folder, None if known is None else known.words)
    if not corpus.lines:
        raise text.nothing()
    print(f"{corpus.lines:,} pairs, {corpus.cells:,} cells", file=sys.stderr)
    with bar("learning", total=corpus.pairs * steps(quality, corpus.pairs)) as advance:
        return Aligner.learn(corpus, advance, known=known, quality=quality), corpus
