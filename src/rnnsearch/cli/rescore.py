"""`rnnsearch rescore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import Models, Tokenized, check_inputs


def command(
    model: Models,
    source: Annotated[Path, typer.Option("--source", "-s", metavar="FILE", help="The source text, one sentence per line.")],
    n_best: Annotated[
        Path, typer.Argument(metavar="FILE", help="Its n-best lists: `line ||| translation ||| features ||| total`.")
    ],
    name: Annotated[str, typer.Option("--name", help="The name of the new feature.")] = "RNNsearch0",
    weight: Annotated[
        float, typer.Option("--weight", help="Add this many times the log-probability to the total, and sort by the total.")
    ] = 0.0,
    reverse: Annotated[
        bool, typer.Option("--reverse", help="The model translates in the other direction: use log p(source | translation).")
    ] = False,
    best: Annotated[bool, typer.Option("--best", help="Write only the best translation of each sentence, as text.")] = False,
    tokenized: Tokenized = False,
) -> None:
    """Rescore the n-best lists of another system.

    The lists are in Moses's format. The log-probability becomes a new feature; with `--weight`, it is also added to the
    total, and the translations are sorted by that.

    Tune the weight on development data, with the other system's tuner or by trying a few values.
    """
    check_inputs(source, n_best, models=model, printed=True)

    from rnnsearch.data.read import read_lines
    from rnnsearch.translation import load
    from rnnsearch.translation.rescoring import read_n_best, rescore

    translator, lines, entries = load(*model), list(read_lines(source)), read_n_best(n_best)
    for sentence in rescore(translator, lines, entries, name=name, weight=weight, reverse=reverse, tokenized=tokenized):
        for entry in sentence[: 1 if best else None]:
            print(entry.text if best else entry)
