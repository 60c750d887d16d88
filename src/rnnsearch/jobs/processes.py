"""Processes of this program that end with the one that started them, however that ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Given = TypeVar("Given")
Result = TypeVar("Result")
FORKED = sys.platform == "linux"
"""Whether a process is forked, and so shares the memory of what was loaded before; elsewhere it is started anew."""


class Process:
    """A process that was started here, and the connection to it.

    It runs `do` with the other end of the connection, which must return when nobody listens any more: a process whose
    parent has been killed learns it from that. Start it before this process has threads of its own.
    """

    def __init__(
        self,
        do: Callable[[Connection], None],
        name: str,
        before: Sequence[Process] = (),
        ignored: Sequence[str] = ("SIGINT",),
    ) -> None:
        """`before` are the processes that were started earlier, whose connections a forked process has too and closes.

        `ignored` are the signals that do not end the process; `do` must be picklable where processes are not forked.
        """
        context: Any = multiprocessing.get_context("fork" if FORKED else "spawn")
        self.connection, its = context.Pipe()
        others = [self.connection, *(other.connection for other in before)]
        self._process = context.Process(target=_run, args=(its, others, do, ignored), name=name, daemon=True)
        with warnings.catch_warnings():
            # Threads of the parent are no danger: the work is done in a new thread, by libraries that may be forked.
            warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
            self._process.start()
        its.close()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return int(self._process.pid)

    def how_it_ended(self) -> str:
        """The exit status or the signal, as soon as the process has ended."""
        self._process.join()
        code = self._process.exitcode
        return f"exit status {code}" if code is None or code >= 0 else f"signal {-code}"

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def end(self, patience: float = 0.0) -> None:
        """Close the connection, give the process so many seconds to end by itself, and end it."""
        self.connection.close()
        if patience:
            self._process.join(patience)
        self._process.kill()
        self._process.join()


def threads() -> int:
    """The number of threads that compute in this process: `OMP_NUM_THREADS`, or its processors."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(function: Callable[[Given], Result], given: Iterable[Given]) -> Iterator[Result]:
    """Call a function that releases the lock of the interpreter, in `threads()` threads, and yield its results in order.

    No more results than threads are in memory. Raises what the function raises.
    """
    count = threads()
    if count == 1:
        yield from map(function, given)
        return
    with ThreadPoolExecutor(count) as pool:
        ahead: deque[Future[Result]] = deque()
        try:
            for one in given:
                if len(ahead) == count:
                    yield ahead.popleft().result()
                ahead.append(pool.submit(function, one))
            while ahead:
                yield ahead.popleft().result()
        finally:
            for waiting in ahead:
                waiting.cancel()


def thread_share(processes: int) -> int:
    """The number of threads for each of so many processes: its share of this one's."""
    return max(1, threads() // processes)


def use_threads(count: int) -> None:
    """Compute with so many threads in this process."""
    os.environ["OMP_NUM_THREADS"] = str(count)
    torch = sys.modules.get("torch")
    if torch is not None:  # what does without it need not wait for its import
        torch.set_num_threads(count)


def _run(its: Connection, others: Sequence[Connection], do: Callable[[Connection], None], ignored: Sequence[str]) -> None:
    for name in {"SIGINT", "SIGTERM", "SIGHUP"} & {*dir(signal)}:
        signal.signal(getattr(signal, name), signal.SIG_IGN if name in ignored else signal.SIG_DFL)
    for other in others:
        other.close()
    do(its)
