"""`rnnsearch score`."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from rnnsearch.cli.options import (
    Jobs,
    Languages,
    Models,
    Output,
    PairsFile,
    Table,
    Tokenized,
    both_sides,
    check_inputs,
    once,
)


def command(
    model: Models,
    file: PairsFile = None,
    source: Annotated[
        Path | None, typer.Option("--source", "-s", metavar="FILE", help="Source text, one sentence per line.")
    ] = None,
    target: Annotated[
        Path | None, typer.Option("--target", "-t", metavar="FILE", help="Its translation, line by line.")
    ] = None,
    tsv: Table = None,
    languages: Languages = None,
    format_: Annotated[
        Literal["text", "json"], typer.Option("--format", help="`text`: the scores; `json`: also those of the words.")
    ] = "text",
    output: Output = None,
    tokenized: Tokenized = False,
    jobs: Jobs = 1,
) -> None:
    """Print the log-probability of given translations.

    Logarithms are natural. The total and the perplexity per word go to standard error. With --output, a run that was killed
    goes on where it was.
    """
    source, target = both_sides(file, source, target, tsv, "--target")
    check_inputs(*once(source, target), models=model, outputs=[output], printed=output is None)

    from rnnsearch.cli.bar import bar, beside_output
    from rnnsearch.data.read import read_pairs
    from rnnsearch.formats.languages import parse_languages
    from rnnsearch.jobs import cut, job
    from rnnsearch.translation import load
    from rnnsearch.translation.stages import Score

    given = parse_languages(languages)
    translator = load(*model)
    data = translator.system.config.data
    pairs = read_pairs([source], [target], given if any(given) else data.languages, data.protects)
    stage = Score(translator, model, tokenized, format_ == "json")
    total, words = 0.0, 0
    with job(stage, output, jobs, bar("scoring", source, None, beside_output(output))) as scoring:
        for done in scoring.rows(cut(pairs)):
            score, count = done.note
            total, words = total + score, words + count
    if words:
        print(f"total {total:.2f}, perplexity {math.exp(min(700.0, -total / words)):.2f} per word", file=sys.stderr)
