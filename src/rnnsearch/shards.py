"""Work on many lines in shards: done by several processes, and kept until the output is written.

A shard has a fixed number of lines, whatever the number of processes, and what is done with it depends on it alone: so the
results are the same, to the last bit, in any number of processes. A shard and its result are plain values of JSON.

The processes are forked where the system can do that, and so they share the memory of what the work holds: a model that was
loaded before is there once. `Kept` has the results of finished shards in files, for a run that goes on after it was killed.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import sys
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from hashlib import blake2b
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any, TypeAlias, TypeVar

from rnnsearch.atomic import acquire_lock, atomic_write
from rnnsearch.errors import RnnsearchError, RnnsearchWarning
from rnnsearch.untrusted import MEGABYTE, read_json
from rnnsearch.version import __version__

Plain: TypeAlias = Any
"""A value as JSON has them."""
Work: TypeAlias = Callable[[Plain], Plain]
"""What is done with a shard. It must be picklable where processes cannot be forked."""
T = TypeVar("T")

LINES = 1000
"""Lines, or pairs of lines, in a shard."""
AHEAD = 2
"""For each process, this many shards are under way or wait for those before them: more are not read."""

_MOST_RESULT = 1024 * MEGABYTE
"""Bytes of the result of a shard."""
MOST_BY_DEFAULT = 16
"""Processes: what one process has to do itself keeps no more than these busy."""
_FORKED = sys.platform == "linux"
_PATIENCE = 5.0
"""Seconds until the processes of a run that was killed must have ended."""


def cut(rows: Iterable[T], size: int | None = None) -> Iterator[list[T]]:
    """These rows in lists of `size` (by default `LINES`); the last one may have fewer."""
    rows = iter(rows)
    while shard := list(islice(rows, size or LINES)):
        yield shard


def default_jobs() -> int:
    """The number of processes for work that is not done by threads: one a core, and one where processes are not forked.

    There, a process runs the caller's script anew, which has to be made for it.
    """
    return min(os.cpu_count() or 1, MOST_BY_DEFAULT) if _FORKED else 1


class Kept:
    """The results of finished shards, in a folder beside an output until it is written.

    A result is found by a digest of its shard, and only by the same run: one of the same version of this program and with
    the same `run`, which says what else the results depend on. For another run the folder is emptied first, with a warning.
    Use it in a `with` statement; when that ends without an error, the folder is removed.
    """

    def __init__(self, output: Path, run: Mapping[str, Plain]) -> None:
        """`output` is a file or a folder; the kept results are in the folder beside it that is called `output.parts`."""
        named = output if output.name.strip(".") else output.resolve()  # `.` has its name in the folder above
        if not named.name:
            raise RnnsearchError(f"{output}: this is the root of the file system; name a folder in it")
        self.folder = named.with_name(f"{named.name}.parts")
        self._output = output
        self._run = {"rnnsearch": __version__, **run}
        self._writing = threading.Lock()

    def __enter__(self) -> Kept:
        """Raises RnnsearchError where another run is at work beside this output, or where nothing can be written."""
        new = not self.folder.exists()
        self._made = [place for place in (self.folder, *self.folder.parents) if not place.exists()]
        try:
            self._lock = acquire_lock(self.folder / ".lock", _PATIENCE)
        except TimeoutError:
            raise RnnsearchError(
                f"{self._output}: another run is writing it, with its parts in {self.folder}; wait for it, or name another"
            ) from None
        except OSError as error:
            raise RnnsearchError(f"cannot write to {self.folder}: {error.strerror}") from None
        try:
            self._begin(new)
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def _begin(self, new: bool) -> None:
        manifest = self.folder / "run.json"
        wanted = json.dumps(self._run, indent=1, sort_keys=True) + "\n"
        if not new and _text(manifest) != wanted:
            if any(self.folder.glob("*.part")):
                warnings.warn(
                    f"{self.folder}: what is kept there is of another run, with other settings or another model, so this "
                    "run begins anew",
                    RnnsearchWarning,
                    stacklevel=3,
                )
            self.clear()
        self._write(manifest, wanted.encode())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or not any(self.folder.glob("*.part")):
            shutil.rmtree(self.folder, ignore_errors=True)
            with suppress(OSError):  # not empty: the output is there
                for place in self._made[1:]:
                    place.rmdir()
        self._lock.release()

    def clear(self) -> None:
        """Keep nothing of what has been kept so far."""
        for part in self.folder.glob("*.part"):
            part.unlink()

    def get(self, shard: Plain) -> Plain | None:
        """The result of this shard, if it is kept."""
        try:
            return read_json(self._part(shard), _MOST_RESULT)
        except (OSError, ValueError, RnnsearchError):  # there is none, or the disk has damaged it
            return None

    def put(self, shard: Plain, result: bytes) -> None:
        """Keep the result of this shard, as JSON."""
        with self._writing:
            self._write(self._part(shard), result)

    def _part(self, shard: Plain) -> Path:
        return self.folder / f"{blake2b(_json(shard), digest_size=16).hexdigest()}.part"

    def _write(self, path: Path, content: bytes) -> None:
        with atomic_write(path) as temporary:
            temporary.write_bytes(content)


def digest_of(*files: Path) -> str:
    """A digest of the content of these files, as a `run` may name them."""
    digest = blake2b(digest_size=16)
    for path in files:
        digest.update(f"{path.name}\n".encode("utf-8", "surrogateescape"))
        try:
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        except OSError as error:
            raise RnnsearchError(f"{path}: cannot read it: {error.strerror}") from None
    return digest.hexdigest()


class Workers:
    """So many processes that do the same work; with one job, it is done in this process.

    Use them in a `with` statement; they end with it, or with this process, however that ends. Start them before this process
    shows progress or starts other threads.
    """

    def __init__(self, work: Work, jobs: int = 1) -> None:
        """`work` is there in each process, with all that it holds, as it is now."""
        if jobs < 1:
            raise RnnsearchError(f"jobs = {jobs}: give the number of processes, 1 or more")
        self._work, self._jobs = work, jobs
        self._processes: list[_Process] = []

    def __enter__(self) -> Workers:
        if self._jobs > 1:
            try:
                for _ in range(self._jobs):
                    others = [process.connection for process in self._processes]
                    self._processes.append(_Process(self._work, _threads(self._jobs), others))
            except OSError as error:
                self._end()
                raise RnnsearchError(f"cannot start {self._jobs} processes: {error.strerror}; give fewer --jobs") from None
            except BaseException:
                self._end()
                raise
            self._idle: SimpleQueue[_Process] = SimpleQueue()
            for process in self._processes:
                self._idle.put(process)
            self._threads = ThreadPoolExecutor(self._jobs)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()  # it has nothing to lose, and a thread that waits for it waits no longer
        if self._jobs > 1:
            self._threads.shutdown(cancel_futures=True)
        self._end()

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes; none with one job."""
        return [process.pid for process in self._processes]

    def results(self, shards: Iterable[Plain], kept: Kept | None = None) -> Iterator[Plain]:
        """The result for each shard, in order; those that are kept are not computed again, and new ones are kept.

        Raises what the work raises, and RnnsearchError where a process has ended.
        """
        if self._jobs == 1:
            for shard in shards:
                found = None if kept is None else kept.get(shard)
                if found is None:
                    result = _json(self._work(shard))
                    if kept is not None:
                        kept.put(shard, result)
                    found = json.loads(result)
                yield found
            return
        ahead: deque[Future[Plain]] = deque()
        rest, failure = iter(shards), None
        while True:
            try:
                shard = next(rest)
            except StopIteration:
                break
            except Exception as error:  # it comes after the results of the shards before it
                failure = error
                break
            ahead.append(self._threads.submit(self._result, shard, kept))
            if len(ahead) >= AHEAD * self._jobs:
                yield ahead.popleft().result()
        yield from (future.result() for future in ahead)
        if failure is not None:
            raise failure

    def _result(self, shard: Plain, kept: Kept | None) -> Plain:
        found = None if kept is None else kept.get(shard)
        if found is None:
            process = self._idle.get()
            try:
                result = process.ask(shard)
            finally:
                self._idle.put(process)
            if kept is not None:
                kept.put(shard, result)
            found = json.loads(result)
        return found

    def _end(self) -> None:
        for process in self._processes:
            process.end()


