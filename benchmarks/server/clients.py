"""The server as a program of its own, and clients that ask it, for the benchmarks of the server."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.lib.processes import children_of, megabytes
from benchmarks.lib.record import sized

TRIMMING = """
import ctypes, signal
signal.signal(signal.SIGUSR1, lambda *_: ctypes.CDLL(None).malloc_trim(0))
from rnnsearch.cli import main
main()
"""
"""The server's program, whose processes give free memory back when they get a signal."""


class Served:
    """A server, as a program: what Python is told to run, and the options of `rnnsearch serve`."""

    def __init__(
        self,
        model: Path,
        *options: object,
        program: Sequence[object] = ("-m", "rnnsearch", "serve"),
        environment: Mapping[str, str] | None = None,
        log: Path = Path(os.devnull),
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        command = [sys.executable, *map(str, program), "--model", str(model), "--port", str(self.port), *map(str, options)]
        with log.open("w") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
        while not self.answers():
            if self.process.poll() is not None:
                raise SystemExit(f"{' '.join(command)} has ended")
            time.sleep(0.02)

    def answers(self) -> bool:
        """Whether it is healthy."""
        try:
            return self.get("health") == '{"status":"ok"}'
        except OSError:
            return False

    def get(self, path: str) -> str:
        """What it answers to a GET."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}", timeout=60) as answer:
            return str(answer.read().decode())

    def figure(self, name: str) -> float:
        """A figure of `/metrics`."""
        lines = self.get("metrics").splitlines()
        return float(next(line.split()[1] for line in lines if line.split()[0] == name))

    def processes(self) -> dict[str, int]:
        """The server's process, and the search processes that it has started."""
        searching = children_of(self.process.pid)
        return {"server": self.process.pid, **{f"search {i}": child for i, child in enumerate(searching, 1)}}

    def megabytes(self, figure: str = "VmRSS") -> dict[str, float]:
        """The resident memory of each process, or another figure of it."""
        return {name: round(megabytes(process, figure), 1) for name, process in self.processes().items()}

    def peak_megabytes(self) -> float:
        """The largest resident memory of all processes together; what they share is counted once."""
        server, *others = self.processes().values()
        if not others:
            return round(megabytes(server, "VmHWM"), 1)
        # The search processes were forked, so each has all that they share with the server; its own part hardly grows.
        own = sum(megabytes(one, f"Private_{kind}") for one in (server, *others[1:]) for kind in ("Clean", "Dirty"))
        return round(own + megabytes(others[0], "VmHWM"), 1)

    def state(self) -> dict[str, dict[str, float]]:
        """Of each process: memory before and after the C library gave back what is free, files and threads.

        The program has to be `TRIMMING`. It waits until nothing is under way and idle connections are closed.
        """
        while self.figure("rnnsearch_sentences_under_way"):
            time.sleep(0.2)
        time.sleep(sized(12, 0.5))
        before, processes = self.megabytes(), self.processes()
        for process in processes.values():
            os.kill(process, signal.SIGUSR1)
        time.sleep(1)
        after = self.megabytes()
        return {
            name: {
                "megabytes": before[name],
                "trimmed_megabytes": after[name],
                "files": len(list(Path(f"/proc/{process}/fd").iterdir())),
                "threads": len(list(Path(f"/proc/{process}/task").iterdir())),
            }
            for name, process in processes.items()
        }

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()


class Client:
    """One connection, which is kept."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def translate(self, line: str) -> str:
        """Its translation."""
        return str(json.loads(await self.post("/translate", q=line))["translatedText"])

    async def post(self, path: str, accept: str = "application/json", **fields: object) -> bytes:
        """The answer to a request; RuntimeError where it is a failure."""
        if self._streams is None or self._streams[0].at_eof():  # the server closes idle connections
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(request(path, json.dumps(asked(**fields)).encode(), f"Accept: {accept}"))
        status, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines if line)
        if "content-length" in headers:
            answer = await reader.readexactly(int(headers["content-length"]))
        else:
            answer = b""
            while size := int(await reader.readline(), 16):
                answer += (await reader.readexactly(size + 2))[:-2]
            await reader.readline()
        if " 200 " not in status:
            raise RuntimeError(f"{status}: {answer.decode()}")
        return answer

    async def leave(self, path: str, seconds: float, **fields: object) -> None:
        """Ask, and go away without an answer after some time."""
        _, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(request(path, json.dumps(asked(**fields)).encode()))
        await asyncio.sleep(seconds)
        writer.transport.abort()


def asked(**fields: object) -> dict[str, object]:
    """The fields of a request. The server finds the sentences of its text, as `translate` does."""
    return {"source": "en", "target": "fr", **fields}


def request(path: str, body: bytes, *headers: str, length: int | None = None) -> bytes:
    """A POST of JSON; `length` is what it says of its own length, if that is not true."""
    size = len(body) if length is None else length
    lines = [f"POST {path} HTTP/1.1", "Host: x", "Content-Type: application/json", f"Content-Length: {size}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def closed_loop(port: int, lines: Sequence[str], clients: int) -> tuple[float, list[float], list[str]]:
    """Every client asks for the next sentence when it has an answer: seconds, latencies, translations."""
    found, latencies, places = [""] * len(lines), [0.0] * len(lines), iter(range(len(lines)))

    async def client() -> None:
        connection = Client(port)
        for place in places:
            start = time.perf_counter()
            found[place] = await connection.translate(lines[place])
            latencies[place] = time.perf_counter() - start

    start = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    return time.perf_counter() - start, latencies, found


async def open_loop(port: int, lines: Sequence[str], rate: float) -> list[float]:
    """Sentences arrive at random times, `rate` a second, whether or not others are answered: their latencies."""
    latencies: list[float] = []
    idle: list[Client] = []

    async def ask(line: str) -> None:
        start = time.perf_counter()
        connection = idle.pop() if idle else Client(port)
        await connection.translate(line)
        idle.append(connection)
        latencies.append(time.perf_counter() - start)

    pauses, tasks = random.Random(1), []
    for line in lines:
        tasks.append(asyncio.create_task(ask(line)))
        await asyncio.sleep(pauses.expovariate(rate))
    await asyncio.gather(*tasks)
    return latencies


def percentiles(latencies: Sequence[float]) -> dict[str, float]:
    """p50, p95 and p99 in milliseconds."""
    cuts = statistics.quantiles(latencies, n=100)
    return {f"p{cut}_ms": round(1000 * cuts[cut - 1], 1) for cut in (50, 95, 99)}


def in_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """Run a coroutine function of a module in a process of its own, which is the clients'."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(_run, work, *arguments).result()


def _run(work: Callable[..., Any], *arguments: Any) -> Any:
    return asyncio.run(work(*arguments))


def lines_of(source: Path, count: int) -> list[str]:
    """The first lines of a text that are not empty."""
    return [line for line in source.read_text(encoding="utf-8").splitlines() if line.strip()][:count]
