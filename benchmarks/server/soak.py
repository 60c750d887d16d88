"""Whether the server keeps to its memory: 100,000 requests of all kinds, among them some that nobody waits for.

MODEL is a small one, e.g. that of `rnnsearch demo`, and so are the sentences. The clients ask in a process of their own. The
memory, the files and the threads of the server's two processes are recorded after every so many requests; what stands after
the first 2,000 is compared with what stands at the end, before and after the C library gave back what is free. The same
text must have the same translation as when it was asked for first, however it is asked for and whoever else is asking.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, sized, write_speed
from benchmarks.server.clients import TRIMMING, Client, Served, in_process, lines_of

SETTLED = sized(2000, 30)
"""Requests after which all that is needed once is there."""
PARTS = sized(10, 1)
"""So often is the memory recorded on the way."""


async def ask(client: Client, kind: str, lines: Sequence[str], chance: random.Random) -> dict[str, str]:
    """A request of some kind about the first of the lines, or all of them; the plain translations that it gave."""
    line = lines[0]
    match kind:
        case "list":
            answer = await _translate(client, q=list(lines))
            return dict(zip(lines, answer["translatedText"], strict=True))
        case "alignment":
            return {line: (await _translate(client, q=line, alignment=True))["sentences"][0]["text"]}
        case "prefix":
            await _translate(client, q=line, prefix="le")
        case "n-best":
            return {line: (await _translate(client, q=line, alignment=True, n_best=3, alternatives=2))["translatedText"]}
        case "events":
            events = await client.post("/translate", "text/event-stream", q="\n".join(lines))
            data = [json.loads(part[6:]) for part in events.decode().split("\n") if part.startswith("data: {")]
            return {line: one["text"] for line, one in zip(lines, data[:-1], strict=True)}
        case "cancelled":
            await client.leave("/translate", 0.05 * chance.random(), q=list(lines))
        case "next words":
            await client.post("/next-words", q=line, prefix="le")
        case "score":
            await client.post("/score", q=list(lines), translation=["le chien ."] * len(lines))
        case _:
            return {line: await client.translate(line)}
    return {}


KINDS = ("text", "text", "text", "list", "alignment", "prefix", "n-best", "events", "cancelled", "next words", "score")


async def _translate(client: Client, **fields: object) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(await client.post("/translate", "application/json", **fields))
    return answer


async def soak(port: int, lines: Sequence[str], requests: int, clients: int, seed: int) -> dict[str, Any]:
    """So many requests: how many were of which kind, and how many translations were not the first ones."""
    first: dict[str, str] = {}
    asked: Counter[str] = Counter()
    differences = 0
    numbers = iter(range(requests))

    async def work(chance: random.Random) -> None:
        nonlocal differences
        client = Client(port)
        for _ in numbers:
            kind = chance.choice(KINDS)
            asked[kind] += 1
            found = await ask(client, kind, chance.sample(lines, 3), chance)
            differences += sum(first.setdefault(line, text) != text for line, text in found.items())

    await asyncio.gather(*(work(random.Random(f"{seed} {number}")) for number in range(clients)))
    return {"requests": dict(asked), "differences": differences}


def main() -> None:
    """Ask, and write the record."""
    arguments = Parser(__doc__, "model", "source", requests=sized(100_000, 60), clients=sized(16, 4)).parse_args()

    on = machine()
    lines = lines_of(arguments.source, 500)
    rows: list[dict[str, Any]] = []
    asked: Counter[str] = Counter()
    done = differences = 0
    with Served(arguments.model, program=("-c", TRIMMING, "serve")) as server:
        while done < arguments.requests:
            part = max(1, arguments.requests // PARTS) if done >= SETTLED else min(SETTLED, arguments.requests)
            part = min(part, arguments.requests - done)
            began = time.perf_counter()
            found = in_process(soak, server.port, lines, part, arguments.clients, done)
            rate = round(part / (time.perf_counter() - began), 1)
            done += part
            asked.update(found["requests"])
            differences += found["differences"]
            state = server.state()
            named = {f"{name} {what}": value for name, figures in state.items() for what, value in figures.items()}
            for what in ("megabytes", "trimmed_megabytes"):
                named[f"all {what}"] = round(sum(figures[what] for figures in state.values()), 1)
            rows.append({"requests": done, "requests_per_second": rate, **named})
            print(rows[-1], flush=True)
    growth = {name: round(rows[-1][name] / rows[0][name] - 1, 4) for name in named if name.endswith("megabytes")}
    print(f"growth since {rows[0]['requests']:,} requests: {growth}; {differences} translations changed")
    write_speed(
        "server/soak", on, clients=arguments.clients, asked=asked, differences=differences, growth=growth, states=rows
    )
