"""What the server does to those who ask while others want nothing but harm.

Four honest clients ask for one sentence after the other, each for its next one when it has an answer. Beside them run, one
after the other, the attacks of `attacks.py`. The record has the latencies of the honest clients alone, during every attack
and after it, and how the attackers' connections ended; and of the server's two processes the memory, the files and the
threads at the beginning, after every attack, and at the end. Everything stays on the loopback address. `--scale 0.05` tries
the script; 10,000 connections need `ulimit -n 10100`.
"""

from __future__ import annotations

import asyncio
import itertools
import resource
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, sized, write_speed
from benchmarks.server.attacks import ATTACKS, PATIENCE, attacked
from benchmarks.server.clients import TRIMMING, Client, Served, closed_loop, in_process, lines_of, percentiles

HONEST = 4
SECONDS_ALONE = sized(10, 0.5)


async def honest(port: int, lines: Sequence[str], folder: Path) -> dict[str, Any]:
    """Honest clients, who put a file `begun` into the folder and ask until there is a file `stop`: how they fared."""
    latencies: list[float] = []
    failures: Counter[str] = Counter()
    places = itertools.cycle(lines)
    (folder / "begun").touch()

    async def client() -> None:
        connection = Client(port)
        while not (folder / "stop").exists():
            start = time.perf_counter()
            try:
                await asyncio.wait_for(connection.translate(next(places)), PATIENCE)
                latencies.append(time.perf_counter() - start)
            except (OSError, RuntimeError, asyncio.IncompleteReadError, TimeoutError) as error:
                failures[str(error)[:40] or type(error).__name__] += 1
                connection = Client(port)
                await asyncio.sleep(0.5)

    await asyncio.gather(*(client() for _ in range(HONEST)))
    return {"answered": len(latencies), "failures": dict(failures), **percentiles(latencies or [0.0, 0.0])}


def beside_honest(port: int, lines: Sequence[str], work: Callable[..., Any], *arguments: Any) -> tuple[Any, dict[str, Any]]:
    """Do some work while honest clients ask: what it returned, and how they fared."""
    with TemporaryDirectory() as name, ThreadPoolExecutor(1) as thread:
        folder = Path(name)
        asking = thread.submit(in_process, honest, port, lines, folder)
        while not ((folder / "begun").exists() or asking.done()):
            time.sleep(0.05)
        try:
            found = work(*arguments)
        finally:
            (folder / "stop").touch()
        return found, asking.result()


def main() -> None:
    """Attack, and write the record."""
    arguments = Parser(__doc__, "model", "source", only=ATTACKS, scale=sized(1.0, 0.01)).parse_args()

    on = machine()
    lines = lines_of(arguments.source, 500)
    attacks: dict[str, Any] = {}
    with Served(arguments.model, program=("-c", TRIMMING, "serve")) as server:
        port = server.port
        seconds, _, _ = in_process(closed_loop, port, lines, 32)
        rate = len(lines) / seconds
        _, alone = beside_honest(port, lines, time.sleep, SECONDS_ALONE)
        start = server.state()
        for name in arguments.only:
            began = time.perf_counter()
            ends, during = beside_honest(port, lines, in_process, attacked, name, port, arguments.scale, rate)
            seconds = round(time.perf_counter() - began, 1)
            _, after = beside_honest(port, lines, time.sleep, SECONDS_ALONE)
            state = server.state()
            what = {"what": (ATTACKS[name].__doc__ or "").strip(), "seconds": seconds, "connections_ended": ends}
            attacks[name] = {**what, "honest_during": during, "honest_after": after, "state": state}
            print(name, attacks[name], flush=True)
        healthy = server.answers()
    write_speed(
        "server/hostile",
        machine=on,
        scale=arguments.scale,
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        sentences_per_second=round(rate, 1),
        honest_clients=HONEST,
        honest_alone=alone,
        start=start,
        attacks=attacks,
        healthy_at_the_end=healthy,
    )
