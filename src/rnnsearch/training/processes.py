"""The processes that train one model together: which one this is, what the first does alone, and what all exchange.

`torchrun` starts them, on one machine or on many, and describes them to each other by environment variables; `rnnsearch
train --processes N` does the same (see `launch`). Tensors travel through `torch.distributed`: by NCCL between GPUs, by gloo
otherwise. A process that lets the others wait for longer than `PATIENCE` is an error, which names it.
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
"""The longest that a process waits for another one that gives no sign of life."""
_ROLL_CALL = 5.0
"""Seconds that those who are left wait for each other, when they find out who is missing."""
_BEAT = 5.0
"""Seconds between the signs of life that the first process gives while it works alone."""
_LOOK = 0.05
"""Seconds between looks at whether it has finished."""


class Processes:
    """The `count` processes of a training, seen from the one that has number `rank`. By default, this one alone."""

    def __init__(self, rank: int = 0, count: int = 1, store: Any = None) -> None:
        """`store` is the `torch.distributed.Store` of several processes."""
        self.rank = rank
        self.count = count
        self._store = store
        self._tasks = 0
        self._parent = os.getppid()
        # Numbers on the CPU go through gloo on a GPU as well.
        self._numbers = dist.new_group(backend="gloo", timeout=PATIENCE) if count > 1 else None

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files and talks to the user."""
        return self.rank == 0

    @property
    def restarted(self) -> bool:
        """Whether others were here before, which have ended because one of them was killed or failed."""
        return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0

    def first_does(self, work: Callable[[], T]) -> T:
        """What `work` returns in the first process, which alone calls it; plain values that JSON can hold.

        The others wait, however long it takes, as long as the first process lives. If it raises, they exit with status 2.
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
        beats, heard = -1, time.monotonic()
        with self.reached():
            while not self._store.check([done]):
                now = self._store.add(f"{done}/beat", 0)
                if now != beats:
                    beats, heard = now, time.monotonic()
                if time.monotonic() - heard > PATIENCE.total_seconds():
                    raise RnnsearchError(_no_answer("0"))
                time.sleep(_LOOK)
            answer: dict[str, Any] = json.loads(self._store.get(done))
            return answer

    def exchange(self, x_NX: Tensor) -> Tensor:
        """Send row r to process r, for all r. Returns what all of them have sent to this one, a row each."""
        if self.count == 1:
            return x_NX
        received_NX = torch.empty_like(x_NX)
        with self.reached():
            dist.all_to_all_single(received_NX, x_NX)
        return received_NX

    def gather(self, x: Tensor) -> Tensor:
        """The tensors of all processes, which have one shape, stacked in the order of their ranks."""
        # gloo exchanges much faster than it gathers.
        return self.exchange(x.expand(self.count, *x.shape).contiguous())

    def add(self, x: Tensor) -> Tensor:
        """The sum over all processes of a small tensor on the CPU, in place."""
        if self.count > 1:
            with self.reached():
                dist.all_reduce(x, group=self._numbers)
        return x

    def agree(self, stop: bool, seconds: float) -> tuple[bool, float]:
        """Whether any process has been asked to stop, and the seconds on the clock of the first.

        A process whose parent has gone asks to stop: nobody is left who could do it.
        """
        if self.count == 1:
            return stop, seconds
        stop = stop or os.getppid() != self._parent
        stops, seconds = self.add(torch.tensor([stop, seconds if self.first else 0.0], dtype=torch.float64)).tolist()
        return stops > 0, seconds

    def check_same(self, number: int, what: str) -> None:
        """Raise RnnsearchError if a process has another number than the first one has."""
        numbers = torch.zeros(self.count, dtype=torch.int64)
        numbers[self.rank] = number
        self.add(numbers)
        differing = [str(rank) for rank, found in enumerate(numbers.tolist()) if found != numbers[0]]
        if differing:
            raise RnnsearchError(
                f"{what} of training process {', '.join(differing)} differ from those of process 0: their processors or "
                "libraries compute different bits; train on equal machines, with equal versions and numbers of threads"
            )

    def leave(self) -> None:
        """End the communication. The first process leaves last, for the store may be its own, but waits only a little."""
        with contextlib.suppress(RuntimeError):
            if not self.first:
                self._store.add("rnnsearch/left", 1)
            limit = time.monotonic() + _BEAT
            while self.first and time.monotonic() < limit and self._store.add("rnnsearch/left", 0) < self.count - 1:
                time.sleep(_LOOK)
        dist.destroy_process_group()

    @contextlib.contextmanager
    def reached(self) -> Iterator[None]:
        """A context in which a failure of the communication is an error of one line, which names who has not answered."""
        began = time.monotonic()
        try:
            yield
        except RuntimeError as error:
            if not _is_of_communication(error):
                raise
            # Where a connection is closed, others may still wait for what this one has not sent: they would seem missing.
            waited = time.monotonic() - began > 0.9 * PATIENCE.total_seconds()
            missing = self._missing() if waited else ""
            raise RnnsearchError(_no_answer(missing) if missing else _lost(error)) from None

    def _missing(self) -> str:
        """Who does not come when all are called; all others come, for they have waited as long for the same ones."""
        missing, until = list[str](), time.monotonic() + _ROLL_CALL
        with contextlib.suppress(RuntimeError):  # of a store that ended with its process
            self._store.set(f"present/{self.rank}", "")
            while True:
                missing = [str(rank) for rank in range(self.count) if not self._store.check([f"present/{rank}"])]
                if not missing or time.monotonic() > until:
                    break
                time.sleep(_LOOK)
        return ", ".join(missing)


@contextlib.contextmanager
def joined() -> Iterator[Processes]:
    """The processes that `torchrun` has started together with this one; without `torchrun`, this one alone."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Processes()
        return
    on_gpu = torch.cuda.is_available()
    if on_gpu:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    try:
        store, rank, count = next(rendezvous("env://", timeout=PATIENCE))
        dist.init_process_group(
            "nccl" if on_gpu else "gloo", store=store, rank=rank, world_size=count, timeout=PATIENCE
        )
        processes = Processes(rank, count, store)
    except RuntimeError as error:  # those of torch.distributed are its subclasses
        raise RnnsearchError(_lost(error)) from None
    try:
        yield processes
    finally:
        processes.leave()


