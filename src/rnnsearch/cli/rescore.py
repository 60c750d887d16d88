"""`rnnsearch rescore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import Models, Tokenized


def command(
    model: Models,
    source: Annotated[Path, typer.Option("--source", "-s", help="The source text, a sentence a line.")],
    n_best: Annotated[Path, typer.Argument(help="Its n-best list: `line ||| translation ||| features ||| total`.")],
    name: Annotated[str, typer.Option("--name", help="What the new feature is called.")] = "RNNsearch0",
    weight: Annotated[
        float, typer.Option("--weight", help="Add this many times the log-probability to the total, and sort by it.")
    ] = 0.0,
    reverse: Annotated[
        bool, typer.Option("--reverse", help="The model translates the other way: log p(source | translation).")
    ] = False,
    best: Annotated[bool, typer.Option("--best", help="Write only the best translation of each sentence, as text.")] = False,
    tokenized: Tokenized = False,
) -> None:
    """Score another system's n-best lists, in Moses's format: a further feature, and on request a new order.

    Tune the weight on development data, with the other system's own tuner or by trying some.
    """
    from rnnsearch.data.read import read_lines
    from rnnsearch.translation import load
    from rnnsearch.translation.rescoring import read_n_best, rescore

    translator, lines, entries = load(*model), list(read_lines(source)), read_n_best(n_best)
    for sentence in rescore(translator, lines, entries, name=name, weight=weight, reverse=reverse, tokenized=tokenized):
        for entry in sentence[: 1 if best else None]:
            print(entry.text if best else entry)
