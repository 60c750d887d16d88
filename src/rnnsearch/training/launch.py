"""`train --processes N`: processes of one machine, started and watched by PyTorch's elastic launcher, as `torchrun` does."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Sequence
from uuid import uuid4

from torch.distributed.elastic.multiprocessing.api import SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from rnnsearch.errors import RnnsearchError

_SHUTDOWN_SECONDS = 120
"""Time to write a checkpoint when the user stops the run."""


def launch(count: int, arguments: Sequence[str]) -> int:
    """Run `rnnsearch ARGUMENTS` in `count` processes that train together. Returns the exit status.

    The cores are divided between the processes, unless `OMP_NUM_THREADS` says otherwise. If some of them are killed, the run
    goes on from its last checkpoint with those that are left.
    """
    logging.disable(logging.ERROR)  # of PyTorch's launcher
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores // count)))
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "FATAL")  # the errors that matter are those of `Processes`
    while True:
        config = LaunchConfig(
            min_nodes=1,
            max_nodes=1,
            nproc_per_node=count,
            run_id=str(uuid4()),
            rdzv_backend="c10d",
            rdzv_endpoint="localhost:0",
            max_restarts=0,
            shutdown_timeout=_SHUTDOWN_SECONDS,
        )
        try:
            elastic_launch(config, sys.executable)("-m", "rnnsearch", *arguments)
            return 0
        except SignalException:
            return 130
        except ChildFailedError as error:
            statuses = [failure.exitcode for failure in error.failures.values()]
        # The launcher itself ends the others by SIGTERM when one of them has ended.
        killed = [-status for status in statuses if status < 0 and status != -signal.SIGTERM]
        if not killed:
            return max(statuses)
        how = f"{len(killed)} of {count} training processes ended by {signal.Signals(killed[0]).name}"
        if len(killed) == count:
            raise RnnsearchError(f"{how}; --resume goes on from the last checkpoint")
        count -= len(killed)
        print(f"rnnsearch: {how}; going on from the last checkpoint with {count}", file=sys.stderr)
        if "--resume" not in arguments:
            arguments = [*arguments, "--resume"]
