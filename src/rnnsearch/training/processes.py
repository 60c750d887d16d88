"""The processes that train one model together: their ranks, the work that only the first does, and their communication.

`torchrun` starts them, on one machine or on several, and sets the environment variables by which they find each other;
`rnnsearch train --processes N` does the same (see `launch`). `torch.distributed` sends the tensors: by NCCL between GPUs, by
gloo otherwise. If a process does not answer for longer than `PATIENCE`, the others raise an error that names its rank.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.rendezvous import rendezvous

from rnnsearch.config import TrainingConfig
from rnnsearch.errors import RnnsearchError

T = TypeVar("T")

PATIENCE = timedelta(seconds=60)
"""The longest time that a process waits for another one that gives no sign of life."""
_ROLL_CALL = 5.0
"""The seconds that a process waits for the answers of the others in a roll call, which finds the missing ranks."""
_BEAT = 5.0
"""The seconds between two signs of life of the first process while it works alone."""
_POLL = 0.05
"""The seconds between two checks of a key of the store."""


class Processes:
    """The `count` processes of a training, as seen from the one with this `rank`; by default, one process alone."""

    def __init__(self, rank: int = 0, count: int = 1, store: Any = None) -> None:
        """`store` is the `torch.distributed.Store` that the processes share; None for a single process."""
        self.rank = rank
        self.count = count
        self._store = store
        self._tasks = 0
        self._parent = os.getppid()
        # Tensors on the CPU are sent by gloo, even if the gradients on GPUs are sent by NCCL.
        self._numbers = dist.new_group(backend="gloo", timeout=PATIENCE) if count > 1 else None

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files and prints messages."""
        return self.rank == 0

    @property
    def restarted(self) -> bool:
        """Whether `torchrun` has restarted the processes because one of them was killed or failed."""
        return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0

    def first_does(self, work: Callable[[], T]) -> T:
        """Call `work` in the first process only, and return its result, a value that JSON can represent, in all of them.

        The others wait, however long the call takes, while the first process gives signs of life. If `work` raises an
        exception, they exit with status 2.
        """
        if self.count == 1:
            return work()
        self._tasks += 1
        done = f"rnnsearch/task/{self._tasks}"
        if not self.first:
            answer = self._wait_for_first(done)
            if "failed" in answer:
                raise SystemExit(2)
            result: T = answer["result"]
            return result
        with self._signs_of_life(done):
            try:
                result = work()
            except BaseException:
                with contextlib.suppress(RuntimeError):
                    self._store.set(done, json.dumps({"failed": True}))
                raise
        with self.reached():
            self._store.set(done, json.dumps({"result": result}))
        return result

    @contextlib.contextmanager
    def _signs_of_life(self, done: str) -> Iterator[None]:
        """Return a context in which a thread increments the counter `done`/beat of the store every `_BEAT` seconds."""
        ended = threading.Event()

        def beat() -> None:
            while not ended.wait(_BEAT):
                with contextlib.suppress(RuntimeError):
                    self._store.add(f"{done}/beat", 1)

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _wait_for_first(self, done: str) -> dict[str, Any]:
        """Wait until the first process has set the key `done`, and return its value.

        Raises RnnsearchError if the first process has given no sign of life for `PATIENCE`.
        """
        beats, heard = -1, time.monotonic()
        with self.reached():
            while not self._store.check([done]):
                now = self._store.add(f"{done}/beat", 0)
                if now != beats:
                    beats, heard = now, time.monotonic()
                if time.monotonic() - heard > PATIENCE.total_seconds():
                    raise RnnsearchError(_no_answer("0"))
                time.sleep(_POLL)
            answer: dict[str, Any] = json.loads(self._store.get(done))
            return answer

    def exchange(self, x_NX: Tensor) -> Tensor:
        """Send row r to process r, for every r, and return the rows that this process receives, ordered by sender."""
        if self.count == 1:
            return x_NX
        received_NX = torch.empty_like(x_NX)
        with self.reached():
            dist.all_to_all_single(received_NX, x_NX)
        return received_NX

    def gather(self, x: Tensor) -> Tensor:
        """Return the tensors of all processes, which must have one shape, stacked in the order of the ranks."""
        # gloo's all-to-all is much faster than its all-gather.
        return self.exchange(x.expand(self.count, *x.shape).contiguous())

    def add(self, x: Tensor) -> Tensor:
        """Sum a small tensor on the CPU over all processes, in place, and return it."""
        if self.count > 1:
            with self.reached():
                dist.all_reduce(x, group=self._numbers)
        return x

    def agree(self, stop: bool, seconds: float) -> tuple[bool, float]:
        """Return whether any process has a request to stop, and the `seconds` of the first process.

        A process whose parent has ended requests a stop, because its launcher can no longer do so.
        """
        if self.count == 1:
            return stop, seconds
        stop = stop or os.getppid() != self._parent
        stops, seconds = self.add(torch.tensor([stop, seconds if self.first else 0.0], dtype=torch.float64)).tolist()
        return stops > 0, seconds

    def check_same(self, number: int, what: str) -> None:
        """Raise RnnsearchError, which begins with `what`, if the number of any process differs from that of the first."""
        numbers = torch.zeros(self.count, dtype=torch.int64)
        numbers[self.rank] = number
        self.add(numbers)
        differing = [str(rank) for rank, other in enumerate(numbers.tolist()) if other != numbers[0]]
        if differing:
            raise RnnsearchError(
                f"{what} of training process {', '.join(differing)} differ from those of process 0: their processors or "
                "libraries compute different bits; train on equal machines, with equal versions and numbers of threads"
            )

    def leave(self) -> None:
        """End the communication. The first process, which may host the store, waits up to `_BEAT` seconds for the others."""
        with contextlib.suppress(RuntimeError):
            if not self.first:
                self._store.add("rnnsearch/left", 1)
            limit = time.monotonic() + _BEAT
            while self.first and time.monotonic() < limit and self._store.add("rnnsearch/left", 0) < self.count - 1:
                time.sleep(_POLL)
        dist.destroy_process_group()

    @contextlib.contextmanager
    def reached(self) -> Iterator[None]:
        """Return a context that turns failures of communication into RnnsearchErrors with the ranks that did not answer."""
        began = time.monotonic()
        try:
            yield
        except RuntimeError as error:
            if not _is_of_communication(error):
                raise
            # If a connection was closed early, other processes may still be waiting for data of this one. They would not
            # answer a roll call and would seem to be missing, so there is one only after a timeout.
            waited = time.monotonic() - began > 0.9 * PATIENCE.total_seconds()
            missing = self._missing() if waited else ""
            raise RnnsearchError(_no_answer(missing) if missing else _lost(error)) from None

    def _missing(self) -> str:
        """Return the ranks that do not answer a roll call, separated by commas.

        All processes that are alive answer, because they have waited for the missing ones just as long as this process.
        """
        missing, until = list[str](), time.monotonic() + _ROLL_CALL
        with contextlib.suppress(RuntimeError):  # raised if the process that hosts the store has ended
            self._store.set(f"present/{self.rank}", "")
            while True:
                missing = [str(rank) for rank in range(self.count) if not self._store.check([f"present/{rank}"])]
                if not missing or time.monotonic() > until:
                    break
                time.sleep(_POLL)
        return ", ".join(missing)


