"""`rnnsearch pronounce`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import Beam, Jobs, Output, PronouncerOrModels, check_inputs, search_settings
from rnnsearch.errors import RnnsearchError, printable


def command(
    text: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT]...", help="Words to pronounce. Without any, standard input.", show_default=False),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="Text to pronounce; `-` is standard input.")
    ] = None,
    model: PronouncerOrModels = None,
    output: Output = None,
    beam: Beam = None,
    n_best: Annotated[
        int, typer.Option("--n-best", min=1, help="Pronunciations written for each word, with their log-probabilities.")
    ] = 1,
    jobs: Jobs = 1,
) -> None:
    """Pronounce words: write each word, a tab, and its phones.

    Text is pronounced word by word, a line for each. Capitals are read as small letters, and letters with unknown accents
    without them; other unknown characters are left out. A line without words gives an empty line. The output is a table that
    `train --tsv` reads. With --output, a run that was killed goes on where it was.
    """
    if text and file is not None:
        raise RnnsearchError("give the words, or a --file with them, not both")
    from rnnsearch.model_catalog import PRONOUNCER, default_model

    settings = search_settings(False, beam, None)
    if not model:
        model = [default_model(PRONOUNCER)]
        print("rnnsearch: pronouncing English with the installed model; --model names another", file=sys.stderr)
    source = file or Path("-")
    check_inputs(None if text else source, models=model, outputs=[output], printed=output is None)

    from rnnsearch.cli.bar import bar, beside_output
    from rnnsearch.data.lines import read_lines
    from rnnsearch.jobs import cut, job
    from rnnsearch.translation import Pronouncer
    from rnnsearch.translation.lines import arriving
    from rnnsearch.translation.stages import Pronounce

    stage = Pronounce(Pronouncer.load(*model), model, n_best, settings)
    lines = text or read_lines(source)
    groups = arriving(lines) if output is None else cut(lines)
    unread: dict[str, None] = {}
    with job(stage, output, jobs, bar("pronouncing", file, None, beside_output(output))) as pronouncing:
        for done in pronouncing.rows(groups):
            unread.update(dict.fromkeys(done.note))
    if unread:
        shown = printable(" ".join(list(unread)[:20])) + (" …" if len(unread) > 20 else "")
        print(f"rnnsearch: left out, since {model[0].name} does not know how they are read: {shown}", file=sys.stderr)
