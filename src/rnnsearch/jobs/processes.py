"""Child processes that end with their parent, even if the parent is killed."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:  # imported when the first process is started, which is rarely
    from concurrent.futures import Future
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
Result = TypeVar("Result")
FORKED = sys.platform == "linux"
"""Whether processes are forked, and so share the memory of loaded models; on other systems they are spawned."""


class Process:
    """A child process, and the connection to it.

    The child calls `do` with its end of the connection. `do` must return when the connection is closed, because this tells
    the child that its parent has ended. Start the child before this process has threads of its own.
    """

    def __init__(
        self,
        do: Callable[[Connection], None],
        name: str,
        before: Sequence[Process] = (),
        ignored: Sequence[str] = ("SIGINT",),
    ) -> None:
        """`before` are the earlier child processes; a forked child inherits their connections and closes them.

        The child ignores the signals `ignored`. `do` must be picklable on systems where processes are not forked.
        """
        import multiprocessing

        context: Any = multiprocessing.get_context("fork" if FORKED else "spawn")
        self.connection, its = context.Pipe()
        others = [self.connection, *(other.connection for other in before)]
        self._process = context.Process(target=_run, args=(its, others, do, ignored), name=name, daemon=True)
        with warnings.catch_warnings():
            # Forking is safe despite threads of the parent: the child works in a new thread, with libraries that allow it.
            warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
            self._process.start()
        its.close()

    @property
    def pid(self) -> int:
        """The process id."""
        return int(self._process.pid)

    def how_it_ended(self) -> str:
        """Wait for the end of the process, and return its exit status or the signal that killed it."""
        self._process.join()
        code = self._process.exitcode
        return f"exit status {code}" if code is None or code >= 0 else f"signal {-code}"

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def end(self, patience: float = 0.0) -> None:
        """Close the connection, wait so many seconds for the process to end, and then kill it."""
        self.connection.close()
        if patience:
            self._process.join(patience)
        self._process.kill()
        self._process.join()


def threads() -> int:
    """Return the number of computing threads of this process: `OMP_NUM_THREADS`, or the number of its processors."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Call a function that releases the lock of the interpreter, in `threads()` threads, and yield its results in order.

    At most as many results as threads are in memory. An exception of the function is raised here.
    """
    count = threads()
    if count == 1:
        yield from map(function, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(count) as pool:
        ahead: deque[Future[Result]] = deque()
        try:
            for one in items:
                if len(ahead) == count:
                    yield ahead.popleft().result()
                ahead.append(pool.submit(function, one))
            while ahead:
                yield ahead.popleft().result()
        finally:
            for waiting in ahead:
                waiting.cancel()


def thread_share(processes: int) -> int:
    """Return the number of threads of each of `processes` processes that share the threads of this one."""
    return max(1, threads() // processes)


def use_threads(count: int) -> None:
    """Compute with so many threads in this process."""
    os.environ["OMP_NUM_THREADS"] = str(count)
    torch = sys.modules.get("torch")
    if torch is not None:  # programs that do not use PyTorch need not wait for its import
        torch.set_num_threads(count)


def _run(its: Connection, others: Sequence[Connection], do: Callable[[Connection], None], ignored: Sequence[str]) -> None:
    for name in {"SIGINT", "SIGTERM", "SIGHUP"} & {*dir(signal)}:
        signal.signal(getattr(signal, name), signal.SIG_IGN if name in ignored else signal.SIG_DFL)
    for other in others:
        other.close()
    do(its)
