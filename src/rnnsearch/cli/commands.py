"""All commands, in the order of `--help`, and the options of the program itself.

For a quick `--help`, help is plain text, without Rich.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli import (
    adapt,
    align,
    atools,
    average,
    check,
    compare,
    demo,
    download,
    eflomal_align,
    eflomal_makepriors,
    evaluate,
    examples,
    explain,
    export,
    fast_align,
    learn_links,
    lexicon,
    memory,
    models,
    prepare,
    presets,
    project,
    pronounce,
    push,
    reproduce,
    rescore,
    score,
    select,
    serve,
    train,
    translate,
)
from rnnsearch.cli.options import documentation
from rnnsearch.version import describe

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    rich_markup_mode=None,
    help="Neural machine translation by jointly learning to align and translate (Bahdanau, Cho & Bengio 2015).",
    epilog="To begin, run `rnnsearch demo`: it trains a small model in about five minutes and shows what it does. "
    "`echo 'Thank you very much.' | rnnsearch translate` needs no training: it uses the model that comes with the package. "
    "`eflomal-align`, `eflomal-makepriors`, `fast_align` and `atools` stand in for the programs of these names.",
)


def _print_version(asked: bool) -> None:
    if asked:
        print(describe())
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the versions of all that matters, and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
    plugin: Annotated[
        list[Path] | None,
        typer.Option(
            "--plugin",
            metavar="FILE.py",
            help="Run this file, which defines an alignment model or a cell of your own; may be repeated.",
        ),
    ] = None,
) -> None:
    """The options of the program itself."""
    from rnnsearch import plugins

    plugins.load_inherited()
    plugins.load_files(plugin or [])


def _add(name: str, command: Callable[..., None], hidden: bool = False) -> None:
    app.command(name, help=documentation(command), hidden=hidden)(command)


for module in (
    demo,
    download,
    select,
    prepare,
    train,
    translate,
    pronounce,
    serve,
    memory,
    adapt,
    score,
    rescore,
    evaluate,
    compare,
    examples,
    align,
    learn_links,
    project,
    lexicon,
    average,
    export,
    push,
    models,
    presets,
    reproduce,
    check,
    explain,
):
    _add(module.__name__.rsplit(".", 1)[1].replace("_", "-"), module.command)

_add("eflomal-align", eflomal_align.command, hidden=True)
_add("eflomal-makepriors", eflomal_makepriors.command, hidden=True)
_add("fast_align", fast_align.command, hidden=True)
_add("atools", atools.command, hidden=True)
