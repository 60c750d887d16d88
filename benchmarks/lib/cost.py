"""Runs a command and prints, as one line of JSON, what it cost: processor seconds, seconds that passed, peak memory.

    python benchmarks/lib/cost.py COMMAND ARGUMENT...

This is a program of its own, which imports little: a process begins with the peak memory of the one that started it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

if __name__ == "__main__":
    began = time.monotonic()
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(os.waitstatus_to_exitcode(status) or 1)
    cost = {"processor": usage.ru_utime + usage.ru_stime, "passed": time.monotonic() - began}
    print(json.dumps(cost | {"megabytes": round(usage.ru_maxrss / 1024)}))
