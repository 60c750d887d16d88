"""`rnnsearch eflomal-makepriors`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.eflomal_align import Joined, Source, Target, Verbose, sides
from rnnsearch.cli.options import check_inputs, files_of_pairs, special
from rnnsearch.errors import RnnsearchError


def command(
    forward: Annotated[
        Path, typer.Option("--forward-alignments", "-f", metavar="FILE", help="Forward links, `0-0 1-2 …` on each line.")
    ],
    reverse: Annotated[
        Path, typer.Option("--reverse-alignments", "-r", metavar="FILE", help="Reverse links, source-target as well.")
    ],
    source: Source = None,
    target: Target = None,
    joined: Joined = None,
    priors: Annotated[
        Path, typer.Option("--priors", "-p", metavar="FILE", help="Write the counts to this file; by default, print them.")
    ] = Path("-"),
    verbose: Verbose = False,
) -> None:
    """Count the links of a text as priors for aligning other text, with the options of eflomal-makepriors.

    Both files of links may be the same, with links that were joined. Words are counted as they are written.
    """
    texts = files_of_pairs(source, target, joined, "--input")
    output = None if str(priors) == "-" else priors
    check_inputs(*texts, forward, outputs=[None if special(output) else output], again=[*texts, forward, reverse])
    check_inputs(reverse, printed=output is None)

    from rnnsearch.data.lines import read_lines
    from rnnsearch.eflomal import calculate_priors, write_priors
    from rnnsearch.jobs.output import written

    try:
        counts = calculate_priors(*sides(texts), read_lines(forward), read_lines(reverse))
    except ValueError as error:
        raise RnnsearchError(f"{', '.join(map(str, texts))}: {error}") from None
    with written(output) as file:
        write_priors(file, *counts)