def check_shards(config: TrainingConfig, count: int) -> None:
    """Raise RnnsearchError if there are more processes than shards of an update, so that some would have nothing to do."""
    if config.reduction == "exact" and config.shards * config.accumulate < count:
        raise RnnsearchError(
            f"training.shards = {config.shards}: there is not one shard for each of {count} processes; give --set "
            f"training.shards={count} or a multiple (the weights depend on the number of shards, but not on the number of "
            "processes), or --set training.reduction=fast"
        )


def under_torchrun() -> bool:
    """Whether `torchrun` has started this process, alone or with others."""
    return "WORLD_SIZE" in os.environ


def rank() -> int:
    """The number of this process among those that `torchrun` has started; 0 without `torchrun`."""
    return int(os.environ.get("RANK", "0"))


def _is_of_communication(error: RuntimeError) -> bool:
    """gloo's own errors have no class of their own; nor has a lack of memory, which is another matter."""
    return isinstance(error, dist.DistError) or bool(re.search("gloo|connection|timed out|recv", str(error), re.IGNORECASE))


def _lost(error: RuntimeError) -> str:
    reason = re.sub(r"^\[.*?\] ", "", str(error).splitlines()[0]).partition(". ")[0]
    return f"contact with the other training processes is lost ({reason}); --resume goes on from the last checkpoint"


def _no_answer(ranks: str) -> str:
    seconds = f"{PATIENCE.total_seconds():g} seconds"
    return f"training process {ranks} has not answered for {seconds}; --resume goes on from the last checkpoint"