class _Process:
    """A process that does the work, and the connection to it."""

    def __init__(self, work: Work, threads: int, others: list[Connection]) -> None:
        context: Any = multiprocessing.get_context("fork" if _FORKED else "spawn")
        self.connection, its = context.Pipe()
        # A process that is forked has the connections to itself and to those before it, too.
        self._process = context.Process(
            target=_do, args=(its, [self.connection, *others], work, threads), name="shards", daemon=True
        )
        with warnings.catch_warnings():
            # Threads of the parent are no danger: the work is done in a new thread, by libraries that may be forked.
            warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
            self._process.start()
        its.close()

    @property
    def pid(self) -> int:
        return int(self._process.pid)

    def ask(self, shard: Plain) -> bytes:
        """The result of the work on this shard, as JSON."""
        try:
            self.connection.send(shard)
            error, result = self.connection.recv()
        except (EOFError, OSError):
            self._process.join()
            raise RnnsearchError(
                f"a process has ended ({_how_it_ended(self._process.exitcode)}); if memory ran out, give fewer --jobs. What "
                "is finished is kept beside the output file, if there is one: run the same command again"
            ) from None
        if error is not None:
            raise error
        return bytes(result)

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def end(self) -> None:
        """End the process, wait for it, and close the connection."""
        self._process.kill()
        self._process.join()
        self.connection.close()


def _do(its: Connection, others: list[Connection], work: Work, threads: int) -> None:
    """What a process does until nobody listens at the other end of its connection; it closes `others`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    for name in {"SIGTERM", "SIGHUP"} & {*dir(signal)}:
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    for other in others:
        other.close()
    asked: SimpleQueue[Plain] = SimpleQueue()

    def compute() -> None:
        _use_threads(threads)
        with suppress(OSError):  # nobody listens
            while True:
                its.send(_done(work, asked.get()))

    # In a thread, for two reasons: this one learns at once that nobody listens; and OpenMP has threads for each thread that
    # begins a loop, of which those of this one may be the parent's, which are not here.
    threading.Thread(target=compute, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            asked.put(its.recv())
    os._exit(0)


def _done(work: Work, shard: Plain) -> tuple[Exception | None, bytes]:
    """The error that the work raises, or its result as JSON."""
    try:
        return None, _json(work(shard))
    except RnnsearchError as error:
        return error, b""
    except MemoryError:
        return RnnsearchError("the memory is not enough for so many processes; give fewer --jobs"), b""
    except Exception:
        return RuntimeError(traceback.format_exc()), b""


def _threads(jobs: int) -> int:
    """The number of PyTorch's threads in each process: its share of this one's."""
    if "torch" not in sys.modules:
        return 1
    import torch

    return max(1, torch.get_num_threads() // jobs)


def _use_threads(threads: int) -> None:
    if "torch" in sys.modules:  # what does without it need not wait for its import
        import torch

        torch.set_num_threads(threads)


def _how_it_ended(code: int | None) -> str:
    return f"exit status {code}" if code is None or code >= 0 else f"signal {-code}"


def _json(value: Plain) -> bytes:
    return json.dumps(value).encode()


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
