"""The division of many rows into shards, which several processes work on.

The size of a shard does not depend on the number of processes, and the result of a stage depends only on the shard. The
results are therefore the same, bit for bit, for any number of processes. Processes are forked if the system supports it, so
that they share the memory of the stage: a loaded model exists once.
"""

from __future__ import annotations

import json
import os
import threading
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from rnnsearch.errors import RnnsearchError
from rnnsearch.jobs.checkpoint import JobCheckpoint, Json
from rnnsearch.jobs.processes import FORKED, Process, thread_share, use_threads

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.connection import Connection

T = TypeVar("T")
Row = TypeVar("Row")
Result = TypeVar("Result")

LINES = 1000
"""The number of rows of a shard."""
AHEAD = 2
"""The largest number of shards per process that are computed or wait for earlier ones; no further rows are read."""
MOST_BY_DEFAULT = 16
"""The largest default number of processes; the parent cannot feed more."""


@dataclass(frozen=True)
class Shard(Generic[Row]):
    """Consecutive rows of a text; a row is a JSON value."""

    rows: list[Row]
    first: int = 0
    """The number of the first row."""
    whole: int = 0
    """The number of rows, from the first one on, whose records the caller needs in addition to the text to write."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings for these rows, where they differ from those of the stage."""


class Stage(Generic[Row, Result]):
    """The function that a job applies to each shard. It must be picklable on systems where processes cannot be forked.

    Its result is a JSON value, unless the stage overrides `to_plain` and `from_plain`. These are called only for results
    that another process sends or that are kept in a file.
    """

    command: ClassVar[str] = ""
    """The name that `identity` begins with."""

    def identity(self) -> dict[str, Json]:
        """Return everything that the results depend on besides the rows."""
        return {"command": self.command}

    def warm_up(self, jobs: int) -> None:
        """Prepare for so many processes, before they are forked. Raises RnnsearchError if this is impossible."""

    def __call__(self, shard: Shard[Row]) -> Result:
        """Return the result for a shard, which depends on nothing else."""
        raise NotImplementedError

    def to_plain(self, result: Result) -> Json:
        """Convert a result to JSON values, from which `from_plain` restores the same result, bit for bit."""
        return result

    def from_plain(self, plain: Json) -> Result:
        """See `to_plain`."""
        result: Result = plain
        return result


def cut(rows: Iterable[T], size: int | None = None) -> Iterator[list[T]]:
    """Yield these rows in lists of `size` (by default `LINES`); the last one may be shorter."""
    rows = iter(rows)
    while shard := list(islice(rows, size or LINES)):
        yield shard


def numbered(groups: Iterable[list[Row]], whole: int = 0, settings: Mapping[str, Any] | None = None) -> Iterator[Shard[Row]]:
    """Yield the groups of rows as shards; the caller needs the records of the first `whole` rows."""
    first = 0
    for rows in groups:
        yield Shard(rows, first, max(0, min(len(rows), whole - first)), dict(settings or {}))
        first += len(rows)


def default_jobs() -> int:
    """Return the number of processes for work without threads: one for each core, or one if processes are spawned.

    A spawned process runs the caller's script again, which has to be written for this.
    """
    return min(os.cpu_count() or 1, MOST_BY_DEFAULT) if FORKED else 1


