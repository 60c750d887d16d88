"""Training speed: target words a second of ours and of the peers, on the same length-varied text.

    python benchmarks/training_speed.py --data DATA --output RUNS --peers PEERS --size full [--rounds 2]

Every contestant trains with its own command, one after the other, round after round. An update is timed from one line of
progress to the next: reading the minibatch, cost, gradient, clipping and Adadelta. All read the whole text twice, and the
second time counts. Words are target words, end symbols counted, padding not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path

from contestants import OUR_MODES, PEER_MODES, Step, Task, available, known_modes, train_ours, train_peer
from record import BACKGROUND, Run, machine, undisturbed, write_speed
from speed_text import BATCH, SIZES, prepared_text, write_training_text

ROUNDS = {"full": 2, "small": 3, "tiny": 1}
UPDATES = {"full": 6, "small": 10, "tiny": 4}


def main() -> None:
    """Let all of them train, round after round, and record the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with europarl/ in it")
    parser.add_argument("--output", type=Path, required=True, help="where the text and the models go")
    parser.add_argument("--peers", type=Path, required=True, help="the folder where `peers.py` installed them")
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--rounds", type=int, help="how often each of them trains")
    parser.add_argument("--updates", type=int, help=f"minibatches of {BATCH} pairs in the text")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--background", type=float, default=BACKGROUND, help="cores that may be busy beside a run")
    parser.add_argument("--only", action="append", help="contestants, if not all; may be repeated")
    arguments = parser.parse_args()

    on = machine()
    size, folder = SIZES[arguments.size], arguments.output.resolve() / "training-speed" / arguments.size
    updates = arguments.updates or UPDATES[arguments.size]
    pairs = BATCH * updates
    write_training_text(prepared_text(arguments.data, arguments.output.resolve()), size, pairs, folder / "text")
    task = Task(folder / "text", arguments.size, size, 2 * updates, pairs)

    contestants: dict[str, Callable[[], list[Step]]] = {
        name: partial(train_ours, task, mode, arguments.threads) for name, mode in known_modes(OUR_MODES, "training").items()
    }
    for name in available(arguments.peers):
        output = folder / name.replace(" ", "-")
        contestants[name] = partial(train_peer, name, task, output, arguments.peers, arguments.threads)
    runs: dict[str, list[Run[list[Step]]]] = {name: [] for name in arguments.only or contestants}
    for number in range(arguments.rounds or ROUNDS[arguments.size]):
        for name, of_contestant in runs.items():
            of_contestant.append(undisturbed(contestants[name], arguments.background))
            shutil.rmtree(folder / name.replace(" ", "-"), ignore_errors=True)
            print(f"round {number + 1}: {name}: {_speed(of_contestant[-1]):.0f} words/s", flush=True)

    speeds = {name: statistics.median(map(_speed, of_contestant)) for name, of_contestant in runs.items()}
    write_speed(
        f"training-speed-{arguments.size}",
        machine=on,
        rows=_rows(arguments.size, speeds),
        threads=arguments.threads,
        updates=updates,
        words_per_second={name: round(speed, 1) for name, speed in speeds.items()},
        runs={
            name: [
                {
                    "words_per_second": round(_speed(run), 1),
                    "words": [round(step.words) for step in _counted(run)],
                    "seconds": [round(step.seconds, 4) for step in _counted(run)],
                    **run.load(),
                }
                for run in of_contestant
            ]
            for name, of_contestant in runs.items()
        },
    )


def _counted(run: Run[list[Step]]) -> list[Step]:
    """The updates of the second time through the text."""
    return run.found[len(run.found) // 2 :]


def _speed(run: Run[list[Step]]) -> float:
    """Target words a second."""
    return sum(step.words for step in _counted(run)) / sum(step.seconds for step in _counted(run))


def _rows(size: str, speeds: dict[str, float]) -> list[dict[str, object]]:
    """A row of the table for each precision of ours: fp32 against the peers' fp32, bf16 against whatever is their best."""
    rows: list[dict[str, object]] = []
    for mode in OUR_MODES:
        bf16 = mode.endswith("bf16")
        peers: dict[str, int] = {}
        for name, speed in speeds.items():
            peer, other = name.split()[0], PEER_MODES.get(name)
            if other == "fp32" or (other and bf16):
                peers[peer] = max(round(speed), peers.get(peer, 0))
        if mode in speeds:
            what = f"training, {size} size, {'bf16' if bf16 else 'fp32'}"
            rows.append({"what": what, "unit": "target words/s", "ours": round(speeds[mode]), "peers": peers})
    return rows


if __name__ == "__main__":
    main()
