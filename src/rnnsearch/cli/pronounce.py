"""`rnnsearch pronounce`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import Beam, PronouncerOrModels, check_inputs, search_settings
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
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file, not to standard output.")
    ] = None,
    beam: Beam = None,
    n_best: Annotated[
        int, typer.Option("--n-best", min=1, help="Pronunciations written for each word, with their log-probabilities.")
    ] = 1,
) -> None:
    """Pronounce words: write each word, a tab, and its phones.

    Text is pronounced word by word, a line for each. Capitals are read as small letters, and letters with unknown accents
    without them; other unknown characters are left out. A line without words gives an empty line. The output is a table that
    `train --tsv` reads.
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

    from contextlib import ExitStack

    from rnnsearch.cli.output import written
    from rnnsearch.data.read import read_lines
    from rnnsearch.translation import load
    from rnnsearch.translation.lines import arriving
    from rnnsearch.translation.pronunciation import Pronouncer

    pronouncer = Pronouncer(load(*model))
    unread: dict[str, None] = {}
    with ExitStack() as stack:
        out = stack.enter_context(written(output))
        for lines in arriving(text or read_lines(source)):
            words = [pronouncer.words(line) for line in lines]
            of_words = iter(pronouncer.n_best([word for each in words for word in each], n_best, **settings))
            for each in words:
                rows = [(word, found) for word in each for found in next(of_words)]
                scores = [f"\t{found.score:.4f}" if n_best > 1 else "" for _, found in rows]
                out.writelines(f"{word}\t{found.text}{score}\n" for (word, found), score in zip(rows, scores, strict=True))
                if not rows:
                    out.write("\n")
                unread.update(dict.fromkeys(letter for word in each for letter in pronouncer.unreadable(word)))
            out.flush()
    if unread:
        shown = printable(" ".join(list(unread)[:20])) + (" …" if len(unread) > 20 else "")
        print(f"rnnsearch: left out, since {model[0].name} does not know how they are read: {shown}", file=sys.stderr)
