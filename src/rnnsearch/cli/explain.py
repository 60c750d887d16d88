"""`rnnsearch explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import Beam, SearchSet, check_inputs, model_option, search_settings


def command(
    sentence: Annotated[str, typer.Argument(metavar="SENTENCE", help="The sentence to translate, in quotation marks.")],
    page: Annotated[Path, typer.Option("--page", metavar="FILE.html", help="The page to write.")],
    model: Annotated[
        Path | None,
        model_option("A trained model: a folder, or a name on the Hub. By default the installed one, English to French."),
    ] = None,
    beam: Beam = None,
    set_: SearchSet = None,
) -> None:
    """Show on a page how a sentence is translated, step by step.

    Each step shows the equations of the paper with their numbers: the annotations, the energies and weights of the
    attention, the context, the maxout layer, the most probable words, the beam, the gates and the new state. Words of the
    source can be switched off or attended to alone, and other words can be written, to see what changes. The page is one
    file, which opens without a server and without a network.

    A sentence has at most 40 words or subwords. The model is an RNNsearch or an RNNencdec of the paper, not an ensemble.
    """
    from rnnsearch.model_catalog import default_model

    folder = model or default_model()
    settings = search_settings(False, beam, set_)
    check_inputs(None, models=[folder], outputs=[page], printed=True)

    from rnnsearch.report.steps import write_steps
    from rnnsearch.translation import load
    from rnnsearch.translation.explanation import explain

    explanation = explain(load(folder), sentence, **settings)
    write_steps(page, explanation)
    print(explanation.translation.text)
