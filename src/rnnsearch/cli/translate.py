"""`rnnsearch translate`."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer

from rnnsearch.cli.options import (
    Beam,
    InstalledOrModels,
    Jobs,
    PageFile,
    PaperSearch,
    SearchSet,
    SplitSentences,
    check_inputs,
    search_settings,
)
from rnnsearch.errors import RnnsearchError


def command(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Text: a sentence or a paragraph per line; `-` is standard input.")
    ] = "-",
    model: InstalledOrModels = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file, not to standard output.")
    ] = None,
    beam: Beam = None,
    n_best: Annotated[int, typer.Option("--n-best", min=1, help="Number of translations written for each sentence.")] = 1,
    forbid_unk: Annotated[bool, typer.Option("--forbid-unk", help="Never write `[UNK]`.")] = False,
    replace_unk: Annotated[
        bool, typer.Option("--replace-unk", help="Replace `[UNK]` by its source word or the lexicon's translation of it.")
    ] = False,
    prefix: Annotated[
        Path | None,
        typer.Option("--prefix", metavar="FILE", help="How each translation begins, line by line; lines may be blank."),
    ] = None,
    terms: Annotated[
        Path | None,
        typer.Option("--terms", metavar="FILE", help="Source terms and the translations they get, with a tab between."),
    ] = None,
    protect: Annotated[
        list[str] | None,
        typer.Option(
            "--protect",
            metavar="REGEX",
            help="Keep further spans as they are written, for models with `data.protect`; may be repeated.",
        ),
    ] = None,
    format_: Annotated[
        Literal["text", "json", "pharaoh"],
        typer.Option("--format", help="`text`; `json` lines with tokens, scores and alignments; or `pharaoh` alignments."),
    ] = "text",
    html: Annotated[bool, typer.Option("--html", help="FILE is an HTML document; so is what is written.")] = False,
    attributes: Annotated[
        bool,
        typer.Option("--attributes", help="With --html, also translate `alt`, `aria-label`, `placeholder` and `title`."),
    ] = False,
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
    from rnnsearch.model_catalog import TRANSLATORS, translator_from
    from rnnsearch.text.tokenize import language_of

    settings = search_settings(paper, beam, set_, split_sentences)
    if protect:
        settings["protect"] = protect
    if html and (n_best > 1 or prefix is not None or format_ != "text"):
        raise RnnsearchError("--html writes one translated document; leave out --n-best, --prefix and --format")
    if attributes and not html:
        raise RnnsearchError("--attributes are those of an HTML document; give --html too")
    if " " in file and not Path(file).exists():
        raise RnnsearchError(f"{file}: no such file; for a sentence, type: echo {shlex.quote(file)} | rnnsearch translate")
    models = model or [translator_from(language_of(file))]
    check_inputs(file, prefix, terms, models=models, outputs=[output, page], printed=output is None)
    if not model:
        languages = TRANSLATORS[models[0].name]
        print(f"rnnsearch: translating {languages} with the installed model; --model names another", file=sys.stderr)

    from contextlib import ExitStack

    from rnnsearch.cli.bar import bar, beside_output
    from rnnsearch.cli.output import written
    from rnnsearch.data.read import read_lines, read_text
    from rnnsearch.shards import Kept, cut
    from rnnsearch.translation import Translation, load
    from rnnsearch.translation.corpora import TranslateLines, in_processes, translation_run, translations_of
    from rnnsearch.translation.glossary import read_terms
    from rnnsearch.translation.lines import arriving
    from rnnsearch.translation.markup import Markup

    translator = load(*models)
    if format_ == "pharaoh" and not translator.system.model.aligns:
        raise RnnsearchError(f"{models[0]}: an RNNencdec has no alignment to write; give --format text or json")
    if forbid_unk:
        settings["forbid_unk"] = True
    if replace_unk:
        settings["replace_unk"] = True
        if not translator.has_lexicon:
            print(
                f"rnnsearch: {models[0]} has no lexicon, so source words are copied in place of [UNK]; "
                f"`rnnsearch lexicon --model {models[0]} --source TEXT --target TEXT` learns one",
                file=sys.stderr,
            )
    prefixes = None if prefix is None else read_lines(prefix)
    glossary = translator.glossary(None if terms is None else read_terms(terms))
    work = TranslateLines(translator, n_best, format_, glossary, of_sentences=html)
    work.warm_up(settings)
    document = None
    if html:
        language, split = translator.system.config.data.source_language, translator.search_settings(settings).split_sentences
        document = Markup(read_text(file), language, split, attributes=attributes)
    lines = read_lines(file) if document is None else iter(document.sentences)
    best: list[Translation] = []
    sentences, whole = None, 0
    if document is not None:
        whole = len(document.sentences)
    if page is not None:
        from rnnsearch.report.page import MOST_SAMPLES, SentencePage

        sentences, whole = SentencePage(), max(whole, MOST_SAMPLES)
        lines = sentences.reading(lines)
    unfinished = 0
    replaced: Counter[str] = Counter()
    with ExitStack() as stack:
        kept = None
        if output is not None:
            kept = stack.enter_context(Kept(output, translation_run(work, models, settings)))
        processes = stack.enter_context(in_processes(work, translator, jobs))
        out = stack.enter_context(written(output))
        total = None if document is None else len(document.sentences)
        advance = stack.enter_context(bar("translating", file, total, beside_output(output)))
        # Who types a line wants its translation at once.
        groups = arriving(lines) if file == "-" and output is None else cut(lines)
        for result in processes.results(work.shards(groups, prefixes, whole, settings), kept):
            found = translations_of(result, translator)
            if document is not None:
                best += [translations[0] for translations in found]
            else:
                out.writelines(line + "\n" for line in result["written"])
                if output is None:
                    out.flush()
            unfinished += result["unfinished"]
            replaced.update(result["replaced"])
            if sentences is not None:
                for translations in found:
                    sentences.add(translations[0], translations[1:])
                sentences.pass_over(len(result["written"]) - len(found))
            advance(len(result["written"]))
        if document is not None:
            out.write(document.joined(best))
    if page is not None and sentences is not None:
        sentences.write(page, "Translations" if file == "-" else f"Translations of {Path(file).name}", translator)
    if replaced:
        print(
            f"rnnsearch: {replaced.total():,} [UNK] were replaced, {replaced['lexicon']:,} from the lexicon and "
            f"{replaced['copy']:,} by the source word (--format json says which)",
            file=sys.stderr,
        )
    if unfinished:
        count = "1 translation" if unfinished == 1 else f"{unfinished} translations"
        print(
            f"rnnsearch: {count} broke off at the length limit; a larger search.maximum_length_ratio raises it",
            file=sys.stderr,
        )
