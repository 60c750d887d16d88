"""`train --processes N`: starts and supervises processes on one machine with PyTorch's elastic launcher, like `torchrun`."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from tempfile import TemporaryDirectory
from uuid import uuid4

from torch.distributed.elastic.multiprocessing.api import DefaultLogsSpecs, SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from rnnsearch.errors import RnnsearchError

_SHUTDOWN_SECONDS = 120
"""The seconds that the processes have to write a checkpoint when the user stops the run."""


def launch(count: int, arguments: Sequence[str]) -> int:
    """Run `rnnsearch ARGUMENTS` in `count` processes that train together. Returns the exit status.

    The cores are divided between the processes, unless `OMP_NUM_THREADS` is set. If some of the processes are killed, the
    run continues from its last checkpoint with as many processes as were not killed.
    """
    _check_loopback(count)
    logging.disable(logging.ERROR)  # the messages of PyTorch's launcher
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, cores // count)))
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "FATAL")  # `Processes` reports errors of communication itself
    # PyTorch's launcher creates a folder for logs, which stays empty, and does not delete it.
    with TemporaryDirectory(prefix="rnnsearch-") as logs:
        return _launch(count, arguments, logs)


def _check_loopback(count: int) -> None:
    """Raise RnnsearchError if processes on this machine cannot connect to each other."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=5).close()
    except OSError as error:
        raise RnnsearchError(
            f"--processes {count}: they could not reach each other, for this machine's loopback interface does not work "
            f"({os.strerror(error.errno or 0)}); switch it on (ip link set lo up), or train in one process"
        ) from None


def _launch(count: int, arguments: Sequence[str], logs: str) -> int:
    while True:
        config = LaunchConfig(
            min_nodes=1,
            max_nodes=1,
            nproc_per_node=count,
            run_id=str(uuid4()),
            rdzv_backend="c10d",
            rdzv_endpoint="localhost:0",
            local_addr="localhost",
            logs_specs=DefaultLogsSpecs(log_dir=logs),
            max_restarts=0,
            shutdown_timeout=_SHUTDOWN_SECONDS,
        )
        try:
            # `-P` keeps the working folder off the module path: it may contain files with the names of modules.
            elastic_launch(config, sys.executable)("-P", "-m", "rnnsearch", *arguments)
            return 0
        except SignalException as stop:
            return 128 + int(stop.sigval)
        except ChildFailedError as error:
            statuses = [failure.exitcode for failure in error.failures.values()]
        # When one process has ended, the launcher ends the others by SIGTERM; they do not count as killed.
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
