"""The command line: `rnnsearch COMMAND`, a small module for each command.

A command parses, calls and prints. Slow imports happen when a command runs, so that `--help` answers at once, and none
happens before the program can handle signals and closed standard streams.
"""

from __future__ import annotations

import atexit
import errno
import gc
import os
import sys
import warnings
from pathlib import Path
from typing import NoReturn, TextIO

from rnnsearch.cli.signals import ended_by_signals
from rnnsearch.cli.streams import drop_output, prepare_streams
from rnnsearch.errors import RnnsearchError, RnnsearchWarning
from rnnsearch.extras import imports_of_extras

try:
    import resource
except ImportError:  # this system has no such limits
    resource = None  # type: ignore[assignment]


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning of this package as a note, without the position in the source that Python adds."""
    if issubclass(category, RnnsearchWarning):
        print(f"rnnsearch: {message}", file=sys.stderr)
    else:
        _show_python_warning(message, category, filename, lineno, file, line)


_show_python_warning = warnings.showwarning


def _exit_quickly() -> None:
    """Skip the last garbage collection at exit, which takes half a second in a process that has imported PyTorch.

    The objects of Triton and of DuckDB are freed, because their libraries report leaks.
    """
    if sys.modules.keys().isdisjoint(("triton", "duckdb")):
        gc.freeze()


def _refuse(reason: str) -> NoReturn:
    """Exit with a message of one line; line feeds, which names can contain, are escaped."""
    reason = reason.replace("\n", "\\n")
    print(f"rnnsearch: {reason}", file=sys.stderr)
    raise SystemExit(2) from None


_LEAST_MEMORY = 700_000_000
_OF_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
_NO_MEMORY = ("allocate memory", "out of memory", "bad_alloc", "failed to map segment", "start new thread")


def _is_out_of_memory(error: Exception) -> bool:
    """Return whether memory was exhausted, which libraries, and Python when it loads them, report by general errors."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _NO_MEMORY)


def main() -> None:
    """Run a command. An error that the user can put right is one line on standard error, with exit status 2."""
    with ended_by_signals():
        prepare_streams()
        # OpenMP's threads wait for each other in a busy loop, which slows them down many times if another program needs a
        # core. A short loop is as fast on an idle machine. The variable is read when PyTorch is first imported.
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")
        # So do the threads of OpenBLAS, for 2 to this power of cycles: by default more than 10 ms at every start.
        os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "16")
        # Pydantic otherwise searches all installed packages for plugins, which takes longer than its import.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
        # Imports make many objects and hardly any garbage: looking for it as often as Python does takes 5% of a cold start.
        gc.set_threshold(100_000)
        atexit.register(_exit_quickly)
        warnings.showwarning = _show_warning
        _run()


def _check_surroundings() -> None:
    """Raise RnnsearchError in situations in which libraries would abort the process with obscure messages."""
    try:
        Path.cwd()
    except OSError:
        raise RnnsearchError("the working folder has been removed; change into another one") from None
    if resource is not None:
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if 0 <= limit < _LEAST_MEMORY:
            raise RnnsearchError(
                f"not enough memory: this process may have {limit / 1e6:,.0f} MB of address space (ulimit -v), and "
                f"its libraries need {_LEAST_MEMORY / 1e6:,.0f} MB to be loaded; raise the limit"
            )


def _run() -> None:
    try:
        _check_surroundings()
        from rnnsearch.cli.commands import HIDDEN, application

        # If this program is called through a link with the name of another program, it behaves like that program.
        name = Path(sys.argv[0]).name
        try:
            with imports_of_extras():
                arguments = [name, *sys.argv[1:]] if name in HIDDEN else sys.argv[1:]
                application(arguments[0] if arguments else None)(arguments, prog_name="rnnsearch")
        finally:
            sys.stdout.flush()
    except RnnsearchError as error:
        _refuse(str(error))
    except BrokenPipeError:
        # The reader of the output has gone (`| head`), which is no error.
        drop_output()
        raise SystemExit(1) from None
    except OSError as error:
        # NumPy reports a full disk only in the text of the error.
        full = error.errno in (errno.ENOSPC, errno.EDQUOT) or (error.errno is None and " requested and " in str(error))
        if error.errno in _OF_OUTPUT and error.filename is None:
            drop_output()
        if full and error.filename is None:
            _refuse("the disk is full and the output is incomplete; make room and run it again")
        if error.errno is None:
            raise
        if error.filename is None:
            _refuse(error.strerror or os.strerror(error.errno))
        _refuse(f"{os.fsdecode(error.filename)}: {os.strerror(error.errno)}")
    except Exception as error:
        if not _is_out_of_memory(error):
            raise
        _refuse(
            "out of memory; smaller minibatches (training.batch_size), sizes (model.*), beams (search.beam) or groups of "
            "sentences (search.batch_sentences) need less"
        )
    except KeyboardInterrupt:
        raise SystemExit(130) from None