@contextlib.contextmanager
def joined() -> Iterator[Processes]:
    """Return a context with the processes that `torchrun` has started; without `torchrun`, with this process alone."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Processes()
        return
    on_gpu = torch.cuda.is_available()
    if on_gpu:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    try:
        store, rank, count = next(rendezvous("env://", timeout=PATIENCE))
        dist.init_process_group("nccl" if on_gpu else "gloo", store=store, rank=rank, world_size=count, timeout=PATIENCE)
        processes = Processes(rank, count, store)
    except RuntimeError as error:  # the errors of torch.distributed are subclasses of it
        raise RnnsearchError(_lost(error)) from None
    try:
        yield processes
    finally:
        processes.leave()


def check_shards(config: TrainingConfig, count: int) -> None:
    """Raise RnnsearchError if an update has fewer shards than there are processes, so that some would have no work."""
    if config.reduction == "exact" and config.shards * config.accumulate < count:
        raise RnnsearchError(
            f"training.shards = {config.shards}: there is not one shard for each of {count} processes; give --set "
            f"training.shards={count} or a multiple (the weights depend on the number of shards, but not on the number of "
            "processes), or --set training.reduction=fast"
        )


def under_torchrun() -> bool:
    """Whether `torchrun` has started this process."""
    return "WORLD_SIZE" in os.environ


def rank() -> int:
    """Return the rank that `torchrun` has given this process; 0 without `torchrun`."""
    return int(os.environ.get("RANK", "0"))


def _is_of_communication(error: RuntimeError) -> bool:
    """Whether an error comes from the communication between processes.

    Errors of gloo have no class of their own, so they are recognised by their text. Other RuntimeErrors, such as a lack of
    memory, do not come from the communication.
    """
    return isinstance(error, dist.DistError) or bool(re.search("gloo|connection|timed out|recv", str(error), re.IGNORECASE))


def _lost(error: RuntimeError) -> str:
    """Return the message for an error of communication of which no particular rank is the cause."""
    reason = re.sub(r"^\[.*?\] ", "", str(error).splitlines()[0]).partition(". ")[0]
    return f"contact with the other training processes is lost ({reason}); --resume goes on from the last checkpoint"


def _no_answer(ranks: str) -> str:
    """Return the message for ranks that have not answered."""
    seconds = f"{PATIENCE.total_seconds():g} seconds"
    return f"training process {ranks} has not answered for {seconds}; --resume goes on from the last checkpoint"
