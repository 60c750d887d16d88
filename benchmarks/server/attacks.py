"""The attacks of `hostile.py`: each opens its connections, and says how often they ended how.

A connection ends with a status, or `closed` or `reset` without any; `silence` is where nothing came. `scale` is the share of
the attackers, and `rate` the number of sentences that the server can translate in a second.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from benchmarks.lib.record import sized
from benchmarks.server.clients import asked, request

PATIENCE = sized(70, 3)
"""Longer than the longest limit of the server, in seconds."""
TEXT = "The man can no longer go to the big house."


class Attacker:
    """One connection of an attack."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __aenter__(self) -> Attacker:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.transport.abort()

    async def send(self, *parts: bytes, pause: float = 0.0) -> str:
        """Send what the server takes, with pauses; the status of its answer."""
        answer = asyncio.create_task(self.answer())
        with suppress(ConnectionError):
            for part in parts:
                if self.reader.at_eof() or answer.done():
                    break
                self.writer.write(part)
                await self.writer.drain()
                if pause:
                    await asyncio.sleep(pause)
        return await answer

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
        except asyncio.IncompleteReadError as ended:
            return ended.partial.split()[1].decode() if ended.partial else "closed"
        except ConnectionError:
            return "reset"
        except OSError as error:
            return error.strerror or "no connection"

    return dict(sorted(Counter(await asyncio.gather(*map(ending, attacks))).items()))


async def sent(port: int, *parts: bytes, pause: float = 0.0, name: str = "") -> str:
    """How a connection ends on which this is sent."""
    try:
        async with Attacker(port) as one:
            return name + await one.send(*parts, pause=pause)
    except ConnectionError:
        return f"{name}reset"


def to_translate(body: bytes | dict[str, object], *headers: str, length: int | None = None) -> bytes:
    """A request with this body, or these fields."""
    if isinstance(body, dict):
        body = json.dumps(asked(**body)).encode()
    return request("/translate", body, *headers, length=length)


async def slow_headers(port: int, scale: float, rate: float) -> dict[str, int]:
    """500 connections that send a byte of their header every second."""
    header = [bytes([byte]) for byte in b"POST /translate HTTP/1.1\r\nHost: " + b"x" * PATIENCE]
    return await count([sent(port, *header, pause=1) for _ in range(round(500 * scale))])


async def slow_bodies(port: int, scale: float, rate: float) -> dict[str, int]:
    """500 connections that send a byte of their body every second."""
    parts = [to_translate(b"", length=1000), *[b" "] * PATIENCE]
    return await count([sent(port, *parts, pause=1) for _ in range(round(500 * scale))])


async def slow_readers(port: int, scale: float, rate: float) -> dict[str, int]:
    """50 connections that ask for the OpenAPI document a thousand times, and read nothing."""

    async def attack() -> str:
        async with Attacker(port) as one:
            one.reader._transport.pause_reading()  # type: ignore[attr-defined]
            one.writer.write(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 1000)
            await asyncio.sleep(PATIENCE)
            one.reader._transport.resume_reading()  # type: ignore[attr-defined]
            while await one.reader.read(10**6):
                pass
            return "closed"

    return await count([attack() for _ in range(round(50 * scale))])


async def disconnects(port: int, scale: float, rate: float) -> dict[str, int]:
    """1,000 clients that leave in the header, in the body, while they are waited for, and in the stream of events."""
    many: dict[str, object] = {"q": "\n".join([TEXT] * 20)}
    whole, events = to_translate(many), to_translate(many, "Accept: text/event-stream")
    places = {"header": whole[:30], "body": whole[:-20], "translation": whole, "events": events}
    turns = asyncio.Semaphore(50)

    async def attack(place: str) -> str:
        async with turns, Attacker(port) as one:
            one.writer.write(places[place])
            if place == "events":
                await asyncio.wait_for(one.reader.readuntil(b"event: sentence"), PATIENCE)
            else:
                await asyncio.sleep(0.05 * random.random())
            # Without a farewell: the connection is reset.
            one.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return f"left in the {place}"

    return await count([attack(place) for place in places for _ in range(round(250 * scale))])


