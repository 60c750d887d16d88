"""The command line: `rnnsearch COMMAND`, a small module for each command, in the order of `--help`.

A command parses, calls and prints. What is slow to import is imported when a command runs, so that `--help` answers at once:
for the same reason, help is plain text, without Rich.
"""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import sys
import warnings
from typing import Annotated, NoReturn, TextIO

import typer

from rnnsearch.cli import (
    align,
    average,
    compare,
    demo,
    download,
    evaluate,
    examples,
    export,
    learn_links,
    lexicon,
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
from rnnsearch.errors import RnnsearchError, RnnsearchWarning
from rnnsearch.version import __version__

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    rich_markup_mode=None,
    help="Neural machine translation by jointly learning to align and translate (Bahdanau, Cho & Bengio 2015).",
    epilog="To begin, run `rnnsearch demo`: it trains a small model in about five minutes and shows what it does. "
    "`echo 'Thank you very much.' | rnnsearch translate` needs no training: it uses the model that comes with the package.",
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
    """The options of the program itself."""


for module in (
    demo, download, select, prepare, train, translate, pronounce, serve, score, rescore, evaluate, compare, examples,
    align, learn_links, project, lexicon, average, export, push, models, presets, reproduce,
):
    app.command(module.__name__.rsplit(".", 1)[1].replace("_", "-"))(module.command)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning of ours as a note, without the place in the source that Python adds."""
    if issubclass(category, RnnsearchWarning):
        print(f"rnnsearch: {message}", file=sys.stderr)
    else:
        _show_python_warning(message, category, filename, lineno, file, line)


_show_python_warning = warnings.showwarning


def _exit_quickly() -> None:
    """Spare Python the look through all objects at exit, which takes half a second of a process that has imported PyTorch.

    The objects of Triton and of DuckDB have to be freed: their library reports those that are left.
    """
    if sys.modules.keys().isdisjoint(("triton", "duckdb")):
        gc.freeze()


def _refuse(reason: str) -> NoReturn:
    """End with one line that says why; a name in it may hold a line feed."""
    reason = reason.replace("\n", "\\n")
    print(f"rnnsearch: {reason}", file=sys.stderr)
    raise SystemExit(2) from None


def _is_out_of_memory(error: Exception) -> bool:
    """Whether memory could not be had: PyTorch reports that by an error of a general kind."""
    return isinstance(error, MemoryError) or "allocate memory" in str(error) or "out of memory" in str(error)


def main() -> None:
    """Run a command. An error that the user can put right is one line on standard error, with exit status 2."""
    # OpenMP's threads wait for each other in a busy loop, which slows them down many times if another program needs a core.
    # A short loop is as fast on an idle machine. The variable is read when PyTorch is first imported.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    # Pydantic otherwise searches all installed packages for plugins, which takes longer than its import.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    # Imports make many objects and hardly any garbage: looking for it as often as Python does takes 5% of a cold start.
    gc.set_threshold(50_000)
    atexit.register(_exit_quickly)
    for stream in (sys.stdout, sys.stderr):  # what is read and written is UTF-8, whatever the locale; names need not be
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    warnings.showwarning = _show_warning
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except RnnsearchError as error:
        _refuse(str(error))
    except BrokenPipeError:
        # The reader of the output has gone (`| head`), which is no error.
        sys.stderr.close()
        raise SystemExit(1) from None
    except OSError as error:
        # NumPy reports a full disk only in the text of the error.
        full = error.errno in (errno.ENOSPC, errno.EDQUOT) or (error.errno is None and " requested and " in str(error))
        if full and error.filename is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is left to be written at exit
            _refuse("the disk is full and the output is incomplete; make room and run it again")
        if error.errno is None:
            raise
        place = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        _refuse(f"{place}{os.strerror(error.errno)}")
    except (MemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        _refuse(
            "out of memory; smaller minibatches (training.batch_size), sizes (model.*), beams (search.beam) or groups of "
            "sentences (search.batch_sentences) need less"
        )
    except KeyboardInterrupt:
        raise SystemExit(130) from None
