"""Translation speed: sentences a second of ours and of the peers, in batches of 25 and one at a time.

1,000 real sentences in 40 groups, all of one length within a group. The models are all but untrained, so their translations
would end anywhere: instead every contestant writes exactly as many words as the source has, the end symbol counted, with the
whole beam alive to the end. All keep their models loaded. A round takes one group in five, so that five rounds, in which the
contestants take turns, are all the sentences; loading is not timed, reading words and writing them is. Our
vocabulary selection keeps the 1,000 to 4,000 most frequent words and, for every word of the source, 20 candidates that are
none of these; `vocabulary_selection.py` measures what it costs in BLEU. With `--against`, an earlier version of ours
translates too.
"""

from __future__ import annotations

import os
import statistics
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.lib.command import SPEED, Parser
from benchmarks.lib.record import Rounds, Run, in_rounds, machine, sized, write_speed
from benchmarks.lib.speed_text import BATCH, SIDE_BY_SIDE, SIZES, prepared_text, sentences_to_translate, write_training_text
from benchmarks.peers.rnnsearch.contestant import search_command, write_random_model
from benchmarks.peers.search_program import Job, SearchProgram
from benchmarks.peers.toolkit import Task
from benchmarks.peers.toolkits import TOOLKITS, available, known_modes

SENTENCES, ALONE, PARTS = sized(1000, 125), sized(50, 5), 5
"""In all, one at a time, and the parts of all that a round takes one of."""
FREQUENT = (1000, 2000, 4000)
"""Selected frequent words, besides the lexicon's candidates."""
OUR_MODES: dict[str, dict[str, str]] = {"rnnsearch": {}, "rnnsearch int8": {"precision": "int8"}} | {
    f"rnnsearch int8, vocabulary selection ({words:,} words)": {"precision": "int8", "vocabulary_selection": str(words)}
    for words in FREQUENT
}
"""What we compete with: settings of search."""


def main() -> None:
    """Let all of them translate, round after round, and record how fast they were."""
    parser = Parser(__doc__, "data", "output", "peers", *SPEED, size=sized("full", "tiny"), beam=5, rounds=sized(PARTS, 2))
    parser.add_argument("--against", type=Path, metavar="PATH", help="a checkout of an earlier version")
    parser.add_argument("--only", action="append", help="contestants, if not all; may be repeated")
    arguments = parser.parse_args()

    on = machine()
    size, folder = SIZES[arguments.size], arguments.output.resolve() / "translation-speed" / arguments.size
    prepared = prepared_text(arguments.data, arguments.output.resolve())
    if not (folder / "text").exists():
        write_training_text(prepared, size, 2 * BATCH, folder / "text")
    task = Task(folder / "text", arguments.size, size, updates=2, pairs=2 * BATCH)
    groups = sentences_to_translate(prepared, size, SENTENCES)
    parts = [Job.of(groups[number::PARTS]) for number in range(PARTS)]
    one_by_one = [[sentence] for group in groups for sentence in group]
    alone = [one_by_one[len(one_by_one) * number // ALONE] for number in range(ALONE)]

    model = folder / "rnnsearch"
    write_random_model(task.text, size, model, max(FREQUENT))
    commands = {name: search_command(model, mode) for name, mode in known_modes(OUR_MODES, "search").items()}
    if arguments.against:
        commands["earlier version"] = search_command(model, {}, arguments.against.resolve())
    commands |= {
        name: _peer_command(name, task, folder, arguments.peers) for name in available(arguments.peers) if name in TOOLKITS
    }
    commands = {name: command for name, command in commands.items() if name in (arguments.only or commands)}
    jobs = {"parts": parts, "singly": [Job.of(alone[number :: arguments.rounds]) for number in range(arguments.rounds)]}
    with ExitStack() as stack:
        contestants: dict[str, SearchProgram] = {}
        for name, command in commands.items():
            log = folder / f"{name.replace(',', '').replace(' ', '-')}.log"
            contestants[name] = SearchProgram(command, log, arguments.threads)
            stack.callback(contestants[name].close)
            contestants[name].translate(Job.of([*alone[:2], groups[0]]), arguments.beam)  # the first are slow everywhere

        def measure(what: tuple[str, str], number: int) -> float:
            job = jobs[what[1]][number % len(jobs[what[1]])]
            return job.sentences / contestants[what[0]].translate(job, arguments.beam)

        runs = in_rounds(
            [(name, how) for name in commands for how in jobs],
            measure,
            arguments.rounds,
            arguments.background,
            lambda _, speed: f"{speed:.1f} sentences/s",
        )
    batches, singly = (Rounds({name: runs[name, how] for name in commands}) for how in jobs)
    what = f"translation, {arguments.size} size, beam {arguments.beam}"
    write_speed(
        f"speed/translation_speed-{arguments.size}-beam{arguments.beam}",
        machine=on,
        rows=[*_rows(f"{what}, batches of {SIDE_BY_SIDE}", batches), *_rows(f"{what}, one sentence at a time", singly)],
        threads=arguments.threads,
        side_by_side=_record(batches),
        one_at_a_time=_record(singly),
    )


def _peer_command(name: str, task: Task, folder: Path, peers: Path) -> list[object]:
    """The peer's search, on a model that it trains for two updates if it has none yet."""
    output = folder / name
    if not (output / "trained").exists():
        TOOLKITS[name].train(task, output, peers, os.cpu_count() or 1)
        (output / "trained").touch()
    return TOOLKITS[name].search(output, peers)


def _overall(runs: list[Run[float]]) -> float:
    """All sentences by all seconds, of rounds with as many sentences each; longer ones in some, so that none is typical."""
    return round(statistics.harmonic_mean([run.found for run in runs]), 2)


def _rows(what: str, runs: Rounds[str, float]) -> list[dict[str, object]]:
    """A row of the table for each mode of ours."""
    overall = {name: _overall(of_name) for name, of_name in runs.items()}
    peers = {name: speed for name, speed in overall.items() if name in TOOLKITS}
    return [
        {
            "what": what + (f", {name.removeprefix('rnnsearch ')}" if OUR_MODES[name] else ", fp32"),
            "unit": "sentences/s",
            "ours": speed,
            "peers": peers,
        }
        for name, speed in overall.items()
        if name in OUR_MODES
    ]


def _record(runs: Rounds[str, float]) -> dict[str, Any]:
    rows = runs.rows(lambda speed: {"sentences_per_second": round(speed, 2)})
    return {name: {"sentences_per_second": _overall(runs[name]), "runs": of_name} for name, of_name in rows.items()}
