"""The command line: `rnnsearch COMMAND`, a small module for each command, in the order of `--help`.

A command parses, calls and prints. It imports what is slow to import when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Annotated

import typer

from rnnsearch.cli import (
    align,
    average,
    compare,
    demo,
    download,
    evaluate,
    lexicon,
    prepare,
    presets,
    reproduce,
    rescore,
    score,
    select,
    train,
    translate,
)
from rnnsearch.errors import RnnsearchError
from rnnsearch.version import __version__

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    help="Neural machine translation that shows which source words each target word was read from "
    "(Bahdanau, Cho & Bengio 2015).",
    epilog="New here? `rnnsearch demo` trains a translator in about three minutes and shows all there is to see.",
)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"rnnsearch {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Options of the program itself; an empty docstring would hide its help."""


for module in (
    demo, download, select, prepare, train, translate, score, rescore,
    evaluate, compare, align, lexicon, average, presets, reproduce,
):
    app.command(module.__name__.rsplit(".", 1)[1])(module.command)


def main() -> None:
    """Run a command. What the user can put right is one line on standard error, and exit status 2."""
    # OpenMP's threads wait for each other in a busy loop; where another program wants a core, that slows both down many
    # times. A few turns of the loop are as fast on an idle machine. It is read when PyTorch is first imported.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    for stream in (sys.stdout, sys.stderr):  # what is read and written is UTF-8, whatever the locale
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except RnnsearchError as error:
        print(f"rnnsearch: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): not an error, and nothing more to say to it.
        sys.stderr.close()
        raise SystemExit(1) from None
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        print("rnnsearch: the disk is full, and the output is not whole; make room and run it again", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is left to write at exit
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
