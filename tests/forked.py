"""Programs without a start: `Popen` of `python -c CODE`, forked from a process that has imported everything.

Python needs seconds to import PyTorch, Numba and the rest, and the tests start some hundred programs. So one process, the
server, imports it all once and then only forks: a child takes over the standard streams, arguments, folder and environment
that it was asked for, and runs the code as `__main__`. It is a process like any other: with a number, signals, threads, exit
status and an interpreter that shuts down at the end.

What differs from a cold start:

- What happens while modules are imported has happened, once for all; nothing in it can be interrupted or fail. So it is with
  the parser of the command line.
- All children of a server have its hash seed, and its settings of what is read when Python or a library starts. A program
  that asks for other ones is refused (`_READ_AT_START`): use `subprocess`.
- NumPy's global random numbers, which this project does not use, begin with the same state in all of them.

The server has never run anything in parallel, for OpenMP's threads do not survive a fork: every child starts its own.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import io
import json
import os
import pkgutil
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

_LIBRARIES = (
    "torch", "torch._dynamo", "numba", "pyarrow", "safetensors.torch",
    "sacremoses", "sentencepiece", "sacrebleu", "matplotlib.pyplot",
)  # fmt: skip
"""What the package imports only when it needs it."""

_READ_AT_START = ("PYTHON", "LC_", "LANG", "OMP_", "GOMP_", "MKL_", "NUMBA_", "MPL", "LD_")
"""Beginnings of the environment variables that are read only when Python or a library starts."""


class Popen(subprocess.Popen[Any]):
    """`subprocess.Popen([sys.executable, "-c", code, *arguments], ...)`, at once.

    Takes the standard streams, `cwd`, `env` and what says how to read the streams (`text`, `encoding`, ...); nothing else.

    Raises:
        ValueError: if the command is another one, or `env` differs in what is read at the start.
    """

    # How a process is started, and how its end is noticed, are the three methods in which CPython's Popen for Windows
    # differs from that for POSIX.

    def _execute_child(self, args: Sequence[str], *rest: Any) -> None:  # type: ignore[override]
        cwd, env, pipes = rest[4], rest[5], rest[9:15]
        if [*args[:2]] != [sys.executable, "-c"]:
            raise ValueError(f"only [sys.executable, '-c', ...] can be forked, not {args[:2]}")
        ends = zip((pipes[0], pipes[3], pipes[5]), range(3), strict=True)
        streams = [end if end != -1 else usual for end, usual in ends]
        self._server, self.pid = fork(server(), args[2], args[3:], streams, cwd, os.environ if env is None else env)
        self._child_created = True
        self._close_pipe_fds(*pipes)

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        self._server.setblocking(not wait_flags & os.WNOHANG)
        try:
            return self.pid, int(self._server.recv(100))
        except BlockingIOError:
            return 0, 0

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):
            with contextlib.ExitStack() as stack:
                stack.callback(self._waitpid_lock.release)
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)
        return self.returncode


def fork(
    path: str, code: str, arguments: Sequence[str], streams: Sequence[int], cwd: Any, env: Mapping[str, str]
) -> tuple[socket.socket, int]:
    """A new process of the server at `path`: its number, and the connection on which the status of its end will come."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(path)
    request = [code, [*map(str, arguments)], os.fspath(cwd or Path.cwd()), {**env}]
    socket.send_fds(connection, [json.dumps(request).encode()], streams)
    answer = json.loads(connection.recv(10_000) or '"the server has gone"')
    if isinstance(answer, str):
        raise ValueError(answer)
    return connection, answer


