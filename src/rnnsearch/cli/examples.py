"""`rnnsearch examples`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import (
    Beam,
    InstalledOrModels,
    PaperSearch,
    SearchSet,
    check_inputs,
    search_settings,
    tell_installed,
    translators_for,
)
from rnnsearch.cli.pictures import Pictures

_File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE.tsv",
        help="Sentences and translations by other systems, in tab-separated columns; the first line names the columns, "
        "and that of the sentences is `source`.",
    ),
]
_Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE.html", help="Where to write the page.")]
_Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FOLDER", help="Draw the alignments into this folder, as in Figure 3."),
]


def command(
    file: _File,
    output: _Output,
    model: InstalledOrModels = None,
    plot: _Plot = None,
    beam: Beam = None,
    paper: PaperSearch = False,
    set_: SearchSet = None,
) -> None:
    """Show translations beside those of other systems.

    The command translates the sentences of a table and writes a page with the translations, their alignments and the
    translations in the table, such as those that a paper prints. The page is one file without links to others.
    """
    settings = search_settings(paper, beam, set_)
    models = translators_for(file, model)
    check_inputs(file, models=models, outputs=[output])
    tell_installed(models, model)

    from rnnsearch.data.examples import read_examples
    from rnnsearch.report.page import Sample, write_page
    from rnnsearch.translation import load

    examples = read_examples(file)
    translator = load(*models)
    translations = translator.translate([example.source for example in examples], **settings)
    data = translator.system.config.data
    write_page(
        output,
        title=f"Translations beside those of {file.name}",
        introduction=f"{translator.kind} ({data.source_name} → {data.target_name}), {', '.join(map(str, models))}.",
        samples=[
            Sample(
                source_tokens=translation.source_tokens,
                target_tokens=translation.tokens,
                alignment=translation.alignment,
                source_text=example.source,
                translation_text=translation.text,
                others=example.others,
            )
            for example, translation in zip(examples, translations, strict=True)
        ],
    )
    pictures = Pictures(plot, len(examples))
    for example, translation in zip(examples, translations, strict=True):
        pictures.add(translation)
        print(example.source)
        for name, text in {"Translation": translation.text, **example.others}.items():
            print(f"  {name}: {text}")
    print(output)
