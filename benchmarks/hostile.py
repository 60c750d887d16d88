"""What the server does to those who ask while others want nothing but harm.

    python benchmarks/hostile.py --model MODEL --source TEXT.en [--only slow_headers] [--scale 1.0]

A few honest clients ask for one sentence after the other, each for its next one when it has an answer. Beside them run, one
after the other, the attacks below. The record has the latencies of the honest clients alone, during every attack and after
it, and what the attackers were answered: a status, `closed` or `reset` without any, `silence` where nothing came. At the end
it has the server's memory, before and after the C library gave back what is free, its files and its threads, beside those
at the start. Everything stays on the loopback address. `--scale 0.05` tries the script.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import multiprocessing
import random
import resource
import signal
import socket
import struct
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from record import machine, write_speed

from serving import Client, Served, closed_loop, in_process, percentiles

HONEST = 4
SECONDS_ALONE = 10
PATIENCE = 70
"""Longer than the longest limit of the server."""

TRIMMING = """
import ctypes, signal
signal.signal(signal.SIGUSR1, lambda *_: ctypes.CDLL(None).malloc_trim(0))
from rnnsearch.cli import main
main()
"""
"""The server's program, which gives free memory back when it gets a signal."""


def request(body: bytes, *headers: str, path: str = "/translate", length: int | None = None) -> bytes:
    """A POST of JSON."""
    size = len(body) if length is None else length
    lines = [f"POST {path} HTTP/1.1", "Host: x", "Content-Type: application/json", f"Content-Length: {size}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def asked(text: str, **how: object) -> bytes:
    return json.dumps({"q": text, "source": "en", "target": "fr", **how}).encode()


class Attacker:
    """One connection of an attack."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __aenter__(self) -> Attacker:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.transport.abort()

    async def send(self, *parts: bytes, pause: float = 0.0) -> None:
        """Send what the server takes."""
        for part in parts:
            if self.reader.at_eof():
                return
            self.writer.write(part)
            await self.writer.drain()
            if pause:
                await asyncio.sleep(pause)

    async def answer(self) -> str:
        """The status."""
        line = await asyncio.wait_for(self.reader.readline(), PATIENCE)
        return line.split()[1].decode() if line else "closed"


async def count(attacks: Sequence[Awaitable[str]]) -> dict[str, int]:
    """How often they ended how."""

    async def ending(attack: Awaitable[str]) -> str:
        try:
            return await attack
        except TimeoutError:
            return "silence"
        except ConnectionError:
            return "reset"
        except OSError as error:
            return error.strerror or "no connection"

    return dict(Counter(await asyncio.gather(*map(ending, attacks))))


async def slow_headers(port: int, scale: float, rate: float) -> dict[str, int]:
    """Connections that send a byte of their header every second."""

    async def attack() -> str:
        async with Attacker(port) as one:
            await one.send(*(bytes([byte]) for byte in b"POST /translate HTTP/1.1\r\nHost: " + b"x" * PATIENCE), pause=1)
            return await one.answer()

    return await count([attack() for _ in range(round(500 * scale))])


async def slow_bodies(port: int, scale: float, rate: float) -> dict[str, int]:
    """Connections that send a byte of their body every second."""

    async def attack() -> str:
        async with Attacker(port) as one:
            answer = asyncio.create_task(one.answer())
            with suppress(ConnectionError):
                await one.send(request(b"", length=1000), *[b" "] * PATIENCE, pause=1)
            return await answer

    return await count([attack() for _ in range(round(500 * scale))])


async def slow_readers(port: int, scale: float, rate: float) -> dict[str, int]:
    """Connections that ask for the OpenAPI document a thousand times, and read nothing."""

    async def attack() -> str:
        async with Attacker(port) as one:
            with suppress(TimeoutError):
                await asyncio.wait_for(one.send(*[b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"] * 1000), PATIENCE)
            await asyncio.sleep(PATIENCE)
            while await one.reader.read(10**6):
                pass
            return "closed"

    return await count([attack() for _ in range(round(50 * scale))])


async def disconnects(port: int, scale: float, rate: float) -> dict[str, int]:
    """Clients that leave in the header, in the body, while they are waited for, and in the stream of events."""
    text = "\n".join(["The man can no longer go to the big house."] * 20)
    whole, events = request(asked(text)), request(asked(text), "Accept: text/event-stream")
    turns = asyncio.Semaphore(50)

    async def attack(number: int) -> str:
        async with turns, Attacker(port) as one:
            kind = number % 4
            await one.send((whole[:30], whole[:-20], whole, events)[kind])
            if kind == 3:
                await one.reader.readuntil(b"event: sentence")
            else:
                await asyncio.sleep(0.05 * random.random())
            # Without a farewell: the connection is reset.
            one.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return ("left in the header", "left in the body", "left while translated", "left in the events")[kind]

    return await count([attack(number) for number in range(round(1000 * scale))])


async def large_bodies(port: int, scale: float, rate: float) -> dict[str, int]:
    """Bodies of 100 MB: with their length, without it, and in chunks."""
    block, blocks = b"x" * 100_000, round(1000 * scale)
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

    async def attack(kind: int) -> str:
        async with Attacker(port) as one:
            answer = asyncio.create_task(one.answer())
            if kind == 0:
                parts = [request(b"", length=blocks * len(block)), *[block] * blocks]
            elif kind == 1:
                parts = [head + b"\r\n", *[block] * blocks]
            else:
                parts = [head + b"Transfer-Encoding: chunked\r\n\r\n", *[b"%x\r\n%s\r\n" % (len(block), block)] * blocks]
            with suppress(ConnectionError):
                await one.send(*parts)
            return ("with a length: ", "without: ", "in chunks: ")[kind] + await answer

    return await count([attack(number % 3) for number in range(12)])


async def nonsense(port: int, scale: float, rate: float) -> dict[str, int]:
    """What is no request of the protocol, no HTTP, no JSON or no UTF-8."""
    deep, ok = b"[" * 100_000, asked("Yes.")
    kinds = {
        "100,000 lists in lists": request(deep + b"]" * 100_000),
        "30,000 lists in lists": request(deep[:30_000] + b"]" * 30_000),
        "30,000 lists in lists of a key": request(b'{"q":' + deep[:30_000] + b"]" * 30_000 + b"}"),
        "no UTF-8": request(b'{"q":"\xff\xfe","target":"fr"}'),
        "half a character": request(b'{"q":"\\ud800","target":"fr"}'),
        "a number of 60,000 digits": request(b'{"q":"x","target":"fr","beam":' + b"9" * 60_000 + b"}"),
        "zeros": request(b"\0" * 1000),
        "no HTTP": b"\x16\x03\x01\x02\x00" + bytes(range(256)) * 4 + b"\r\n\r\n",
        "a header of 1 MB": b"POST /translate HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 10**6 + b"\r\n\r\n",
        "10,000 headers": b"POST /translate HTTP/1.1\r\nHost: x\r\n" + b"X: x\r\n" * 10_000 + b"\r\n",
        "a negative length": request(ok, length=-1),
        "two lengths": request(ok, "Content-Length: 1"),
        "a length and chunks": request(ok, "Transfer-Encoding: chunked"),
        "a million sentences": request(asked("a. " * 20_000)),
        "control characters": request(asked("".join(map(chr, range(32))) * 100)),
        "one long word": request(asked("x" * 4999)),
        "one long line": request(asked("x " * 2499)),
    }

    async def attack(name: str) -> str:
        async with Attacker(port) as one:
            answer = asyncio.create_task(one.answer())
            with suppress(ConnectionError):
                await one.send(kinds[name])
            try:
                return f"{name}: {await answer}"
            except ConnectionError:
                return f"{name}: reset"

    return await count([attack(name) for name in kinds for _ in range(round(1 + 9 * scale))])


async def open_connections(port: int, scale: float, rate: float) -> dict[str, int]:
    """10,000 connections on which nothing is said."""

    async def attack() -> str:
        async with Attacker(port) as one:
            return await one.answer()

    return await count([attack() for _ in range(round(10_000 * scale))])


async def flood(port: int, scale: float, rate: float) -> dict[str, int]:
    """Ten times as many sentences a second as the server can translate, whether or not they are answered."""

    async def attack(number: int) -> str:
        await asyncio.sleep(number / (10 * rate))
        async with Attacker(port) as one:
            await one.send(request(asked(f"The man can no longer go to house {number}.")))
            return await one.answer()

    return await count([attack(number) for number in range(round(10 * rate * 20 * scale))])


ATTACKS: dict[str, Callable[[int, float, float], Awaitable[dict[str, int]]]] = {
    attack.__name__: attack
    for attack in (
        *(slow_headers, slow_bodies, slow_readers, disconnects, large_bodies, nonsense),
        *(open_connections, flood),
    )
}


def attacked(name: str, port: int, scale: float, rate: float, answers: Connection) -> None:
    """The process of the attackers."""
    with suppress(ValueError, OSError):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    began = time.perf_counter()
    found = asyncio.run(ATTACKS[name](port, scale, rate))  # type: ignore[arg-type]
    answers.send((round(time.perf_counter() - began, 1), dict(sorted(found.items()))))


def honest(port: int, lines: Sequence[str], told: Connection) -> None:
    """The process of the honest clients: they ask until they are told to stop."""
    told.send(None)
    latencies: list[float] = []
    failures: Counter[str] = Counter()
    places = itertools.cycle(lines)

    async def client() -> None:
        connection = Client(port)
        while not told.poll():
            start = time.perf_counter()
            try:
                await asyncio.wait_for(connection.translate(next(places)), PATIENCE)
                latencies.append(time.perf_counter() - start)
            except (OSError, RuntimeError, asyncio.IncompleteReadError, TimeoutError) as error:
                failures[f"{type(error).__name__}: {str(error)[:60]}"] += 1
                connection = Client(port)
                await asyncio.sleep(0.5)

    async def clients() -> None:
        await asyncio.gather(*(client() for _ in range(HONEST)))

    asyncio.run(clients())
    told.send({"answered": len(latencies), "failures": dict(failures), **percentiles(latencies or [0.0, 0.0])})


class HonestClients:
    """Honest clients, as long as the block lasts; then `found` is how they fared."""

    def __init__(self, port: int, lines: Sequence[str]) -> None:
        self._here, there = SPAWN.Pipe()
        self._process = SPAWN.Process(target=honest, args=(port, lines, there))
        self.found: dict[str, Any] = {}

    def __enter__(self) -> HonestClients:
        self._process.start()
        self._here.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._here.send(None)
        self.found = self._here.recv()
        self._process.join()


SPAWN = multiprocessing.get_context("spawn")


def attack(name: str, port: int, scale: float, rate: float) -> tuple[float, dict[str, int]]:
    """Run an attack in a process of its own: the seconds it took, and how often its clients ended how."""
    here, there = SPAWN.Pipe()
    process = SPAWN.Process(target=attacked, args=(name, port, scale, rate, there))
    process.start()
    there.close()
    seconds, found = here.recv()
    process.join()
    return seconds, found


def state(server: Served) -> dict[str, float]:
    """Memory, files and threads of the server, when nothing is left to do and idle connections are closed."""
    deadline = time.monotonic() + 2 * PATIENCE
    while time.monotonic() < deadline:
        figures = dict(line.rsplit(" ", 1) for line in server.get("metrics").splitlines() if not line.startswith("#"))
        if not float(figures["rnnsearch_waiting_sentences"]) + float(figures["rnnsearch_searched_sentences"]):
            break
        time.sleep(0.2)
    time.sleep(12)
    before = server.megabytes()
    server.process.send_signal(signal.SIGUSR1)
    time.sleep(1)
    processes = server.processes()
    return {
        "waiting_sentences": float(figures["rnnsearch_waiting_sentences"]),
        "searched_sentences": float(figures["rnnsearch_searched_sentences"]),
        "megabytes": before,
        "megabytes_after_trim": server.megabytes(),
        "files": sum(len(list(process.glob("fd/*"))) for process in processes),
        "threads": sum(len(list(process.glob("task/*"))) for process in processes),
    }


def main() -> None:
    """Attack, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--only", choices=ATTACKS, action="append", help="not all attacks; may be repeated")
    parser.add_argument("--scale", type=float, default=1.0, help="the share of the attackers")
    parser.add_argument("--name", default="hostile", help="of the record")
    arguments = parser.parse_args()

    on = machine()
    lines = [line for line in arguments.source.read_text(encoding="utf-8").splitlines() if line.strip()][:500]
    sections: dict[str, Any] = {}
    with Served(arguments.model, program=("-c", TRIMMING, "serve")) as server:
        seconds, _, _ = in_process(closed_loop, server.port, lines, 32)
        rate = len(lines) / seconds
        with HonestClients(server.port, lines) as clients:
            time.sleep(SECONDS_ALONE)
        alone, start = clients.found, state(server)
        print("alone", alone, start, flush=True)
        for name in arguments.only or ATTACKS:
            with HonestClients(server.port, lines) as during:
                seconds, answers = attack(name, server.port, arguments.scale, rate)
            megabytes = server.megabytes()
            with HonestClients(server.port, lines) as after:
                time.sleep(SECONDS_ALONE)
            sections[name] = {
                "what": (ATTACKS[name].__doc__ or "").strip(),
                "seconds": seconds,
                "answers": answers,
                "megabytes": megabytes,
                "honest_during": during.found,
                "honest_after": after.found,
            }
            print(name, json.dumps(sections[name], indent=1), flush=True)
        end = state(server)
        print("end", end, flush=True)
        healthy = server.answers()
    write_speed(
        arguments.name,
        machine=on,
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        sentences_per_second=round(rate, 1),
        honest_clients=HONEST,
        honest_alone=alone,
        attacks=sections,
        start=start,
        end=end,
        healthy=healthy,
    )


if __name__ == "__main__":
    main()