@functools.cache
def server() -> str:
    """The socket of this process's server, started the first time. It ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="forked-"))
    path = str(folder / "socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen(100)
        command = [sys.executable, __file__, "serve", str(listener.fileno())]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[listener.fileno()])

    @atexit.register
    def end() -> None:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()
        shutil.rmtree(folder)

    return path


def command(code: str) -> list[str]:
    """What a shell has to run for `python -c CODE`; arguments may follow."""
    return [sys.executable, "-S", "-E", __file__, "run", server(), code]


# The server ----------------------------------------------------------------------------------------------------------


def _import_everything() -> None:
    typer = importlib.import_module("typer.main")
    typer.get_command = functools.cache(typer.get_command)  # the parser, which `main` builds here once for all
    from rnnsearch.cli import main

    sys.argv = ["rnnsearch", "presets"]
    aside = io.StringIO()
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(aside), contextlib.redirect_stderr(aside):
        main()  # for what it does before it imports PyTorch
    import rnnsearch

    for module in pkgutil.walk_packages(rnnsearch.__path__, "rnnsearch."):
        if not any(word in module.name for word in ("__main__", "cuda", "triton", "cluster", "graphs.translate")):
            importlib.import_module(module.name)
    sys.modules["triton"] = None  # PyTorch would load it, and it complains at the exit of a process that has frozen it
    for name in _LIBRARIES:
        importlib.import_module(name)
    importlib.import_module("numba").njit("int64(int64)")(lambda x: x)  # has Numba read the rest of itself
    del sys.modules["triton"]


def _serve(listener: socket.socket) -> tuple[str, list[str], str, dict[str, str], list[int]] | None:
    """Fork whenever asked to, until standard input ends. Returns None then; and in every child, what it is to do."""
    started_with = _read_at_start(os.environ)
    _import_everything()
    gc.freeze()  # a collection in a child would write to, and so copy, what they share
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(0, selectors.EVENT_READ)
        while True:
            ready = [key.fd for key, _ in selector.select()]
            if 0 in ready:
                return None
            connection, _ = listener.accept()
            with connection:
                # One process between the server and the child waits for its end.
                if os.fork() != 0:
                    continue
                listener.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                content, streams, _, _ = socket.recv_fds(connection, 2**20, 3)
                code, arguments, cwd, env = json.loads(content)
                if _read_at_start(env) != started_with:
                    connection.send(json.dumps(f"{env} differs from the server's in {_READ_AT_START}").encode())
                    os._exit(0)
                child = os.fork()
                if child == 0:
                    return code, arguments, cwd, env, streams
                for stream in streams:
                    os.close(stream)
                connection.send(str(child).encode())
                _, status = os.waitpid(child, 0)
                with contextlib.suppress(OSError):  # nobody wants to know
                    connection.send(str(status).encode())
                os._exit(0)


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(_READ_AT_START) and name != "OMP_NUM_THREADS"  # which `_become` can make up for
    }


def _become(code: str, arguments: list[str], cwd: str, env: dict[str, str], streams: list[int]) -> None:
    """Run the code as a Python does that was started for it."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    import torch

    # As a cold start has them: the package gives a forked process one thread, for those of its parent are not there.
    torch.set_num_threads(int(env.get("OMP_NUM_THREADS", len(os.sched_getaffinity(0)))))
    sys.argv, sys.path[0] = ["-c", *arguments], ""
    sys.stdin = sys.__stdin__ = _stream(0, "rb", sys.__stdin__)
    sys.stdout = sys.__stdout__ = _stream(1, "wb", sys.__stdout__)
    sys.stderr = sys.__stderr__ = _stream(2, "wb", sys.__stderr__)
    sys.modules["__main__"] = main = ModuleType("__main__")
    main.__annotations__ = {}
    try:
        exec(compile(code, "<string>", "exec"), vars(main))
        status = 0
    except SystemExit as stop:
        if not isinstance(stop.code, int | None):
            raise
        status = stop.code or 0
    # As Python ends a process, but for setting free one by one the million objects that the server made: half a second.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for output in (sys.stdout, sys.stderr):
        if not output.closed:
            output.flush()
    os._exit(status)


def _stream(number: int, mode: str, like: io.TextIOWrapper) -> io.TextIOWrapper:
    """A standard stream, as Python opens it."""
    unbuffered = like.write_through and mode == "wb"
    return io.TextIOWrapper(
        open(number, mode, buffering=0 if unbuffered else -1, closefd=False),
        like.encoding,
        like.errors,
        line_buffering=not like.write_through and (number == 2 or os.isatty(number)),
        write_through=like.write_through,
    )


def _run(path: str, code: str, *arguments: str) -> None:
    """In a child of the server at `path`; for shells (see `command`)."""
    connection, _ = fork(path, code, arguments, (0, 1, 2), None, os.environ)
    sys.exit(os.waitstatus_to_exitcode(int(connection.recv(100))))


if __name__ == "__main__":
    if sys.argv[1] == "run":
        _run(*sys.argv[2:])
    job = _serve(socket.socket(fileno=int(sys.argv[2])))
    if job:
        _become(*job)
