"""`rnnsearch translate`."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from rnnsearch.cli.options import (
    Beam,
    InstalledOrModels,
    Jobs,
    Output,
    PageFile,
    PaperSearch,
    SearchSet,
    SplitSentences,
    check_inputs,
    search_settings,
    tell_installed,
    translators_for,
)
from rnnsearch.cli.pictures import Page
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from rnnsearch.formats.docx import Docx
    from rnnsearch.formats.parts import DocumentFormat
    from rnnsearch.jobs import Done
    from rnnsearch.translation import Translation
    from rnnsearch.translation.stages import Translate


_File = Annotated[
    str, typer.Argument(metavar="FILE", help="Text: a sentence or a paragraph per line; `-` is standard input.")
]
_NBest = Annotated[int, typer.Option("--n-best", min=1, help="Number of translations written for each sentence.")]
_ForbidUnk = Annotated[bool, typer.Option("--forbid-unk", help="Never write `[UNK]`.")]
_ReplaceUnk = Annotated[
    bool, typer.Option("--replace-unk", help="Replace `[UNK]` by its source word or the lexicon's translation of it.")
]
_Prefix = Annotated[
    Path | None,
    typer.Option("--prefix", metavar="FILE", help="How each translation begins, line by line; lines may be blank."),
]
_Terms = Annotated[
    Path | None,
    typer.Option("--terms", metavar="FILE", help="Source terms and the translations they get, with a tab between."),
]
_Protect = Annotated[
    list[str] | None,
    typer.Option(
        "--protect",
        metavar="REGEX",
        help="Keep further spans as they are written, for models with `data.protect`; may be repeated.",
    ),
]
_LineFormat = Literal["text", "json", "pharaoh", "tmx"]
_DocumentFormat = Literal[
    "po", "xliff", "qt", "android", "resx", "strings", "fluent", "json-messages", "subtitles", "markdown", "html", "docx"
]
_Format = Annotated[
    Literal[_LineFormat, _DocumentFormat] | None,
    typer.Option(
        "--format",
        help="A line for each of FILE: `text`; `json` with tokens, scores and alignments; or `pharaoh` alignments. Or "
        "`tmx`: a memory of the lines with their translations. Or what FILE is, and what is written. By default, documents "
        "are recognised, and everything else is `text`.",
    ),
]
_Html = Annotated[bool, typer.Option("--html", help="The same as `--format html`.")]
_Retranslate = Annotated[
    bool, typer.Option("--retranslate", help="In PO, XLIFF and Qt files, also translate what has a translation.")
]
_Attributes = Annotated[
    bool,
    typer.Option("--attributes", help="With --html, also translate `alt`, `aria-label`, `placeholder` and `title`."),
]


def command(
    file: _File = "-",
    model: InstalledOrModels = None,
    output: Output = None,
    beam: Beam = None,
    n_best: _NBest = 1,
    forbid_unk: _ForbidUnk = False,
    replace_unk: _ReplaceUnk = False,
    prefix: _Prefix = None,
    terms: _Terms = None,
    protect: _Protect = None,
    format_: _Format = None,
    html: _Html = False,
    attributes: _Attributes = False,
    retranslate: _Retranslate = False,
    page: PageFile = None,
    split_sentences: SplitSentences = None,
    jobs: Jobs = 1,
    paper: PaperSearch = False,
    set_: SearchSet = None,
) -> None:
    """Translate text line by line, or a document into the same one.

    Documents (PO, XLIFF, Qt, Android, ResX, .strings, JSON, subtitles, Markdown, HTML) are recognised, and only what is text
    in them changes; `--format text` reads them as lines. Everything else, and standard input, is translated line by line.

    Each sentence of a line is translated by itself, and the white space around it stays. Lines and sentences without
    letters stay as they are: blank lines, numbers, time codes, Markdown marks. For test sets with one sentence per line,
    --no-split-sentences (and --paper) gives every line to the model as it is. A sentence longer than `search.max_segment`
    words is translated in segments. The translation of a sentence does not depend on the sentences around it. With --output,
    a run that was killed goes on where it was.
    """
    settings = search_settings(paper, beam, set_, split_sentences)
    settings |= {name: True for name, given in (("forbid_unk", forbid_unk), ("replace_unk", replace_unk)) if given}
    if protect:
        settings["protect"] = protect
    if html and format_ not in (None, "html"):
        raise RnnsearchError("--html writes one translated document; leave out --format")
    format_ = "html" if html else format_
    if attributes and format_ != "html":
        raise RnnsearchError("--attributes are those of an HTML document; give --html too")
    _check_is_file(file)
    models = translators_for(file, model)
    check_inputs(file, prefix, terms, models=models, outputs=[output, page], printed=output is None)
    tell_installed(models, model)
    document = _document_format(file, format_)
    line_format = _line_format(file, format_, document, n_best, prefix, retranslate)
    stage = _stage(models, settings, n_best, line_format, terms)
    if replace_unk:
        _tell_lexicon(stage)
    summary = _Summary(Page(page))
    if document is not None:
        _translate_document(stage, document, file, output, jobs, (attributes, retranslate), summary)
    else:
        _translate_lines(stage, file, prefix, output, jobs, summary)
    summary.page.write("Translations" if file == "-" else f"Translations of {Path(file).name}", stage.translator)
    summary.print()


def _line_format(
    file: str,
    format_: str | None,
    document: DocumentFormat | Docx | None,
    n_best: int,
    prefix: Path | None,
    retranslate: bool,
) -> _LineFormat | None:
    """Return the format of translated lines, or None for a document. Raises RnnsearchError for options of the other kind."""
    if document is not None and (n_best > 1 or prefix is not None):
        raise RnnsearchError(
            f"{file}: {document.name} is written as one translated document, with or without --html; leave out --n-best "
            "and --prefix, or give --format text for a line for each text"
        )
    if retranslate and document is None:
        raise RnnsearchError(f"--retranslate is for documents with translations, and {file} is translated line by line")
    if document is not None:
        return None
    line_format: _LineFormat = next((one for one in get_args(_LineFormat) if one == format_), "text")
    if line_format == "tmx" and n_best > 1:
        raise RnnsearchError(f"--n-best {n_best}: a memory has one translation of each line; leave it out")
    return line_format


_LARGEST_DOCUMENT = 16_000_000
"""A document is in memory as a whole, several times, and may be one sentence."""


def _document_format(file: str, format_: str | None) -> DocumentFormat | Docx | None:
    """The format of the document that is given, or that a file is recognised as; None for lines."""
    if format_ is not None:
        from rnnsearch.formats.registry import DOCUMENTS

        return DOCUMENTS.get(format_)
    path = Path(file)
    if not path.is_file():  # what is read only once is read as lines
        return None
    from rnnsearch.formats.opening import SAMPLE, opened
    from rnnsearch.formats.recognition import document_format_of
    from rnnsearch.formats.units import Head

    with opened(path) as beginning:
        return document_format_of(Head(path, beginning.peek(SAMPLE)[:SAMPLE]))


def _stage(
    models: list[Path],
    settings: dict[str, Any],
    n: int,
    format_: _LineFormat | None,
    terms: Path | None,
) -> Translate:
    from rnnsearch.translation import load
    from rnnsearch.translation.glossary import read_terms
    from rnnsearch.translation.stages import Translate

    translator = load(*models)
    if format_ == "pharaoh" and not translator.system.aligns:
        raise RnnsearchError(f"{models[0]}: an RNNencdec has no alignment to write; give --format text or json")
    glossary = translator.glossary(None if terms is None else read_terms(terms))
    return Translate(translator, models, n, format_, glossary, settings, of_sentences=format_ is None)


def _tell_lexicon(stage: Translate) -> None:
    if not stage.translator.has_lexicon:
        print(
            f"rnnsearch: {stage.models[0]} has no lexicon, so source words are copied in place of [UNK]; "
            f"`rnnsearch lexicon --model {stage.models[0]} --source TEXT --target TEXT` learns one",
            file=sys.stderr,
        )


def _translate_lines(
    stage: Translate, file: str, prefix: Path | None, output: Path | None, jobs: int, summary: _Summary
) -> None:
    from rnnsearch.cli.bar import bar, beside_output
    from rnnsearch.data.lines import read_lines
    from rnnsearch.data.read import read_sources
    from rnnsearch.jobs import cut, job
    from rnnsearch.translation.lines import arriving
    from rnnsearch.translation.stages import with_prefixes

    prefixes = None if prefix is None else read_lines(prefix)
    data = stage.translator.system.config.data
    texts = read_sources(Path(file), data.languages, data.protects)
    lines = with_prefixes(summary.page.reading(texts), prefixes)
    # Who types a line wants its translation at once.
    groups = arriving(lines) if file == "-" and output is None else cut(lines)
    memory = None
    if stage.format == "tmx":
        from rnnsearch.formats.registry import WRITTEN

        memory = WRITTEN["tmx"]
    with job(stage, output, jobs, bar("translating", file, None, beside_output(output))) as translating:
        if memory is not None:
            translating.out.write(memory.beginning(stage.languages[0]))
        for done in translating.rows(groups, summary.page.most):
            summary.add(done)
        if memory is not None:
            translating.out.write(memory.end())


def _translate_document(
    stage: Translate,
    format_: DocumentFormat | Docx,
    file: str,
    output: Path | None,
    jobs: int,
    how: tuple[bool, bool],
    summary: _Summary,
) -> None:
    """Translate a document; `how` says whether its attributes are translated, and what has a translation."""
    from rnnsearch.cli.bar import bar, beside_output
    from rnnsearch.formats.opening import opened
    from rnnsearch.formats.registry import document_of
    from rnnsearch.formats.text_files import read_whole
    from rnnsearch.jobs import cut, job
    from rnnsearch.jobs.output import write_whole
    from rnnsearch.translation.documents import Document
    from rnnsearch.translation.stages import with_prefixes

    stage.warm_up(jobs)  # what is wrong with the settings is told before a large document is read
    attributes, again = how
    path = Path(file)
    with opened(path) as opened_file:
        content = read_whole(opened_file, path)
    if len(content) > _LARGEST_DOCUMENT:
        raise RnnsearchError(f"{file}: a document of more than {_LARGEST_DOCUMENT:,} bytes; cut it into smaller ones")
    whole = document_of(content, format_, path, again)
    split = stage.translator.search_settings(stage.settings).split_sentences
    document = Document(whole, stage.translator.system.config.data.source_language, split, attributes)
    _tell_kept(file, whole.kept, nothing=not whole.slots)
    count = len(document.sentences)
    best: list[Translation] = []
    lines = with_prefixes(summary.page.reading(document.sentences), None)
    with job(stage, output, jobs, bar("translating", file, count, beside_output(output))) as translating:
        for done in translating.rows(cut(lines), count):
            summary.add(done)
            best += (done.record or [])[:1]
        write_whole(translating.out, document.joined(best))


def _tell_kept(file: str, kept: Counter[str], nothing: bool) -> None:
    """Tell how many texts stay as they are, and why."""
    reasons = "; ".join(f"{count:,} {reason}" for reason, count in kept.most_common())
    if nothing:
        print(f"rnnsearch: {file}: there is nothing to translate" + (f": {reasons}" if reasons else ""), file=sys.stderr)
    elif reasons:
        print(f"rnnsearch: {file}: some texts stay as they are: {reasons}", file=sys.stderr)


def _check_is_file(file: str) -> None:
    """Refuse a sentence or the name of an installed model in place of a file, with what to type instead."""
    from rnnsearch.model_catalog import TRANSLATORS

    if Path(file).exists():
        return
    if " " in file:
        raise RnnsearchError(f"{file}: no such file; for a sentence, type: echo {shlex.quote(file)} | rnnsearch translate")
    if file in TRANSLATORS:
        raise RnnsearchError(f"{file}: no such file; the installed model of this name is chosen by --model {file}")


class _Summary:
    """Counts what is told at the end, and adds the sentences to the page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._unfinished = 0
        self._replaced = Counter[str]()

    def add(self, done: Done[list[Translation]]) -> None:
        """Counts the next line."""
        finished, replaced = done.note
        self._unfinished += not finished
        self._replaced.update(replaced)
        best, *others = done.record or (None,)
        self.page.add(best, *filter(None, others))

    def print(self) -> None:
        """Tells what was replaced, and what broke off."""
        if replaced := self._replaced:
            print(
                f"rnnsearch: {replaced.total():,} [UNK] were replaced, {replaced['lexicon']:,} from the lexicon and "
                f"{replaced['copy']:,} by the source word (--format json says which)",
                file=sys.stderr,
            )
        if self._unfinished:
            count = "1 translation" if self._unfinished == 1 else f"{self._unfinished} translations"
            print(
                f"rnnsearch: {count} broke off at the length limit; a larger search.maximum_length_ratio raises it",
                file=sys.stderr,
            )
