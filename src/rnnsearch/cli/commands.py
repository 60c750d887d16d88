"""All commands, in the order of `--help`, and the options of the program itself.

For a quick `--help`, help is plain text, without Rich.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from rnnsearch.cli.options import documentation
from rnnsearch.version import describe

COMMANDS = (
    "demo",
    "download",
    "select",
    "prepare",
    "train",
    "translate",
    "pronounce",
    "serve",
    "memory",
    "adapt",
    "score",
    "rescore",
    "evaluate",
    "compare",
    "examples",
    "align",
    "learn-links",
    "project",
    "lexicon",
    "average",
    "export",
    "push",
    "models",
    "presets",
    "reproduce",
    "check",
    "explain",
)
"""The commands, each of which is a module."""
HIDDEN = "eflomal-align", "eflomal-makepriors", "fast_align", "atools"
"""The commands that stand where other programs stood, and have the names of these programs."""


def _print_version(value: bool) -> None:
    if value:
        print(describe())
        raise typer.Exit


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


@cache
def application(name: str | None = None) -> typer.Typer:
    """The program with all of its commands, or with the one of this name alone, which starts in less time."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        rich_markup_mode=None,
        help="Neural machine translation by jointly learning to align and translate (Bahdanau, Cho & Bengio 2015).",
        epilog="To begin, run `rnnsearch demo`: it trains a small model in about five minutes and shows what it does. "
        "`echo 'Thank you very much.' | rnnsearch translate` needs no training: it uses the model that comes with the "
        "package. `eflomal-align`, `eflomal-makepriors`, `fast_align` and `atools` stand in for the programs of these "
        "names.",
    )
    app.callback()(_options)
    for one in [name] if name in (*COMMANDS, *HIDDEN) else (*COMMANDS, *HIDDEN):
        command = import_module(f"rnnsearch.cli.{one.replace('-', '_')}").command
        app.command(one, help=documentation(command), hidden=one in HIDDEN)(command)
    return app