async def large_bodies(port: int, scale: float, rate: float) -> dict[str, int]:
    """12 bodies of 100 MB: with their length, without it, and in chunks."""
    block, blocks = b"x" * 100_000, round(1000 * scale)
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    kinds = {
        "with a length: ": [to_translate(b"", length=blocks * len(block)), *[block] * blocks],
        "without: ": [head + b"\r\n", *[block] * blocks],
        "in chunks: ": [head + b"Transfer-Encoding: chunked\r\n\r\n", *[b"%x\r\n%s\r\n" % (len(block), block)] * blocks],
    }
    return await count([sent(port, *parts, name=name) for name, parts in kinds.items() for _ in range(4)])


async def nonsense(port: int, scale: float, rate: float) -> dict[str, int]:
    """What is no request of the protocol, no HTTP, no JSON or no UTF-8: ten of each kind."""
    deep, post = b"[" * 30_000 + b"]" * 30_000, b"POST /translate HTTP/1.1\r\nHost: x\r\n"
    kinds = {
        "200,000 brackets": to_translate(b"[" * 100_000 + b"]" * 100_000),
        "lists in lists": to_translate(deep),
        "lists in lists of a key": to_translate(b'{"target":"fr","q":' + deep + b"}"),
        "no UTF-8": to_translate(b'{"q":"\xff\xfe","target":"fr"}'),
        "half a character": to_translate(b'{"q":"\\ud800","target":"fr"}'),
        "a number of 60,000 digits": to_translate(b'{"q":"x","target":"fr","beam":' + b"9" * 60_000 + b"}"),
        "zeros": to_translate(bytes(1000)),
        "no HTTP": b"\x16\x03\x01\x02\x00" + bytes(range(256)) * 4 + b"\r\n\r\n",
        "a header of 1 MB": post + b"X: " + b"x" * 10**6 + b"\r\n\r\n",
        "10,000 headers": post + b"X: x\r\n" * 10_000 + b"\r\n",
        "a negative length": to_translate({"q": TEXT}, length=-1),
        "two lengths": to_translate({"q": TEXT}, "Content-Length: 1"),
        "a length and chunks": to_translate({"q": TEXT}, "Transfer-Encoding: chunked"),
        "20,000 sentences": to_translate({"q": "a. " * 20_000}),
        "2,000 lines": to_translate({"q": "a\n" * 2000}),
        "control characters": to_translate({"q": "".join(map(chr, range(32))) * 100}),
        "one long word": to_translate({"q": "x" * 4999}),
        "one long line": to_translate({"q": "x " * 2499}),
    }
    return await count(
        [sent(port, one, name=f"{name}: ") for name, one in kinds.items() for _ in range(max(1, round(10 * scale)))]
    )


async def open_connections(port: int, scale: float, rate: float) -> dict[str, int]:
    """10,000 connections on which nothing is said."""
    return await count([sent(port) for _ in range(round(10_000 * scale))])


async def flood(port: int, scale: float, rate: float) -> dict[str, int]:
    """For 20 seconds, ten times as many sentences as the server can translate, whether or not they are answered."""

    async def attack(number: int) -> str:
        await asyncio.sleep(number / (10 * rate))
        return await sent(port, to_translate({"q": f"{TEXT[:-1]} {number}."}))

    return await count([attack(number) for number in range(round(10 * rate * 20 * scale))])


ATTACKS: dict[str, Callable[[int, float, float], Awaitable[dict[str, int]]]] = {
    attack.__name__.replace("_", "-"): attack
    for attack in (slow_headers, slow_bodies, slow_readers, disconnects, large_bodies, nonsense, open_connections, flood)
}


async def attacked(name: str, port: int, scale: float, rate: float) -> dict[str, int]:
    """Run an attack, with as many connections as the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return await ATTACKS[name](port, scale, rate)
