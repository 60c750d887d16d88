"""Writing down what a benchmark found, with what it takes to judge it."""

from __future__ import annotations

import os
import platform
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

import rnnsearch
from rnnsearch.files import write_json

RESULTS = Path(__file__).parent / "results"


def machine() -> dict[str, Any]:
    """The processor, its cores, the software, and how busy other programs keep the machine."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "background_cores": background_load(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "rnnsearch": rnnsearch.__version__,
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
    }


def background_load(seconds: float = 2.0) -> float | None:
    """Cores that are busy while this program sleeps; None where the system does not tell."""
    before = _busy_seconds()
    time.sleep(seconds)
    after = _busy_seconds()
    return None if before is None or after is None else round((after - before) / seconds, 2)


def _busy_seconds() -> float | None:
    stat = Path("/proc/stat")
    if not stat.exists():
        return None
    user, nice, system, _idle, _iowait, irq, softirq = map(int, stat.read_text().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def write_result(name: str, **found: Any) -> None:
    """Write `results/NAME.json`."""
    path = RESULTS / f"{name}.json"
    write_json(path, found)
    print(f"wrote {path}")
