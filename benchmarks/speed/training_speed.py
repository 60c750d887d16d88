"""Training speed: target words a second of ours and of the peers, on the same length-varied text.

Every contestant trains with its own command, one after the other, round after round. An update is timed from one line of
progress to the next: reading the minibatch, cost, gradient, clipping and Adadelta. All read the whole text twice, and the
second time counts. Words are target words, end symbols counted, padding not.

With several sizes of minibatches, `--pairs 80 --pairs 320`, each contestant trains with each of them, and there are rows in
which every contestant has the size that suits it best. With `--against`, an earlier version of ours trains too.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.lib.command import SPEED, Parser
from benchmarks.lib.record import in_rounds, machine, sized, write_speed
from benchmarks.lib.speed_text import BATCH, SIZES, prepared_text, write_training_text
from benchmarks.peers.rnnsearch.contestant import train_ours
from benchmarks.peers.toolkit import Step, Task
from benchmarks.peers.toolkits import PEER_MODES, TOOLKITS, available, known_modes, makes_sense


class Contestant(NamedTuple):
    """A program or a mode of ours, and the number of pairs in its minibatches."""

    name: str
    pairs: int

    def __str__(self) -> str:
        return f"{self.name}, {self.pairs} pairs"


OUR_MODES: dict[str, dict[str, str]] = {"rnnsearch": {}, "rnnsearch bf16": {"precision": "bf16"}}
"""What we compete with: settings of training that differ from the paper's."""
ROUNDS = {"full": 2, "small": 3, "tiny": 1}
UPDATES = {"full": 6, "small": 10, "tiny": 4}


def main() -> None:
    """Let all of them train, round after round, and record the medians."""
    parser = Parser(__doc__, "data", "output", "peers", *SPEED, size=sized("full", "tiny"))
    parser.add_argument("--updates", type=int, help="minibatches in the text, of the largest size")
    parser.add_argument("--pairs", type=int, action="append", help=f"pairs in a minibatch, if not {BATCH}; may be repeated")
    parser.add_argument("--against", type=Path, metavar="PATH", help="a checkout of an earlier version")
    parser.add_argument("--only", action="append", help="contestants, if not all; may be repeated")
    parser.add_argument("--rounds", type=int, help="how often each of them trains")
    arguments = parser.parse_args()

    on = machine()
    size, folder = SIZES[arguments.size], arguments.output.resolve() / "training-speed" / arguments.size
    updates = arguments.updates or UPDATES[arguments.size]
    batches = arguments.pairs or [BATCH]
    pairs = max(batches) * updates
    write_training_text(prepared_text(arguments.data, arguments.output.resolve()), size, pairs, folder / "text")

    contestants: dict[Contestant, Callable[[], list[Step]]] = {}
    for batch in batches:
        task = Task(folder / "text", arguments.size, size, 2 * pairs // batch, pairs, batch)
        for name, mode in known_modes(OUR_MODES, "training").items():
            contestants[Contestant(name, batch)] = partial(train_ours, task, mode, arguments.threads)
        if arguments.against:
            contestants[Contestant("earlier version", batch)] = partial(
                train_ours, task, {}, arguments.threads, arguments.against.resolve()
            )
        for name in available(arguments.peers):
            peer, _, kind = name.partition(" ")
            contestants[Contestant(name, batch)] = partial(
                TOOLKITS[peer].train, task, folder / name.replace(" ", "-"), arguments.peers, arguments.threads, kind
            )
    wanted = [one for one in contestants if makes_sense(one.name) and (not arguments.only or one.name in arguments.only)]

    def measure(one: Contestant, _: int) -> list[Step]:
        steps = contestants[one]()
        shutil.rmtree(folder / one.name.replace(" ", "-"), ignore_errors=True)
        return steps[len(steps) // 2 :]  # the second time through the text

    rounds = arguments.rounds or ROUNDS[arguments.size]
    runs = in_rounds(wanted, measure, rounds, arguments.background, lambda _, steps: f"{_speed(steps):.0f} words/s")
    speeds = runs.medians(_speed)
    write_speed(
        f"speed/training_speed-{arguments.size}",
        machine=on,
        rows=_rows(arguments.size, speeds),
        threads=arguments.threads,
        updates=updates,
        words_per_second={str(one): round(speed, 1) for one, speed in speeds.items()},
        runs=runs.rows(
            lambda steps: {
                "words_per_second": round(_speed(steps), 1),
                "words": [round(step.words) for step in steps],
                "seconds": [round(step.seconds, 4) for step in steps],
            }
        ),
    )


def _speed(steps: list[Step]) -> float:
    """Target words a second."""
    return sum(step.words for step in steps) / sum(step.seconds for step in steps)


def _rows(size: str, speeds: dict[Contestant, float]) -> list[dict[str, object]]:
    """A row for each size of minibatches and each precision of ours, and one for the best size of each contestant.

    Our fp32 is compared with the peers' fp32, our bf16 with whatever is their best.
    """
    rows: list[dict[str, object]] = []
    batches = sorted({batch for _, batch in speeds})
    for precision, mode in {"fp32": "rnnsearch", "bf16": "rnnsearch bf16"}.items():
        for chosen in [[batch] for batch in batches] + ([batches] if len(batches) > 1 else []):
            peers: dict[str, int] = {}
            ours = 0
            for (name, batch), speed in speeds.items():
                if batch not in chosen:
                    continue
                if name == mode:
                    ours = max(round(speed), ours)
                elif name in PEER_MODES and PEER_MODES[name] in ("fp32", precision):
                    peer = name.split()[0]
                    peers[peer] = max(round(speed), peers.get(peer, 0))
            if ours:
                minibatches = f"minibatches of {chosen[0]}" if len(chosen) == 1 else "each with its best minibatches"
                what = f"training, {size} size, {precision}, {minibatches}"
                rows.append({"what": what, "unit": "target words/s", "ours": ours, "peers": peers})
    return rows