class Workers(Generic[Row, Result]):
    """Processes that call the same stage; with one job, the stage is called in this process.

    Use them in a `with` statement. They end with it or with this process, even if this process is killed. Start them before
    this process shows progress or starts other threads.
    """

    def __init__(self, stage: Stage[Row, Result], jobs: int = 1) -> None:
        """Each process gets a copy of `stage` in its present state."""
        if jobs < 1:
            raise RnnsearchError(f"jobs = {jobs}: give the number of processes, 1 or more")
        self._stage, self._jobs = stage, jobs
        self._processes: list[Process] = []

    def __enter__(self) -> Workers[Row, Result]:
        if self._jobs > 1:
            from concurrent.futures import ThreadPoolExecutor

            do = partial(_answer, self._stage, thread_share(self._jobs))
            try:
                for _ in range(self._jobs):
                    self._processes.append(Process(do, "shards", self._processes))
            except OSError as error:
                self._end()
                raise RnnsearchError(f"cannot start {self._jobs} processes: {error.strerror}; give fewer --jobs") from None
            except BaseException:
                self._end()
                raise
            self._idle: SimpleQueue[Process] = SimpleQueue()
            for process in self._processes:
                self._idle.put(process)
            self._threads = ThreadPoolExecutor(self._jobs)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()  # it has no state to save, and this releases a thread that waits for it
        if self._jobs > 1:
            self._threads.shutdown(cancel_futures=True)
        self._end()

    @property
    def pids(self) -> list[int]:
        """The process ids; none with one job."""
        return [process.pid for process in self._processes]

    def results(self, shards: Iterable[Shard[Row]], kept: JobCheckpoint | None = None) -> Iterator[Result]:
        """Yield the result for each shard, in order. Kept results are not computed again, and new ones are kept.

        Raises the exceptions of the stage, and RnnsearchError if a process has ended.
        """
        if self._jobs == 1:
            for shard in shards:
                plain = None if kept is None else kept.get(vars(shard))
                if plain is not None:
                    yield self._stage.from_plain(plain)
                    continue
                result = self._stage(shard)
                if kept is not None:
                    kept.put(vars(shard), _json(self._stage.to_plain(result)))
                yield result
            return
        ahead: deque[Future[Json]] = deque()
        rest, failure = iter(shards), None
        while True:
            try:
                shard = next(rest)
            except StopIteration:
                break
            except Exception as error:  # it comes after the results of the shards before it
                failure = error
                break
            ahead.append(self._threads.submit(self._plain, shard, kept))
            if len(ahead) >= AHEAD * self._jobs:
                yield self._stage.from_plain(ahead.popleft().result())
        yield from (self._stage.from_plain(future.result()) for future in ahead)
        if failure is not None:
            raise failure

    def _plain(self, shard: Shard[Row], kept: JobCheckpoint | None) -> Json:
        plain = None if kept is None else kept.get(vars(shard))
        if plain is None:
            process = self._idle.get()
            try:
                result = _ask(process, shard)
            finally:
                self._idle.put(process)
            if kept is not None:
                kept.put(vars(shard), result)
            plain = json.loads(result)
        return plain

    def _end(self) -> None:
        for process in self._processes:
            process.end()


def _ask(process: Process, shard: Shard[Any]) -> bytes:
    """Send a shard to this process, and return the result of the stage as JSON."""
    try:
        process.connection.send(shard)
        error, result = process.connection.recv()
    except (EOFError, OSError):
        raise RnnsearchError(
            f"a process has ended ({process.how_it_ended()}); if memory ran out, give fewer --jobs. What is finished is "
            "kept beside the output file, if there is one: run the same command again"
        ) from None
    if error is not None:
        raise error
    return bytes(result)


def _answer(stage: Stage[Any, Any], threads: int, connection: Connection) -> None:
    """Call the stage with the shards that arrive, until the other end of the connection is closed."""
    shards: SimpleQueue[Shard[Any]] = SimpleQueue()

    def compute() -> None:
        use_threads(threads)
        with suppress(OSError):  # the connection is closed
            while True:
                connection.send(_done(stage, shards.get()))

    # The stage runs in a thread for two reasons. The main thread notices at once that the connection is closed. And OpenMP
    # has a thread pool for each thread that starts a loop; that of the main thread may be the parent's, which a fork loses.
    threading.Thread(target=compute, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            shards.put(connection.recv())
    os._exit(0)


def _done(stage: Stage[Any, Any], shard: Shard[Any]) -> tuple[Exception | None, bytes]:
    """Return the error that the stage raises, or its result as JSON."""
    try:
        return None, _json(stage.to_plain(stage(shard)))
    except RnnsearchError as error:
        return error, b""
    except MemoryError:
        return RnnsearchError("the memory is not enough for so many processes; give fewer --jobs"), b""
    except Exception:
        return RuntimeError(traceback.format_exc()), b""


def _json(value: Json) -> bytes:
    return json.dumps(value).encode()
