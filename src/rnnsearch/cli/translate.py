"""`rnnsearch translate`."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
_Format = Annotated[
    Literal["text", "json", "pharaoh"],
    typer.Option("--format", help="`text`; `json` lines with tokens, scores and alignments; or `pharaoh` alignments."),
]
_Html = Annotated[bool, typer.Option("--html", help="FILE is an HTML document; so is what is written.")]
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
    format_: _Format = "text",
    html: _Html = False,
    attributes: _Attributes = False,
    page: PageFile = None,
    split_sentences: SplitSentences = None,
    jobs: Jobs = 1,
    paper: PaperSearch = False,
    set_: SearchSet = None,
) -> None:
    """Translate a file, or standard input, line by line.

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
    if html and (n_best > 1 or prefix is not None or format_ != "text"):
        raise RnnsearchError("--html writes one translated document; leave out --n-best, --prefix and --format")
    if attributes and not html:
        raise RnnsearchError("--attributes are those of an HTML document; give --html too")
    if " " in file and not Path(file).exists():
        raise RnnsearchError(f"{file}: no such file; for a sentence, type: echo {shlex.quote(file)} | rnnsearch translate")
    models = translators_for(file, model)
    check_inputs(file, prefix, terms, models=models, outputs=[output, page], printed=output is None)
    tell_installed(models, model)
    stage = _stage(models, settings, n_best, None if html else format_, terms)
    if replace_unk:
        _tell_lexicon(stage)
    summary = _Summary(Page(page))
    if html:
        _translate_document(stage, file, output, jobs, attributes, summary)
    else:
        _translate_lines(stage, file, prefix, output, jobs, summary)
    summary.page.write("Translations" if file == "-" else f"Translations of {Path(file).name}", stage.translator)
    summary.print()


def _stage(
    models: list[Path],
    settings: dict[str, Any],
    n: int,
    format_: Literal["text", "json", "pharaoh"] | None,
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
    from rnnsearch.data.read import read_lines, read_sources
    from rnnsearch.jobs import cut, job
    from rnnsearch.translation.lines import arriving
    from rnnsearch.translation.stages import with_prefixes

    prefixes = None if prefix is None else read_lines(prefix)
    data = stage.translator.system.config.data
    texts = read_sources(Path(file), data.languages, data.protects)
    lines = with_prefixes(summary.page.reading(texts), prefixes)
    # Who types a line wants its translation at once.
    groups = arriving(lines) if file == "-" and output is None else cut(lines)
    with job(stage, output, jobs, bar("translating", file, None, beside_output(output))) as translating:
        for done in translating.rows(groups, summary.page.most):
            summary.add(done)


def _translate_document(
    stage: Translate, file: str, output: Path | None, jobs: int, attributes: bool, summary: _Summary
) -> None:
    from rnnsearch.cli.bar import bar, beside_output
    from rnnsearch.data.read import read_text
    from rnnsearch.jobs import cut, job
    from rnnsearch.translation.markup import Markup
    from rnnsearch.translation.stages import with_prefixes

    stage.warm_up(jobs)  # what is wrong with the settings is told before a large document is read
    split = stage.translator.search_settings(stage.settings).split_sentences
    document = Markup(read_text(file), stage.translator.system.config.data.source_language, split, attributes=attributes)
    count = len(document.sentences)
    best: list[Translation] = []
    lines = with_prefixes(summary.page.reading(document.sentences), None)
    with job(stage, output, jobs, bar("translating", file, count, beside_output(output))) as translating:
        for done in translating.rows(cut(lines), count):
            summary.add(done)
            best += (done.record or [])[:1]
        translating.out.write(document.joined(best))


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
