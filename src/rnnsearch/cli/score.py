"""`rnnsearch score`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rnnsearch.cli.options import Models, Table, Tokenized, both_sides, check_inputs, once


def command(
    model: Models,
    source: Annotated[
        Path | None, typer.Option("--source", "-s", metavar="FILE", help="Source text, one sentence per line.")
    ] = None,
    target: Annotated[
        Path | None, typer.Option("--target", "-t", metavar="FILE", help="Its translation, line by line.")
    ] = None,
    tsv: Table = None,
    format_: Annotated[
        Literal["text", "json"], typer.Option("--format", help="`text`: the scores; `json`: also those of the words.")
    ] = "text",
    tokenized: Tokenized = False,
) -> None:
    """Print the log-probability of given translations.

    Logarithms are natural. The total and the perplexity per word go to standard error.
    """
    source, target = both_sides(source, target, tsv, "--target")
    check_inputs(*once(source, target), models=model, printed=True)

    import json
    import math
    import sys

    from rnnsearch.translation import load, score_files

    translator = load(*model)
    total, words = 0.0, 0
    for number, pair in enumerate(score_files(translator, source, target, tokenized)):
        total += pair.score
        words += len(pair.tokens) + 1
        if format_ == "text":
            print(f"{pair.score:.6f}")
        else:
            scores = [round(score, 6) for score in pair.word_scores]
            record = {"line": number, "score": round(pair.score, 6), "tokens": pair.tokens, "word_scores": scores}
            print(json.dumps(record, ensure_ascii=False))
    if words:
        print(f"total {total:.2f}, perplexity {math.exp(min(700.0, -total / words)):.2f} per word", file=sys.stderr)
