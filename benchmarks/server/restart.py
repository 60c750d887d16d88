"""How soon the server answers again after `kill -9`, and what becomes of its two processes when one of them is killed.

In every round the server is killed in the middle of its work, which must end the search process, and started again: the
seconds from the start of the program to its first translation, beside those of `python -c "import torch"` alone, measured in
the same round. Then the search process is killed, which must end the server, with one line that says so.
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, sized, undisturbed, write_speed
from benchmarks.server.clients import Client, Served

SENTENCE = "The old man gives the red book to the girl ."
PATIENCE = 10
"""The seconds in which the other process has to end."""


def killed(server: Served, which: str) -> float:
    """Kill one of the processes in the middle of its work: the seconds until the other one has ended."""
    processes = server.processes()

    async def kill() -> None:
        asking = asyncio.create_task(Client(server.port).translate("\n".join([SENTENCE] * 50)))
        await asyncio.sleep(0.1)
        os.kill(processes[which], signal.SIGKILL)
        await asyncio.gather(asking, return_exceptions=True)

    asyncio.run(kill())
    began = time.perf_counter()
    while any(_runs(process) for process in processes.values()):
        if time.perf_counter() - began > PATIENCE:
            raise SystemExit(f"the {which} process was killed, and the other one still runs after {PATIENCE} seconds")
        time.sleep(0.01)
    server.process.wait()
    return time.perf_counter() - began


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def one_round(model: Path, log: Path) -> dict[str, Any]:
    """Kill, start, kill."""
    search_ended = killed(Served(model), "server")
    began = time.perf_counter()
    server = Served(model, log=log)
    healthy = time.perf_counter() - began
    asyncio.run(Client(server.port).translate(SENTENCE))
    answered = time.perf_counter() - began
    server_ended = killed(server, "search 1")
    *_, told = log.read_text().splitlines()
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    return {
        "import_torch": round(time.perf_counter() - began, 3),
        "healthy": round(healthy, 3),
        "first_answer": round(answered, 3),
        "search_ended": round(search_ended, 3),
        "server_ended": round(server_ended, 3),
        "status": server.process.returncode,
        "lines": len(log.read_text().splitlines()),
        "told": told,
    }


def main() -> None:
    """Measure, and write the record."""
    arguments = Parser(__doc__, "model", rounds=sized(5, 1)).parse_args()

    on = machine()
    with TemporaryDirectory() as folder:
        one_round(arguments.model, Path(folder) / "log")
        run = undisturbed(lambda: [one_round(arguments.model, Path(folder) / "log") for _ in range(arguments.rounds)])
    rounds = run.found
    seconds = {name: statistics.median(one[name] for one in rounds) for name in list(rounds[0])[:5]}
    share = round(seconds["first_answer"] / seconds["import_torch"], 2)
    print(f"{seconds}; the first answer comes after {share} times what importing PyTorch takes")
    write_speed("server/restart", on, load=run.load(), seconds=seconds, times_of_import=share, rounds=rounds)
