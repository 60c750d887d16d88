"""The memory of the server with both installed translators: of each process, at first and after many requests.

TEXT.en is translated into French and TEXT.fr into English, a line in each request, by some clients at once. Resident memory
counts what processes share in each of them; their proportional shares add up to what all of them take together. MB are
1,048,576 bytes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, sized, write_speed
from benchmarks.server.clients import Client, Served, lines_of
from rnnsearch.model_catalog import default_model

Request = tuple[str, str, str]
"""A line, its language, and that of its translation."""


def main() -> None:
    """Measure, record, print."""
    parser = Parser(__doc__, "source", "target", requests=sized(1000, 8), clients=sized(8, 2))
    parser.add_argument("--precision", default="int8", choices=["fp32", "int8"])
    parser.add_argument("--processes", type=int, help="the processes that search; else as many as the server likes")
    arguments = parser.parse_args()

    half = arguments.requests // 2
    english, french = (lines_of(file, half) for file in (arguments.source, arguments.target))
    requests = [one for pair in zip(english, french, strict=True) for one in ((pair[0], "en", "fr"), (pair[1], "fr", "en"))]
    count = [] if arguments.processes is None else ["--processes", str(arguments.processes)]
    models = ["--model", str(default_model("fr-en"))]
    options = [*models, *count, "--set", f"search.precision={arguments.precision}"]
    with Served(default_model("en-fr"), *options) as server:
        at_first = _memory(server)
        asyncio.run(_ask(server.port, requests, arguments.clients))
        afterwards = _memory(server)
    write_speed(
        f"server/memory-{arguments.precision}",
        machine(),
        requests=len(requests),
        clients=arguments.clients,
        at_first=at_first,
        afterwards=afterwards,
        together={when: _sum(found) for when, found in (("at_first", at_first), ("afterwards", afterwards))},
    )
    print(json.dumps({"at first": at_first, f"after {len(requests)} requests": afterwards}, indent=1))
    print(f"together: {_sum(at_first)} MB at first, {_sum(afterwards)} MB after {len(requests)} requests")


async def _ask(port: int, requests: Sequence[Request], clients: int) -> None:
    waiting = iter(requests)

    async def client() -> None:
        connection = Client(port)
        for line, source, target in waiting:
            await connection.post("/translate", q=line, source=source, target=target)

    await asyncio.gather(*(client() for _ in range(clients)))


def _memory(server: Served) -> dict[str, dict[str, float]]:
    """The resident memory of each process, and its share of the memory of all."""
    figures = {"resident_mb": "VmRSS", "peak_mb": "VmHWM", "share_mb": "Pss"}
    found = {name: server.megabytes(figure) for name, figure in figures.items()}
    return {process: {name: of[process] for name, of in found.items()} for process in found["share_mb"]}


def _sum(found: dict[str, dict[str, float]]) -> float:
    return round(sum(one["share_mb"] for one in found.values()), 1)
