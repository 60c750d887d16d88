"""Runs a command and prints, as one line of JSON, what it cost: processor seconds, seconds that passed, peak memory.

    python benchmarks/lib/cost.py [--temporary FOLDER ...] -- COMMAND ARGUMENT...

With `--temporary`, also the peak size on the disk of these folders together, which need not exist. This is a program of its
own, which imports little: a process begins with the peak memory of the one that started it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

INTERVAL = 0.2
"""Seconds between two looks at the temporary files."""
MEGABYTE = 1 << 20


class Watch:
    """The peak size of folders, as it is seen every `INTERVAL`."""

    def __init__(self, folders: list[str]) -> None:
        self.peak, self._folders, self._ended = 0, folders, threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while True:
            self.peak = max(self.peak, sum(map(on_disk, self._folders)))
            if self._ended.wait(INTERVAL):
                return

    def end(self) -> int:
        """Stop looking; the peak, in bytes."""
        self._ended.set()
        return self.peak


def on_disk(folder: str) -> int:
    """The bytes that the files of a folder take on the disk; files that vanish meanwhile are passed over."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(place, name).lstat().st_blocks * 512
    return total


if __name__ == "__main__":
    end = sys.argv.index("--")
    folders, command = sys.argv[2:end], sys.argv[end + 1 :]
    watch = Watch(folders) if folders else None
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    passed = time.monotonic() - began
    if status:
        sys.exit(os.waitstatus_to_exitcode(status) or 1)
    cost = {"processor": usage.ru_utime + usage.ru_stime, "passed": passed, "megabytes": round(usage.ru_maxrss / 1024)}
    print(json.dumps(cost | ({"temporary_megabytes": round(watch.end() / MEGABYTE)} if watch else {})))
