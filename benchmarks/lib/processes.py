"""What the system tells of processes, in `/proc`."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import chain
from pathlib import Path


def children_of(process: int) -> list[int]:
    """The processes that a process has started, as far as they run."""
    children: list[int] = []
    with suppress(OSError):  # of a process or a thread that has just ended
        for task in Path(f"/proc/{process}/task").iterdir():
            children += map(int, (task / "children").read_text().split())
    return children


def descendants(process: int) -> list[int]:
    """The processes that a process has started, and those that these have started."""
    children = children_of(process)
    return [*children, *chain.from_iterable(map(descendants, children))]


def processor_seconds(process: int) -> float:
    """The processor time of a process and of those of its children that have ended."""
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def megabytes(process: int | str, figure: str) -> float:
    """The memory of a process in MB of 1,048,576 bytes: `VmRSS` now, `VmHWM` at most, or its proportional share, `Pss`.

    `getrusage` tells the starter's memory of a program that another one started, if that was larger.
    """
    file = "status" if figure.startswith("Vm") else "smaps_rollup"
    lines = Path(f"/proc/{process}/{file}").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{figure}:")) / 1024


def peak_megabytes(process: int | str = "self") -> int:
    """The largest resident memory of this program so far, or of another process, in MB."""
    return round(megabytes(process, "VmHWM"))


def busy_seconds() -> float | None:
    """The processor time of all programs; None where the system does not tell."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return None
    user, nice, system, _idle, _iowait, irq, softirq = map(int, stat.read_text().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
