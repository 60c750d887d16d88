"""`rnnsearch rescore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import Jobs, Models, Output, Tokenized, check_inputs


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
    output: Output = None,
    tokenized: Tokenized = False,
    jobs: Jobs = 1,
) -> None:
    """Rescore the n-best lists of another system.

    The lists are in Moses's format. The log-probability becomes a new feature; with `--weight`, it is also added to the
    total, and the translations are sorted by that. With --output, a run that was killed goes on where it was.

    Tune the weight on development data, with the other system's tuner or by trying a few values.
    """
    check_inputs(source, n_best, models=model, outputs=[output], printed=output is None)

    from rnnsearch.cli.bar import bar, beside_output
    from rnnsearch.data.lines import read_lines
    from rnnsearch.jobs import cut, job
    from rnnsearch.translation import load
    from rnnsearch.translation.rescoring import GROUP, Rescorer, n_best_lists, read_n_best
    from rnnsearch.translation.stages import Rescore

    stage = Rescore(Rescorer(load(*model), name, weight, reverse, tokenized), model, best)
    lines = list(read_lines(source))
    with job(stage, output, jobs, bar("rescoring", None, len(lines), beside_output(output))) as rescoring:
        for _ in rescoring.rows(cut(n_best_lists(lines, read_n_best(n_best)), GROUP)):
            pass
