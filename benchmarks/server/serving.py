"""The server beside `translate`: the same sentences, threads and search, asked for by many clients one by one.

First `Translator.translate` gets all sentences as one list, in a process of its own; then the clients, in another
process, ask the server for them in random order, each for its next sentence when it has an answer. Every answer is
compared with that of `translate`. At half load, sentences arrive at random times, half as many a second as the clients
were answered. The warm-up is not counted. Both run in turn, three times, and the medians are reported. `--processes 1`
compares one process that computes in all threads with the usual processes; it has a record of its own.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.lib.command import Parser
from benchmarks.lib.record import machine, sized, write_speed
from benchmarks.server.clients import Served, closed_loop, in_process, lines_of, open_loop, percentiles

TURNS = sized(3, 1)
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


def main() -> None:
    """Measure, and write the record."""
    parser = Parser(__doc__, "model", "source", sentences=sized(2000, 16), clients=sized(32, 4))
    parser.add_argument("--processes", type=int, help="the processes that search; else as many as the server likes")
    arguments = parser.parse_args()
    options = [] if arguments.processes is None else ["--processes", arguments.processes]

    on = machine()
    lines = lines_of(arguments.source, arguments.sentences)
    random.Random(7).shuffle(lines)
    turns, differences = [], 0
    for _ in range(TURNS):
        seconds, expected = offline(arguments.model, lines)
        with Served(arguments.model, *options) as server:
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
    write_speed(
        "-".join(["server/serving", *map(str, options[1:])]),
        machine=on,
        sentences=len(lines),
        clients=arguments.clients,
        differences=differences,
        share=statistics.median(turn["share"] for turn in turns),
        turns=turns,
    )
