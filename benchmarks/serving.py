"""The server beside `translate`: the same sentences, threads and search, asked for by many clients one by one.

    python benchmarks/serving.py --model MODEL --source TEXT.en [--sentences 2000] [--clients 32] [--soak 100000]

First `Translator.translate` gets all sentences as one list, in a process of its own; then the clients, in another
process, ask the server for them in random order, each for its next sentence when it has an answer. Every answer is
compared with that of `translate`. At half load, sentences arrive at random times, half as many a second as the clients
were answered. `--soak` asks for so many more, and records the server's memory on the way. The warm-up is not counted.
Both run in turn, three times, and the medians are reported.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from record import machine, write_speed

OFFLINE = """
import json, sys, time
from rnnsearch import load
lines = json.load(sys.stdin)
translator = load(sys.argv[1])
translator.translate(lines[:32])
start = time.perf_counter()
found = [one.text for one in translator.translate(lines)]
print(json.dumps([time.perf_counter() - start, found]))
"""


def offline(model: Path, lines: Sequence[str]) -> tuple[float, list[str]]:
    """Seconds and translations of `translate`."""
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE, model], input=json.dumps(lines), capture_output=True, text=True, check=True
    )
    seconds, found = json.loads(done.stdout)
    return seconds, found


class Client:
    """One connection, which is kept."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def translate(self, line: str) -> str:
        if self._streams is None or self._streams[0].at_eof():  # the server closes idle connections
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        body = json.dumps({"q": line, "source": "en", "target": "fr", "split_sentences": False}).encode()
        head = f"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        writer.write(head.encode() + b"\r\n\r\n" + body)
        status, *headers = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        length = next(int(line.split(":")[1]) for line in headers if line.lower().startswith("content-length"))
        answer = json.loads(await reader.readexactly(length))
        if " 200 " not in status:
            raise RuntimeError(f"{status}: {answer}")
        return str(answer["translatedText"])


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
    """Run a coroutine in a process of its own, which is the clients'."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(_run, work.__name__, *arguments).result()


def _run(name: str, *arguments: Any) -> Any:
    return asyncio.run(globals()[name](*arguments))


class Served:
    """A server, as a program: what Python is told to run, and the options of `rnnsearch serve`."""

    def __init__(
        self,
        model: Path,
        *options: str,
        program: Sequence[object] = ("-m", "rnnsearch", "serve"),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        command = [sys.executable, *map(str, program), "--model", str(model), "--port", str(self.port), *options]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, **silent, env=environment)
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

    def processes(self) -> list[Path]:
        """The folders in /proc of its process, and of those that this one started."""
        found = [Path("/proc", str(self.process.pid))]
        for process in found:
            children = [number for task in process.glob("task/*/children") for number in task.read_text().split()]
            found += [Path("/proc", number) for number in children]
        return found

    def megabytes(self, which: str = "VmRSS") -> float:
        """The resident memory of its processes; their peaks, if `which` is `VmHWM`."""
        statuses = [(process / "status").read_text() for process in self.processes()]
        return round(sum(int(status.split(f"{which}:")[1].split()[0]) for status in statuses) / 1024, 1)

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()


def main() -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--soak", type=int, default=0)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--name", default="serving", help="of the record")
    arguments = parser.parse_args()

    on = machine()
    lines = [line for line in arguments.source.read_text(encoding="utf-8").splitlines() if line.strip()]
    lines = lines[: arguments.sentences]
    random.Random(7).shuffle(lines)
    turns, differences = [], 0
    for _ in range(arguments.turns):
        seconds, expected = offline(arguments.model, lines)
        with Served(arguments.model) as server:
            in_process(closed_loop, server.port, lines[:64], arguments.clients)
            served, latencies, found = in_process(closed_loop, server.port, lines, arguments.clients)
            half = in_process(open_loop, server.port, lines[: len(lines) // 2], len(lines) / served / 2)
        differences += sum(one != other for one, other in zip(found, expected, strict=True))
        turns.append(
            {
                "translate_sentences_per_second": round(len(lines) / seconds, 1),
                "served_sentences_per_second": round(len(lines) / served, 1),
                "share": round(seconds / served, 3),
                "full_load": percentiles(latencies),
                "half_load": percentiles(half),
            }
        )
        print(turns[-1], flush=True)
    record: dict[str, Any] = {
        "sentences": len(lines),
        "clients": arguments.clients,
        "differences": differences,
        "share": statistics.median(turn["share"] for turn in turns),
        "turns": turns,
    }
    if arguments.soak:
        memory, done = {}, 0
        with Served(arguments.model) as server:
            while done < arguments.soak:
                in_process(closed_loop, server.port, lines, arguments.clients)
                done += len(lines)
                memory[done] = server.megabytes()
                print(done, memory[done], flush=True)
        record["soak_megabytes"] = memory
    write_speed(arguments.name, machine=on, **record)


if __name__ == "__main__":
    main()
