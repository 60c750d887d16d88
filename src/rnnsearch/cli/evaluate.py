"""`rnnsearch evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rnnsearch.cli.options import (
    Beam,
    Jobs,
    Languages,
    Models,
    PairsFile,
    PaperSearch,
    SearchSet,
    SplitTestSet,
    Table,
    both_sides,
    check_inputs,
    once,
    search_settings,
)
from rnnsearch.errors import RnnsearchError

if TYPE_CHECKING:
    from rich.console import Console

    from rnnsearch.evaluation.error_rates import ErrorRates
    from rnnsearch.evaluation.system import Evaluation
    from rnnsearch.translation import Translation, Translator


MISSING = "–"
"""Stands for no symbol, in a table of confusions."""


_Source = Annotated[
    Path | None, typer.Option("--source", "-s", metavar="FILE", help="Test set, source side, one sentence per line.")
]
_Reference = Annotated[
    Path | None, typer.Option("--reference", "-r", metavar="FILE", help="Its references, detokenised, line by line.")
]
_Json = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write all results to this file as JSON.")]
_Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the translations to this file.")]
_Behaviour = Annotated[
    bool, typer.Option("--behaviour", help="Try what a translator has to be able to do, on generated lines.")
]
_Page = Annotated[
    Path | None,
    typer.Option("--page", metavar="FILE.html", help="With --behaviour: also write a page with the lines that failed."),
]
_Report = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE.html", help="Also write a page that says by kinds of segments how much is left to edit."
    ),
]
_Memory = Annotated[
    Path | None,
    typer.Option(
        "--memory", metavar="FILE", help="With --report: a memory, a file or a folder, whose nearest segments are compared."
    ),
]
_Terms = Annotated[
    Path | None,
    typer.Option("--terms", metavar="FILE", help="With --report: terms and their translations, which are counted."),
]


def command(
    model: Models,
    file: PairsFile = None,
    source: _Source = None,
    reference: _Reference = None,
    tsv: Table = None,
    languages: Languages = None,
    json_: _Json = None,
    output: _Output = None,
    behaviour: _Behaviour = False,
    page: _Page = None,
    report: _Report = None,
    memory: _Memory = None,
    terms: _Terms = None,
    beam: Beam = None,
    split_sentences: SplitTestSet = None,
    jobs: Jobs = 1,
    paper: PaperSearch = False,
    set_: SearchSet = None,
) -> None:
    """Translate a test set, and print BLEU and chrF.

    The scores are sacreBLEU's. BLEU is also printed by sentence length, and for the paper's No UNK subset: the sentences
    without unknown words in source and reference, translated with `[UNK]` forbidden. The BLEU of tokenised text is on the
    scale of the paper's numbers; it can be compared with other scores only if their tokenisation is the same. With --output,
    a run that was killed goes on where it was.

    Where the target consists of characters or symbols, the command prints error rates: of lines (WER) and of symbols (SER),
    with 95% intervals, and the most frequent confusions.

    With --report, it compares the model, by kinds of segments, with the installed one and with the nearest segments of a
    memory: the share that needs no edit, BLEU, chrF, terms, tags, how the confidence relates to the quality, and the worst
    segments.

    With --behaviour, the command translates 400 generated lines in place of a test set, and prints by capability how many of
    the translations follow the rules: they keep addresses, numbers and names, are in capitals where the line is, do not
    repeat themselves, and so on. There are suites for English and French. The exit status does not depend on the counts.
    """
    settings = search_settings(paper, beam, set_, split_sentences)
    if behaviour:
        test_set = bool(file or source or reference or tsv or output or report or jobs > 1)
        _evaluate_behaviour(model, json_, page, settings, test_set)
        return
    _check_options_of_reports(page, report, memory, terms)
    source, reference = both_sides(file, source, reference, tsv, "--reference")
    inputs = [*once(source, reference), terms, None if memory is None or memory.is_dir() else memory]
    check_inputs(*inputs, models=model, outputs=[json_, output, report], printed=json_ is None)

    from rnnsearch.translation import load

    translator = load(*model)
    pairs = _pairs(source, reference, languages, translator)
    result = _evaluated(translator, model, pairs, settings, output, jobs)
    segments = {} if report is None else _written_report(report, translator, model, pairs, result, memory, terms)
    if json_ is not None:  # before anything is printed, which may fail
        from rnnsearch.atomic import write_json

        names = " ".join(map(str, model))
        write_json(json_, {"model": names, "source": str(source), "settings": settings, **result.to_dict(), **segments})
    _print_scores(result)


def _evaluate_behaviour(
    models: list[Path], json_: Path | None, page: Path | None, settings: dict[str, Any], test_set: bool
) -> None:
    """Translate the lines of a behaviour suite; `test_set` tells whether options of a test set were given too."""
    if test_set:
        raise RnnsearchError(
            "--behaviour has its own lines; leave out --source, --reference, --tsv, --output, --report, --jobs"
        )
    check_inputs(models=models, outputs=[json_, page], printed=json_ is None)
    from rnnsearch.cli.behaviour import try_behaviour

    try_behaviour(models, json_, page, settings)


def _check_options_of_reports(page: Path | None, report: Path | None, memory: Path | None, terms: Path | None) -> None:
    """Raise RnnsearchError for an option that has no effect without --behaviour or --report."""
    if page is not None:
        raise RnnsearchError(f"--page {page}: only --behaviour writes a page; leave it out, or give --behaviour")
    for name, file in (("--memory", memory), ("--terms", terms)):
        if file is not None and report is None:
            raise RnnsearchError(f"{name} {file}: only the report compares with it; leave it out, or give --report")


def _pairs(source: Path, reference: Path, languages: str | None, translator: Translator) -> list[tuple[str, str]]:
    """Return the sentence pairs of a test set. Raises RnnsearchError if there are none."""
    from rnnsearch.data.read import read_pairs
    from rnnsearch.formats.languages import parse_languages

    given = parse_languages(languages)
    data = translator.system.config.data
    pairs = list(read_pairs([source], [reference], given if any(given) else data.languages, data.protects))
    if not pairs:
        raise RnnsearchError(f"{source}: no sentences to evaluate on")
    return pairs


def _written_report(
    path: Path,
    translator: Translator,
    models: list[Path],
    pairs: list[tuple[str, str]],
    result: Evaluation,
    memory: Path | None,
    terms: Path | None,
) -> dict[str, Any]:
    """Writes the report, and returns what it says as values of JSON."""
    from dataclasses import asdict

    from rnnsearch.cli.report import report_of
    from rnnsearch.report.segments import write_segment_page

    found = report_of(translator, models, pairs, result, memory, terms)
    data = translator.system.config.data
    introduction = f"{translator.kind}, {data.source_name} → {data.target_name}: {' '.join(map(str, models))}."
    write_segment_page(path, "Is it good enough?", introduction, found)
    return {"report": asdict(found)}


def _evaluated(
    translator: Translator,
    models: list[Path],
    pairs: list[tuple[str, str]],
    settings: dict[str, Any],
    output: Path | None,
    jobs: int,
) -> Evaluation:
    """Translates the sources in a job, and scores the translations."""
    from rnnsearch.cli.bar import bar
    from rnnsearch.evaluation.system import evaluate
    from rnnsearch.jobs import cut, job
    from rnnsearch.translation.stages import Translate, with_prefixes

    stage = Translate(translator, models, format=None, settings={"split_sentences": False, **settings})
    with job(stage, output, jobs) as translating:

        def translate(lines: list[str], **how: Any) -> list[Translation]:
            found: list[Translation] = []
            with bar("translating", total=len(lines)) as advance:
                for done in translating.rows(cut(with_prefixes(lines, None)), len(lines), how):
                    found += done.record or []
                    advance(1)
            return found

        result = evaluate(translator, [s for s, _ in pairs], [r for _, r in pairs], translate, **settings)
        if output is not None:
            translating.out.writelines(t.text + "\n" for t in result.translations)
    return result


def _print_scores(result: Evaluation) -> None:
    from rich.table import Table

    from rnnsearch.terminal import Terminal

    console = Terminal()
    table = Table("", "sentences", "BLEU", "chrF", "brevity penalty", "length ratio")
    for name, score in (("All", result.all), ("No UNK", result.no_unk)):
        if score is not None:
            table.add_row(
                name,
                f"{score.sentences:,}",
                f"{score.bleu:.2f}",
                f"{score.chrf:.2f}",
                f"{score.brevity_penalty:.3f}",
                f"{score.length_ratio:.3f}",
            )
    console.print(table)
    if result.errors is not None:
        print_error_rates(console, result.errors)
    else:
        lengths = Table("source words", "sentences", "BLEU")
        for length_bin in result.by_length:
            if length_bin.bleu is not None:
                lengths.add_row(length_bin.label, f"{length_bin.sentences:,}", f"{length_bin.bleu:.2f}")
        console.print(lengths)
        console.print(
            f"BLEU of {result.all.sentences:,} tokenised sentences, by the rules of multi-bleu.perl: "
            f"{result.tokenized_bleu:.2f}",
            soft_wrap=True,
        )
    rate = result.all.sentences / max(result.seconds, 1e-9)
    console.print(f"{result.seconds:.1f} s, {rate:.1f} sentences/s; {result.unfinished} broke off at the length limit")
    console.print(f"BLEU: {result.all.bleu_signature}\nchrF: {result.all.chrf_signature}")


def print_error_rates(console: Console, errors: ErrorRates) -> None:
    """Print the error rates of lines and of symbols, and the confusions."""
    from rich.table import Table

    rates = Table("", "of", "error rate", "95%")
    for name, count, rate, (low, high) in (
        ("lines (WER)", errors.lines, errors.wer, errors.wer_interval),
        ("symbols (SER)", errors.symbols, errors.ser, errors.ser_interval),
    ):
        rates.add_row(name, f"{count:,}", f"{rate:.2f}", f"{low:.2f}–{high:.2f}")
    console.print(rates)
    if errors.confusions:
        confusions = Table("reference", "translation", "times")
        for one in errors.confusions:
            confusions.add_row(one.reference or MISSING, one.translation or MISSING, f"{one.count:,}")
        console.print(confusions)
